//! What follows from a turn of a run, written as one transaction.

use std::sync::Arc;

use godel_decide::workflow::definition::{Step, StepKind, WorkflowRef};
use godel_decide::workflow::{
    ChildOrder, Definition, Effect, NewRun, Plan, Run, RunState, StepIndex, StepRow, StepState,
    TaskOrder,
};
use godel_model::{
    Capability, EventId, Incident, Mint, NewTask, Owner, Payload, RunId, Task, TaskId, TenantId,
    Trouble, UserId,
};
use godel_store::{Alarm, Error as StoreError, News, RunRecord, Scope, Tx};
use jiff::Timestamp;
use serde::Serialize;

use super::WorkflowError;
use super::children::{self, RETRY};
use super::engine::{Loaded, RUN};
use crate::queue::{Add, Author, Batch, Outside, Teller, TurnError, call_off, outside, tally};
use crate::{App, Error, Result};

/// What one turn took in, and what follows from it.
pub(super) struct Turned {
    pub(super) news: Vec<News>,
    pub(super) alarms: Vec<Alarm>,
    pub(super) effects: Vec<Effect>,
    pub(super) now: Timestamp,
}

/// Everything that is written, prepared outside of the transaction, which may run more than once.
#[derive(Default)]
struct Writes {
    steps: Vec<(u32, String)>,
    /// The state of the run and all about it, if that changed.
    run: Option<(String, String)>,
    adds: Vec<Add>,
    cancels: Vec<String>,
    alarms: Vec<Alarm>,
    children: Vec<(RunRecord, String, String)>,
    cancel_children: Vec<String>,
    told: Vec<(&'static str, Told)>,
    /// Gates that ask a person, and those that do no longer: whose, what became of it, what is told.
    asks: Vec<Incident>,
    asked: Vec<(String, Option<String>, Told)>,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
struct Told {
    run: RunId,
    workflow: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by: Vec<String>,
}

/// Writes what follows from a turn; `false` if somebody else moved the run on.
pub(super) async fn carry_out(
    app: &App,
    tenant: TenantId,
    loaded: &Loaded,
    turned: Turned,
) -> Result<bool> {
    let Turned { news, alarms, effects, now } = turned;
    let writes = prepare(app, tenant, loaded, effects, now).await?;
    let (id, version) = (loaded.record.id, loaded.record.version);
    let outside = outside(app);
    let has_tasks = !writes.adds.is_empty();
    let rings = !writes.alarms.is_empty() || !writes.children.is_empty();
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(outside.now)?;
        let outside = Outside { now, ..outside };
        let changed = writes.run.as_ref().map(|(state, doc)| (state.as_str(), doc.as_str()));
        if !tx.runs().turn(id, version, changed, now)? {
            return Ok::<_, StoreError>(None);
        }
        for one in &news {
            tx.tasks().drop_news(RUN, &id.to_string(), one)?;
        }
        for alarm in &alarms {
            tx.runs().drop_alarm(alarm)?;
        }
        for (step, doc) in &writes.steps {
            tx.runs().put_step(id, *step, doc)?;
        }
        let due = write_tasks(tx, &writes, outside)?;
        for (record, key, definition) in &writes.children {
            if let Some(earlier) = children::earlier(tx, (record, key, definition), now)? {
                tx.runs().set_alarm(&alarm(earlier, RETRY.to_owned(), now))?;
            } else if tx.runs().insert(record, Some(key), definition)? {
                tx.runs().set_alarm(&alarm(record.id, "start".to_owned(), now))?;
            }
        }
        for key in &writes.cancel_children {
            if let Some(child) = tx.runs().by_key(key)? {
                tx.runs().set_alarm(&alarm(child.id, "cancel".to_owned(), now))?;
            }
        }
        for alarm in &writes.alarms {
            tx.runs().set_alarm(alarm)?;
        }
        let author = Author::default();
        let teller = Teller { mint: outside.mint, now, author: &author };
        for (kind, told) in &writes.told {
            tx.record(teller.event(kind, told, ("runId", told.run)))?;
        }
        write_gates(tx, (tenant, &writes), teller)?;
        Ok(Some(due))
    };
    let written = tally::write(app, tenant, work).await?;
    if has_tasks {
        app.desks.of(tenant).wake();
    }
    if rings {
        app.desks.ring_news();
    }
    Ok(written.is_some())
}

fn alarm(run: RunId, what: String, at: Timestamp) -> Alarm {
    Alarm { kind: RUN.to_owned(), owner: run.to_string(), what, at }
}

/// Puts gates that ask before people, and takes away those that do no longer.
fn write_gates(
    tx: &mut Tx<'_>,
    (tenant, writes): (TenantId, &Writes),
    teller: Teller<'_>,
) -> godel_store::Result<()> {
    for incident in &writes.asks {
        tx.incidents().raise(tenant, incident)?;
    }
    for (gate, answer, told) in &writes.asked {
        if tx.incidents().close(gate, answer.as_deref())? {
            tx.record(teller.event("workflow:approval:closed", told, ("runId", told.run)))?;
        }
    }
    Ok(())
}

fn write_tasks(
    tx: &mut Tx<'_>,
    writes: &Writes,
    outside: Outside,
) -> godel_store::Result<Option<Timestamp>> {
    let batch = Batch { adds: writes.adds.clone(), ..Batch::default() };
    let turn = if batch.is_empty() { None } else { Some(batch.run(tx, outside)?) };
    debug_assert!(
        turn.iter()
            .flat_map(|turn| &turn.adds)
            .all(|add| !matches!(add, Err(TurnError::NoParent(_) | TurnError::ParentFailed(_)))),
        "tasks of a run wait for nothing"
    );
    let author = Author { name: Some("workflow".to_owned()), trace_id: None };
    let teller = Teller { mint: outside.mint, now: outside.now, author: &author };
    for key in &writes.cancels {
        if let Some(task) = tx.tasks().by_key(key)? {
            call_off(tx, task, "its run goes on without it", teller)?;
        }
    }
    Ok(turn.and_then(|turn| turn.due))
}

async fn prepare(
    app: &App,
    tenant: TenantId,
    loaded: &Loaded,
    effects: Vec<Effect>,
    now: Timestamp,
) -> Result<Writes> {
    let (run, record) = (&loaded.run, &loaded.record);
    let mut writes = Writes::default();
    for effect in effects {
        match effect {
            Effect::EnqueueTask(order) => writes.adds.push(task(app.mint, record, *order, now)?),
            Effect::CancelTask { step, round } => writes.cancels.push(key(run, step, round)),
            Effect::SetTimer { step, round, at } => {
                writes.alarms.push(alarm(record.id, format!("timer:{}:{round}", step.0), at));
            }
            Effect::SetDeadline { at } => {
                writes.alarms.push(alarm(record.id, "deadline".to_owned(), at));
            }
            Effect::AskApproval { step, round, by, message, .. } => {
                let step = run.plan().get(step).map(|step| step.id.clone());
                let told = Told { step, round: Some(round), by, message, ..told(record, None) };
                writes.asks.push(asks(&told, app.mint.id(), now));
                writes.told.push(("workflow:approval:asked", told));
            }
            Effect::StartChild(order) => {
                start_child(app, tenant, record, *order, (now, &mut writes)).await?;
            }
            Effect::CancelChild { step, round } => {
                writes.cancel_children.push(key(run, step, round));
            }
            Effect::StepChanged { step } => {
                step_changed(run, record, step, &mut writes)?;
                judge_team(run, record, (step, now), &mut writes);
            }
            Effect::RunChanged => run_changed(run, record, &mut writes)?,
            Effect::Finished { state, .. } => finished(record, state, now, &mut writes),
        }
    }
    Ok(writes)
}

fn told(record: &RunRecord, state: Option<String>) -> Told {
    let (step, round, message) = (None, None, None);
    Told { run: record.id, workflow: record.name.clone(), step, round, state, message, by: vec![] }
}

/// Returns the key under which a step of a round is begun once.
fn key(run: &Run, step: StepIndex, round: u32) -> String {
    let id = run.plan().get(step).map_or("", |step| step.id.as_str());
    format!("{}/{id}/{round}", run.id())
}

fn unreadable(cause: serde_json::Error) -> Error {
    Error::Store(StoreError::Unreadable { what: "run", cause: cause.into() })
}

fn step_changed(run: &Run, record: &RunRecord, step: StepIndex, writes: &mut Writes) -> Result<()> {
    let Some(row) = run.step_row(step) else { return Ok(()) };
    let id = run.plan().get(step).map(|step| step.id.clone());
    let told =
        Told { step: id, round: Some(row.round), ..told(record, Some(row.state.to_string())) };
    let gate = |step: &Step| matches!(step.kind, StepKind::Approval(_));
    if row.state != StepState::Waiting && run.plan().get(step).is_some_and(gate) {
        let gate = trouble(&told).owner();
        writes.asked.push((gate, became(&row), told.clone()));
    }
    writes.told.push(("workflow:step:changed", told));
    writes.steps.push((step.0, serde_json::to_string(&row).map_err(unreadable)?));
    Ok(())
}

/// Says that a gate asks a person.
fn asks(told: &Told, id: EventId, now: Timestamp) -> Incident {
    Incident { id: id.uuid(), raised_at: now, answer: None, trouble: trouble(told) }
}

fn trouble(told: &Told) -> Trouble {
    let Told { run, workflow, step, round, by, message, .. } = told.clone();
    let (step, round) = (step.unwrap_or_default(), round.unwrap_or_default());
    Trouble::Approval { run, workflow, step, round, by, message }
}

/// Says what became of a gate that asks no longer.
fn became(row: &StepRow) -> Option<String> {
    let by = row.output.as_ref().and_then(|output| output.get("by")?.as_str());
    let approved = by.map(|by| format!("approved by {by}"));
    approved.or_else(|| row.fault.as_ref().map(|fault| fault.message.clone()))
}

/// Lets the team of a run be judged when a step of it has ended.
fn judge_team(
    run: &Run,
    record: &RunRecord,
    (step, now): (StepIndex, Timestamp),
    writes: &mut Writes,
) {
    if let Some(team) = record.team
        && run.step_state(step).is_final()
    {
        writes.alarms.push(crate::teams::run_alarm(team, record.id, now));
    }
}

fn run_changed(run: &Run, record: &RunRecord, writes: &mut Writes) -> Result<()> {
    let doc = serde_json::to_string(&run.row()).map_err(unreadable)?;
    let state = run.state().as_str().to_owned();
    if state != record.state {
        writes.told.push(("workflow:run:changed", told(record, Some(state.clone()))));
    }
    writes.run = Some((state, doc));
    Ok(())
}

fn finished(record: &RunRecord, state: RunState, now: Timestamp, writes: &mut Writes) {
    writes.told.push(("workflow:run:finished", told(record, Some(state.to_string()))));
    if let Some((parent, part)) = &record.parent {
        let what = format!("child:{part}/{}", record.id);
        writes.alarms.push(alarm(*parent, what, now));
    }
    if let Some(team) = record.team {
        writes.alarms.push(crate::teams::run_alarm(team, record.id, now));
    }
}

/// Puts down what a run wants to be done as a task.
pub(super) fn asked(record: &RunRecord, order: TaskOrder) -> NewTask {
    let mut requires = order.requires;
    requires.extend(order.agent.as_deref().and_then(|name| Capability::of_agent(name).ok()));
    NewTask {
        title: order.title,
        payload: Payload::of(&order.payload),
        pool: order.pool,
        priority: order.priority,
        requires,
        retry: order.retry,
        timeout_seconds: order.timeout.map(|time| time.as_secs().max(1)),
        start_at: None,
        deadline: None,
        after: Vec::new(),
        session: order.session,
        key: Some(order.key),
        owner: Some(Owner {
            kind: RUN.to_owned(),
            id: record.id.to_string(),
            part: format!("{}:{}", order.step.0, order.round),
        }),
    }
}

/// Makes a task from what a run wants to be done.
fn task(mint: Mint, record: &RunRecord, order: TaskOrder, now: Timestamp) -> Result<Add> {
    let asked = asked(record, order);
    let lane = asked.check()?;
    let id: TaskId = mint.id();
    let created_by = Some(record.created_by);
    let task = Task { id, asked, created_at: now, created_by };
    let name = Some(format!("workflow:{}", record.name));
    Ok(Add { task, lane, author: Author { name, trace_id: None }, under: None })
}

/// Makes the run of a step's workflow; one that cannot be made is told as failed.
async fn start_child(
    app: &App,
    tenant: TenantId,
    record: &RunRecord,
    order: ChildOrder,
    (now, writes): (Timestamp, &mut Writes),
) -> Result<()> {
    let part = format!("{}:{}", order.step.0, order.round);
    let definition = match &order.workflow {
        WorkflowRef::Inline(definition) => Some(definition.as_ref().clone()),
        WorkflowRef::Named(name) => {
            let name = name.clone();
            let find = move |tx: &mut Tx<'_>| tx.workflows().by_name(&name);
            let found = app.store.read(Scope::Tenant(tenant), find).await.map_err(Error::Store)?;
            found.and_then(|found| Definition::parse(&found.source).ok())
        }
    };
    let id: RunId = app.mint.id();
    let made = definition.and_then(|definition| {
        let asked = NewRun::child(id, &order);
        make(definition, asked, (record.created_by, now)).ok()
    });
    match made {
        Some((mut child, definition)) => {
            child.parent = Some((record.id, part));
            writes.children.push((child, order.key, definition));
        }
        // Who looks for the child finds none, and takes the step as failed.
        None => writes.alarms.push(alarm(record.id, format!("child:{part}/{id}"), now)),
    }
    Ok(())
}

/// Makes a run that is not started yet, and the text of what it carries out.
///
/// # Errors
/// If the workflow cannot be run, or what it is given does not fit.
pub(crate) fn make(
    definition: Definition,
    asked: NewRun,
    (created_by, now): (UserId, Timestamp),
) -> Result<(RunRecord, String)> {
    let (name, id) = (definition.name.clone(), asked.id);
    let text = definition.to_json().to_string();
    let plan = Plan::new(definition).map_err(WorkflowError::Problems)?;
    let run = Run::new(Arc::new(plan), asked).map_err(WorkflowError::Inputs)?;
    let doc = serde_json::to_string(&run.row()).map_err(unreadable)?;
    let record = RunRecord {
        id,
        workflow: None,
        name,
        state: RunState::Pending.as_str().to_owned(),
        doc,
        version: 1,
        parent: None,
        team: None,
        created_at: now,
        updated_at: now,
        created_by,
    };
    Ok((record, text))
}
