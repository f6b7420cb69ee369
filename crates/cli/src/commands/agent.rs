//! `godel agent`: those who do the work.

mod attach;
mod carry;
mod log;
mod show;
mod snapshot;
mod spawn;
mod terminal;

use godel_api::{
    Agent, AgentMessage, AgentMetrics, Client, Estop, ForkAgent, Letter, RestartAgent,
};
use godel_args::agent::{Agent as Asked, Agents, ListAgents};
use godel_console::lookup::{self, NOTHING};
use godel_console::measure::{money, number};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, here, locate};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

pub(super) use self::spawn::warn_without_walls;
use super::{attempt, estop, inbox, land, mail, review, role, session};

/// Where agents are.
pub(super) const PATH: &str = "/api/v1/agents";

/// Agents that were made.
#[derive(Debug, Serialize, Deserialize)]
struct Made {
    items: Vec<Agent>,
}

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Agents) -> Result<Exit> {
    match asked {
        Agents::Agent(asked) => Box::pin(agent(context, asked)).await,
        Agents::Session(asked) => Box::pin(session::run(context, asked)).await,
        Agents::Mail(asked) => mail::run(context, asked).await,
        Agents::Inbox(asked) => inbox::run(context, asked).await,
        Agents::Role(asked) => role::run(context, asked).await,
        Agents::Estop { show: true, .. } => estop::show(context).await,
        Agents::Estop { reason, show: false } => estop::stop(context, reason).await,
        Agents::Resume => estop::resume(context).await,
        Agents::Attempt(asked) => Box::pin(attempt::run(context, asked)).await,
        Agents::Review(asked) => Box::pin(review::run(context, asked)).await,
        Agents::Land(asked) => land::run(context, asked).await,
    }
}

async fn agent(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Spawn(asked) => Box::pin(spawn::run(context, *asked)).await,
        Asked::List(asked) => list(context, asked).await,
        Asked::Show { agent } => show::run(context, &agent).await,
        Asked::Logs { agent, follow, after, tail, before, full } => {
            let how = log::How { follow, after, full, back: log::Back::asked(tail, before) };
            Box::pin(log::run(context, &agent, how)).await
        }
        Asked::Attach { agent, full, terminal, watch, take } => {
            let how = godel_worker::Attach { terminal, watch, take };
            Box::pin(attach::run(context, &agent, how, full)).await
        }
        Asked::Message { agent, text } => message(context, &agent, &text).await,
        Asked::Pause { agent } => change(context, &agent, "pause", None).await,
        Asked::Resume { agent } => change(context, &agent, "resume", None).await,
        Asked::Restart { agent, model, harness } => {
            let how = RestartAgent { model, harness };
            change(context, &agent, "restart", Some(json!(how))).await
        }
        Asked::Kill { agent } => change(context, &agent, "kill", None).await,
        Asked::Fork { agent, copies } => fork(context, &agent, copies).await,
        Asked::Kept(asked) => Box::pin(snapshot::run(context, asked)).await,
        Asked::Delete { agent } => delete(context, &agent).await,
        Asked::Metrics => metrics(context).await,
    }
}

/// Tells whether an agent does nothing any more unless somebody lets it.
pub(super) fn is_over(agent: &Agent) -> bool {
    matches!(agent.status.as_str(), "completed" | "failed" | "killed")
}

/// Asks for an agent by its id.
pub(super) async fn by_id(client: &Client, id: Uuid) -> Result<Agent, godel_api::ClientError> {
    client.call(Method::GET, &format!("{PATH}/{id}"), NOTHING).await
}

async fn list(context: &Context, asked: ListAgents) -> Result<Exit> {
    let found = locate::server(context).await?;
    let mut filter = json!({});
    let bead = asked.bead.as_deref().map(here::bead).transpose()?;
    let project = match &asked.project {
        Some(name) => Some(lookup::project(&found.client, name).await?.id.to_string()),
        None => None,
    };
    let wanted = [
        ("status", asked.status),
        ("bead", bead),
        ("convoy", asked.convoy),
        ("role", asked.role),
        ("projectId", project),
    ];
    for (name, value) in wanted {
        if let Some(value) = value {
            filter[name] = Value::String(value);
        }
    }
    let limit = asked.limit as usize;
    let (agents, more) = lookup::first::<Agent>(&found.client, PATH, Some(filter), limit).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": agents, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    if agents.is_empty() {
        context.output.remark("there are no such agents; `godel agent spawn TASK` starts one");
        return Ok(Exit::Done);
    }
    show::table(context.output, &agents)?;
    if more {
        context.output.remark("there are older ones: raise --limit");
    }
    let stop: Estop = found.client.call(Method::GET, estop::PATH, NOTHING).await?;
    if stop.stopped {
        context.output.note("note: everything stands still; `godel resume` lets it go on");
    }
    Ok(Exit::Done)
}

