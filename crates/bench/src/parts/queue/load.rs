//! Whether a full queue makes a claim slower.

use std::time::{Duration, Instant};

use godel_app::queue::{Say, tasks, workers};
use godel_model::{NewTask, TaskPriority, WorkerId};
use godel_store::DatabaseUrl;

use super::seed::{self, Place};
use super::{Bench, Borrowed, Stage, database, flow, note};
use crate::error::{Result, Told as _};
use crate::stats::Samples;
use crate::table::{Bar, Row};

const READY: usize = 1_000_000;
const DELAYED: usize = 100_000;
const CLAIMS: usize = 1_000;
const SLOWER_MAX: f64 = 2.0;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let (empty, full) = (bench.folder("queue-empty"), bench.folder("queue-full"));
    let [empty, full] = [empty, full].map(|folder| DatabaseUrl::Sqlite(database(&folder)));
    let mut rows = compare(empty, full, "").await?;
    if let (Some(empty), Some(full)) = (Borrowed::find()?, Borrowed::find()?) {
        let (empty, full) = (empty.database.url(), full.database.url());
        rows.extend(compare(empty, full, ", PostgreSQL").await?);
    }
    Ok(rows)
}

async fn compare(empty: DatabaseUrl, full: DatabaseUrl, where_: &str) -> Result<Vec<Row>> {
    let stage = Stage::open(full.clone()).await?;
    let tenant = stage.call.actor.tenant;
    stage.close().await;
    note(&format!("{READY} ready and {DELAYED} delayed tasks{where_}"));
    tokio::task::block_in_place(|| {
        seed::fill(&full, tenant, Place::Ready, READY)?;
        seed::fill(&full, tenant, Place::Delayed, DELAYED)
    })?;
    let (empty, full) = (Stage::open(empty).await?, Stage::open(full).await?);
    let workers = (flow::register(&empty, 1).await?, flow::register(&full, 1).await?);
    // In turns, so that whatever else the machine does hits both.
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for number in 0..CLAIMS {
        short.push(claim(&empty, workers.0, number).await?);
        long.push(claim(&full, workers.1, number).await?);
    }
    let rate = flow::round(&full, flow::TASKS / 4).await?;
    empty.close().await;
    full.close().await;
    let (empty, full) = (Samples::new(short), Samples::new(long));
    let row = |what: &str, value, unit| Row::told(format!("{what}{where_}"), value, unit);
    Ok(vec![
        row("claim p99, empty queue", empty.millis(99.0), "ms"),
        row("claim p99, full queue", full.millis(99.0), "ms"),
        row("claim p50, ratio", full.millis(50.0) / empty.millis(50.0), "x"),
        row(
            "claim p99, ratio of a full to an empty queue",
            full.millis(99.0) / empty.millis(99.0),
            "x",
        )
        .bar(Bar::AtMost(SLOWER_MAX)),
        row("tasks, full queue", rate.rate(), "/s"),
    ])
}

/// Measures the claim of an urgent task.
async fn claim(stage: &Stage, worker: WorkerId, number: usize) -> Result<u64> {
    let urgent = NewTask { priority: TaskPriority::Critical, ..flow::asked(number)? };
    tasks::create(&stage.app, &stage.call, urgent).await.told("add a task")?;
    let start = Instant::now();
    let given = workers::claim(&stage.app, &stage.call, worker, (1, Duration::ZERO)).await;
    let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    for given in given.told("claim")? {
        let spot = given.lease.spot;
        let fence = (worker, spot.task, spot.attempt);
        workers::say(&stage.app, &stage.call, fence, Say::Done(None)).await.told("end")?;
    }
    Ok(took)
}
