//! `godel schedule`: tasks that come again and again.

use godel_api::{Client, NewSchedule, Schedule, SchedulePatch};
use godel_args::queue::{NewSchedule as New, Schedule as Asked};
use godel_console::lookup::{self, NOTHING};
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Invalid, ScheduleId, code};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::json;

use super::task;

const PATH: &str = "/api/v1/schedules";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create(new) => create(context, *new).await,
        Asked::List => list(context).await,
        Asked::Show { schedule } => {
            let found = locate::server(context).await?;
            let schedule = find(context, &found.client, &schedule).await?;
            present(context, schedule)
        }
        Asked::Pause { schedule } => pause(context, &schedule, true).await,
        Asked::Resume { schedule } => pause(context, &schedule, false).await,
        Asked::Delete { schedule } => delete(context, &schedule).await,
    }
}

async fn create(context: &Context, new: New) -> Result<Exit> {
    let New { name, title, cron, timezone, options } = new;
    let task = task::asked(title, options)?;
    let new = NewSchedule { name, cron, timezone, task };
    let found = locate::server(context).await?;
    present(context, found.client.call(Method::POST, PATH, Some(&new)).await?)
}

fn at(at: Option<Timestamp>, none: &str) -> String {
    at.map_or_else(|| none.to_owned(), |at| format!("{at:.0}"))
}

fn next(schedule: &Schedule) -> String {
    if schedule.paused { "paused".to_owned() } else { at(schedule.next_at, "never again") }
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items: Vec<Schedule> = lookup::all(context, &found.client, PATH, None).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": items }))?;
        return Ok(Exit::Done);
    }
    let rows = items.into_iter().map(|one| {
        let next = next(&one);
        [one.name, one.cron, one.timezone, next, at(one.last_at, "never"), one.pool, one.title]
    });
    let header = ["NAME", "CRON", "ZONE", "NEXT", "LAST", "POOL", "TITLE"];
    context.output.listing(header, rows.collect())?;
    Ok(Exit::Done)
}

fn present(context: &Context, schedule: Schedule) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(&schedule)?;
        return Ok(Exit::Done);
    }
    let next = next(&schedule);
    let rows = [
        ("name", schedule.name),
        ("id", schedule.id.to_string()),
        ("cron", format!("{} ({})", schedule.cron, schedule.timezone)),
        ("makes", schedule.title),
        ("pool", schedule.pool),
        ("priority", schedule.priority),
        ("next", next),
        ("last", at(schedule.last_at, "never")),
        ("made", format!("{:.0}", schedule.created_at)),
    ];
    context.output.pairs(rows.map(|(name, value)| [name.to_owned(), value]).to_vec())?;
    Ok(Exit::Done)
}

async fn pause(context: &Context, given: &str, paused: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = find(context, &found.client, given).await?.id;
    let patch = SchedulePatch { paused };
    let path = format!("{PATH}/{id}");
    let schedule: Schedule = found.client.call(Method::PATCH, &path, Some(&patch)).await?;
    if context.output.is_json() {
        context.output.value(&schedule)?;
        return Ok(Exit::Done);
    }
    context.output.line(match paused {
        true => format!("schedule {} is paused", schedule.name),
        false => format!("schedule {} comes next at {}", schedule.name, next(&schedule)),
    })?;
    Ok(Exit::Done)
}

async fn delete(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let schedule = find(context, &found.client, given).await?;
    found.client.act(Method::DELETE, &format!("{PATH}/{}", schedule.id), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "deleted": schedule.id }))?;
    } else {
        let name = schedule.name;
        context.output.line(format_args!("schedule {name} is deleted; what it made stays"))?;
    }
    Ok(Exit::Done)
}

/// Finds a schedule by its id or its name.
async fn find(context: &Context, client: &Client, given: &str) -> Result<Schedule> {
    if let Ok(id) = given.parse::<ScheduleId>() {
        return Ok(client.call(Method::GET, &format!("{PATH}/{id}"), NOTHING).await?);
    }
    let all: Vec<Schedule> = lookup::all(context, client, PATH, None).await?;
    all.into_iter().find(|one| one.name == given).ok_or_else(|| {
        let message = format!("there is no schedule \"{given}\"");
        Invalid::new(code::SCHEDULE_NOT_FOUND, message)
            .with_hint("`godel schedule list` shows all schedules")
            .into()
    })
}
