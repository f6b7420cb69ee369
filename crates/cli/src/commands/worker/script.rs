//! Workers that are scripts of their own: register, claim, heartbeat.

use godel_api::{ClaimTasks, GivenTasks, NewWorker, Worker, WorkerBeat};
use godel_args::queue::RegisterWorker;
use godel_console::lookup::NOTHING;
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Capability, PoolName};
use reqwest::Method;

use super::run::default_name;
use super::{PATH, id};

/// Registers a worker.
pub(super) async fn register(context: &Context, asked: RegisterWorker) -> Result<Exit> {
    let RegisterWorker { pool, name, capability, capacity } = asked;
    pool.parse::<PoolName>()?;
    capability.iter().try_for_each(|word| word.parse::<Capability>().map(drop))?;
    let name = name.unwrap_or_else(default_name);
    let capacity = Some(capacity);
    let new = NewWorker { name, pool: Some(pool), capabilities: capability, capacity };
    let found = locate::server(context).await?;
    let worker: Worker = found.client.call(Method::POST, PATH, Some(&new)).await?;
    if context.output.is_json() {
        context.output.value(&worker)?;
        return Ok(Exit::Done);
    }
    context.output.line(worker.id)?;
    context.output.remark("it must be heard of every 30 seconds: `godel worker heartbeat`");
    Ok(Exit::Done)
}

/// Waits for tasks.
pub(super) async fn claim(
    context: &Context,
    worker: &str,
    free: Option<u32>,
    wait: u64,
) -> Result<Exit> {
    let path = format!("{PATH}/{}/claim", id(worker)?);
    let found = locate::server(context).await?;
    let body = ClaimTasks { free, wait_ms: Some(wait.saturating_mul(1_000)) };
    let given: GivenTasks = found.client.call(Method::POST, &path, Some(&body)).await?;
    if given.tasks.is_empty() {
        context.output.remark("nothing came");
    }
    // A script reads it, whoever asked for text.
    given.tasks.iter().try_for_each(|task| context.output.value(task))?;
    Ok(Exit::Done)
}

/// Says that a worker lives.
pub(super) async fn heartbeat(context: &Context, worker: &str) -> Result<Exit> {
    let path = format!("{PATH}/{}/heartbeat", id(worker)?);
    let found = locate::server(context).await?;
    let beat: WorkerBeat = found.client.call(Method::POST, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&beat)?;
        return Ok(Exit::Done);
    }
    context.output.line(format_args!("it is believed to live until {:.0}", beat.expires_at))?;
    let rows = beat.tasks.into_iter().map(|held| {
        let stop =
            held.stop.map_or_else(String::new, |why| format!("to be stopped: {}", plain(&why)));
        [held.task_id.to_string(), held.attempt.to_string(), stop]
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        context.output.listing(["TASK", "ATTEMPT", "NOTE"], rows)?;
    }
    Ok(Exit::Done)
}
