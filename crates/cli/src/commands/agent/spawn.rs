//! Starting an agent, and waiting for it.

use std::time::Duration;

use godel_api::{Agent, NewAgent};
use godel_args::agent::Spawn;
use godel_console::output::{Output, WARN, plain, styled};
use godel_console::{Context, Exit, Result, here, locate};
use godel_desk::Desk;
use reqwest::Method;

use super::{PATH, by_id, is_over, spent, walls};
use crate::commands::worker::notes;
use godel_worker::Patience;

/// How long to wait at first before asking whether an agent has ended.
const LOOK_FIRST: Duration = Duration::from_millis(200);
/// How long to wait at most.
const LOOK_LAST: Duration = Duration::from_secs(2);
/// How much of a commit id people need to see.
pub(super) const SHORT_ID: usize = 10;

/// Reads a text that was given as an argument; `-` stands for stdin.
pub(super) fn text(context: &Context, given: &str) -> Result<String> {
    Desk::new(context.environment.clone(), context.output)?.text(given)
}

/// Says what it means to have no walls.
pub(crate) fn warn_without_walls(output: Output, sandbox: Option<&str>) {
    if sandbox == Some("none") {
        let mark = styled(WARN, "warning:");
        output.note(format_args!(
            "{mark} no walls: whatever the agent runs can read and change all that the server can"
        ));
    }
}

/// Starts an agent.
pub(super) async fn run(context: &Context, asked: Spawn) -> Result<Exit> {
    let sandbox = asked.walls.profile(!asked.allow.is_empty()).map_err(walls)?;
    let task = asked.task.as_deref().map(|given| text(context, given)).transpose()?;
    let found = locate::server(context).await?;
    let given = asked.project.as_deref();
    let project_id = match asked.bead {
        Some(_) => here::project(context, &found.client, given).await?,
        None => Some(here::project_for_new(context, &found.client, given).await?),
    };
    warn_without_walls(context.output, sandbox.as_deref());
    let new = NewAgent {
        label: asked.name,
        task,
        bead: asked.bead,
        project_id,
        harness: asked.kind.harness,
        command: asked.command,
        model: asked.kind.model,
        role: asked.kind.role,
        runtime: asked.runtime,
        sandbox,
        allow: asked.allow,
        budget_micros: asked.budget,
        timeout_seconds: asked.timeout,
    };
    let agent: Agent = found.client.call(Method::POST, PATH, Some(&new)).await?;
    let output = context.output;
    let label = plain(&agent.label);
    if asked.wait {
        output.remark(format_args!("{label} works on {}; Ctrl-C ends the waiting", agent.bead));
        return wait_for(context, Patience::new(found.client, notes(output)), agent).await;
    }
    if output.is_json() {
        output.value(&agent)?;
    } else {
        output.line(&label)?;
        output.remark(format_args!(
            "it works on {}; `godel agent logs {label} --follow` shows what it does",
            agent.bead
        ));
    }
    Ok(Exit::Done)
}

/// Waits until an agent has ended; a server that is gone for a while does not matter.
async fn wait_for(context: &Context, server: Patience, mut agent: Agent) -> Result<Exit> {
    let (output, mut pause) = (context.output, LOOK_FIRST);
    let mut told = String::new();
    while !is_over(&agent) {
        let now = doing(&agent);
        if now != told {
            match agent.lifecycle_state.as_str() {
                // It would wait for ever if nobody was told.
                "waiting" => output.note(format_args!("{now}\n  hint: `godel inbox` shows it")),
                _ => output.remark(&now),
            }
            told = now;
            pause = LOOK_FIRST;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_LAST);
        agent = server.until_answered(|| by_id(&server.client, agent.id)).await?;
    }
    let exit = if agent.status == "completed" { Exit::Done } else { Exit::Failure };
    if output.is_json() {
        output.value(&agent)?;
        return Ok(exit);
    }
    let commit = agent.commit.as_deref().and_then(|id| id.get(..SHORT_ID));
    let commit = commit.map_or_else(String::new, |id| format!(", commit {id}"));
    let (label, spent) = (plain(&agent.label), spent(&agent));
    let line = format!("{label} is {}: {}{commit}, cost {spent}", agent.status, agent.bead);
    if exit == Exit::Done {
        output.line(line)?;
        return Ok(exit);
    }
    output.note(line);
    if let Some(why) = agent.last_error.as_deref().or(agent.note.as_deref()) {
        output.note(format_args!("  cause: {}", plain(why)));
    }
    output.note(format_args!("  hint: `godel agent show {label}` tells more"));
    Ok(exit)
}

/// Says what an agent is doing, in a line.
fn doing(agent: &Agent) -> String {
    let note = agent.note.as_deref().and_then(|note| note.lines().next());
    let note = note.map_or_else(String::new, |note| format!(": {}", plain(note)));
    format!("{} is {}{note}", plain(&agent.label), agent.lifecycle_state)
}
