//! Teams: several workers at one job, planned as a workflow.

mod bidding;
mod exhausted;
mod judge;

use godel_decide::team::{Bounds, Finished, TeamAction, TeamSpec, TeamState, bounds, plan};
use godel_decide::workflow::{Counts, Run};
use godel_model::{Reach, RunId, TeamId, TenantId, WorkerId};
use godel_store::{Error as StoreError, Scope, TaskFilter, TeamRecord, Tx};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::instrument;

use crate::workflows::{RUN, WorkflowError, errands, look_at};
use crate::{App, Call, Error, Result};

use bidding::{bid, heard};
pub(crate) use bidding::{spends_all, wanted};
use judge::begin;
pub(crate) use judge::{rang, run_alarm};

/// How many tasks are looked at to tell who works for a team.
const TASKS_LOOKED_AT: usize = 1_000;

/// What is known of a team besides its name and state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TeamDoc {
    /// What was asked for.
    pub asked: TeamSpec,
    /// How it is done at the moment.
    pub current: TeamSpec,
    /// What was done before the present run.
    #[serde(default)]
    pub finished: Finished,
    /// When the present run was planned.
    pub planned_at: Option<Timestamp>,
    /// The present run, or the last.
    pub run: Option<RunId>,
    /// What earlier runs spent, in millionths of a dollar.
    #[serde(default)]
    pub spent_before: i64,
    /// Why simpler ways were taken.
    #[serde(default)]
    pub fallbacks: Vec<String>,
    /// What came of it.
    pub result: Option<Value>,
    /// Why nothing came of it, or why it was paused.
    pub error: Option<String>,
    /// What people were told last that they should see to.
    #[serde(default)]
    pub alert: Option<String>,
}

impl TeamDoc {
    /// Returns what was spent in all, the present run included.
    fn spent_with(&self, run: &Run) -> i64 {
        self.spent_before.saturating_add(spent(run))
    }
}

/// A team, and how it stands.
#[derive(Debug, Clone)]
pub struct Team {
    /// The team as it is stored.
    pub record: TeamRecord,
    /// The rest of it.
    pub doc: TeamDoc,
    /// How many steps of its run are in each state.
    pub counts: Counts,
    /// How much is done, from 0 to 1.
    pub progress: f64,
    /// What its workers said that they spent, in millionths of a dollar.
    pub spent_micros: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    team: TeamId,
    name: &'a str,
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

fn told<'a>(record: &'a TeamRecord, why: Option<&'a str>) -> Told<'a> {
    Told { team: record.id, name: &record.name, state: &record.state, why }
}

fn read(record: &TeamRecord) -> Result<TeamDoc> {
    let unreadable = |cause: serde_json::Error| {
        Error::Store(StoreError::Unreadable { what: "team", cause: cause.into() })
    };
    serde_json::from_str(&record.doc).map_err(unreadable)
}

/// Returns how many may work for a team at once.
///
/// # Errors
/// If what is stored of it cannot be read.
pub fn size(record: &TeamRecord) -> Result<u32> {
    Ok(read(record)?.current.size)
}

fn write(doc: &TeamDoc) -> Result<String> {
    let unreadable = |cause: serde_json::Error| {
        Error::Store(StoreError::Unreadable { what: "team", cause: cause.into() })
    };
    serde_json::to_string(doc).map_err(unreadable)
}

fn state(record: &TeamRecord) -> TeamState {
    record.state.parse().unwrap_or(TeamState::Failed)
}

fn after(record: &TeamRecord, action: TeamAction) -> Result<TeamState> {
    let refuse = |illegal: godel_decide::team::IllegalTeam| {
        Error::Workflow(WorkflowError::TeamState(illegal.to_string()))
    };
    state(record).after(action).map_err(refuse)
}

/// Returns what a worker said that it spent.
fn cost(output: &Value) -> i64 {
    output.get("costMicros").and_then(Value::as_i64).unwrap_or(0).max(0)
}

/// Returns what the workers of a run said that they spent.
fn spent(run: &Run) -> i64 {
    run.plan()
        .steps()
        .filter_map(|(step, _)| run.step_row(step)?.output)
        .map(|output| cost(&output))
        .fold(0, i64::saturating_add)
}

/// Refuses a team that makes no sense, or whose agents could not begin.
async fn check(app: &App, call: &Call, spec: &TeamSpec) -> Result<()> {
    let planned = plan(spec, &Finished::new(), app.clock.now()).map_err(WorkflowError::Team)?;
    errands::check(app, call, &planned.definition).await
}

/// Makes a team that is not started yet.
///
/// # Errors
/// If the caller may not, or it makes no sense.
#[instrument(level = "debug", name = "app.teams.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(app: &App, call: &Call, spec: TeamSpec) -> Result<Team> {
    call.may("team", "create", Reach::Team)?;
    let now = app.clock.now();
    Box::pin(check(app, call, &spec)).await?;
    let doc = TeamDoc {
        current: spec.clone(),
        asked: spec,
        finished: Finished::new(),
        planned_at: None,
        run: None,
        spent_before: 0,
        fallbacks: Vec::new(),
        result: None,
        error: None,
        alert: None,
    };
    let record = TeamRecord {
        id: app.mint.id(),
        name: doc.asked.name.clone(),
        state: TeamState::Created.as_str().to_owned(),
        doc: write(&doc)?,
        version: 1,
        created_at: now,
        updated_at: now,
        created_by: call.actor.user,
    };
    let (app_, call_) = (app.clone(), call.clone());
    let id = record.id;
    let work = move |tx: &mut Tx<'_>| {
        tx.workflows().insert_team(&record)?;
        let event = call_.event(&app_, "team:created", &told(&record, None), ("teamId", id));
        call_.tell(&app_, tx, event)
    };
    app.store.write(call.scope(), work).await?;
    view(app, call.actor.tenant, id).await
}

