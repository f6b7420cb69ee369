//! Runs of workflows.

use std::time::Duration;

use godel_decide::workflow::{
    Answer, Counts, Definition, Input, NewRun, RunRow, RunState, StepIndex, StepRow, dot, mermaid,
};
use godel_model::{Reach, RunId, TaskId, WorkflowId};
use godel_store::{Alarm, RunRecord, Tx};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::instrument;

use super::effects::make;
use super::engine::{Loaded, Move, RUN, look_at, move_on};
use super::{WorkflowError, definitions, errands};
use crate::{App, Call, Error, Result};

/// How many steps one answer shows, at most.
pub const STEPS_MAX: usize = 1_000;

/// What is to be run.
#[derive(Debug, Clone)]
pub enum What {
    /// A stored workflow, by its id or its name.
    Stored(String),
    /// A workflow as text.
    Inline(String),
}

/// How a run stands.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The run as it is stored.
    pub record: RunRecord,
    /// All about it but its steps.
    pub row: RunRow,
    /// How many steps are in each state.
    pub counts: Counts,
    /// How much is done, from 0 to 1.
    pub progress: f64,
    /// The longest way that is still ahead: the ids of its steps.
    pub critical_path: Vec<String>,
    /// How long that is likely to take.
    pub remaining: Duration,
}

/// A step of a run.
#[derive(Debug, Clone)]
pub struct StepView {
    /// The id.
    pub id: String,
    /// `task`, `workflow`, `approval` or `timer`.
    pub kind: &'static str,
    /// Who may answer it.
    pub by: Vec<String>,
    /// What it waits for.
    pub depends_on: Vec<String>,
    /// How it stands.
    pub row: StepRow,
    /// The task of its present round.
    pub task: Option<TaskId>,
}

fn view(loaded: &Loaded, now: Timestamp) -> RunView {
    let status = loaded.run.status(now, |_| None);
    let name = |step: &StepIndex| loaded.run.plan().get(*step).map(|step| step.id.clone());
    RunView {
        record: loaded.record.clone(),
        row: loaded.run.row(),
        counts: status.counts,
        progress: status.progress,
        critical_path: status.remaining.steps.iter().filter_map(name).collect(),
        remaining: status.remaining.length,
    }
}

/// Starts a run; it is on disk when this returns, and goes on by itself.
///
/// # Errors
/// If the caller may not, there is no such workflow, or what it is given does not fit.
#[instrument(level = "debug", name = "app.runs.start", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn start(
    app: &App,
    call: &Call,
    what: What,
    inputs: Map<String, Value>,
    key: Option<String>,
) -> Result<RunView> {
    call.may("workflow", "execute", Reach::Own)?;
    let (workflow, definition) = match what {
        What::Stored(which) => {
            let found = definitions::find(app, call, &which).await?;
            let definition = Definition::parse(&found.source).map_err(WorkflowError::Problems)?;
            (Some(found.id), definition)
        }
        What::Inline(source) => (None, definitions::read(&source)?.definition().clone()),
    };
    errands::check(app, call, &definition).await?;
    let asked = NewRun::top(app.mint.id(), inputs);
    let now = app.clock.now();
    let (mut record, text) = make(definition, asked, (call.actor.user, now))?;
    record.workflow = workflow;
    let id = begin(app, call, record, (key, text)).await?;
    look_at(app, call.actor.tenant, id, |loaded| view(loaded, now)).await
}

/// Stores a run and lets it begin; returns the one that was there before, if it has the same key.
pub(crate) async fn begin(
    app: &App,
    call: &Call,
    record: RunRecord,
    (key, definition): (Option<String>, String),
) -> Result<RunId> {
    let now = app.clock.now();
    let id = record.id;
    let work = move |tx: &mut Tx<'_>| {
        if !tx.runs().insert(&record, key.as_deref(), &definition)? {
            let known = key.as_deref().map(|key| tx.runs().by_key(key)).transpose()?.flatten();
            return known.map(|known| known.id).ok_or(Error::OnceKeyReused);
        }
        let at = tx.clock(now)?;
        // A crash before the first turn does not keep it from beginning.
        let (kind, owner, what) = (RUN.to_owned(), id.to_string(), "start".to_owned());
        tx.runs().set_alarm(&Alarm { kind, owner, what, at })?;
        Ok(id)
    };
    let begun = app.store.write(call.scope(), work).await?.value;
    if begun == id {
        // Not only for speed: who asks next sees it running.
        match move_on(app, call.actor.tenant, id, Move::Asked(Input::Start)).await {
            Ok(()) | Err(Error::Workflow(WorkflowError::Illegal(_))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(begun)
}

/// Lists runs, the newest first, of one workflow or of all.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.runs.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    workflow: Option<WorkflowId>,
    (before, limit): (Option<RunId>, usize),
) -> Result<Vec<RunRecord>> {
    call.may("workflow", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), move |tx| tx.runs().page(workflow, before, limit));
    read.await.map_err(Error::Store)
}

/// Tells how a run stands.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.runs.find", skip_all, fields(tenant = %call.actor.tenant, run = %id))]
pub async fn find(app: &App, call: &Call, id: RunId) -> Result<RunView> {
    call.may("workflow", "read", Reach::Team)?;
    let now = app.clock.now();
    look_at(app, call.actor.tenant, id, |loaded| view(loaded, now)).await
}

