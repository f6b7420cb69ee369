//! `godel dead`: tasks that were tried as often as allowed.

mod delete;
mod export;

use std::io::{self, BufRead as _};

use godel_api::{Client, ReplayDead, Replayed, Task};
use godel_args::queue::{Dead as Asked, DeadFilter};
use godel_console::lookup::{self, LIST_MAX, NOTHING};
use godel_console::measure::since;
use godel_console::quietly::can_ask;
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, PoolName, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};

use super::task;

/// Where dead letters are.
const PATH: &str = "/api/v1/dead-letters";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::List { filter, limit } => list(context, &filter, limit as usize).await,
        Asked::Replay { tasks, all, filter, yes } if tasks.is_empty() => {
            replay_matching(context, (all, filter), yes).await
        }
        Asked::Replay { tasks, filter, yes, .. } => {
            one_or_other(&filter)?;
            replay_named(context, &tasks, yes).await
        }
        Asked::Delete { tasks, all, filter, yes } if tasks.is_empty() => {
            delete::matching(context, (all, filter), yes).await
        }
        Asked::Delete { tasks, filter, yes, .. } => {
            one_or_other(&filter)?;
            delete::named(context, &tasks, yes).await
        }
        Asked::Export { filter, format, output } => {
            export::run(context, &filter, format, output.as_deref()).await
        }
    }
}

fn is_empty(filter: &DeadFilter) -> bool {
    filter.pool.is_none() && filter.error.is_none() && filter.title.is_none()
}

/// Refuses a filter where tasks are named.
fn one_or_other(filter: &DeadFilter) -> Result<()> {
    if is_empty(filter) {
        return Ok(());
    }
    Err(Error::usage(
        "tasks and a filter were given",
        "name either tasks, or which ones with --pool, --error and --title",
    ))
}

/// Writes a filter as the server reads it, unless nothing was said of which dead letters are meant.
fn meant(all: bool, filter: &DeadFilter) -> Result<Value> {
    if !all && is_empty(filter) {
        return Err(Error::usage(
            "nothing was said of which dead letters are meant",
            "name tasks, or which ones with --pool, --error and --title, or give --all",
        ));
    }
    query(filter)
}

/// Writes a filter as the server reads it.
fn query(filter: &DeadFilter) -> Result<Value> {
    filter.pool.as_deref().map(str::parse::<PoolName>).transpose()?;
    let mut query = json!({});
    for (name, value) in
        [("pool", &filter.pool), ("error", &filter.error), ("title", &filter.title)]
    {
        if let Some(value) = value {
            query[name] = Value::String(value.clone());
        }
    }
    Ok(query)
}

async fn list(context: &Context, filter: &DeadFilter, limit: usize) -> Result<Exit> {
    let query = query(filter)?;
    let found = locate::server(context).await?;
    let (tasks, more) = lookup::first::<Task>(&found.client, PATH, Some(query), limit).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": tasks, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.now();
    let rows = tasks.into_iter().map(|task| {
        let error = task.error.unwrap_or_default();
        [
            task.id.to_string(),
            task.pool,
            task.attempt.to_string(),
            task.ended_at.map_or_else(String::new, |at| since(at, now)),
            task.title,
            error.lines().last().unwrap_or_default().to_owned(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let any = !rows.is_empty();
    let header = ["ID", "POOL", "ATTEMPTS", "DEAD FOR", "TITLE", "ERROR"];
    context.output.listing(header, rows)?;
    if any {
        context.output.remark("`godel dead replay` puts them back into the queue");
    }
    if more {
        context.output.remark("there are older ones: raise --limit");
    }
    Ok(Exit::Done)
}

async fn replay_matching(
    context: &Context,
    (all, filter): (bool, DeadFilter),
    yes: bool,
) -> Result<Exit> {
    let query = meant(all, &filter)?;
    let found = locate::server(context).await?;
    if !yes && !may_all(context, (&found.client, query), REPLAY).await? {
        return Ok(Exit::Failure);
    }
    let DeadFilter { pool, error, title } = filter;
    let body = ReplayDead { pool, error, title };
    let path = format!("{PATH}/replay");
    let Replayed { replayed } = found.client.call(Method::POST, &path, Some(&body)).await?;
    tell(context, replayed)
}

async fn replay_named(context: &Context, given: &[String], yes: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let client = &found.client;
    let mut tasks = Vec::with_capacity(given.len());
    for name in given {
        tasks.push(dead(client, name, "`godel task retry TASK` also tries others again").await?);
    }
    if tasks.len() > 1 && !yes && !agreed(context, REPLAY, &tasks.len().to_string()).await? {
        return Ok(Exit::Failure);
    }
    let mut replayed = 0;
    for task in tasks {
        let path = format!("{}/{}/retry", task::PATH, task.id);
        let _: Task = client.call(Method::POST, &path, NOTHING).await?;
        replayed += 1;
    }
    tell(context, replayed)
}

/// Finds a task that must be a dead letter.
async fn dead(client: &Client, given: &str, hint: &str) -> Result<Task> {
    let task = task::find(client, given).await?;
    if task.state == "dead" {
        return Ok(task);
    }
    let message = format!("task {} is no dead letter: it is {}", task.id, task.state);
    Err(Error::usage(message, hint))
}

/// What is to be done with dead letters, in words: as an order, as a question, and when it was done.
type Deed = [&'static str; 3];
const REPLAY: Deed = ["replay", "Replay", "replayed"];

/// Asks a person whether all that match are meant, if they are more than one.
async fn may_all(context: &Context, (client, query): (&Client, Value), deed: Deed) -> Result<bool> {
    let (tasks, more) = lookup::first::<Task>(client, PATH, Some(query), LIST_MAX).await?;
    let count = match more {
        true => format!("more than {}", tasks.len()),
        false => tasks.len().to_string(),
    };
    Ok(tasks.len() <= 1 || agreed(context, deed, &count).await?)
}

/// Asks a person whether so many are meant.
async fn agreed(context: &Context, [order, question, done]: Deed, count: &str) -> Result<bool> {
    if !can_ask() {
        return Err(Error::usage(
            format!("this would {order} {count} dead letters"),
            "add --yes if that is what you want",
        ));
    }
    context.output.ask(&format!("{question} {count} dead letters? [y/N] "));
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let line = line.await.unwrap_or_else(|cause| Err(io::Error::other(cause)));
    let line = line.map_err(|cause| Error::file("the terminal", "read", cause))?;
    let agreed = matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    if !agreed {
        context.output.note(format_args!("nothing was {done}"));
    }
    Ok(agreed)
}

fn tell(context: &Context, replayed: u64) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(&Replayed { replayed })?;
        return Ok(Exit::Done);
    }
    context.output.line(match replayed {
        0 => "there was nothing to replay".to_owned(),
        1 => "1 dead letter is back in the queue".to_owned(),
        many => format!("{many} dead letters are back in the queue"),
    })?;
    Ok(Exit::Done)
}
