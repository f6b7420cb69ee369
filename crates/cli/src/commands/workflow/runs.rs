//! Runs of workflows: starting, watching and steering them.

use std::path::Path;
use std::time::Duration;

use godel_api::{
    AnswerStep, CancelledRuns, Client, NewRun, Run, RunRow, RunStep, RunStepDetail, RunSteps,
};
use godel_args::workflow::{Answered, RunWorkflow};
use godel_console::lookup::{self, NOTHING, Part, segment};
use godel_console::measure::{millis, span};
use godel_console::output::{STRONG, plain, styled};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{RunId, code};
use godel_worker::Patience;
use reqwest::Method;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{is_file, percent, plan, read, steps_in_words};
use crate::commands::worker::notes;

/// Where runs are.
pub(super) const PATH: &str = "/api/v1/runs";
/// Among how many of the newest runs a part of an id is looked for.
const NEWEST: usize = 1_000;
/// How long to wait at first before asking whether a run is over.
const LOOK_FIRST: Duration = Duration::from_millis(100);
/// How long to wait at most.
const LOOK_LAST: Duration = Duration::from_secs(2);

/// Finds the id of a run by the id, its beginning or its end.
pub(super) async fn id(client: &Client, given: &str) -> Result<Uuid> {
    if let Ok(id) = given.parse::<RunId>() {
        return Ok(id.uuid());
    }
    let (newest, _) = lookup::first::<RunRow>(client, PATH, None, NEWEST).await?;
    let missing = (code::RUN_NOT_FOUND, "`godel workflow runs` shows ids");
    let part = Part { given, kind: "run", missing };
    let found =
        part.pick(newest, |run| (run.id, format!("{}  {}", run.state, run.name)), |_| false);
    Ok(found?.id)
}

/// Reads what a run is given.
fn inputs(given: &[String]) -> Result<Map<String, Value>> {
    let mut inputs = Map::new();
    for pair in given {
        let usage = |message: String| {
            Error::usage(message, "write NAME=TEXT, or NAME:=JSON, such as branch=main or count:=3")
        };
        let (name, text) = pair
            .split_once('=')
            .ok_or_else(|| usage(format!("\"{pair}\" is no input of a workflow")))?;
        let (name, value) = match name.strip_suffix(':') {
            Some(name) => {
                let value = serde_json::from_str(text);
                (name, value.map_err(|error| usage(format!("{name} is not JSON: {error}")))?)
            }
            None => (name, Value::String(text.to_owned())),
        };
        if name.is_empty() || inputs.insert(name.to_owned(), value).is_some() {
            return Err(usage(format!("\"{pair}\" has no name, or one that was given before")));
        }
    }
    Ok(inputs)
}

/// Starts a run.
pub(super) async fn start(context: &Context, asked: RunWorkflow) -> Result<Exit> {
    let RunWorkflow { what, input, key, wait } = asked;
    let inputs = inputs(&input)?;
    let new = match is_file(&what) {
        true if what == "-" => NewRun { source: Some(read(Path::new("-"))?), ..NewRun::default() },
        true => {
            // All mistakes are told here, with their places.
            plan(Path::new(&what))?;
            NewRun { source: Some(read(Path::new(&what))?), ..NewRun::default() }
        }
        false => NewRun { workflow: Some(what), ..NewRun::default() },
    };
    let new = NewRun { inputs, key, ..new };
    let found = locate::server(context).await?;
    let run: Run = found.client.call(Method::POST, PATH, Some(&new)).await?;
    if wait {
        return wait_for(context, Patience::new(found.client, notes(context.output)), run.row.id)
            .await;
    }
    if context.output.is_json() {
        context.output.value(&run)?;
    } else {
        context.output.line(run.row.id)?;
        context.output.remark(format_args!("`godel workflow status {}` shows it", run.row.id));
    }
    Ok(Exit::Done)
}