/// Lists teams, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.teams.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    before: Option<TeamId>,
    limit: usize,
) -> Result<Vec<Team>> {
    call.may("team", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), move |tx| tx.workflows().teams(before, limit));
    let found = read.await.map_err(Error::Store)?;
    let mut teams = Vec::with_capacity(found.len());
    for record in found {
        teams.push(complete_view(app, call.actor.tenant, record).await?);
    }
    Ok(teams)
}

/// Tells how a team stands.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.teams.find", skip_all, fields(tenant = %call.actor.tenant, team = %id))]
pub async fn find(app: &App, call: &Call, id: TeamId) -> Result<Team> {
    call.may("team", "read", Reach::Team)?;
    view(app, call.actor.tenant, id).await
}

async fn record(app: &App, tenant: TenantId, id: TeamId) -> Result<TeamRecord> {
    let find = move |tx: &mut Tx<'_>| tx.workflows().team(id);
    let found = app.store.read(Scope::Tenant(tenant), find).await.map_err(Error::Store)?;
    Ok(found.ok_or(WorkflowError::NoTeam(id))?)
}

async fn view(app: &App, tenant: TenantId, id: TeamId) -> Result<Team> {
    let record = record(app, tenant, id).await?;
    complete_view(app, tenant, record).await
}

async fn complete_view(app: &App, tenant: TenantId, record: TeamRecord) -> Result<Team> {
    let doc = read(&record)?;
    let stands = match doc.run {
        Some(run) => {
            let see = |one: &crate::workflows::Loaded| {
                (one.run.counts(), one.run.progress(), doc.spent_with(&one.run))
            };
            match look_at(app, tenant, run, see).await {
                // A run that ended long ago is gone before its team is.
                Err(Error::Workflow(WorkflowError::NoRun(_))) => {
                    (Counts::default(), 1.0, doc.spent_before)
                }
                other => other?,
            }
        }
        None => (Counts::default(), 0.0, doc.spent_before),
    };
    let (counts, progress, spent_micros) = stands;
    Ok(Team { record, doc, counts, progress, spent_micros })
}

