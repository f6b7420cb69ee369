//! What became of a transaction whose commit was not answered.

use godel_model::{EventId, TenantId};
use postgres::error::SqlState;
use postgres::types::ToSql;
use uuid::Uuid;

use super::lane::enter;
use super::session::Session;
use crate::{Error, Result, Scope};

/// Asks whether a transaction still goes on.
pub(super) const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";
/// Finds the event that a transaction recorded.
pub(super) const EVENT: &str = "SELECT FROM event WHERE tenant = $1 AND seq = $2 AND id = $3";
/// Finds the act that a transaction recorded.
pub(super) const ACT: &str = "SELECT FROM audit WHERE tenant = $1 AND seq = $2 AND mac = $3";

/// By what a transaction can be found again: its id, and a row that it alone can have written.
///
/// The id is not enough: one that a killed database had not written down yet is given to somebody
/// else's transaction when it is back, which may well be committed.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) xid: String,
    pub(super) tenant: TenantId,
    pub(super) seq: i64,
    pub(super) row: Row,
}

/// What tells a row of a transaction from what another one wrote to the same place.
#[derive(Debug)]
pub(super) enum Row {
    Event(EventId),
    Act([u8; 32]),
}

impl Trace {
    /// Tells whether the transaction was committed; `None` while it goes on.
    pub(super) fn was_committed(&self, session: &mut Session) -> Result<Option<bool>> {
        // First whether it goes on, then what it left: the other way round it could end in between.
        match session.query_raw("transaction_status", STATUS, &[&self.xid]) {
            Ok(rows) => {
                let status = rows.first().and_then(|row| row.try_get::<_, Option<&str>>(0).ok());
                if status.flatten() == Some("in progress") {
                    return Ok(None);
                }
            }
            // The database has not given out this id: it lost the transaction.
            Err(error) if is_unknown_id(&error) => {}
            Err(error) => return Err(error),
        }
        let tenant = self.tenant.uuid();
        let event: Uuid;
        let (text, mark): (_, &(dyn ToSql + Sync)) = match &self.row {
            Row::Event(id) => {
                event = id.uuid();
                (EVENT, &event)
            }
            Row::Act(mac) => (ACT, &mac.as_slice()),
        };
        session.batch("begin", &format!("BEGIN; {}", enter(Scope::Tenant(self.tenant))))?;
        let found = session.query_raw("transaction_row", text, &[&tenant, &self.seq, mark])?;
        session.batch("commit", "COMMIT")?;
        Ok(Some(!found.is_empty()))
    }
}

fn is_unknown_id(error: &Error) -> bool {
    let Error::Failed { cause, .. } = error else { return false };
    let said = cause.downcast_ref::<postgres::Error>().and_then(postgres::Error::code);
    said == Some(&SqlState::INVALID_PARAMETER_VALUE)
}
