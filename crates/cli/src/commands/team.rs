//! `godel team`: several workers at one job.

use std::path::Path;

use godel_api::{Client, ScaleTeam, Team, TeamAgents, TeamMetrics, TeamSpec};
use godel_args::workflow::Team as Asked;
use godel_console::lookup::{self, NOTHING, Part};
use godel_console::measure::money;
use godel_console::output::{STRONG, plain, styled};
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Invalid, TeamId, code};
use reqwest::Method;
use serde_json::{Value, json};

use super::workflow::{percent, read, steps_in_words};

const PATH: &str = "/api/v1/teams";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create { file, start } => create(context, &file, start).await,
        Asked::List => list(context).await,
        Asked::Show { team } => show(context, &team).await,
        Asked::Update { team, file } => update(context, &team, &file).await,
        Asked::Metrics { team } => metrics(context, team.as_deref()).await,
        Asked::Start { team } => change(context, &team, "start", None).await,
        Asked::Pause { team } => change(context, &team, "pause", None).await,
        Asked::Resume { team } => change(context, &team, "resume", None).await,
        Asked::Scale { team, size } => {
            change(context, &team, "scale", Some(json!(ScaleTeam { size }))).await
        }
        Asked::Complete { team } => change(context, &team, "complete", None).await,
        Asked::Cancel { team } => change(context, &team, "cancel", None).await,
        Asked::Delete { team } => delete(context, &team).await,
    }
}

fn spec(file: &Path) -> Result<TeamSpec> {
    let text = read(file)?;
    let spec: Value = serde_json::from_str(&text).map_err(|error| {
        Invalid::new(code::INVALID_JSON, format!("{} is not JSON: {error}", file.display()))
            .with_hint("docs/how-to/workflows.md shows a team")
    })?;
    Ok(TeamSpec(spec))
}

async fn update(context: &Context, given: &str, file: &Path) -> Result<Exit> {
    let spec = spec(file)?;
    let found = locate::server(context).await?;
    let id = find(context, &found.client, given).await?.id;
    let path = format!("{PATH}/{id}");
    present(context, &found.client.call(Method::PATCH, &path, Some(&spec)).await?)
}

async fn metrics(context: &Context, given: Option<&str>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items = match given {
        Some(given) => {
            let id = find(context, &found.client, given).await?.id;
            let path = format!("{PATH}/{id}/metrics");
            vec![found.client.call::<TeamMetrics>(Method::GET, &path, NOTHING).await?]
        }
        None => {
            let path = "/api/v1/metrics/teams";
            lookup::all(context, &found.client, path, None).await?
        }
    };
    if context.output.is_json() {
        context.output.value(&json!({ "items": items }))?;
        return Ok(Exit::Done);
    }
    let rows = items.into_iter().map(|team| {
        let (done, steps) = (percent(team.progress), steps_in_words(&team.counts));
        let (spent, simpler) = (money(team.spent_micros), team.fallbacks.to_string());
        [team.name, team.state, done, steps, spent, simpler, format!("{} s", team.seconds)]
    });
    let header = ["NAME", "STATE", "DONE", "STEPS", "SPENT", "SIMPLER WAYS", "WORKED"];
    context.output.table(header, rows.collect())?;
    Ok(Exit::Done)
}

async fn create(context: &Context, file: &Path, start: bool) -> Result<Exit> {
    let spec = spec(file)?;
    let found = locate::server(context).await?;
    let made: Team = found.client.call(Method::POST, PATH, Some(&spec)).await?;
    if start {
        return change(context, &made.id.to_string(), "start", None).await;
    }
    present(context, &made)
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items: Vec<Team> = lookup::all(context, &found.client, PATH, None).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": items }))?;
        return Ok(Exit::Done);
    }
    let rows = items.into_iter().map(|team| {
        let (done, id) = (percent(team.progress), team.id.to_string());
        [team.name, team.state, team.strategy, team.size.to_string(), done, id]
    });
    let header = ["NAME", "STATE", "STRATEGY", "SIZE", "DONE", "ID"];
    context.output.table(header, rows.collect())?;
    Ok(Exit::Done)
}