/// Waits until a run is over; a server that is gone for a while does not matter.
async fn wait_for(context: &Context, server: Patience, id: Uuid) -> Result<Exit> {
    let output = context.output;
    output.remark(format_args!("waiting for {id}; Ctrl-C ends the waiting, not the run"));
    let (path, mut pause) = (format!("{PATH}/{id}"), LOOK_FIRST);
    let run: Run = loop {
        let look = || server.client.call::<Run>(Method::GET, &path, NOTHING);
        let run = server.until_answered(look).await?;
        if matches!(run.row.state.as_str(), "completed" | "failed" | "cancelled") {
            break run;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_LAST);
    };
    let exit = if run.row.state == "completed" { Exit::Done } else { Exit::Failure };
    if output.is_json() {
        output.value(&run)?;
    } else if exit == Exit::Done {
        output.line(run.outputs.unwrap_or_else(|| json!({})))?;
    } else {
        let why = plain(run.error.as_deref().unwrap_or("no reason was told"));
        output.note(format_args!("run {id} is {}: {why}", run.row.state));
        output.note(format_args!("  hint: `godel workflow status {id}` tells more"));
    }
    Ok(exit)
}

/// Lists runs.
pub(super) async fn list(
    context: &Context,
    workflow: Option<String>,
    limit: usize,
) -> Result<Exit> {
    let found = locate::server(context).await?;
    let filter = match workflow {
        Some(name) => {
            Some(json!({ "workflow": super::id(context, &found.client, &name).await?.to_string() }))
        }
        None => None,
    };
    let (items, more) = lookup::first::<RunRow>(&found.client, PATH, filter, limit).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": items, "hasMore": more }))?;
        return Ok(Exit::Done);
    }
    let rows = items
        .into_iter()
        .map(|run| [run.id.to_string(), run.state, format!("{:.0}", run.created_at), run.name]);
    context.output.listing(["ID", "STATE", "MADE", "WORKFLOW"], rows.collect())?;
    if more {
        context.output.remark("there are older ones: raise --limit");
    }
    Ok(Exit::Done)
}

async fn all_steps(client: &Client, run: Uuid) -> Result<Vec<RunStep>> {
    let (path, mut from, mut all) = (format!("{PATH}/{run}/steps"), 0, Vec::new());
    loop {
        let page: RunSteps = client.get(&path, &[("from", from.to_string())]).await?;
        all.extend(page.steps);
        match page.next {
            Some(next) => from = next,
            None => return Ok(all),
        }
    }
}

/// Shows how a run stands.
pub(super) async fn status(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = id(&found.client, given).await?;
    let run: Run = found.client.call(Method::GET, &format!("{PATH}/{id}"), NOTHING).await?;
    let steps = all_steps(&found.client, id).await?;
    if context.output.is_json() {
        let mut answer = json!(run);
        answer["steps"] = json!(steps);
        context.output.value(&answer)?;
        return Ok(Exit::Done);
    }
    facts(context, &run)?;
    let rows = steps.iter().map(|step| {
        let took = step.started_at.zip(step.finished_at);
        let took = took.map(|(from, to)| millis(to.duration_since(from).as_secs_f64() * 1_000.0));
        let due = step.due_at.filter(|_| step.state == "waiting");
        let note = due.map(|at| format!("until {at:.0}")).or_else(|| step.error.clone());
        [
            step.id.clone(),
            step.state.clone(),
            step.kind.clone(),
            took.unwrap_or_else(|| "-".to_owned()),
            step.task_id.map_or("-".to_owned(), |task| task.to_string()),
            note.unwrap_or_default(),
        ]
    });
    context.output.line("")?;
    let header = ["STEP", "STATE", "KIND", "TOOK", "TASK", "NOTE"];
    context.output.listing(header, rows.collect())?;
    if let Some(next) = next(&run, &steps) {
        context.output.line(format_args!("\n{next}"))?;
    }
    Ok(Exit::Done)
}

/// Shows all that a step of a run has done.
pub(super) async fn step(context: &Context, given: &str, step: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = id(&found.client, given).await?;
    let path = format!("{PATH}/{id}/steps/{}", segment(step));
    let known: RunStepDetail = found.client.call(Method::GET, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&known)?;
        return Ok(Exit::Done);
    }
    let headline = format!("{} ({})", plain(&known.step.id), known.step.state);
    context.output.line(format_args!("{}\n", styled(STRONG, headline)))?;
    let mut rows = Vec::new();
    for round in &known.rounds {
        let begun = (round.round + 1).to_string();
        if let Some(run) = &round.run {
            rows.push([begun.clone(), "-".into(), run.state.clone(), format!("run {}", run.id)]);
        }
        for attempt in round.task.iter().flat_map(|task| task.attempts.iter().rev()) {
            let ending = attempt.ending.clone().unwrap_or_else(|| "running".to_owned());
            let note = attempt.error.clone().unwrap_or_default();
            rows.push([begun.clone(), attempt.number.to_string(), ending, note]);
        }
    }
    context.output.listing(["BEGUN", "ATTEMPT", "ENDED", "NOTE"], rows)?;
    if known.cut {
        context.output.remark("it was begun earlier, too");
    }
    Ok(Exit::Done)
}

