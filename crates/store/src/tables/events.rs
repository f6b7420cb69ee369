//! The event log.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use godel_model::{
    Event, EventFilter, EventId, Invalid, Metadata, Payload, Seq, Source, TenantId, from_micros,
    micros,
};

use crate::statement::{Conn, Param, Row, Statement, statements};
use crate::tx::Rename;
use crate::{Error, Result, Tx};

/// How many events one page looks at, at most: a rare match must not make a request walk the log.
pub const SCAN_MAX_EVENTS: usize = 5_000;

/// How many rows one statement of a scan reads.
const SCAN_CHUNK_EVENTS: usize = 500;

/// How many bytes of payload one page holds, about; it has at least one event.
const PAGE_MAX_BYTES: usize = 512 * 1024;

statements! {
    INSERT = "event_insert":
        "INSERT INTO event (tenant, seq, id, kind, at, source, instance, version, payload,
                            correlation, causation, actor, trace, refs)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    SET_HEAD = "stream_head_set": "UPDATE stream_head SET seq = $1 WHERE tenant = $2";
    SET_TRIMMED = "stream_head_set_trimmed":
        "UPDATE stream_head SET trimmed = $1 WHERE tenant = $2";
    FORWARD = "event_page_forward":
        "SELECT seq, id, kind, at, source, instance, version, payload,
                correlation, causation, actor, trace, refs
         FROM event WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    BACKWARD = "event_page_backward":
        "SELECT seq, id, kind, at, source, instance, version, payload,
                correlation, causation, actor, trace, refs
         FROM event WHERE tenant = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";
    TRIM = "event_trim": "DELETE FROM event WHERE tenant = $1 AND seq <= $2";
    RENAME_ACTOR = "event_rename_actor":
        "UPDATE event SET actor = $1
         WHERE tenant = $2 AND seq > $3 AND seq <= $4 AND actor = $5";
    TIME_AT = "event_time_at": "SELECT at FROM event WHERE tenant = $1 AND seq = $2";
}

// On PostgreSQL the newest position is that of the last event: a row that is written at each commit
// leaves a version behind each time, and all of them are walked over while somebody holds on to an old
// state. What is stored counts when no event is left.
static HEAD: Statement = Statement {
    name: "stream_head_read",
    sqlite: "SELECT seq, trimmed FROM stream_head WHERE tenant = $1",
    postgres: "SELECT GREATEST(h.seq, (SELECT e.seq FROM event e WHERE e.tenant = h.tenant
                                       ORDER BY e.seq DESC LIMIT 1)), h.trimmed
               FROM stream_head h WHERE h.tenant = $1",
};
// What is known of a moment tells where to look; PostgreSQL has an index.
static BY_ID: Statement = Statement {
    name: "event_by_id",
    sqlite: "SELECT e.seq, e.id, e.kind, e.at, e.source, e.instance, e.version, e.payload,
                    e.correlation, e.causation, e.actor, e.trace, e.refs
             FROM event_moment m CROSS JOIN event e
             WHERE m.tenant = $1 AND m.moment = substr($2, 1, 5)
               AND e.tenant = m.tenant AND e.seq BETWEEN m.since AND m.upto AND e.id = $2 LIMIT 1",
    postgres: "SELECT seq, id, kind, at, source, instance, version, payload,
                      correlation, causation, actor, trace, refs
               FROM event WHERE tenant = $1 AND id = $2",
};
// Moments that are older than what is left; one whose clock was wrong goes later.
static TRIM_MOMENTS: Statement = Statement {
    name: "event_moment_trim",
    sqlite: "DELETE FROM event_moment WHERE tenant = $1 AND upto <= $2
               AND moment < COALESCE((SELECT substr(e.id, 1, 5) FROM event e
                                      WHERE e.tenant = $1 AND e.seq > $2
                                      ORDER BY e.seq LIMIT 1), x'ffffffffff')",
    postgres: "SELECT 1 WHERE $1::uuid IS NULL AND $2::bigint IS NULL",
};
// SQLite has one writer and needs no lock.
static LOCK_HEAD: Statement = Statement {
    name: "stream_head_lock",
    sqlite: "SELECT seq FROM stream_head WHERE tenant = $1",
    postgres: "SELECT seq FROM stream_head WHERE tenant = $1 FOR UPDATE",
};
pub(crate) static HOT: &[&Statement] = &[&HEAD, &LOCK_HEAD, &BY_ID, &TRIM_MOMENTS];

/// The direction in which the log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Oldest first.
    Forward,
    /// Newest first.
    Backward,
}

/// A page of the log.
#[derive(Debug)]
pub struct Page {
    /// The events that match, in the order asked for.
    pub events: Vec<Event>,
    /// The position up to which the log was looked at.
    pub reached: Seq,
    /// Whether there may be more behind it.
    pub more: bool,
}

