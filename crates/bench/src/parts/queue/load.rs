//! Whether a full queue, or a long history, makes a task dearer.

use std::time::{Duration, Instant};

use godel_app::queue::{Say, tasks, workers};
use godel_model::{Clock as _, SystemClock, TaskPriority, WorkerId};
use jiff::SignedDuration;

use super::{Stage, flow};
use crate::error::{Result, Told as _};
use crate::stats::Samples;
use crate::table::{Bar, Row};

const READY: usize = 200_000;
const DELAYED: usize = 20_000;
const CLAIMS: usize = 300;
const AT_ONCE: usize = 1_000;
const SLOWER_MAX: f64 = 2.0;

pub(super) async fn measure(stage: &Stage) -> Result<Vec<Row>> {
    let worker = flow::register(stage, 1).await?;
    let empty = claims(stage, worker).await?;
    super::note(&format!("{READY} ready and {DELAYED} delayed tasks"));
    fill(stage, READY, false).await?;
    fill(stage, DELAYED, true).await?;
    let full = claims(stage, worker).await?;
    let rate = flow::round(stage, flow::TASKS / 4).await?;
    workers::leave(&stage.app, &stage.call, worker).await.told("let a worker go")?;
    Ok(vec![
        Row::told("claim p99, empty queue", empty.millis(99.0), "ms"),
        Row::told("claim p99, full queue", full.millis(99.0), "ms"),
        Row::told(
            "claim p99, ratio of a full to an empty queue",
            full.millis(99.0) / empty.millis(99.0),
            "x",
        )
        .bar(Bar::AtMost(SLOWER_MAX)),
        Row::told("tasks, full queue", rate.rate(), "/s"),
    ])
}

/// Measures claims of one urgent task after the other.
async fn claims(stage: &Stage, worker: WorkerId) -> Result<Samples> {
    let mut took = Vec::with_capacity(CLAIMS);
    for number in 0..CLAIMS {
        let urgent =
            godel_model::NewTask { priority: TaskPriority::Critical, ..flow::asked(number)? };
        tasks::create(&stage.app, &stage.call, urgent).await.told("add a task")?;
        let start = Instant::now();
        let given = workers::claim(&stage.app, &stage.call, worker, (1, Duration::ZERO)).await;
        took.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        for given in given.told("claim")? {
            let spot = given.lease.spot;
            let fence = (worker, spot.task, spot.attempt);
            workers::say(&stage.app, &stage.call, fence, Say::Done(None)).await.told("end")?;
        }
    }
    Ok(Samples::new(took))
}

async fn fill(stage: &Stage, count: usize, delayed: bool) -> Result<()> {
    let start_at = SystemClock.now().saturating_add(SignedDuration::from_hours(24)).told("time")?;
    for from in (0..count).step_by(AT_ONCE) {
        let mut batch = Vec::with_capacity(AT_ONCE);
        for number in from..(from + AT_ONCE).min(count) {
            let mut asked = flow::asked(number)?;
            asked.priority = TaskPriority::Low;
            asked.start_at = delayed.then_some(start_at);
            batch.push(asked);
        }
        tasks::create_all(&stage.app, &stage.call, batch).await.told("fill the queue")?;
    }
    Ok(())
}
