//! `godel workflow`: steps that depend on each other.

mod runs;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use godel_api::{Client, Drawing, StepCounts, Workflow, WorkflowSource};
use godel_args::workflow::{Joined, Workflow as Asked};
use godel_console::lookup::{self, NOTHING, segment};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, locate};
use godel_decide::workflow::{Plan, Problems, dot, mermaid};
use godel_model::{Invalid, RunId, WorkflowId, code};
use reqwest::Method;
use serde_json::json;

use super::team;

const PATH: &str = "/api/v1/workflows";
/// What is read at most: more than the text of a workflow may have.
const READ_MAX_BYTES: u64 = 4 * 1024 * 1024 + 1;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Joined) -> Result<Exit> {
    match asked {
        Joined::Workflow(asked) => workflow(context, asked).await,
        Joined::Team(asked) => Box::pin(team::run(context, asked)).await,
    }
}

async fn workflow(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Validate { file } => validate(context, &file),
        Asked::Run(asked) => Box::pin(runs::start(context, asked)).await,
        Asked::Status { run } => Box::pin(runs::status(context, &run)).await,
        Asked::Step { run, step } => Box::pin(runs::step(context, &run, &step)).await,
        Asked::Runs { workflow, limit } => runs::list(context, workflow, limit as usize).await,
        Asked::Pause { run } => runs::change(context, &run, "pause", None).await,
        Asked::Resume { run } => runs::change(context, &run, "resume", None).await,
        Asked::Cancel { what, all: true } => runs::cancel_all(context, &what).await,
        Asked::Cancel { what, all: false } => runs::change(context, &what, "cancel", None).await,
        Asked::Retry { run, step } => {
            runs::change(context, &run, "retry", Some(json!({ "steps": step }))).await
        }
        Asked::Approve(answer) => runs::answer(context, answer, true).await,
        Asked::Reject(answer) => runs::answer(context, answer, false).await,
        Asked::Export { what, format } => export(context, &what, &format).await,
        Asked::Save { file } => save(context, &file).await,
        Asked::List => list(context).await,
        Asked::Show { workflow } => show(context, &workflow).await,
        Asked::Delete { workflow } => delete(context, &workflow).await,
    }
}

/// Reads a file, or stdin.
pub(super) fn read(file: &Path) -> Result<String> {
    let fail = |cause: io::Error| Error::file(&file.display(), "read", cause);
    let mut text = String::new();
    if file == Path::new("-") {
        io::stdin().lock().take(READ_MAX_BYTES).read_to_string(&mut text).map_err(fail)?;
    } else {
        let file = File::open(file).map_err(fail)?;
        file.take(READ_MAX_BYTES).read_to_string(&mut text).map_err(fail)?;
    }
    if text.len() as u64 == READ_MAX_BYTES {
        return Err(Error::usage(format!("{} is too long", file.display()), "it may have 4 MiB"));
    }
    Ok(text)
}

/// Reads a workflow; all mistakes are told with their places.
fn plan(file: &Path) -> Result<Plan> {
    Plan::parse(&read(file)?).map_err(|problems| refuse(file, &problems))
}

fn refuse(file: &Path, problems: &Problems) -> Error {
    let count = problems.iter().count() + problems.left_out();
    let what = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
    let told = format!("{} has {what}", file.display());
    Invalid::new(code::INVALID_WORKFLOW, told).with_hint(plain_lines(&problems.to_string())).into()
}

/// Takes out of each line what would command a terminal.
fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

fn validate(context: &Context, file: &Path) -> Result<Exit> {
    let plan = plan(file)?;
    let name = plain(&plan.definition().name);
    let (steps, waves) = (plan.len(), plan.waves().len());
    if context.output.is_json() {
        let ids: Vec<_> = plan.steps().map(|(_, step)| step.id.clone()).collect();
        context.output.value(&json!({ "name": name, "steps": ids, "waves": waves }))?;
    } else {
        let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
        let waves = if waves == 1 { "1 wave".to_owned() } else { format!("{waves} waves") };
        context.output.line(format_args!("workflow {name} is right: {steps} in {waves}"))?;
    }
    Ok(Exit::Done)
}

/// Tells whether a file is meant, as opposed to a name.
fn is_file(what: &str) -> bool {
    let path = Path::new(what);
    let ending = path.extension().and_then(|ending| ending.to_str());
    what == "-" || matches!(ending, Some("yaml" | "yml" | "json")) || path.is_file()
}

