//! Requests that must be carried out once at most.

use godel_model::{Event, EventId, Seq, TenantId, micros};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::statement::{Conn, Param, statements};
use crate::{Error, Result, Tx};

statements! {
    FIND = "idempotency_find":
        "SELECT fingerprint, result FROM idempotency WHERE tenant = $1 AND key = $2";
    INSERT = "idempotency_insert":
        "INSERT INTO idempotency (tenant, key, fingerprint, result, created_at)
         VALUES ($1, $2, $3, $4, $5)";
    NOTE = "idempotency_note":
        "UPDATE idempotency SET result = $1 WHERE tenant = $2 AND key = $3";
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

/// What an event has that the request for it did not say. The rest comes again with the same
/// request, so the event can be told once more even after retention took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The id.
    pub id: EventId,
    /// The position in the log.
    pub seq: Seq,
    /// When it happened.
    pub at: Timestamp,
    /// Who acted.
    pub actor: Option<String>,
    /// The W3C trace id of the request that was carried out.
    pub trace_id: Option<String>,
}

impl Receipt {
    /// Returns the receipt of an event as stored text.
    pub(crate) fn text(event: &Event) -> Result<String> {
        let receipt = Self {
            id: event.id,
            seq: event.seq,
            at: event.at,
            actor: event.metadata.actor.clone(),
            trace_id: event.metadata.trace_id.clone(),
        };
        serde_json::to_string(&receipt)
            .map_err(|cause| Error::Unreadable { what: "receipt", cause: cause.into() })
    }
}

/// Stores the receipt of an event as the result of a key that the same transaction settled.
pub(crate) fn note(conn: &mut Conn<'_>, tenant: TenantId, key: &str, event: &Event) -> Result<()> {
    let receipt = Receipt::text(event)?;
    conn.execute(&NOTE, &[Param::Text(&receipt), Param::Uuid(tenant.uuid()), Param::Text(key)])?;
    Ok(())
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
