//! The baseline: a bare writer that keeps the same facts.
//!
//! One thread owns the connection, takes what has arrived, writes it in one transaction and answers.
//! Its tables hold what a queue with tenants, pools, attempts and an event log must hold, under the
//! ids that ours has; there are no rules, no JSON to read, no dependencies, nobody's rights.

use std::path::Path;
use std::time::Instant;

use godel_model::Mint;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::crowd::{self, Op, Parked};
use super::flow::{Cost, TASKS};
use crate::error::{Error, Result, Told as _};
use crate::process::own_cpu;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
    PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4096;
    CREATE TABLE task (tenant BLOB, id BLOB, pool TEXT, tier INTEGER, spec TEXT, created_at INTEGER,
                       max_attempts INTEGER, idem TEXT, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
    CREATE UNIQUE INDEX task_by_idem ON task (tenant, idem) WHERE idem IS NOT NULL;
    CREATE TABLE ready (tenant BLOB, pool TEXT, tier INTEGER, at INTEGER, id BLOB, attempt INTEGER,
                        PRIMARY KEY (tenant, pool, tier, at, id)) WITHOUT ROWID;
    CREATE TABLE lease (tenant BLOB, id BLOB, attempt INTEGER, worker BLOB, started_at INTEGER,
                        deadline INTEGER, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
    CREATE TABLE outcome (tenant BLOB, id BLOB, state TEXT, attempt INTEGER, worker BLOB, at INTEGER,
                          result TEXT, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
    CREATE TABLE event (tenant BLOB, seq INTEGER, id BLOB, kind TEXT, at INTEGER, task BLOB, body TEXT,
                        PRIMARY KEY (tenant, seq)) WITHOUT ROWID;
    CREATE TABLE stream_head (tenant BLOB PRIMARY KEY, seq INTEGER) WITHOUT ROWID;";

enum Done {
    Claimed(oneshot::Sender<Uuid>, Uuid),
    Noted(oneshot::Sender<()>),
}

/// A bare queue in a file.
pub(super) struct Bare {
    queue: Option<Queue>,
}

struct Queue {
    conn: Connection,
    tenant: Uuid,
    seq: i64,
}

impl Bare {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let tried = "set the bare queue up";
        let conn = Connection::open(path).told(tried)?;
        conn.execute_batch(SCHEMA).told(tried)?;
        // Without it SQLite plans a statement anew for each value.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).told(tried)?;
        let tenant = Mint::system().id::<Uuid>();
        conn.execute("INSERT INTO stream_head VALUES (?1, 0)", [tenant.as_bytes()]).told(tried)?;
        Ok(Self { queue: Some(Queue { conn, tenant, seq: 0 }) })
    }

    /// Lets tasks go through by one writer that groups.
    pub(super) async fn round(&mut self) -> Result<Cost> {
        let queue = self.queue.take().ok_or_else(|| Error::new("the bare queue is gone"))?;
        let (start, cpu) = (Instant::now(), own_cpu());
        let (crowd, receive) = crowd::enter();
        let writer = std::thread::spawn(move || queue.write(receive));
        crowd.leave().await?;
        let cost = Cost { tasks: TASKS, took: start.elapsed(), cpu: own_cpu() - cpu };
        let back = writer.join().map_err(|_| Error::new("the bare writer panicked"))?;
        self.queue = Some(back.told("write in the bare queue")?);
        Ok(cost)
    }
}

impl Queue {
    fn write(mut self, mut ops: mpsc::Receiver<Op>) -> rusqlite::Result<Self> {
        let mut parked = Parked::new();
        while let Some(first) = ops.blocking_recv() {
            self.conn.execute_batch("BEGIN IMMEDIATE")?;
            let mut done = Vec::new();
            for op in crowd::gather(first, &mut ops) {
                match op {
                    Op::Add { tier, spec, reply } => {
                        self.add(tier, &spec)?;
                        done.push(Done::Noted(reply));
                    }
                    Op::Claim { reply } => parked.push_back(reply),
                    Op::End { id, reply, next } => {
                        self.end(id)?;
                        parked.extend(next);
                        done.push(Done::Noted(reply));
                    }
                }
            }
            while let Some(reply) = parked.pop_front() {
                match self.claim()? {
                    Some(id) => done.push(Done::Claimed(reply, id)),
                    None => {
                        parked.push_front(reply);
                        break;
                    }
                }
            }
            self.conn
                .prepare_cached("UPDATE stream_head SET seq = ?1 WHERE tenant = ?2")?
                .execute(params![self.seq, self.tenant.as_bytes()])?;
            self.conn.execute_batch("COMMIT")?;
            for one in done {
                match one {
                    Done::Claimed(reply, id) => drop(reply.send(id)),
                    Done::Noted(reply) => drop(reply.send(())),
                }
            }
        }
        Ok(self)
    }

    fn add(&mut self, tier: i64, spec: &str) -> rusqlite::Result<()> {
        let (id, tenant) = (Mint::system().id::<Uuid>(), self.tenant);
        self.conn
            .prepare_cached("INSERT INTO task VALUES (?1, ?2, 'default', ?3, ?4, ?5, 3, NULL)")?
            .execute(params![tenant.as_bytes(), id.as_bytes(), tier, spec, self.seq])?;
        self.conn
            .prepare_cached("INSERT INTO ready VALUES (?1, 'default', ?2, ?3, ?4, 0)")?
            .execute(params![tenant.as_bytes(), tier, self.seq, id.as_bytes()])?;
        self.event("task:queued", id)
    }

    fn claim(&mut self) -> rusqlite::Result<Option<Uuid>> {
        let tenant = self.tenant;
        let found = self
            .conn
            .prepare_cached(
                "SELECT r.tier, r.at, r.id, t.spec FROM ready r
                 JOIN task t ON t.tenant = r.tenant AND t.id = r.id
                 WHERE r.tenant = ?1 AND r.pool = 'default' ORDER BY r.tier, r.at, r.id LIMIT 1",
            )?
            .query_row([tenant.as_bytes()], |row| {
                let spec: String = row.get(3)?;
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, [u8; 16]>(2)?, spec))
            });
        let (tier, at, id) = match found {
            Ok((tier, at, id, _)) => (tier, at, Uuid::from_bytes(id)),
            Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.conn
            .prepare_cached(
                "DELETE FROM ready
                 WHERE tenant = ?1 AND pool = 'default' AND tier = ?2 AND at = ?3 AND id = ?4",
            )?
            .execute(params![tenant.as_bytes(), tier, at, id.as_bytes()])?;
        self.conn
            .prepare_cached("INSERT INTO lease VALUES (?1, ?2, 1, ?3, ?4, NULL)")?
            .execute(params![tenant.as_bytes(), id.as_bytes(), tenant.as_bytes(), self.seq])?;
        self.event("task:started", id)?;
        Ok(Some(id))
    }

    fn end(&mut self, id: Uuid) -> rusqlite::Result<()> {
        let tenant = self.tenant;
        self.conn
            .prepare_cached("DELETE FROM lease WHERE tenant = ?1 AND id = ?2 AND attempt = 1")?
            .execute(params![tenant.as_bytes(), id.as_bytes()])?;
        self.conn
            .prepare_cached("INSERT INTO outcome VALUES (?1, ?2, 'succeeded', 1, ?3, ?4, NULL)")?
            .execute(params![tenant.as_bytes(), id.as_bytes(), tenant.as_bytes(), self.seq])?;
        self.event("task:succeeded", id)
    }

    fn event(&mut self, kind: &str, task: Uuid) -> rusqlite::Result<()> {
        self.seq += 1;
        let (id, body) = (Mint::system().id::<Uuid>(), body(task));
        self.conn
            .prepare_cached("INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
            .execute(params![
                self.tenant.as_bytes(),
                self.seq,
                id.as_bytes(),
                kind,
                self.seq,
                task.as_bytes(),
                body
            ])
            .map(drop)
    }
}

/// Says what an event of a task must say at least.
pub(super) fn body(task: Uuid) -> String {
    format!(r#"{{"task":"{task}","attempt":1,"priority":"medium","pool":"default"}}"#)
}