/// The event log of one tenant.
pub struct Events<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Events<'_, '_> {
    /// Returns the newest position, and the newest one that was trimmed.
    ///
    /// # Errors
    /// If the database fails.
    pub fn bounds(&mut self) -> Result<(Seq, Seq)> {
        let tenant = self.tx.tenant()?;
        bounds(&mut self.tx.conn, tenant)
    }

    /// Like [`Events::bounds`], and nobody else appends or trims until this transaction ends.
    ///
    /// # Errors
    /// If the database fails.
    pub fn lock_bounds(&mut self) -> Result<(Seq, Seq)> {
        let tenant = self.tx.tenant()?;
        // Only a statement that begins when the lock is there sees what others have appended.
        self.tx.conn.first(&LOCK_HEAD, &[Param::Uuid(tenant.uuid())], |_| Ok(()))?;
        bounds(&mut self.tx.conn, tenant)
    }

    /// Reads events behind (or, backward, before) a position.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(
        &mut self,
        filter: &EventFilter,
        direction: Direction,
        from: Seq,
        limit: usize,
    ) -> Result<Page> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let statement = match direction {
            Direction::Forward => &FORWARD,
            Direction::Backward => &BACKWARD,
        };
        // Without a filter every row counts, so one more than wanted tells whether there is more.
        let chunk = if filter.is_all() { limit.saturating_add(1) } else { SCAN_CHUNK_EVENTS };
        let chunk = chunk.min(SCAN_MAX_EVENTS);
        let mut page = Page { events: Vec::new(), reached: from, more: true };
        let (mut looked, mut bytes) = (0, 0);
        while looked < SCAN_MAX_EVENTS {
            let params = [tenant, Param::Int(page.reached.0), Param::Int(chunk as i64)];
            let rows = self.tx.conn.query(statement, &params, read)?;
            let full = rows.len() == chunk;
            for event in rows {
                if page.events.len() == limit || bytes > PAGE_MAX_BYTES {
                    return Ok(page);
                }
                looked += 1;
                page.reached = event.seq;
                if filter.matches(&event) {
                    bytes += event.payload.as_str().len();
                    page.events.push(event);
                }
            }
            if !full {
                page.more = false;
                break;
            }
        }
        Ok(page)
    }

    /// Finds an event by its id.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: EventId) -> Result<Option<Event>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.first(&BY_ID, &[tenant, Param::Uuid(id.uuid())], read)
    }

    /// Returns when the event at a position happened.
    ///
    /// # Errors
    /// If the database fails.
    pub fn time_at(&mut self, seq: Seq) -> Result<Option<jiff::Timestamp>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [tenant, Param::Int(seq.0)];
        self.tx.conn.first(&TIME_AT, &params, |row| Ok(from_micros(row.int(0)?)))
    }

    /// Gives an actor another name in the events between two positions: a person is erased.
    ///
    /// # Errors
    /// If the database fails.
    pub fn rename_actor(&mut self, (from, upto): (i64, i64), old: &str, new: &str) -> Result<u64> {
        let (tenant, range) = (self.tx.tenant()?, (from, upto));
        let rename = Rename { tenant, range, old: old.to_owned(), new: new.to_owned() };
        let renamed = rename_actor(&mut self.tx.conn, &rename)?;
        self.tx.note_rename(rename);
        Ok(renamed)
    }

    /// Deletes all events up to a position. Their sum must be in the snapshot already, and the bounds
    /// must be locked.
    ///
    /// # Errors
    /// If the database fails.
    pub fn trim(&mut self, upto: Seq) -> Result<u64> {
        let tenant = self.tx.tenant()?;
        // The last event may go, too; its position is never given again.
        let (head, _) = bounds(&mut self.tx.conn, tenant)?;
        set_head(&mut self.tx.conn, tenant, head)?;
        let tenant = Param::Uuid(tenant.uuid());
        let gone = self.tx.conn.execute(&TRIM, &[tenant, Param::Int(upto.0)])?;
        self.tx.conn.execute(&SET_TRIMMED, &[Param::Int(upto.0), tenant])?;
        if !self.tx.is_shared() {
            self.tx.conn.execute(&TRIM_MOMENTS, &[tenant, Param::Int(upto.0)])?;
        }
        Ok(gone)
    }
}

/// Returns the head of a tenant's log and what was trimmed of it.
pub(crate) fn bounds(conn: &mut Conn<'_>, tenant: TenantId) -> Result<(Seq, Seq)> {
    let found = conn.first(&HEAD, &[Param::Uuid(tenant.uuid())], |row| {
        Ok((Seq(row.int(0)?), Seq(row.int(1)?)))
    })?;
    Ok(found.unwrap_or_default())
}

