//! `append`: durable events by 64 writers, compared with one transaction for each event.
//!
//! The baseline is one connection in a loop: nobody is in its way, so it goes as fast as the disk
//! takes one commit after the other. What 64 such connections reach, which wait for each other, is
//! told beside it, and so is a single fsync: the faster the disk, the less there is to win. Other
//! work on the machine slows the baseline most; the ratio of the best rounds shows how much.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use godel_model::{TenantId, micros};
use rusqlite::{Connection, params};

use super::{Bench, Borrowed, database};
use crate::error::{Error, Result, Told as _};
use crate::events::{Log, draft};
use crate::process::own_cpu;
use crate::stats::{Samples, median};
use crate::table::{Bar, Row};

const WRITERS: usize = 64;
const ROUNDS: usize = 11;
/// How many events each writer adds in a round.
const ROUND_EACH: usize = 100;
const ROUND_SINGLE: usize = 400;
/// How many events each of the connections adds that wait for each other.
const CROWD_EACH: usize = 5;
const FSYNCS: usize = 500;
const RATIO_MIN: f64 = 10.0;

/// What some events cost.
struct Cost {
    events: usize,
    took: Duration,
    cpu: Duration,
}

impl Cost {
    fn rate(&self) -> f64 {
        self.events as f64 / self.took.as_secs_f64()
    }

    fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.events as f64
    }
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let log = Log::open_file(&database(&bench.folder("append"))).await?;
    let base = Baseline::make(database(&bench.folder("append-single"))).await?;
    let mut single = base.connect()?;
    together(&log).await?;
    single.append(ROUND_SINGLE / 4)?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let own = together(&log).await?;
        let alone = tokio::task::block_in_place(|| single.append(ROUND_SINGLE))?;
        rounds.push((own, alone));
    }
    log.close().await;
    let crowd = tokio::task::block_in_place(|| base.crowd())?;
    let fsync = tokio::task::block_in_place(|| fsync_us(&bench.folder("fsync")))?;
    let ratio = median(rounds.iter().map(|(own, base)| own.rate() / base.rate()));
    let best = |rates: &mut dyn Iterator<Item = f64>| rates.fold(0.0, f64::max);
    let best = best(&mut rounds.iter().map(|(own, _)| own.rate()))
        / best(&mut rounds.iter().map(|(_, base)| base.rate()));
    let own = |of: fn(&Cost) -> f64| median(rounds.iter().map(|(own, _)| of(own)));
    let alone = |of: fn(&Cost) -> f64| median(rounds.iter().map(|(_, base)| of(base)));
    let mut rows = vec![
        Row::told("durable events, 64 writers", own(Cost::rate), "/s"),
        Row::told("one transaction per event", alone(Cost::rate), "/s"),
        Row::told("rate, ratio to one per transaction", ratio, "x").bar(Bar::AtLeast(RATIO_MIN)),
        Row::told("rate, ratio of the best rounds", best, "x"),
        Row::told("one transaction per event, 64 connections", crowd.rate(), "/s"),
        Row::told("CPU per event, 64 writers", own(Cost::cpu_us), "us"),
        Row::told("CPU per event, one per transaction", alone(Cost::cpu_us), "us"),
        Row::told("write and fsync of 4 KiB, p50", fsync, "us"),
    ];
    rows.extend(on_postgres().await?);
    Ok(rows)
}

async fn together(log: &Log) -> Result<Cost> {
    let (start, cpu) = (Instant::now(), own_cpu());
    log.append_together(WRITERS, ROUND_EACH).await?;
    Ok(Cost { events: WRITERS * ROUND_EACH, took: start.elapsed(), cpu: own_cpu() - cpu })
}

/// The baseline: the same schema and the same settings, without anything that groups.
struct Baseline {
    path: PathBuf,
    tenant: TenantId,
}

/// One connection to the baseline.
struct Single {
    conn: Connection,
    tenant: TenantId,
}

