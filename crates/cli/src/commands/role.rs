//! `godel role`: what agents are for.

use godel_api::AgentRole;
use godel_args::agent::Role as Asked;
use godel_console::lookup::{NOTHING, segment};
use godel_console::output::{STRONG, plain, styled};
use godel_console::{Context, Exit, Result, locate};
use reqwest::Method;
use serde::{Deserialize, Serialize};

const PATH: &str = "/api/v1/roles";

/// All roles.
#[derive(Debug, Serialize, Deserialize)]
struct Roles {
    items: Vec<AgentRole>,
}

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::List => list(context).await,
        Asked::Show { role } => show(context, &role).await,
    }
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let roles: Roles = found.client.call(Method::GET, PATH, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&roles)?;
        return Ok(Exit::Done);
    }
    let rows = roles.items.into_iter().map(|role| {
        let of = if role.built_in { "built in" } else { "own" };
        let sandbox = role.sandbox.unwrap_or_else(|| "workspace".to_owned());
        [role.name, of.to_owned(), sandbox, role.description]
    });
    context.output.listing(["ROLE", "FROM", "SANDBOX", "FOR"], rows.collect())?;
    Ok(Exit::Done)
}

async fn show(context: &Context, name: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = format!("{PATH}/{}", segment(name));
    let role: AgentRole = found.client.call(Method::GET, &path, NOTHING).await?;
    let output = context.output;
    if output.is_json() {
        output.value(&role)?;
        return Ok(Exit::Done);
    }
    let of = if role.built_in { "built in" } else { "own" };
    output.line(format_args!("{} ({of})\n", styled(STRONG, plain(&role.name))))?;
    let unset = || "as the project has it".to_owned();
    output.pairs(vec![
        ["for".to_owned(), role.description],
        ["harness".to_owned(), role.harness.unwrap_or_else(unset)],
        ["model".to_owned(), role.model.unwrap_or_else(unset)],
        ["sandbox".to_owned(), role.sandbox.unwrap_or_else(|| "workspace".to_owned())],
    ])?;
    output.line("\nprompt")?;
    output.quote(&role.prompt)?;
    Ok(Exit::Done)
}
