//! Tasks from enqueue to end, by many callers and many workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Say, tasks, workers};
use godel_app::{App, Call};
use godel_model::{NewTask, TaskPriority, WorkerId};
use tokio::task::JoinSet;

use super::Stage;
use crate::error::{Error, Result, Told as _};
use crate::process::own_cpu;
use crate::stats::Samples;
use crate::table::{Bar, Row};

/// How many add tasks at the same time.
pub(super) const CALLERS: usize = 64;
const WORKERS: usize = 64;
/// How many tasks a round has.
pub(super) const TASKS: usize = 12_800;
const PICK_UPS: usize = 300;
const WAIT: Duration = Duration::from_millis(100);

/// What some tasks cost.
pub(super) struct Cost {
    pub(super) tasks: usize,
    pub(super) took: Duration,
    pub(super) cpu: Duration,
}

impl Cost {
    pub(super) fn rate(&self) -> f64 {
        self.tasks as f64 / self.took.as_secs_f64()
    }

    pub(super) fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.tasks as f64
    }
}

/// Makes a task of about 500 bytes.
pub(super) fn asked(number: usize) -> Result<NewTask> {
    let text = serde_json::json!({
        "title": format!("task {number}"),
        "payload": { "number": number, "text": "x".repeat(400) },
    });
    let task: NewTask = serde_json::from_value(text).told("make a task")?;
    let tier = i64::try_from(number % 4).unwrap_or(0);
    Ok(NewTask { priority: TaskPriority::from_tier(tier), ..task })
}

pub(super) async fn register(stage: &Stage, capacity: u32) -> Result<WorkerId> {
    let name = "bench".to_owned();
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name, pool, capabilities, capacity };
    Ok(workers::register(&stage.app, &stage.call, new).await.told("register a worker")?.id)
}

/// Lets tasks go through: single enqueues, and acknowledgements that claim the next one.
pub(super) async fn round(stage: &Stage, total: usize) -> Result<Cost> {
    round_of(&[stage], total).await
}

/// Lets tasks go through several servers that share a store.
pub(super) async fn round_of(stages: &[&Stage], total: usize) -> Result<Cost> {
    let left = Arc::new(AtomicIsize::new(isize::try_from(total).told("count")?));
    let each = WORKERS / stages.len();
    let mut ids = Vec::with_capacity(WORKERS);
    for stage in stages {
        for _ in 0..each {
            ids.push((*stage, register(stage, 1).await?));
        }
    }
    let (start, cpu) = (Instant::now(), own_cpu());
    let mut crowd: JoinSet<Result<()>> = JoinSet::new();
    for (caller, stage) in (0..CALLERS).zip(stages.iter().cycle()) {
        let (app, call) = (stage.app.clone(), stage.call.clone());
        crowd.spawn(async move {
            for number in (caller..total).step_by(CALLERS) {
                tasks::create(&app, &call, asked(number)?).await.told("add a task")?;
            }
            Ok(())
        });
    }
    for (stage, worker) in &ids {
        let (app, call, left) = (stage.app.clone(), stage.call.clone(), Arc::clone(&left));
        crowd.spawn(work((app, call), *worker, left));
    }
    while let Some(done) = crowd.join_next().await {
        done.map_err(|_| Error::new("a caller panicked"))??;
    }
    let cost = Cost { tasks: total, took: start.elapsed(), cpu: own_cpu() - cpu };
    for (stage, worker) in ids {
        workers::leave(&stage.app, &stage.call, worker).await.told("let a worker go")?;
    }
    Ok(cost)
}

async fn work((app, call): (App, Call), worker: WorkerId, left: Arc<AtomicIsize>) -> Result<()> {
    while left.load(Ordering::Relaxed) > 0 {
        let mut given = workers::claim(&app, &call, worker, (1, WAIT)).await.told("claim")?;
        while let Some(task) = given.pop() {
            let spot = task.lease.spot;
            let fence = (worker, spot.task, spot.attempt);
            // The last ones have no next.
            let free = u32::from(left.fetch_sub(1, Ordering::Relaxed) > WORKERS as isize);
            let (done, ask) = (Say::Done(None), (free, WAIT));
            let said = workers::say_and_claim(&app, &call, fence, done, ask).await;
            given = said.told("end a task")?.1;
        }
    }
    Ok(())
}

/// Lets tasks go through one after the other, so that each operation is a transaction of its own.
pub(super) async fn alone(stage: &Stage, total: usize) -> Result<Cost> {
    let worker = register(stage, 1).await?;
    let (start, cpu) = (Instant::now(), own_cpu());
    for number in 0..total {
        tasks::create(&stage.app, &stage.call, asked(number)?).await.told("add a task")?;
        let given = workers::claim(&stage.app, &stage.call, worker, (1, WAIT)).await;
        for given in given.told("claim")? {
            let spot = given.lease.spot;
            let fence = (worker, spot.task, spot.attempt);
            workers::say(&stage.app, &stage.call, fence, Say::Done(None)).await.told("end")?;
        }
    }
    let cost = Cost { tasks: total, took: start.elapsed(), cpu: own_cpu() - cpu };
    workers::leave(&stage.app, &stage.call, worker).await.told("let a worker go")?;
    Ok(cost)
}

/// Measures how long a task takes from the call that adds it to a worker that waits.
pub(super) async fn pick_up(stage: &Stage, (p50, p99): (f64, f64)) -> Result<Vec<Row>> {
    let worker = register(stage, 1).await?;
    let mut took = Vec::with_capacity(PICK_UPS);
    for number in 0..PICK_UPS {
        let (app, call) = (stage.app.clone(), stage.call.clone());
        let mut waiting = JoinSet::new();
        waiting.spawn(async move {
            let patience = Duration::from_secs(10);
            let given = workers::claim(&app, &call, worker, (1, patience)).await;
            (given, Instant::now())
        });
        tokio::time::sleep(Duration::from_millis(3)).await;
        let start = Instant::now();
        tasks::create(&stage.app, &stage.call, asked(number)?).await.told("add a task")?;
        let Some(served) = waiting.join_next().await else { continue };
        let (given, at) = served.told("wait for a task")?;
        took.push(u64::try_from((at - start).as_nanos()).unwrap_or(u64::MAX));
        for given in given.told("claim")? {
            let spot = given.lease.spot;
            let fence = (worker, spot.task, spot.attempt);
            workers::say(&stage.app, &stage.call, fence, Say::Done(None)).await.told("end")?;
        }
    }
    workers::leave(&stage.app, &stage.call, worker).await.told("let a worker go")?;
    let took = Samples::new(took);
    Ok(vec![
        Row::told("idle pick-up p50", took.millis(50.0), "ms").bar(Bar::Below(p50)),
        Row::told("idle pick-up p99", took.millis(99.0), "ms").bar(Bar::Below(p99)),
    ])
}