impl Baseline {
    /// Lets the store make the schema, and takes the file over.
    async fn make(path: PathBuf) -> Result<Self> {
        let log = Log::open_file(&path).await?;
        let tenant = log.tenant;
        log.close().await;
        Ok(Self { path, tenant })
    }

    fn connect(&self) -> Result<Single> {
        let conn = Connection::open(&self.path).told("open the baseline")?;
        // As the store sets it, with its checkpoints: every 16 MiB.
        conn.execute_batch(
            "PRAGMA busy_timeout = 60000;
             PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
             PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864;",
        )
        .told("set up the baseline")?;
        Ok(Single { conn, tenant: self.tenant })
    }

    /// Lets many connections add events at the same time, each in a transaction of its own.
    fn crowd(&self) -> Result<Cost> {
        let mut crowd = (0..WRITERS).map(|_| self.connect()).collect::<Result<Vec<_>>>()?;
        let (start, cpu) = (Instant::now(), own_cpu());
        std::thread::scope(|scope| {
            let add = |single: &mut Single| single.append(CROWD_EACH).map(drop);
            let threads: Vec<_> =
                crowd.iter_mut().map(|single| scope.spawn(move || add(single))).collect();
            let lost = |_| Err(Error::new("a writer panicked"));
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(lost))
        })?;
        Ok(Cost { events: WRITERS * CROWD_EACH, took: start.elapsed(), cpu: own_cpu() - cpu })
    }
}

impl Single {
    fn append(&mut self, events: usize) -> Result<Cost> {
        let (start, cpu) = (Instant::now(), own_cpu());
        for number in 0..events {
            let draft = draft(number)?;
            self.append_one(&draft).told("append to the baseline")?;
        }
        Ok(Cost { events, took: start.elapsed(), cpu: own_cpu() - cpu })
    }

    fn append_one(&mut self, draft: &godel_model::NewEvent) -> rusqlite::Result<()> {
        let tx = self.conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let (tenant, id) = (self.tenant.uuid(), draft.id.uuid());
        let seq: i64 = tx
            .prepare_cached("UPDATE stream_head SET seq = seq + 1 WHERE tenant = ?1 RETURNING seq")?
            .query_row(params![tenant.as_bytes()], |row| row.get(0))?;
        tx.prepare_cached(
            "INSERT INTO event (tenant, seq, id, kind, at, source, payload, actor, trace)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            tenant.as_bytes(),
            seq,
            id.as_bytes(),
            draft.kind.as_str(),
            micros(draft.at),
            draft.source.component,
            draft.payload.as_str(),
            draft.metadata.actor,
            draft.metadata.trace_id,
        ])?;
        tx.commit()
    }
}

/// Measures what the disk takes for the smallest durable write.
fn fsync_us(path: &Path) -> Result<f64> {
    let tried = "write to the disk";
    let file = File::create(path).told(tried)?;
    let page = [7_u8; 4_096];
    let mut took = Vec::with_capacity(FSYNCS);
    // The same places again and again, as the log of SQLite is written.
    for number in 0..FSYNCS {
        let start = Instant::now();
        file.write_all_at(&page, (number % 64 * page.len()) as u64).told(tried)?;
        file.sync_data().told(tried)?;
        took.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(Samples::new(took).percentile(50.0) as f64 / 1e3)
}

/// Tells the same for PostgreSQL, if there is one.
async fn on_postgres() -> Result<Vec<Row>> {
    let Some(borrowed) = Borrowed::find()? else { return Ok(Vec::new()) };
    let base = &borrowed.database;
    let log = Log::open(base.url()).await?;
    together(&log).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(together(&log).await?);
    }
    log.close().await;
    let rate = median(rounds.iter().map(Cost::rate));
    let cpu = median(rounds.iter().map(Cost::cpu_us));
    Ok(vec![
        Row::told("durable events, 64 writers, PostgreSQL", rate, "/s"),
        Row::told("CPU per event, PostgreSQL, client side", cpu, "us"),
    ])
}
