//! `godel agent snapshot` and its like: what an agent was, and one that goes on from there.

use godel_api::{Agent, AgentSnapshot};
use godel_args::agent::Kept;
use godel_console::lookup::{self, NOTHING, segment};
use godel_console::output::plain;
use godel_console::{Context, Exit, Result, locate};
use reqwest::Method;
use serde_json::json;

use super::{PATH, carry};

/// Where snapshots are.
pub(super) const SNAPSHOTS: &str = "/api/v1/snapshots";

/// Does what was asked for.
pub(super) async fn run(context: &Context, asked: Kept) -> Result<Exit> {
    match asked {
        Kept::Snapshot { agent } => take(context, &agent).await,
        Kept::Snapshots { limit } => list(context, limit).await,
        Kept::Restore { snapshot } => restore(context, &snapshot).await,
        Kept::Export { snapshot, file, force } => {
            carry::export(context, &snapshot, (&file, force)).await
        }
        Kept::Import { file, project } => carry::import(context, &file, project.as_deref()).await,
        Kept::Forget { snapshot } => forget(context, &snapshot).await,
    }
}

/// Keeps what an agent is now.
async fn take(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = lookup::agent(&found.client, given).await?.id;
    let path = format!("{PATH}/{id}/snapshot");
    let taken: AgentSnapshot = found.client.call(Method::POST, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&taken)?;
    } else {
        context.output.line(taken.id)?;
    }
    Ok(Exit::Done)
}

/// Lists snapshots, the newest first.
async fn list(context: &Context, limit: usize) -> Result<Exit> {
    let found = locate::server(context).await?;
    let (items, more) =
        lookup::first::<AgentSnapshot>(&found.client, SNAPSHOTS, None, limit).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": items, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    let rows = items.iter().map(|one| {
        [
            one.id.to_string(),
            plain(&one.agent).to_string(),
            one.bead.clone(),
            one.taken_at.to_string(),
        ]
    });
    context.output.table(["ID", "AGENT", "BEAD", "TAKEN"], rows.collect())?;
    Ok(Exit::Done)
}

/// Makes an agent that goes on from a snapshot.
async fn restore(context: &Context, id: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = format!("{SNAPSHOTS}/{}/restore", segment(id));
    let made: Agent = found.client.call(Method::POST, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&made)?;
    } else {
        let label = plain(&made.label);
        context.output.line(format_args!("agent {label} on {} goes on from there", made.bead))?;
    }
    Ok(Exit::Done)
}

/// Forgets a snapshot.
async fn forget(context: &Context, id: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = format!("{SNAPSHOTS}/{}", segment(id));
    found.client.act(Method::DELETE, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "forgotten": id }))?;
    } else {
        context.output.line(format_args!("snapshot {} is forgotten", plain(id)))?;
    }
    Ok(Exit::Done)
}