/// Gives an actor another name in a part of the log.
pub(crate) fn rename_actor(conn: &mut Conn<'_>, rename: &Rename) -> Result<u64> {
    let Rename { tenant, range: (from, upto), old, new } = rename;
    let tenant = Param::Uuid(tenant.uuid());
    let params = [Param::Text(new), tenant, Param::Int(*from), Param::Int(*upto), Param::Text(old)];
    conn.execute(&RENAME_ACTOR, &params)
}

/// Stores the head of a tenant's log.
pub(crate) fn set_head(conn: &mut Conn<'_>, tenant: TenantId, head: Seq) -> Result<()> {
    conn.execute(&SET_HEAD, &[Param::Int(head.0), Param::Uuid(tenant.uuid())])?;
    Ok(())
}

/// How many events one statement stores; to begin one costs as much as a row.
const ROWS: usize = 8;

// Without `OR FAIL` SQLite would keep a copy of each page, to undo the first rows if a later one failed.
static INSERT_MANY: LazyLock<String> = LazyLock::new(|| {
    let (columns, row) = INSERT.sqlite.split_once("VALUES").unwrap_or_default();
    let places = vec!["?"; row.matches('$').count()].join(", ");
    let rows = vec![format!("({places})"); ROWS].join(", ");
    format!("{} VALUES {rows}", columns.replacen("INSERT", "INSERT OR FAIL", 1))
});

/// Stores events at their positions in SQLite.
pub(crate) fn insert_all(conn: &rusqlite::Connection, events: &[(TenantId, &Event)]) -> Result<()> {
    let fail = |cause| Error::sqlite(INSERT.name, cause);
    let (many, rest) = events.as_chunks::<ROWS>();
    let insert = |text: &str, chunks: &mut dyn Iterator<Item = &[(TenantId, &Event)]>| {
        let mut statement = conn.prepare_cached(text)?;
        for chunk in chunks {
            let mut place = 0;
            for (tenant, event) in chunk {
                bind(&mut statement, &mut place, *tenant, event)?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    };
    if !many.is_empty() {
        insert(&INSERT_MANY, &mut many.iter().map(<[_; ROWS]>::as_slice)).map_err(fail)?;
    }
    insert(INSERT.sqlite, &mut rest.chunks(1)).map_err(fail)
}

/// Binds the columns of one row.
fn bind(
    statement: &mut rusqlite::Statement<'_>,
    place: &mut usize,
    tenant: TenantId,
    event: &Event,
) -> rusqlite::Result<()> {
    let refs = refs_text(&event.metadata);
    let params = [
        Param::Uuid(tenant.uuid()),
        Param::Int(event.seq.0),
        Param::Uuid(event.id.uuid()),
        Param::Text(event.kind.as_str()),
        Param::Int(micros(event.at)),
        Param::Text(&event.source.component),
        event.source.instance.as_deref().into(),
        event.source.version.as_deref().into(),
        Param::Text(event.payload.as_str()),
        event.metadata.correlation_id.as_deref().into(),
        event.metadata.causation_id.map(EventId::uuid).into(),
        event.metadata.actor.as_deref().into(),
        event.metadata.trace_id.as_deref().into(),
        refs.as_deref().into(),
    ];
    for param in params {
        *place += 1;
        statement.raw_bind_parameter(*place, param)?;
    }
    Ok(())
}

/// Returns the references as JSON text, if there are any.
pub(crate) fn refs_text(metadata: &Metadata) -> Option<String> {
    // Texts by name are always JSON.
    (!metadata.refs.is_empty()).then(|| serde_json::to_string(&metadata.refs).unwrap_or_default())
}

fn read(row: &Row<'_>) -> Result<Event> {
    let refs = match row.opt_text(12)? {
        None => BTreeMap::new(),
        Some(text) => serde_json::from_str(&text).map_err(|cause| broken("references", cause))?,
    };
    Ok(Event {
        seq: Seq(row.int(0)?),
        id: row.uuid(1)?.into(),
        kind: row.text(2)?.parse().map_err(|cause: Invalid| broken("event type", cause))?,
        at: from_micros(row.int(3)?),
        source: Source {
            component: row.text(4)?,
            instance: row.opt_text(5)?,
            version: row.opt_text(6)?,
        },
        payload: Payload::from_stored(row.text(7)?).map_err(|cause| broken("payload", cause))?,
        metadata: Metadata {
            correlation_id: row.opt_text(8)?,
            causation_id: row.opt_uuid(9)?.map(EventId::from),
            actor: row.opt_text(10)?,
            trace_id: row.opt_text(11)?,
            refs,
        },
    })
}

fn broken(what: &'static str, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Unreadable { what, cause: Box::new(cause) }
}
