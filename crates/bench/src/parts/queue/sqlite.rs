//! Rate, cost and pick-up on SQLite.

use godel_store::DatabaseUrl;

use super::{Bench, Stage, bare, database, flow};
use crate::error::Result;
use crate::stats::median;
use crate::table::{Bar, Row};

const ROUNDS: usize = 7;
/// At least so much of what the bare writer does.
pub(super) const BARE_MIN: f64 = 0.5;
const ALONE_MIN: f64 = 10.0;
/// How many tasks go through alone.
const ALONE_TASKS: usize = 300;
const CPU_MAX_US: f64 = 60.0;
const RATE_AIM: f64 = 15_000.0;
const PICK_UP_MS: (f64, f64) = (1.0, 5.0);

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let stage = Stage::open(DatabaseUrl::Sqlite(database(&bench.folder("queue")))).await?;
    let mut bare = bare::Bare::open(&bench.folder("queue-bare.db"))?;
    flow::round(&stage, 2_000).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let own = flow::round(&stage, flow::TASKS).await?;
        let grouped = bare.round().await?;
        let alone = flow::alone(&stage, ALONE_TASKS).await?;
        rounds.push((own, grouped, alone));
    }
    let own = median(rounds.iter().map(|(own, ..)| own.rate()));
    let mut rows = vec![
        Row::told("tasks, 64 callers and 64 workers", own, "/s").bar(Bar::AtLeast(RATE_AIM)),
        Row::told("bare writer", median(rounds.iter().map(|(_, bare, _)| bare.rate())), "/s"),
        Row::told(
            "rate, ratio to the bare writer",
            median(rounds.iter().map(|(own, bare, _)| own.rate() / bare.rate())),
            "x",
        )
        .bar(Bar::AtLeast(BARE_MIN)),
        Row::told(
            "tasks, one transaction per operation",
            median(rounds.iter().map(|(_, _, alone)| alone.rate())),
            "/s",
        ),
        Row::told(
            "rate, ratio to the same work in one transaction per operation",
            median(rounds.iter().map(|(own, _, alone)| own.rate() / alone.rate())),
            "x",
        )
        .bar(Bar::AtLeast(ALONE_MIN)),
        Row::told("CPU per task", median(rounds.iter().map(|(own, ..)| own.cpu_us())), "us")
            .bar(Bar::AtMost(CPU_MAX_US)),
        Row::told(
            "CPU per task, bare writer",
            median(rounds.iter().map(|(_, bare, _)| bare.cpu_us())),
            "us",
        ),
    ];
    rows.extend(flow::pick_up(&stage, PICK_UP_MS).await?);
    stage.close().await;
    Ok(rows)
}