fn facts(context: &Context, run: &Run) -> Result<()> {
    let output = context.output;
    let headline = format!("{} ({})", plain(&run.row.name), run.row.state);
    output.line(format_args!("{}\n", styled(STRONG, headline)))?;
    let mut rows = vec![
        ["id".to_owned(), run.row.id.to_string()],
        ["done".to_owned(), percent(run.progress)],
        ["steps".to_owned(), steps_in_words(&run.counts)],
        ["made".to_owned(), format!("{:.0}", run.row.created_at)],
    ];
    rows.extend(run.finished_at.map(|at| ["ended".to_owned(), format!("{at:.0}")]));
    if run.finished_at.is_none() && !run.critical_path.is_empty() {
        let likely = match run.remaining_seconds {
            0 => String::new(),
            seconds => format!(", likely {}", span(seconds as f64)),
        };
        let ahead = format!("{}{likely}", run.critical_path.join(" -> "));
        rows.push(["ahead".to_owned(), ahead]);
    }
    output.pairs(rows)?;
    let outputs = run.outputs.as_ref().map(ToString::to_string);
    for (name, text) in [("outputs", outputs), ("error", run.error.clone())] {
        if let Some(text) = text {
            output.line(format_args!("\n{name}"))?;
            output.quote(&text)?;
        }
    }
    Ok(())
}

/// Says what can be done next.
fn next(run: &Run, steps: &[RunStep]) -> Option<String> {
    let id = run.row.id;
    let asks = steps.iter().find(|step| step.kind == "approval" && step.state == "waiting");
    match (run.row.state.as_str(), asks) {
        ("paused", _) => Some(format!("`godel workflow resume {id}` lets it go on.")),
        ("failed" | "cancelled", _) => {
            Some(format!("`godel workflow retry {id}` does again what did not succeed."))
        }
        ("running", Some(step)) => {
            let step = plain(&step.id);
            Some(format!("Step {step} asks: `godel workflow approve {id} {step}`, or reject."))
        }
        _ => None,
    }
}

/// Steers a run.
pub(super) async fn change(
    context: &Context,
    given: &str,
    verb: &str,
    body: Option<Value>,
) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = id(&found.client, given).await?;
    let path = format!("{PATH}/{id}/{verb}");
    present(context, &found.client.call(Method::POST, &path, body.as_ref()).await?)
}

/// Ends all runs of a stored workflow.
pub(super) async fn cancel_all(context: &Context, workflow: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let id = super::id(context, &found.client, workflow).await?;
    let path = format!("/api/v1/workflows/{id}/cancel");
    let ended: CancelledRuns = found.client.call(Method::POST, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&ended)?;
        return Ok(Exit::Done);
    }
    let runs = match ended.cancelled {
        1 => "1 run is".to_owned(),
        count => format!("{count} runs are"),
    };
    context.output.line(format_args!("{runs} cancelled"))?;
    Ok(Exit::Done)
}

/// Answers a step that asks.
pub(super) async fn answer(context: &Context, asked: Answered, approve: bool) -> Result<Exit> {
    let Answered { run, step, note } = asked;
    change(context, &run, "answer", Some(json!(AnswerStep { step, approve, note }))).await
}

fn present(context: &Context, run: &Run) -> Result<Exit> {
    if context.output.is_json() {
        context.output.value(run)?;
        return Ok(Exit::Done);
    }
    let (name, state) = (plain(&run.row.name), &run.row.state);
    let steps = steps_in_words(&run.counts);
    context.output.line(format_args!("run {} of {name} is {state}: {steps}", run.row.id))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_text_or_json() {
        let of = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
            inputs(&given).map(Value::Object)
        };
        let read = of(&["branch=main", "count:=3", "empty=", "eq=a=b", "list:=[1]"]).unwrap();
        let expected =
            json!({ "branch": "main", "count": 3, "empty": "", "eq": "a=b", "list": [1] });
        assert_eq!(read, expected);
        for bad in [&["branch"][..], &["=x"], &[":=1"], &["n:=x"], &["a=1", "a=2"]] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }
}
