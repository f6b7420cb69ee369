//! What a script that is a worker by itself says of a task that it has.

use godel_api::{
    CompleteTask, FailTask, NewTask, ProgressTask, ReleaseTask, SpawnTask, TaskMade, TaskSaid,
};
use godel_args::queue::{Held, SpawnTask as Asked};
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, locate};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{PATH, create, find, input};
use crate::commands::worker;

/// Says something of a task that a worker has.
async fn say<T: DeserializeOwned, B: Serialize + Sync>(
    context: &Context,
    held: &Held,
    verb: &str,
    body: impl FnOnce(Uuid, u32) -> B,
) -> Result<T> {
    let found = locate::server(context).await?;
    let body = body(worker::id(&held.worker)?, held.attempt);
    let task = find::id(&found.client, &held.task).await?;
    let path = format!("{PATH}/{task}/{verb}");
    Ok(found.client.call(Method::POST, &path, Some(&body)).await?)
}

/// Says where a task is now; whoever is to stop must notice.
fn answer(context: &Context, task: &str, said: &TaskSaid) -> Result<Exit> {
    let exit = if said.stop.is_some() { Exit::Failure } else { Exit::Done };
    if context.output.is_json() {
        context.output.value(said)?;
        return Ok(exit);
    }
    let again =
        said.again_at.map_or_else(String::new, |at| format!(", and comes again at {at:.0}"));
    let stop = said
        .stop
        .as_deref()
        .map_or_else(String::new, |why| format!(", and is to be stopped: {}", plain(why)));
    context.output.line(format_args!("task {task} is {}{again}{stop}", said.state))?;
    Ok(exit)
}

/// Says that a task is done.
pub(super) async fn complete(
    context: &Context,
    held: Held,
    result: Option<String>,
) -> Result<Exit> {
    let result = result.map(|given| input::object(&given, "result")).transpose()?;
    let body = |worker_id, attempt| CompleteTask { worker_id, attempt, result, next: None };
    answer(context, &held.task, &say(context, &held, "complete", body).await?)
}

/// Says that a task failed.
pub(super) async fn fail(
    context: &Context,
    held: Held,
    error: String,
    fatal: bool,
) -> Result<Exit> {
    let body = |worker_id, attempt| FailTask { worker_id, attempt, error, fatal };
    answer(context, &held.task, &say(context, &held, "fail", body).await?)
}

/// Says how far a task is.
pub(super) async fn progress(context: &Context, held: Held, given: &str) -> Result<Exit> {
    let progress = input::object(given, "progress")?;
    let body = |worker_id, attempt| ProgressTask { worker_id, attempt, progress };
    answer(context, &held.task, &say(context, &held, "progress", body).await?)
}

/// Gives a task back.
pub(super) async fn release(context: &Context, held: Held) -> Result<Exit> {
    let body = |worker_id, attempt| ReleaseTask { worker_id, attempt };
    answer(context, &held.task, &say(context, &held, "release", body).await?)
}

/// Makes a task under another one.
pub(super) async fn spawn(context: &Context, asked: Asked) -> Result<Exit> {
    let Asked { held, title, options, key } = asked;
    let task = NewTask { key, ..create::asked(title, options)? };
    let body = |worker_id, attempt| SpawnTask { worker_id, attempt, task };
    let made: TaskMade = say(context, &held, "spawn", body).await?;
    create::present(context, &made)
}
