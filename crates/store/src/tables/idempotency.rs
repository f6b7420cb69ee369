//! Requests that must be carried out once at most.

use godel_model::micros;
use jiff::Timestamp;

use crate::statement::{Param, statements};
use crate::{Result, Tx};

statements! {
    FIND = "idempotency_find":
        "SELECT fingerprint, result FROM idempotency WHERE tenant = $1 AND key = $2";
    INSERT = "idempotency_insert":
        "INSERT INTO idempotency (tenant, key, fingerprint, result, created_at)
         VALUES ($1, $2, $3, $4, $5)";
    PURGE = "idempotency_purge": "DELETE FROM idempotency WHERE tenant = $1 AND created_at < $2";
}

/// What is known of an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It was not used yet.
    Fresh,
    /// The same request was carried out before, with this result.
    Known(String),
    /// It was used for another request.
    Reused,
}

/// The idempotency keys of one tenant.
pub struct Idempotency<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Idempotency<'_, '_> {
    /// Looks a key up; the fingerprint tells one request from another.
    ///
    /// # Errors
    /// If the database fails.
    pub fn claim(&mut self, key: &str, fingerprint: &[u8]) -> Result<Claim> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let found = self
            .tx
            .conn
            .first(&FIND, &[tenant, Param::Text(key)], |row| Ok((row.bytes(0)?, row.text(1)?)))?;
        Ok(match found {
            None => Claim::Fresh,
            Some((known, result)) if known == fingerprint => Claim::Known(result),
            Some(_) => Claim::Reused,
        })
    }

    /// Stores the result of a request, in the same transaction as what it changed.
    ///
    /// # Errors
    /// If the database fails; [`crate::Error::Duplicate`] if the key was used in between.
    pub fn settle(
        &mut self,
        key: &str,
        fingerprint: &[u8],
        result: &str,
        now: Timestamp,
    ) -> Result<()> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [
            tenant,
            Param::Text(key),
            Param::Bytes(fingerprint),
            Param::Text(result),
            Param::Int(micros(now)),
        ];
        self.tx.conn.execute(&INSERT, &params)?;
        Ok(())
    }

    /// Forgets keys from before the given time.
    ///
    /// # Errors
    /// If the database fails.
    pub fn purge(&mut self, before: Timestamp) -> Result<u64> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.execute(&PURGE, &[tenant, Param::Int(micros(before))])
    }
}