/// Tells which workers have tasks of a team.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.teams.workers", skip_all, fields(tenant = %call.actor.tenant, team = %id))]
pub async fn workers(app: &App, call: &Call, id: TeamId) -> Result<Vec<(WorkerId, u32)>> {
    call.may("team", "read", Reach::Team)?;
    let team = record(app, call.actor.tenant, id).await?;
    let Some(run) = read(&team)?.run else { return Ok(Vec::new()) };
    let owner = Some((RUN.to_owned(), run.to_string()));
    let filter = TaskFilter { state: Some(godel_model::TaskState::Running), pool: None, owner };
    let look = move |tx: &mut Tx<'_>| tx.tasks().page(&filter, None, TASKS_LOOKED_AT);
    let found = app.store.read_long(call.scope(), look).await.map_err(Error::Store)?;
    let mut loads: std::collections::BTreeMap<WorkerId, u32> = std::collections::BTreeMap::new();
    for worker in found.into_iter().filter_map(|found| found.worker) {
        *loads.entry(worker).or_default() += 1;
    }
    Ok(loads.into_iter().collect())
}

/// Removes a team that does not work.
///
/// # Errors
/// If the caller may not, there is none, or it works.
#[instrument(level = "debug", name = "app.teams.delete", skip_all, fields(tenant = %call.actor.tenant, team = %id))]
pub async fn delete(app: &App, call: &Call, id: TeamId) -> Result<()> {
    call.may("team", "delete", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let team = tx.workflows().team(id)?.ok_or(WorkflowError::NoTeam(id))?;
        if matches!(state(&team), TeamState::Running | TeamState::Paused) {
            let why = "a team that works cannot be removed; cancel it first".to_owned();
            return Err(Error::Workflow(WorkflowError::TeamState(why)));
        }
        tx.workflows().delete_team(id)?;
        let event = call_.event(&app_, "team:deleted", &told(&team, None), ("teamId", id));
        call_.tell(&app_, tx, event)
    };
    app.store.write(call.scope(), work).await?;
    Ok(())
}

/// Changes what a team is asked to do; of one that works, only what it may spend and until when.
///
/// # Errors
/// If the caller may not, there is none, it is over, or it makes no sense.
#[instrument(level = "debug", name = "app.teams.update", skip_all, fields(tenant = %call.actor.tenant, team = %id))]
pub async fn update(app: &App, call: &Call, id: TeamId, spec: TeamSpec) -> Result<Team> {
    call.may("team", "update", Reach::Team)?;
    Box::pin(check(app, call, &spec)).await?;
    let mut team = record(app, call.actor.tenant, id).await?;
    let mut doc = read(&team)?;
    let stands = state(&team);
    if stands.is_final() {
        let why = format!("a team that is {stands} cannot be changed; make another");
        return Err(WorkflowError::TeamState(why).into());
    }
    let (budget, deadline) = (spec.budget_micros, spec.deadline);
    if stands == TeamState::Created {
        doc.current = spec.clone();
    } else {
        let same = TeamSpec {
            budget_micros: doc.asked.budget_micros,
            deadline: doc.asked.deadline,
            ..spec.clone()
        };
        if same != doc.asked {
            let why = "of a team that was started only the budget and the deadline can be \
                       changed; scale it, or make another";
            return Err(WorkflowError::TeamState(why.to_owned()).into());
        }
        (doc.current.budget_micros, doc.current.deadline) = (budget, deadline);
    }
    doc.asked = spec;
    team.name = doc.asked.name.clone();
    store(app, call, (team, doc), "team:updated").await?;
    view(app, call.actor.tenant, id).await
}

/// Lets a team begin.
///
/// # Errors
/// If the caller may not, there is none, or it has begun.
#[instrument(level = "debug", name = "app.teams.start", skip_all, fields(tenant = %call.actor.tenant, team = %id))]
pub async fn start(app: &App, call: &Call, id: TeamId) -> Result<Team> {
    call.may("team", "execute", Reach::Team)?;
    let tenant = call.actor.tenant;
    let mut team = record(app, tenant, id).await?;
    team.state = after(&team, TeamAction::Start)?.as_str().to_owned();
    let doc = read(&team)?;
    begin(app, tenant, (team, doc), None).await?;
    view(app, tenant, id).await
}

