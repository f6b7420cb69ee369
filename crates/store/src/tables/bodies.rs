//! What was asked and answered, where the settings want that to be kept.

use godel_model::{CallId, TenantId, from_micros, micros};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    PUT = "body_put":
        "INSERT INTO model_body (tenant, id, asked, asked_bytes, told, told_bytes, keep_until)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, id) DO NOTHING";
    BY_ID = "body_by_id":
        "SELECT asked, asked_bytes, told, told_bytes, keep_until
         FROM model_body WHERE tenant = $1 AND id = $2";
    TRIM = "body_trim":
        "DELETE FROM model_body WHERE (tenant, id) IN
             (SELECT tenant, id FROM model_body WHERE tenant = $1 AND keep_until < $2
              ORDER BY keep_until LIMIT $3)";
}

/// What was asked and answered in one attempt, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBody {
    /// The request, or its beginning.
    pub asked: Vec<u8>,
    /// How many bytes the request had.
    pub asked_bytes: u64,
    /// The reply, or its beginning.
    pub told: Vec<u8>,
    /// How many bytes the reply had.
    pub told_bytes: u64,
    /// Until when it is kept.
    pub keep_until: Timestamp,
}

/// What was asked and answered.
pub struct Bodies<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Bodies<'_, '_> {
    /// Keeps what was asked and answered in an attempt.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn put(&mut self, tenant: TenantId, id: CallId, body: &CallBody) -> Result<()> {
        self.tx.reaches(tenant)?;
        let count = |count: u64| Param::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Uuid(id.uuid()),
            Param::Bytes(&body.asked),
            count(body.asked_bytes),
            Param::Bytes(&body.told),
            count(body.told_bytes),
            Param::Int(micros(body.keep_until)),
        ];
        self.tx.conn.execute(&PUT, &params).map(drop)
    }

    /// Finds what was asked and answered in an attempt of the tenant.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn by_id(&mut self, tenant: TenantId, id: CallId) -> Result<Option<CallBody>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Removes what need not be kept any longer; returns how many.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn trim(&mut self, tenant: TenantId, now: Timestamp, limit: usize) -> Result<u64> {
        self.tx.reaches(tenant)?;
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        let params = [Param::Uuid(tenant.uuid()), Param::Int(micros(now)), limit];
        self.tx.conn.execute(&TRIM, &params)
    }
}

fn read(row: &Row<'_>) -> Result<CallBody> {
    let count = |at: usize| row.int(at).map(|count| u64::try_from(count).unwrap_or(0));
    Ok(CallBody {
        asked: row.bytes(0)?,
        asked_bytes: count(1)?,
        told: row.bytes(2)?,
        told_bytes: count(3)?,
        keep_until: from_micros(row.int(4)?),
    })
}
