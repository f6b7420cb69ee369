//! `append`: durable events by 64 writers, compared with one transaction for each event.

use std::path::Path;
use std::time::{Duration, Instant};

use godel_engines::{Binaries, Places, Postgres};
use godel_model::{TenantId, micros};
use godel_testkit::Database;
use rusqlite::{Connection, params};

use super::{Bench, database};
use crate::error::{Result, Told as _};
use crate::events::{Log, draft};
use crate::process::own_cpu;
use crate::stats::median;
use crate::table::{Bar, Row};

const WRITERS: usize = 64;
const ROUNDS: usize = 7;
/// How many events each writer adds in a round.
const ROUND_EACH: usize = 100;
const ROUND_SINGLE: usize = 400;
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
    let mut single = Single::open(&database(&bench.folder("append-single"))).await?;
    together(&log).await?;
    single.append(ROUND_SINGLE / 4)?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let own = together(&log).await?;
        let base = tokio::task::block_in_place(|| single.append(ROUND_SINGLE))?;
        rounds.push((own, base));
    }
    log.close().await;
    let ratio = median(rounds.iter().map(|(own, base)| own.rate() / base.rate()));
    let own = |of: fn(&Cost) -> f64| median(rounds.iter().map(|(own, _)| of(own)));
    let base = |of: fn(&Cost) -> f64| median(rounds.iter().map(|(_, base)| of(base)));
    let mut rows = vec![
        Row::told("durable events, 64 writers", own(Cost::rate), "/s"),
        Row::told("one transaction per event", base(Cost::rate), "/s"),
        Row::told("rate, ratio to one per transaction", ratio, "x").bar(Bar::AtLeast(RATIO_MIN)),
        Row::told("CPU per event, 64 writers", own(Cost::cpu_us), "us"),
        Row::told("CPU per event, one per transaction", base(Cost::cpu_us), "us"),
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
struct Single {
    conn: Connection,
    tenant: TenantId,
    seq: i64,
}

impl Single {
    async fn open(path: &Path) -> Result<Self> {
        // The store makes the schema; afterwards the file is taken over.
        let log = Log::open_file(path).await?;
        let tenant = log.tenant;
        log.close().await;
        let conn = Connection::open(path).told("open the baseline")?;
        // As the store sets it, with its checkpoints: every 16 MiB.
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
             PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864;",
        )
        .told("set up the baseline")?;
        Ok(Self { conn, tenant, seq: 0 })
    }

    fn append(&mut self, events: usize) -> Result<Cost> {
        let (start, cpu) = (Instant::now(), own_cpu());
        for number in 0..events {
            let draft = draft(number)?;
            self.seq += 1;
            self.append_one(&draft).told("append to the baseline")?;
        }
        Ok(Cost { events, took: start.elapsed(), cpu: own_cpu() - cpu })
    }

    fn append_one(&mut self, draft: &godel_model::NewEvent) -> rusqlite::Result<()> {
        let tx = self.conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let (tenant, id) = (self.tenant.uuid(), draft.id.uuid());
        tx.prepare_cached(
            "INSERT INTO event (tenant, seq, id, kind, at, source, payload, actor, trace)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            tenant.as_bytes(),
            self.seq,
            id.as_bytes(),
            draft.kind.as_str(),
            micros(draft.at),
            draft.source.component,
            draft.payload.as_str(),
            draft.metadata.actor,
            draft.metadata.trace_id,
        ])?;
        tx.prepare_cached("UPDATE stream_head SET seq = ?1 WHERE tenant = ?2")?
            .execute(params![self.seq, tenant.as_bytes()])?;
        tx.commit()
    }
}

/// Tells the same for PostgreSQL, if there is one.
async fn on_postgres() -> Result<Vec<Row>> {
    let given = std::env::var("GODEL_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty());
    let started = match given {
        Some(_) => None,
        None => tokio::task::block_in_place(|| {
            let binaries = Binaries::find(&Places::from_env());
            let found = binaries.postgres.is_some();
            found.then(|| Postgres::start(&binaries)).transpose()
        })
        .told("start PostgreSQL")?,
    };
    let own = started.as_ref().map(|postgres| postgres.url("postgres"));
    let Some(server) = given.or(own) else {
        eprintln!("  not measured on PostgreSQL: there is none on this machine");
        return Ok(Vec::new());
    };
    let base = tokio::task::block_in_place(|| Database::postgres(server));
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