async fn show(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let team = find(context, &found.client, given).await?;
    if context.output.is_json() {
        context.output.value(&team)?;
        return Ok(Exit::Done);
    }
    let output = context.output;
    let headline = format!("{} ({})", plain(&team.name), team.state);
    output.line(format_args!("{}\n", styled(STRONG, headline)))?;
    let spent = match team.budget_micros {
        Some(budget) => format!("{} of {}", money(team.spent_micros), money(budget)),
        None => money(team.spent_micros),
    };
    let mut rows = vec![
        ["id".to_owned(), team.id.to_string()],
        ["strategy".to_owned(), team.strategy.clone()],
        ["at once".to_owned(), team.size.to_string()],
        ["done".to_owned(), percent(team.progress)],
        ["steps".to_owned(), steps_in_words(&team.counts)],
        ["spent".to_owned(), spent],
    ];
    rows.extend(team.run_id.map(|run| ["run".to_owned(), run.to_string()]));
    output.pairs(rows)?;
    let result = team.result.as_ref().map(ToString::to_string);
    let texts = [("alert", team.alert.clone()), ("error", team.error.clone()), ("result", result)];
    let fallbacks = team.fallbacks.iter().map(|why| ("took a simpler way", Some(why.clone())));
    for (name, text) in fallbacks.chain(texts) {
        if let Some(text) = text {
            output.line(format_args!("\n{name}"))?;
            output.quote(&text)?;
        }
    }
    let path = format!("{PATH}/{}/agents", team.id);
    let agents: TeamAgents = found.client.call(Method::GET, &path, NOTHING).await?;
    if !agents.items.is_empty() {
        let row = |one: godel_api::TeamAgent| [one.worker_id.to_string(), one.tasks.to_string()];
        output.line("")?;
        output.table(["WORKER", "TASKS"], agents.items.into_iter().map(row).collect())?;
    }
    match (team.state.as_str(), team.run_id) {
        ("created", _) => {
            output.line(format_args!("\n`godel team start {}` lets it begin.", team.id))?;
        }
        (_, Some(run)) => {
            output.line(format_args!("\n`godel workflow status {run}` shows its steps."))?;
        }
        _ => {}
    }
    Ok(Exit::Done)
}

async fn change(context: &Context, given: &str, verb: &str, body: Option<Value>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = find(context, &found.client, given).await?.id;
    let path = format!("{PATH}/{id}/{verb}");
    present(context, &found.client.call(Method::POST, &path, body.as_ref()).await?)
}

fn present(context: &Context, team: &Team) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(team)?;
        return Ok(Exit::Done);
    }
    let (name, state, size) = (plain(&team.name), &team.state, team.size);
    context.output.line(format_args!("team {name} is {state}, {size} at once; id {}", team.id))?;
    Ok(Exit::Done)
}

async fn delete(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let team = find(context, &found.client, given).await?;
    found.client.act(Method::DELETE, &format!("{PATH}/{}", team.id), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "deleted": team.id }))?;
    } else {
        context.output.line(format_args!("team {} is deleted", plain(&team.name)))?;
    }
    Ok(Exit::Done)
}

/// Finds a team by its id, a part of it, or its name.
async fn find(context: &Context, client: &Client, given: &str) -> Result<Team> {
    if let Ok(id) = given.parse::<TeamId>() {
        return Ok(client.call(Method::GET, &format!("{PATH}/{id}"), NOTHING).await?);
    }
    let all: Vec<Team> = lookup::all(context, client, PATH, None).await?;
    let missing = (code::TEAM_NOT_FOUND, "`godel team list` shows all teams");
    let part = Part { given, kind: "team", missing };
    part.pick(all, |team| (team.id, team.name.clone()), |team| team.name == given)
}