/// Lets something happen to an agent.
async fn change(context: &Context, given: &str, verb: &str, body: Option<Value>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = lookup::agent(&found.client, given).await?.id;
    let path = format!("{PATH}/{id}/{verb}");
    present(context, &found.client.call(Method::POST, &path, body.as_ref()).await?)
}

/// Says how an agent is after a change.
pub(super) fn present(context: &Context, agent: &Agent) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(agent)?;
        return Ok(Exit::Done);
    }
    let (label, state) = (plain(&agent.label), &agent.lifecycle_state);
    let note = agent.note.as_deref().and_then(|note| note.lines().next());
    let note = note.map_or_else(String::new, |note| format!(": {}", plain(note)));
    context.output.line(format_args!("agent {label} on {} is {state}{note}", agent.bead))?;
    Ok(Exit::Done)
}

async fn message(context: &Context, given: &str, text: &str) -> Result<Exit> {
    let text = spawn::text(context, text)?;
    let found = locate::server(context).await?;
    let agent = lookup::agent(&found.client, given).await?;
    let letter = tell(&found.client, agent.id, text).await?;
    if context.output.is_json() {
        context.output.value(&letter)?;
    } else {
        let label = plain(&agent.label);
        context.output.line(format_args!("{label} reads it at the next safe point"))?;
    }
    Ok(Exit::Done)
}

/// Says something to an agent.
async fn tell(client: &Client, agent: Uuid, text: String) -> Result<Letter> {
    let path = format!("{PATH}/{agent}/message");
    Ok(client.call(Method::POST, &path, Some(&AgentMessage { text })).await?)
}

async fn fork(context: &Context, given: &str, copies: u32) -> Result<Exit> {
    let found = locate::server(context).await?;
    let agent = lookup::agent(&found.client, given).await?;
    let path = format!("{PATH}/{}/fork", agent.id);
    let made: Made = found.client.call(Method::POST, &path, Some(&ForkAgent { copies })).await?;
    if context.output.is_json() {
        context.output.value(&made)?;
        return Ok(Exit::Done);
    }
    for copy in &made.items {
        let (label, of) = (plain(&copy.label), plain(&agent.label));
        context.output.line(format_args!("agent {label} on {} goes on from {of}", copy.bead))?;
    }
    Ok(Exit::Done)
}

async fn delete(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let agent = lookup::agent(&found.client, given).await?;
    found.client.act(Method::DELETE, &format!("{PATH}/{}", agent.id), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "deleted": agent.id }))?;
    } else {
        let label = plain(&agent.label);
        context.output.line(format_args!("agent {label} is forgotten; {} stays", agent.bead))?;
    }
    Ok(Exit::Done)
}

async fn metrics(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = "/api/v1/metrics/agents";
    let metrics: AgentMetrics = found.client.call(Method::GET, path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&metrics)?;
        return Ok(Exit::Done);
    }
    let running = format!("{} of at most {}", metrics.running, metrics.capacity);
    let mut rows = vec![["running".to_owned(), running]];
    rows.push(["waiting for a person".to_owned(), metrics.waiting.to_string()]);
    let states = metrics.states.into_iter();
    rows.extend(states.map(|(state, count)| [state, number(u64::try_from(count).unwrap_or(0))]));
    context.output.pairs(rows)?;
    Ok(Exit::Done)
}

/// Writes what an agent has spent, and of how much.
fn spent(agent: &Agent) -> String {
    let spent = agent.spent_micros.map_or("unknown".to_owned(), money);
    match agent.budget_micros {
        Some(budget) => format!("{spent} of {}", money(budget)),
        None => spent,
    }
}

/// Reads a text that was given as an argument; `-` stands for stdin.
pub(super) fn text(context: &Context, given: &str) -> Result<String> {
    spawn::text(context, given)
}

/// Refuses what `--sandbox` and `--no-walls` say together.
pub(super) fn walls(refused: (&'static str, &'static str)) -> Error {
    Error::usage(refused.0, refused.1)
}
