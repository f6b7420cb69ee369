//! `godel worker`: who takes tasks.

mod run;
mod script;
mod tell;

use godel_api::{Client, Worker, WorkerDetail, WorkerPatch};
use godel_args::queue::Worker as Asked;
use godel_console::lookup::{self, NOTHING};
use godel_console::measure::since;
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, SystemClock, WorkerId, code};
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

pub(super) use self::tell::notes;

/// Where workers are.
pub(super) const PATH: &str = "/api/v1/workers";
/// How many workers are named when a name is not enough.
const NAMED_MAX: usize = 10;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Run(asked) => run::run(context, asked).await,
        Asked::Register(asked) => script::register(context, asked).await,
        Asked::Claim { worker, free, wait } => script::claim(context, &worker, free, wait).await,
        Asked::Heartbeat { worker } => script::heartbeat(context, &worker).await,
        Asked::List { all } => list(context, all).await,
        Asked::Show { worker } => show(context, &worker).await,
        Asked::Pause { worker } => change(context, &worker, "paused").await,
        Asked::Resume { worker } => change(context, &worker, "active").await,
        Asked::Remove { worker } => remove(context, &worker).await,
    }
}

/// Reads the id of a worker.
pub(super) fn id(given: &str) -> Result<Uuid> {
    Ok(given.parse::<WorkerId>()?.uuid())
}

async fn list(context: &Context, all: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let mut workers: Vec<Worker> = lookup::all(context, &found.client, PATH, None).await?;
    let before = workers.len();
    workers.retain(|worker| all || worker.status != "offline");
    if context.output.is_json() {
        context.output.value(&json!({ "items": workers }))?;
        return Ok(Exit::Done);
    }
    let (now, gone) = (SystemClock.now(), before - workers.len());
    let rows = workers.into_iter().map(|worker| {
        [
            worker.name,
            worker.status,
            format!("{}/{}", worker.load, worker.capacity),
            worker.pool,
            worker.capabilities.join(","),
            since(worker.seen_at, now),
            worker.id.to_string(),
        ]
    });
    let header = ["NAME", "STATUS", "TASKS", "POOL", "CAN", "SEEN", "ID"];
    context.output.table(header, rows.collect())?;
    if gone > 0 {
        context.output.remark(format_args!("{gone} more are gone: --all lists them too"));
    }
    Ok(Exit::Done)
}

async fn show(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = find(context, &found.client, given).await?.id;
    let path = format!("{PATH}/{id}");
    let detail: WorkerDetail = found.client.call(Method::GET, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&detail)?;
        return Ok(Exit::Done);
    }
    let WorkerDetail { worker, tasks } = detail;
    let mut rows = vec![
        ["name".to_owned(), worker.name],
        ["id".to_owned(), worker.id.to_string()],
        ["status".to_owned(), worker.status],
        ["pool".to_owned(), worker.pool],
        ["can".to_owned(), worker.capabilities.join(", ")],
        ["tasks".to_owned(), format!("{} of {}", worker.load, worker.capacity)],
        ["came".to_owned(), format!("{:.0}", worker.registered_at)],
        ["seen".to_owned(), format!("{:.0}", worker.seen_at)],
    ];
    rows.extend(worker.error.map(|error| ["error".to_owned(), error]));
    context.output.pairs(rows)?;
    if tasks.is_empty() {
        return Ok(Exit::Done);
    }
    let rows = tasks.into_iter().map(|held| {
        let stop = held.stop.map_or_else(String::new, |why| format!("to be stopped: {why}"));
        let started = format!("{:.0}", held.started_at);
        [held.task_id.to_string(), held.attempt.to_string(), started, stop]
    });
    context.output.line("")?;
    context.output.listing(["TASK", "ATTEMPT", "STARTED", "NOTE"], rows.collect())?;
    Ok(Exit::Done)
}

async fn change(context: &Context, given: &str, state: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = find(context, &found.client, given).await?.id;
    let patch = WorkerPatch { state: state.to_owned(), error: None };
    let path = format!("{PATH}/{id}");
    let worker: Worker = found.client.call(Method::PATCH, &path, Some(&patch)).await?;
    if context.output.is_json() {
        context.output.value(&worker)?;
        return Ok(Exit::Done);
    }
    let name = worker.name;
    context.output.line(match state {
        "paused" => format!("worker {name} gets no tasks for now; what it has goes on"),
        _ => format!("worker {name} gets tasks again"),
    })?;
    Ok(Exit::Done)
}

async fn remove(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let worker = find(context, &found.client, given).await?;
    found.client.act(Method::DELETE, &format!("{PATH}/{}", worker.id), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "removed": worker.id }))?;
    } else {
        let name = worker.name;
        context.output.line(format_args!("worker {name} is gone; what it had is given back"))?;
    }
    Ok(Exit::Done)
}

/// Finds a worker by its id or its name.
pub(super) async fn find(context: &Context, client: &Client, given: &str) -> Result<Worker> {
    if let Ok(id) = given.parse::<WorkerId>() {
        let path = format!("{PATH}/{id}");
        let detail: WorkerDetail = client.call(Method::GET, &path, NOTHING).await?;
        return Ok(detail.worker);
    }
    pick(lookup::all(context, client, PATH, None).await?, given)
}

/// Picks the one worker that is meant: of those that are there, or else the last one that is gone.
fn pick(workers: Vec<Worker>, given: &str) -> Result<Worker> {
    let named = workers.into_iter().filter(|worker| worker.name == given);
    let (mut there, gone): (Vec<_>, Vec<_>) = named.partition(|one| one.status != "offline");
    if there.len() > 1 {
        let line = |worker: &Worker| format!("{}  {}  {}", worker.id, worker.status, worker.pool);
        let lines: Vec<String> = there.iter().take(NAMED_MAX).map(line).collect();
        return Err(Error::usage(
            format!("\"{given}\" stands for {} workers", there.len()),
            format!("name one of them by its id:\n{}", lines.join("\n")),
        ));
    }
    there.pop().or_else(|| gone.into_iter().next()).ok_or_else(|| {
        Invalid::new(code::WORKER_NOT_FOUND, format!("there is no worker \"{given}\""))
            .with_hint("`godel worker list --all` shows all workers")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use godel_model::Report as _;

    use super::*;

    fn worker(number: u8, name: &str, status: &str) -> Worker {
        let id = format!("00000000-0000-7000-8000-0000000000{number:02}");
        serde_json::from_value(json!({
            "id": id, "name": name, "pool": "default", "capabilities": [], "status": status,
            "load": 0, "capacity": 1, "userId": id, "registeredAt": "2026-01-01T00:00:00Z",
            "seenAt": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn a_name_stands_for_one_worker_that_is_there() {
        let workers = || {
            vec![
                worker(1, "ci", "idle"),
                worker(2, "ci", "offline"),
                worker(3, "two", "busy"),
                worker(4, "two", "paused"),
                worker(5, "old", "offline"),
                worker(6, "old", "offline"),
            ]
        };
        assert_eq!(pick(workers(), "ci").unwrap().status, "idle");
        assert!(pick(workers(), "old").unwrap().id.to_string().ends_with("05"));
        let error = pick(workers(), "two").unwrap_err();
        assert_eq!(error.code(), code::INVALID_REQUEST);
        assert!(error.hint().unwrap().contains("paused"));
        assert_eq!(pick(workers(), "nobody").unwrap_err().code(), code::WORKER_NOT_FOUND);
    }
}
