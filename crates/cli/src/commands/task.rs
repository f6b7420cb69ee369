//! `godel task`: units of work in the queue.

mod batch;
mod create;
mod find;
mod held;
mod input;
mod show;

use godel_api::{AssignTask, CancelTask, Task, TaskDetail};
use godel_args::queue::Task as Asked;
use godel_console::lookup::{self, LIST_MAX, NOTHING};
use godel_console::measure::since;
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Clock as _, PoolName, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};

pub(super) use self::create::asked;
pub(super) use self::find::find;
use super::worker;

/// Where tasks are.
pub(super) const PATH: &str = "/api/v1/tasks";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create(new) => create::run(context, *new).await,
        Asked::List { state, pool, limit, all } => {
            let limit = if all { LIST_MAX } else { limit as usize };
            list(context, (state, pool), limit).await
        }
        Asked::Show { task } => show::run(context, &task).await,
        Asked::Cancel { task, reason } => {
            let body = CancelTask { reason };
            change(context, &task, ("cancel", Some(json!(body)))).await
        }
        Asked::Retry { task } => change(context, &task, ("retry", None)).await,
        Asked::Assign { task, worker } => assign(context, &task, &worker).await,
        Asked::Complete { held, result } => held::complete(context, held, result).await,
        Asked::Fail { held, error, fatal } => held::fail(context, held, error, fatal).await,
        Asked::Progress { held, progress } => held::progress(context, held, &progress).await,
        Asked::Release { held } => held::release(context, held).await,
        Asked::Spawn(asked) => held::spawn(context, *asked).await,
        Asked::Batch { file } => batch::run(context, &file).await,
    }
}

async fn list(
    context: &Context,
    (state, pool): (Option<String>, Option<String>),
    limit: usize,
) -> Result<Exit> {
    pool.as_deref().map(str::parse::<PoolName>).transpose()?;
    let found = locate::server(context).await?;
    let mut filter = json!({});
    for (name, value) in [("state", state), ("pool", pool)] {
        if let Some(value) = value {
            filter[name] = Value::String(value);
        }
    }
    let (tasks, more) = lookup::first::<Task>(&found.client, PATH, Some(filter), limit).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": tasks, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    table(context, tasks)?;
    if more {
        context.output.remark("there are older ones: --limit or --all lists them too");
    }
    Ok(Exit::Done)
}

/// Writes tasks in columns.
pub(super) fn table(context: &Context, tasks: Vec<Task>) -> Result<()> {
    let now = SystemClock.now();
    let rows = tasks.into_iter().map(|task| {
        let of = task.last_attempt.unwrap_or(task.retry.max_attempts);
        [
            task.id.to_string(),
            task.state,
            task.priority,
            task.pool,
            format!("{}/{of}", task.attempt),
            since(task.created_at, now),
            task.title,
        ]
    });
    let header = ["ID", "STATE", "PRIORITY", "POOL", "ATTEMPT", "AGE", "TITLE"];
    context.output.listing(header, rows.collect())
}

/// Makes a change that needs no more than the task.
async fn change(
    context: &Context,
    given: &str,
    (verb, body): (&str, Option<Value>),
) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = find::id(&found.client, given).await?;
    let path = format!("{PATH}/{id}/{verb}");
    let task: Task = found.client.call(Method::POST, &path, body.as_ref()).await?;
    present(context, &task)
}

async fn assign(context: &Context, given: &str, to: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let worker = worker::find(context, &found.client, to).await?;
    let id = find::id(&found.client, given).await?;
    let path = format!("{PATH}/{id}/assign");
    let body = AssignTask { worker_id: worker.id };
    let task: Task = found.client.call(Method::POST, &path, Some(&body)).await?;
    if !context.output.is_json() && task.pool != worker.pool {
        let pools =
            format_args!("note: it is of pool {}, the worker of {}", task.pool, worker.pool);
        context.output.note(pools);
    }
    present(context, &task)
}

/// Says where a task is after a change.
fn present(context: &Context, task: &Task) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(task)?;
        return Ok(Exit::Done);
    }
    let title = plain(&task.title);
    let state = match &task.stopping {
        Some(why) => format!("being stopped: {}", plain(why)),
        None => task.state.clone(),
    };
    context.output.line(format_args!("task {} \"{title}\" is {state}", task.id))?;
    Ok(Exit::Done)
}

/// Asks for a task and its attempts.
pub(super) async fn detail(client: &godel_api::Client, id: uuid::Uuid) -> Result<TaskDetail> {
    Ok(client.call(Method::GET, &format!("{PATH}/{id}"), NOTHING).await?)
}
