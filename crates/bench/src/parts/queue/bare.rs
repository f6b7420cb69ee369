//! The baselines: the same writes by a bare writer in groups, and by one transaction each.
//!
//! One thread owns the connection, takes what has arrived, writes it in one transaction and answers:
//! no rules, no tenants, no JSON, no dependencies. Nothing that groups can be much cheaper.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::flow::{Cost, TASKS};
use crate::error::{Error, Result, Told as _};
use crate::process::own_cpu;

const CALLERS: usize = 64;
const BATCH_MAX: usize = 512;
const ALONE_TASKS: usize = 300;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
    PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4096;
    CREATE TABLE task (id INTEGER PRIMARY KEY, tier INTEGER, spec TEXT);
    CREATE TABLE ready (tier INTEGER, at INTEGER, id INTEGER, PRIMARY KEY (tier, at, id)) WITHOUT ROWID;
    CREATE TABLE lease (id INTEGER PRIMARY KEY, attempt INTEGER, worker INTEGER);
    CREATE TABLE outcome (id INTEGER PRIMARY KEY, attempt INTEGER, at INTEGER);
    CREATE TABLE event (seq INTEGER PRIMARY KEY, kind TEXT, task INTEGER, body TEXT);";

enum Op {
    Add { tier: i64, spec: String, reply: oneshot::Sender<i64> },
    Claim { worker: i64, reply: oneshot::Sender<Option<i64>> },
    End { id: i64, reply: oneshot::Sender<()> },
}

enum Done {
    Added(oneshot::Sender<i64>, i64),
    Claimed(oneshot::Sender<Option<i64>>, Option<i64>),
    Ended(oneshot::Sender<()>),
}

/// A bare queue in a file.
pub(super) struct Bare {
    conn: Option<Connection>,
}

impl Bare {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let tried = "set the bare queue up";
        let conn = Connection::open(path).told(tried)?;
        conn.execute_batch(SCHEMA).told(tried)?;
        Ok(Self { conn: Some(conn) })
    }

    /// Lets tasks go through by one writer that groups.
    pub(super) async fn grouped(&mut self) -> Result<Cost> {
        let conn = self.conn.take().ok_or_else(|| Error::new("the bare queue is gone"))?;
        let (send, receive) = mpsc::channel::<Op>(1_024);
        let writer = std::thread::spawn(move || write(conn, receive));
        let (start, cpu) = (Instant::now(), own_cpu());
        let mut crowd: JoinSet<Result<()>> = JoinSet::new();
        for caller in 0..CALLERS {
            let (adds, takes) = (send.clone(), send.clone());
            crowd.spawn(async move {
                for number in (caller..TASKS).step_by(CALLERS) {
                    let (reply, answer) = oneshot::channel();
                    let tier = i64::try_from(number % 4).unwrap_or(0);
                    ask(&adds, Op::Add { tier, spec: "x".repeat(450), reply }).await?;
                    answer.await.told("add")?;
                }
                Ok(())
            });
            crowd.spawn(async move {
                let mine = (caller..TASKS).step_by(CALLERS).count();
                let mut done = 0;
                while done < mine {
                    let (reply, answer) = oneshot::channel();
                    let worker = i64::try_from(caller).unwrap_or(0);
                    ask(&takes, Op::Claim { worker, reply }).await?;
                    if let Some(id) = answer.await.told("claim")? {
                        let (reply, answer) = oneshot::channel();
                        ask(&takes, Op::End { id, reply }).await?;
                        answer.await.told("end")?;
                        done += 1;
                    }
                }
                Ok(())
            });
        }
        drop(send);
        while let Some(done) = crowd.join_next().await {
            done.map_err(|_| Error::new("a caller panicked"))??;
        }
        let cost = Cost { tasks: TASKS, took: start.elapsed(), cpu: own_cpu() - cpu };
        let back = writer.join().map_err(|_| Error::new("the bare writer panicked"))?;
        self.conn = Some(back.told("write in the bare queue")?);
        Ok(cost)
    }

    /// Lets tasks go through with one transaction for each operation.
    pub(super) fn alone(&mut self) -> Result<Cost> {
        let tried = "write alone";
        let conn = self.conn.as_mut().ok_or_else(|| Error::new("the bare queue is gone"))?;
        let (start, cpu) = (Instant::now(), own_cpu());
        for number in 0..ALONE_TASKS {
            let tier = i64::try_from(number % 4).unwrap_or(0);
            let steps: [fn(&Connection, i64) -> rusqlite::Result<()>; 3] = [
                |conn, tier| add(conn, tier, &"x".repeat(450)).map(drop),
                |conn, _| claim(conn, 1).map(drop),
                |conn, _| {
                    let id: i64 =
                        conn.query_row("SELECT id FROM lease LIMIT 1", [], |row| row.get(0))?;
                    end(conn, id)
                },
            ];
            for step in steps {
                let tx = conn.transaction().told(tried)?;
                step(&tx, tier).told(tried)?;
                tx.commit().told(tried)?;
            }
        }
        Ok(Cost { tasks: ALONE_TASKS, took: start.elapsed(), cpu: own_cpu() - cpu })
    }
}

