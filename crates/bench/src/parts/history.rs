//! `history`: whether a log of 1,000,000 events costs more than one of 1,000.

use std::path::{Path, PathBuf};

use godel_model::{EventFilter, Seq};
use godel_store::{Error as StoreError, Scope};

use super::rest::{self, Side};
use super::{Bench, database};
use crate::error::{Error, Result, Told as _};
use crate::events::Log;
use crate::http::Load;
use crate::process::own_cpu;
use crate::server::Server;
use crate::stats::median;
use crate::table::{Bar, Row};

const SHORT: usize = 1_000;
const LONG: usize = 1_000_000;
const ROUNDS: usize = 11;
const WRITERS: usize = 64;
/// How many events each writer adds before and while it is measured.
const WARMUP_EACH: usize = 5;
const ROUND_EACH: usize = 25;
/// How many tails follow the log while it grows.
const TAILS: usize = 10;
const RESUMES: usize = 200;
/// How far behind a tail begins that resumes: one full frame.
const RESUME_EVENTS: i64 = 200;
const CONNECTIONS: usize = 4;
const ROUND_REQUESTS: usize = 2_000;
const RATIO_MAX: f64 = 1.3;

/// What one round cost, in microseconds of processor time.
struct Cost {
    append: f64,
    follow: f64,
    resume: f64,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let short = bench.stocked("history-short", SHORT).await?;
    let long = bench.stocked("history-long", LONG).await?;
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        // A copy, so that the short log stays short.
        let copy = bench.folder(&format!("history-short-{round}"));
        std::fs::create_dir(&copy).told("make a folder")?;
        std::fs::copy(database(&short), database(&copy)).told("copy a log")?;
        let few = Box::pin(store_round(&copy)).await?;
        rounds.push((few, Box::pin(store_round(&long)).await?));
    }
    let mut rows = Vec::new();
    for (what, of) in [
        ("append", (|cost| cost.append) as fn(&Cost) -> f64),
        ("append with 10 tails", |cost| cost.follow),
        ("resume of 200 events", |cost| cost.resume),
    ] {
        let pairs = rounds.iter().map(|(few, many)| (of(few), of(many)));
        rows.extend(told(what, &pairs.collect::<Vec<_>>()));
    }
    rows.extend(list(bench, short, long).await?);
    Ok(rows)
}

fn told(what: &str, rounds: &[(f64, f64)]) -> [Row; 3] {
    let name = |events: &str| format!("{what}, CPU with {events} stored");
    let ratio = median(rounds.iter().map(|(few, many)| many / few));
    [
        Row::told(name("1,000"), median(rounds.iter().map(|pair| pair.0)), "us"),
        Row::told(name("1,000,000"), median(rounds.iter().map(|pair| pair.1)), "us"),
        Row::told(format!("{what}, ratio"), ratio, "x").bar(Bar::AtMost(RATIO_MAX)),
    ]
}

/// Opens a log, measures, and closes it again: both logs begin each round in the same state.
async fn store_round(folder: &Path) -> Result<Cost> {
    let log = Log::open_file(&database(folder)).await?;
    let head: Seq = log
        .store
        .read(Scope::Tenant(log.tenant), |tx| Ok::<_, StoreError>(tx.events().bounds()?.0))
        .await
        .told("read the head")?;
    // First, while nothing of the log is in memory: a resume after a restart.
    resume(&log, head, RESUMES / 10).await?;
    let resume = resume(&log, head, RESUMES).await?;
    log.append_together(WRITERS, WARMUP_EACH).await?;
    let cpu = own_cpu();
    log.append_together(WRITERS, ROUND_EACH).await?;
    let append = micros_each(cpu, WRITERS * ROUND_EACH);
    let follow = follow(&log).await?;
    log.close().await;
    Ok(Cost { append, follow, resume })
}

fn micros_each(earlier: std::time::Duration, times: usize) -> f64 {
    (own_cpu() - earlier).as_secs_f64() * 1e6 / times as f64
}

async fn resume(log: &Log, head: Seq, times: usize) -> Result<f64> {
    let cpu = own_cpu();
    for _ in 0..times {
        let after = Some(Seq(head.0 - RESUME_EVENTS));
        let tail = log.store.tail(log.tenant, after, EventFilter::all()).await;
        let batch = tail.told("resume")?.take(RESUME_EVENTS as usize).await;
        let found = batch.told("resume")?.events.len();
        if found != RESUME_EVENTS as usize {
            return Err(Error::new(format!("a resume found {found} events")));
        }
    }
    Ok(micros_each(cpu, times))
}

/// Measures what an event costs that is appended and read by all tails.
async fn follow(log: &Log) -> Result<f64> {
    let events = WRITERS * ROUND_EACH;
    let mut tails = tokio::task::JoinSet::new();
    for _ in 0..TAILS {
        let tail = log.store.tail(log.tenant, None, EventFilter::all()).await;
        let mut tail = tail.told("follow")?;
        tails.spawn(async move {
            let mut seen = 0;
            while seen < events {
                seen += tail.next(RESUME_EVENTS as usize).await?.events.len();
            }
            Ok::<_, StoreError>(())
        });
    }
    let cpu = own_cpu();
    log.append_together(WRITERS, ROUND_EACH).await?;
    while let Some(done) = tails.join_next().await {
        done.told("finish a tail")?.told("follow")?;
    }
    Ok(micros_each(cpu, events))
}

/// Measures the list of the newest events on two servers at the same time.
async fn list(bench: &Bench, short: PathBuf, long: PathBuf) -> Result<[Row; 3]> {
    let few = Server::start(&bench.program, &short).await?;
    let many = Server::start(&bench.program, &long).await?;
    let load = Load::open(few.address, rest::request(&few), CONNECTIONS).await?;
    let mut few = Side::new(&few.process, load);
    let load = Load::open(many.address, rest::request(&many), CONNECTIONS).await?;
    let mut many = Side::new(&many.process, load);
    few.round(ROUND_REQUESTS).await?;
    many.round(ROUND_REQUESTS).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let cheap = few.round(ROUND_REQUESTS).await?.cpu_us;
        rounds.push((cheap, many.round(ROUND_REQUESTS).await?.cpu_us));
    }
    Ok(told("GET /api/v1/events?limit=20", &rounds))
}