async fn export(context: &Context, what: &str, format: &str) -> Result<Exit> {
    if is_file(what) {
        let plan = plan(Path::new(what))?;
        let text = if format == "dot" { dot(&plan, |_| None) } else { mermaid(&plan, |_| None) };
        return drawn(context, Drawing { format: format.to_owned(), text });
    }
    let found = locate::server(context).await?;
    let stored = match what.parse::<RunId>() {
        Ok(_) => None,
        Err(_) => stored(context, &found.client, what).await?,
    };
    let path = match stored {
        Some(workflow) => format!("{PATH}/{}/drawing", workflow.id),
        None => format!("{}/{}/drawing", runs::PATH, runs::id(&found.client, what).await?),
    };
    drawn(context, found.client.get(&path, &[("format", format.to_owned())]).await?)
}

fn drawn(context: &Context, drawing: Drawing) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(&drawing)?;
    } else {
        context.output.text(drawing.text)?;
    }
    Ok(Exit::Done)
}

/// Finds a stored workflow by its name, if there is one.
async fn stored(context: &Context, client: &Client, name: &str) -> Result<Option<Workflow>> {
    let all: Vec<Workflow> = lookup::all(context, client, PATH, None).await?;
    let is_meant = |one: &Workflow| one.name == name || one.id.to_string() == name;
    Ok(all.into_iter().find(is_meant))
}

async fn save(context: &Context, file: &Path) -> Result<Exit> {
    let source = read(file)?;
    let plan = Plan::parse(&source).map_err(|problems| refuse(file, &problems))?;
    let found = locate::server(context).await?;
    let known = stored(context, &found.client, &plan.definition().name).await?;
    let (method, path) = match &known {
        Some(known) => (Method::PATCH, format!("{PATH}/{}", known.id)),
        None => (Method::POST, PATH.to_owned()),
    };
    let saved: Workflow =
        found.client.call(method, &path, Some(&WorkflowSource { source })).await?;
    if context.output.is_json() {
        context.output.value(&saved)?;
        return Ok(Exit::Done);
    }
    let (name, version) = (plain(&saved.name), saved.version);
    let how = if known.is_some() { "replaced" } else { "stored" };
    context.output.line(format_args!("workflow {name} is {how}, version {version}"))?;
    Ok(Exit::Done)
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items: Vec<Workflow> = lookup::all(context, &found.client, PATH, None).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": items }))?;
        return Ok(Exit::Done);
    }
    let rows = items.into_iter().map(|one| {
        let changed = format!("{:.0}", one.updated_at);
        [one.name, one.version.to_string(), changed, one.id.to_string()]
    });
    context.output.table(["NAME", "VERSION", "CHANGED", "ID"], rows.collect())?;
    Ok(Exit::Done)
}

async fn show(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = format!("{PATH}/{}", segment(given));
    let workflow: Workflow = found.client.call(Method::GET, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&workflow)?;
    } else {
        context.output.text(workflow.source.unwrap_or_default())?;
    }
    Ok(Exit::Done)
}

async fn delete(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let path = format!("{PATH}/{}", segment(given));
    found.client.act(Method::DELETE, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "deleted": given }))?;
    } else {
        context.output.line(format_args!("workflow {given} is deleted; its runs stay"))?;
    }
    Ok(Exit::Done)
}

/// Writes a share of a whole as people do.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", share.clamp(0.0, 1.0) * 100.0)
}

/// Says how many steps are in each state that has any.
pub(super) fn steps_in_words(counts: &StepCounts) -> String {
    let all = [
        (counts.succeeded, "succeeded"),
        (counts.running, "running"),
        (counts.waiting, "waiting"),
        (counts.ready, "ready"),
        (counts.pending, "pending"),
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
        (counts.cancelled, "cancelled"),
    ];
    let some = all.into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = some.map(|(count, state)| format!("{count} {state}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// Reads the id of a stored workflow, or finds it by its name.
async fn id(context: &Context, client: &Client, given: &str) -> Result<uuid::Uuid> {
    if let Ok(id) = given.parse::<WorkflowId>() {
        return Ok(id.uuid());
    }
    let found = stored(context, client, given).await?.map(|workflow| workflow.id);
    found.ok_or_else(|| {
        Invalid::new(code::WORKFLOW_NOT_FOUND, format!("no workflow is called \"{given}\""))
            .with_hint("`godel workflow list` shows those that are stored")
            .into()
    })
}
