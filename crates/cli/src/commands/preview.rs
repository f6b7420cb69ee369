//! `godel preview`: the app that is worked on, running.

use std::path::Path;

use godel_api::{Client, ClientError, NewPreview, Preview, PreviewList};
use godel_args::preview::Preview as Asked;
use godel_console::lookup::{NOTHING, segment};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, here, locate};
use godel_model::{Report as _, code};
use reqwest::Method;

const PATH: &str = "/api/v1/previews";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Start { what, project, command } => {
            start(context, (what, project.as_deref()), &command).await
        }
        Asked::List { bead, agent } => list(context, bead, agent).await,
        Asked::Show { id } => show(context, &id).await,
        Asked::Stop { id } => stop(context, &id).await,
        Asked::Files { folder, port } => files(&folder, port).await,
    }
}

/// Serves files; it needs neither a server nor settings.
pub(crate) async fn files(folder: &Path, port: u16) -> Result<Exit> {
    let served = godel_previews::serve_files(folder, port).await;
    served.map_err(|cause| Error::file(&folder.display(), "served", cause))?;
    Ok(Exit::Done)
}

/// Begins with an agent of that name, or else with a bead.
async fn begin(client: &Client, new: &NewPreview) -> Result<Preview> {
    let made: std::result::Result<Preview, ClientError> =
        client.call(Method::POST, PATH, Some(new)).await;
    match made {
        Err(error) if error.code() == code::AGENT_NOT_FOUND => {
            let (bead, agent) = (new.agent.clone(), None);
            let new = NewPreview { bead, agent, ..new.clone() };
            Ok(client.call(Method::POST, PATH, Some(&new)).await?)
        }
        made => Ok(made?),
    }
}

async fn start(
    context: &Context,
    (what, project): (String, Option<&str>),
    command: &[String],
) -> Result<Exit> {
    let client = locate::server(context).await?.client;
    let project = here::project_if_known(context, &client, project).await?;
    let command = (!command.is_empty()).then(|| command.join(" "));
    let new = NewPreview { bead: None, agent: Some(what), project, command };
    let made = begin(&client, &new).await?;
    if context.output.is_json() {
        context.output.value(&made)?;
        return Ok(Exit::Done);
    }
    context.output.line(format_args!("{}", made.url))?;
    let files = match &made.commit {
        Some(commit) => format!("the files of commit {}", commit.get(..10).unwrap_or(commit)),
        None => "the files as they are being changed".to_owned(),
    };
    context.output.remark(format_args!("{} shows {files}", made.id));
    context.output.remark(format_args!(
        "`godel preview show {0}` tells how far it is, `godel preview stop {0}` ends it",
        made.id
    ));
    Ok(Exit::Done)
}

async fn list(context: &Context, bead: Option<String>, agent: Option<String>) -> Result<Exit> {
    let client = locate::server(context).await?.client;
    let wanted = [("bead", bead), ("agent", agent)];
    let wanted = wanted.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let wanted: Vec<String> =
        wanted.map(|(name, value)| format!("{name}={}", segment(&value))).collect();
    let path = format!("{PATH}?{}", wanted.join("&"));
    let list: PreviewList = client.call(Method::GET, path.trim_end_matches('?'), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&list)?;
        return Ok(Exit::Done);
    }
    if list.items.is_empty() {
        context.output.remark("there are no previews: `godel preview start BEAD` starts one");
    }
    let rows = list.items.into_iter().map(|one| {
        let id = one.id.to_string();
        [id, one.state, one.bead, one.agent.unwrap_or_default(), one.url]
    });
    context.output.listing(["ID", "STATE", "BEAD", "AGENT", "WHERE"], rows.collect())?;
    Ok(Exit::Done)
}

async fn show(context: &Context, id: &str) -> Result<Exit> {
    let client = locate::server(context).await?.client;
    let path = format!("{PATH}/{}", segment(id));
    let one: Preview = client.call(Method::GET, &path, NOTHING).await?;
    tell(context, &one)
}

fn tell(context: &Context, one: &Preview) -> Result<Exit> {
    let output = context.output;
    if output.is_json() {
        output.value(one)?;
        return Ok(Exit::Done);
    }
    let why = one.why.as_deref().map(|why| format!(": {}", plain(why))).unwrap_or_default();
    output.line(format_args!("{} {}{why}", one.url, one.state))?;
    output.line(format_args!("runs: {}", plain(&one.command)))?;
    for line in one.output.lines() {
        output.line(format_args!("  {}", plain(line)))?;
    }
    Ok(Exit::Done)
}

async fn stop(context: &Context, id: &str) -> Result<Exit> {
    let client = locate::server(context).await?.client;
    let path = format!("{PATH}/{}", segment(id));
    let one: Preview = client.call(Method::DELETE, &path, NOTHING).await?;
    tell(context, &one)
}