async fn ask(to: &mpsc::Sender<Op>, op: Op) -> Result<()> {
    to.send(op).await.map_err(|_| Error::new("the bare writer is gone"))
}

fn write(conn: Connection, mut ops: mpsc::Receiver<Op>) -> rusqlite::Result<Connection> {
    while let Some(first) = ops.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Ok(next) = ops.try_recv()
        {
            batch.push(next);
        }
        conn.execute_batch("BEGIN IMMEDIATE")?;
        let mut done = Vec::with_capacity(batch.len());
        for op in batch {
            done.push(match op {
                Op::Add { tier, spec, reply } => Done::Added(reply, add(&conn, tier, &spec)?),
                Op::Claim { worker, reply } => Done::Claimed(reply, claim(&conn, worker)?),
                Op::End { id, reply } => {
                    end(&conn, id)?;
                    Done::Ended(reply)
                }
            });
        }
        conn.execute_batch("COMMIT")?;
        for one in done {
            match one {
                Done::Added(reply, id) => drop(reply.send(id)),
                Done::Claimed(reply, id) => drop(reply.send(id)),
                Done::Ended(reply) => drop(reply.send(())),
            }
        }
    }
    Ok(conn)
}

fn add(conn: &Connection, tier: i64, spec: &str) -> rusqlite::Result<i64> {
    conn.prepare_cached("INSERT INTO task (tier, spec) VALUES (?1, ?2)")?
        .execute(params![tier, spec])?;
    let id = conn.last_insert_rowid();
    conn.prepare_cached("INSERT INTO ready VALUES (?1, ?2, ?3)")?.execute(params![tier, id, id])?;
    event(conn, "queued", id)?;
    Ok(id)
}

fn claim(conn: &Connection, worker: i64) -> rusqlite::Result<Option<i64>> {
    let found = conn
        .prepare_cached("SELECT tier, at, id FROM ready ORDER BY tier, at, id LIMIT 1")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get(2)?)));
    let (tier, at, id): (i64, i64, i64) = match found {
        Ok(found) => found,
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(None),
        Err(error) => return Err(error),
    };
    conn.prepare_cached("DELETE FROM ready WHERE tier = ?1 AND at = ?2 AND id = ?3")?
        .execute(params![tier, at, id])?;
    conn.prepare_cached("INSERT INTO lease VALUES (?1, 1, ?2)")?.execute(params![id, worker])?;
    event(conn, "started", id)?;
    Ok(Some(id))
}

fn end(conn: &Connection, id: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM lease WHERE id = ?1 AND attempt = 1")?.execute([id])?;
    conn.prepare_cached("INSERT INTO outcome VALUES (?1, 1, ?2)")?.execute(params![id, id])?;
    event(conn, "ended", id)
}

fn event(conn: &Connection, kind: &str, id: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO event (kind, task, body) VALUES (?1, ?2, ?3)")?
        .execute(params![kind, id, "{\"attempt\":1,\"pool\":\"default\",\"priority\":\"medium\"}"])
        .map(drop)
}
