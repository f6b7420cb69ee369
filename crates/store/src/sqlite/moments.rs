//! Where in the log the events of a moment are, so that one is found by its id.
//!
//! An index of all ids costs a third of what an event costs. Ids begin with their time, so it is enough
//! to know, for each quarter of a second, which positions its events have; a commit notes that once.

use godel_model::{Event, Seq, TenantId};
use rusqlite::{Connection, params};

use crate::{Error, Result};

/// How much of an id tells the moment: all of its time but the lowest byte of the milliseconds.
const MOMENT_BYTES: usize = 5;

const INSERT: &str = "
    INSERT INTO event_moment (tenant, moment, upto, since) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (tenant, moment, upto) DO UPDATE SET since = MIN(since, excluded.since)";
// By blocks of the log, as in the step of the schema: nothing has to be put in order.
const REBUILD: &str = "
    DELETE FROM event_moment;
    INSERT OR IGNORE INTO event_moment (tenant, moment, upto, since)
    SELECT tenant, substr(id, 1, 5), seq | 1023, seq & ~1023 FROM event;";

type Moment = [u8; MOMENT_BYTES];

/// Notes where the events of one commit are; positions of a tenant count up.
pub(super) fn note(conn: &Connection, events: &[(TenantId, &Event)]) -> Result<()> {
    let mut noted: Vec<(TenantId, Moment, Seq, Seq)> = Vec::new();
    for (tenant, event) in events {
        let mut moment = [0; MOMENT_BYTES];
        moment.copy_from_slice(&event.id.uuid().as_bytes()[..MOMENT_BYTES]);
        // Mostly that of the one before.
        let known = noted.iter_mut().rfind(|(own, same, ..)| own == tenant && *same == moment);
        match known {
            Some((.., upto)) => *upto = event.seq,
            None => noted.push((*tenant, moment, event.seq, event.seq)),
        }
    }
    let fail = |cause| Error::sqlite("event_moment_insert", cause);
    let mut insert = conn.prepare_cached(INSERT).map_err(fail)?;
    for (tenant, moment, since, upto) in noted {
        let tenant = tenant.uuid();
        insert.execute(params![tenant.as_bytes(), moment, upto.0, since.0]).map_err(fail)?;
    }
    Ok(())
}

/// Finds all moments anew: they are not part of a backup.
pub(super) fn rebuild(conn: &Connection) -> Result<()> {
    conn.execute_batch(REBUILD).map_err(|cause| Error::sqlite("event_moment_rebuild", cause))
}
