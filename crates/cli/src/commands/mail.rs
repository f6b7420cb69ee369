//! `godel mail`: letters between agents and people.

use godel_api::{Letter, NewLetter};
use godel_args::agent::Mail as Asked;
use godel_console::measure::since;
use godel_console::output::{STRONG, plain, styled};
use godel_console::{Context, Exit, Result, locate, lookup};
use godel_model::{Clock as _, SystemClock};
use reqwest::Method;
use serde_json::json;

use super::agent::text;

const PATH: &str = "/api/v1/mail";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::List { agent, limit } => list(context, agent, limit as usize).await,
        Asked::Send { to, text: given } => send(context, to, &given).await,
    }
}

async fn list(context: &Context, agent: Option<String>, limit: usize) -> Result<Exit> {
    let found = locate::server(context).await?;
    let filter = agent.map(|agent| json!({ "agent": agent }));
    let (items, more) = lookup::first::<Letter>(&found.client, PATH, filter, limit).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&json!({ "items": items, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    if items.is_empty() {
        output.remark("there are no letters");
    }
    let now = SystemClock.now();
    for (place, letter) in items.iter().enumerate() {
        if place > 0 {
            output.line("")?;
        }
        let new = if letter.read { "" } else { " (new)" };
        let (from, to) = (plain(&letter.from), plain(&letter.to));
        let age = since(letter.sent_at, now);
        output.line(format_args!("{} to {to}, {age} ago{new}", styled(STRONG, from)))?;
        output.quote(&letter.text)?;
    }
    if more {
        output.remark("there are older ones: raise --limit");
    }
    Ok(Exit::Done)
}

async fn send(context: &Context, to: String, given: &str) -> Result<Exit> {
    let letter = NewLetter { to, text: text(context, given)? };
    let found = locate::server(context).await?;
    let sent: Letter = found.client.call(Method::POST, PATH, Some(&letter)).await?;
    if context.output.is_json() {
        context.output.value(&sent)?;
    } else {
        context.output.line(format_args!("sent to {}", plain(&sent.to)))?;
    }
    Ok(Exit::Done)
}