/// Lets a team pause, go on, or end.
///
/// # Errors
/// If the caller may not, there is none, or it cannot do this now.
#[instrument(level = "debug", name = "app.teams.control", skip_all, fields(tenant = %call.actor.tenant, team = %id))]
pub async fn control(app: &App, call: &Call, id: TeamId, action: TeamAction) -> Result<Team> {
    call.may("team", "execute", Reach::Team)?;
    let tenant = call.actor.tenant;
    let mut team = record(app, tenant, id).await?;
    team.state = after(&team, action)?.as_str().to_owned();
    let mut doc = read(&team)?;
    let kind = match action {
        TeamAction::Pause => "team:paused",
        TeamAction::Resume => "team:resumed",
        TeamAction::Complete => "team:completed",
        _ => "team:cancelled",
    };
    if action == TeamAction::Resume {
        may_go_on(app, tenant, &doc).await?;
        (doc.error, doc.alert) = (None, None);
    }
    store(app, call, (team, doc), kind).await?;
    view(app, tenant, id).await
}

/// Refuses to let a team go on that has nothing left to spend.
async fn may_go_on(app: &App, tenant: TenantId, doc: &TeamDoc) -> Result<()> {
    let spent = match doc.run {
        Some(run) => look_at(app, tenant, run, |one| doc.spent_with(&one.run)).await?,
        None => doc.spent_before,
    };
    if bounds(&doc.current, spent, app.clock.now()) == Bounds::BudgetSpent {
        let budget = doc.current.budget_micros.unwrap_or(0);
        let why = format!(
            "the budget of the team is spent ({spent} of {budget} millionths of a dollar); raise \
             budgetMicros before it is resumed"
        );
        return Err(WorkflowError::TeamState(why).into());
    }
    Ok(())
}

/// Changes how many workers of a team work at once.
///
/// # Errors
/// If the caller may not, there is none, or no team can have that size.
#[instrument(level = "debug", name = "app.teams.scale", skip_all, fields(tenant = %call.actor.tenant, team = %id))]
pub async fn scale(app: &App, call: &Call, id: TeamId, size: u32) -> Result<Team> {
    call.may("team", "execute", Reach::Team)?;
    let tenant = call.actor.tenant;
    let team = record(app, tenant, id).await?;
    if state(&team).is_final() {
        let why = format!("a team that is {} cannot be scaled", team.state);
        return Err(WorkflowError::TeamState(why).into());
    }
    let mut doc = read(&team)?;
    doc.current.scale(size).map_err(WorkflowError::Illegal)?;
    store(app, call, (team, doc), "team:scaled").await?;
    view(app, tenant, id).await
}

/// Stores a change of a team; its run hears of it, and what it has done is judged anew.
async fn store(
    app: &App,
    call: &Call,
    (mut team, doc): (TeamRecord, TeamDoc),
    kind: &'static str,
) -> Result<()> {
    let now = app.clock.now();
    (team.doc, team.updated_at) = (write(&doc)?, now);
    let (app_, call_, run) = (app.clone(), call.clone(), doc.run);
    let work = move |tx: &mut Tx<'_>| {
        if !tx.workflows().update_team(&team)? {
            return Err(Error::Workflow(WorkflowError::Changed(team.name.clone())));
        }
        let about = ("teamId", team.id);
        call_.tell(&app_, tx, call_.event(&app_, kind, &told(&team, None), about))?;
        let bidden = bid(tx, run, now)?;
        if let Some((run, alarm)) = &bidden {
            tx.runs().set_alarm(&run_alarm(team.id, *run, alarm.at))?;
        }
        Ok(bidden)
    };
    let bidden = app.store.write(call.scope(), work).await?.value;
    heard(app, call.actor.tenant, bidden).await?;
    app.desks.ring_news();
    Ok(())
}