/// Lists the steps of a run in the order of its workflow, from one on.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.runs.steps", skip_all, fields(tenant = %call.actor.tenant, run = %id))]
pub async fn steps(app: &App, call: &Call, id: RunId, from: u32) -> Result<Vec<StepView>> {
    call.may("workflow", "read", Reach::Team)?;
    let mut found = look_at(app, call.actor.tenant, id, |loaded| {
        let plan = loaded.run.plan();
        let name = |step| plan.get(step).map_or_else(String::new, |step| step.id.clone());
        let shown = plan.steps().filter(|(index, _)| index.0 >= from).take(STEPS_MAX);
        shown
            .map(|(index, step)| StepView {
                id: step.id.clone(),
                kind: step.kind.as_str(),
                by: step.kind.by().to_vec(),
                depends_on: plan.dependencies(index).map(name).collect(),
                row: loaded.run.step_row(index).unwrap_or_default(),
                task: None,
            })
            .collect::<Vec<_>>()
    })
    .await?;
    let keys: Vec<String> =
        found.iter().map(|step| format!("{id}/{}/{}", step.id, step.row.round)).collect();
    let read = app.store.read_long(call.scope(), move |tx: &mut Tx<'_>| {
        keys.iter().map(|key| tx.tasks().by_key(key)).collect::<godel_store::Result<Vec<_>>>()
    });
    let tasks = read.await.map_err(Error::Store)?;
    for (step, task) in found.iter_mut().zip(tasks) {
        step.task = task;
    }
    Ok(found)
}

/// Draws a run, with how its steps stand.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.runs.draw", skip_all, fields(tenant = %call.actor.tenant, run = %id))]
pub async fn draw(app: &App, call: &Call, id: RunId, as_dot: bool) -> Result<String> {
    call.may("workflow", "read", Reach::Team)?;
    look_at(app, call.actor.tenant, id, |loaded| {
        let state = |step| Some(loaded.run.step_state(step));
        if as_dot { dot(loaded.run.plan(), state) } else { mermaid(loaded.run.plan(), state) }
    })
    .await
}

/// Lets a run pause, go on, end or be tried again.
///
/// # Errors
/// If the caller may not, there is none, or it cannot do this now.
#[instrument(level = "debug", name = "app.runs.control", skip_all, fields(tenant = %call.actor.tenant, run = %id))]
pub async fn control(app: &App, call: &Call, id: RunId, input: Input) -> Result<RunView> {
    call.may("workflow", "execute", Reach::Own)?;
    let tenant = call.actor.tenant;
    let by = look_at(app, tenant, id, |loaded| loaded.record.created_by).await?;
    if by != call.actor.user {
        call.may("workflow", "execute", Reach::Team)?;
    }
    move_on(app, tenant, id, Move::Asked(input)).await?;
    let now = app.clock.now();
    look_at(app, tenant, id, |loaded| view(loaded, now)).await
}

/// Does steps that are over again, and all that depends on them; none stands for all that failed.
///
/// # Errors
/// If the caller may not, there is none, or a step is not over.
#[instrument(level = "debug", name = "app.runs.retry", skip_all, fields(tenant = %call.actor.tenant, run = %id))]
pub async fn retry(app: &App, call: &Call, id: RunId, steps: Vec<String>) -> Result<RunView> {
    call.may("workflow", "execute", Reach::Own)?;
    let found = look_at(app, call.actor.tenant, id, |loaded| {
        let index = |step: &String| {
            let none = || Error::Workflow(WorkflowError::NoStep(step.clone()));
            loaded.run.plan().find(step).ok_or_else(none)
        };
        steps.iter().map(index).collect::<Result<Vec<_>>>()
    });
    let steps = found.await??;
    control(app, call, id, Input::RetryFrom { steps }).await
}

/// Answers a step that asks a person.
///
/// # Errors
/// If the caller may not, there is none, or nobody is asked.
#[instrument(level = "debug", name = "app.runs.answer", skip_all, fields(tenant = %call.actor.tenant, run = %id))]
pub async fn answer(
    app: &App,
    call: &Call,
    (id, step): (RunId, String),
    (yes, note): (bool, Option<String>),
) -> Result<RunView> {
    call.may("workflow", "execute", Reach::Own)?;
    let tenant = call.actor.tenant;
    let found = look_at(app, tenant, id, |loaded| loaded.run.plan().find(&step)).await?;
    let index = found.ok_or_else(|| Error::Workflow(WorkflowError::NoStep(step)))?;
    let actor = &call.actor;
    let bare = actor.name.strip_prefix("user:").unwrap_or(&actor.name);
    let answer = Answer {
        by: actor.name.clone(),
        names: vec![actor.name.clone(), bare.to_owned(), format!("role:{}", actor.role)],
        note,
    };
    let input = if yes {
        Input::Approved { step: index, answer }
    } else {
        Input::Rejected { step: index, answer }
    };
    move_on(app, tenant, id, Move::Asked(input)).await?;
    let now = app.clock.now();
    look_at(app, tenant, id, |loaded| view(loaded, now)).await
}

/// Cancels all runs of a workflow that are not over; returns how many.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.runs.cancel_all", skip_all, fields(tenant = %call.actor.tenant, %workflow))]
pub async fn cancel_all(app: &App, call: &Call, workflow: WorkflowId) -> Result<u64> {
    call.may("workflow", "execute", Reach::Team)?;
    let (mut cancelled, mut before) = (0, None);
    loop {
        let page = list(app, call, Some(workflow), (before, 100)).await?;
        let Some(last) = page.last() else { return Ok(cancelled) };
        before = Some(last.id);
        for run in page {
            let over = run.state.parse::<RunState>().is_ok_and(RunState::is_final);
            if !over && control(app, call, run.id, Input::Cancel).await.is_ok() {
                cancelled += 1;
            }
        }
    }
}
