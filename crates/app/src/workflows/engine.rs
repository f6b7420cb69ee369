//! The engine: moves runs on, one turn at a time.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use godel_decide::workflow::{
    Definition, Effect, Fault, Illegal, Input, Plan, Run, RunRow, RunState, StepIndex, StepRow,
};
use godel_model::{RunId, TaskState, TenantId};
use godel_store::{Alarm, DatabaseUrl, Error as StoreError, News, RunRecord, Scope, Tx};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::sync::Mutex as AsyncMutex;

use super::WorkflowError;
use super::children::{self, AS_PARENT, RETRY, TELL_CHILDREN, parent_rests};
use super::effects::{Turned, carry_out};
use super::misfits::refuse_misfits;
use crate::{App, Crew, Error, Result};

/// What tasks of runs have as their owner.
pub(crate) const RUN: &str = "run";
/// The alarm that lets a run do as its team says.
pub(crate) const AS_TEAM: &str = "team";
/// How many runs are kept in memory.
const RUNS_MAX: usize = 200;
/// How many answers go into one turn.
const NEWS_AT_ONCE: usize = 500;
/// How many owners are looked at in one go.
const OWNERS_AT_ONCE: usize = 200;
/// How often it is looked for news that nobody rang for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const LOOK_SHARED_EVERY: Duration = Duration::from_millis(200);
/// How often a turn is repeated because another server was faster.
const TRIES: usize = 20;

/// A run in memory, as it was at a version.
pub(crate) struct Loaded {
    pub(crate) run: Run,
    pub(crate) record: RunRecord,
}

type Slot = Arc<AsyncMutex<Option<Loaded>>>;

/// The runs in memory.
#[derive(Default)]
pub struct Engine {
    slots: Mutex<HashMap<(TenantId, RunId), Slot>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    fn slot(&self, tenant: TenantId, run: RunId) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= RUNS_MAX {
            // Those that nobody works on can be read again.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        Arc::clone(slots.entry((tenant, run)).or_default())
    }
}

/// What moves a run on.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    /// What its tasks said, as far as it is not taken in yet.
    News,
    /// Alarms that rang.
    Alarms(Vec<Alarm>),
    /// What somebody asks for.
    Asked(Input),
}

/// Keeps runs going.
pub fn start(app: &App, crew: &Crew) {
    let (app, stopping) = (app.clone(), crew.stopping());
    let alone = matches!(app.store.url(), DatabaseUrl::Sqlite(_));
    let every = if alone { LOOK_EVERY } else { LOOK_SHARED_EVERY };
    crew.spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = app.desks.news() => {}
                () = stopping.cancelled() => return,
            }
            if let Err(error) = look(&app).await {
                tracing::warn!(%error, "runs could not be moved on; it is tried again");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    });
}

/// Moves on everything that can be, until nothing is left.
///
/// # Errors
/// If the database fails.
pub(crate) async fn look(app: &App) -> Result<()> {
    loop {
        let now = app.clock.now();
        let read = app.store.read(Scope::System, move |tx| {
            let now = tx.clock(now)?;
            let owners = tx.tasks().owners_with_news(OWNERS_AT_ONCE)?;
            Ok::<_, StoreError>((owners, tx.runs().due(now, OWNERS_AT_ONCE)?))
        });
        let (owners, due) = read.await.map_err(Error::Store)?;
        let more = owners.len() == OWNERS_AT_ONCE || due.len() == OWNERS_AT_ONCE;
        for (tenant, kind, owner) in owners {
            if kind == RUN {
                moved(app, tenant, &owner, Move::News).await?;
            }
        }
        let mut alarms: BTreeMap<(TenantId, String, String), Vec<Alarm>> = BTreeMap::new();
        for (tenant, alarm) in due {
            let key = (tenant, alarm.kind.clone(), alarm.owner.clone());
            alarms.entry(key).or_default().push(alarm);
        }
        for ((tenant, kind, owner), alarms) in alarms {
            if kind == RUN {
                moved(app, tenant, &owner, Move::Alarms(alarms)).await?;
            } else {
                crate::teams::rang(app, tenant, alarms).await?;
            }
        }
        if !more {
            return Ok(());
        }
    }
}

async fn moved(app: &App, tenant: TenantId, owner: &str, what: Move) -> Result<()> {
    let Ok(run) = owner.parse::<RunId>() else { return Ok(()) };
    match move_on(app, tenant, run, what).await {
        Ok(_) => Ok(()),
        Err(Error::Store(error)) => Err(Error::Store(error)),
        Err(error) => {
            tracing::warn!(%tenant, %run, %error, "a run could not be moved on");
            Ok(())
        }
    }
}

/// Moves a run on by one turn.
///
/// # Errors
/// If there is no such run, it cannot do this, or the database fails.
pub(crate) async fn move_on(app: &App, tenant: TenantId, id: RunId, what: Move) -> Result<()> {
    let slot = app.engine.slot(tenant, id);
    let mut slot = slot.lock().await;
    for _ in 0..TRIES {
        let loaded = match slot.take() {
            Some(loaded) => loaded,
            None => load(app, tenant, id).await?,
        };
        let turned = turn(app, tenant, loaded, &what).await?;
        if let Some((loaded, more)) = turned {
            *slot = Some(loaded);
            if more {
                app.desks.ring_news();
            }
            return Ok(());
        }
    }
    Err(WorkflowError::Changed(id.to_string()).into())
}

/// Looks at a run as it stands.
///
/// # Errors
/// If there is no such run, or the database fails.
pub(crate) async fn look_at<T>(
    app: &App,
    tenant: TenantId,
    id: RunId,
    see: impl FnOnce(&Loaded) -> T,
) -> Result<T> {
    let slot = app.engine.slot(tenant, id);
    let mut slot = slot.lock().await;
    let find = move |tx: &mut Tx<'_>| tx.runs().by_id(id);
    let found = app.store.read(Scope::Tenant(tenant), find).await.map_err(Error::Store)?;
    let found = found.ok_or(WorkflowError::NoRun(id))?;
    // Another server may have moved it on.
    let fresh = slot.take().filter(|loaded| loaded.record.version == found.version);
    let loaded = match fresh {
        Some(loaded) => loaded,
        None => load(app, tenant, id).await?,
    };
    let seen = see(&loaded);
    *slot = Some(loaded);
    Ok(seen)
}

/// Reads a run from the database.
async fn load(app: &App, tenant: TenantId, id: RunId) -> Result<Loaded> {
    let read = app.store.read_long(Scope::Tenant(tenant), move |tx| {
        let record = tx.runs().by_id(id)?.ok_or(WorkflowError::NoRun(id))?;
        let definition = tx.runs().definition(id)?.ok_or(WorkflowError::NoRun(id))?;
        Ok::<_, Error>((record, definition, tx.runs().steps(id)?))
    });
    let (record, definition, steps) = read.await?;
    let run = restore(&record, &definition, steps)?;
    Ok(Loaded { run, record })
}

/// Builds a run from its rows.
fn restore(record: &RunRecord, definition: &str, steps: Vec<(u32, String)>) -> Result<Run> {
    let unreadable = |cause: Box<dyn std::error::Error + Send + Sync>| {
        Error::Store(StoreError::Unreadable { what: "run", cause })
    };
    let definition = Definition::parse(definition).map_err(WorkflowError::Problems)?;
    let plan = Plan::new(definition).map_err(WorkflowError::Problems)?;
    let row: RunRow =
        serde_json::from_str(&record.doc).map_err(|cause| unreadable(cause.into()))?;
    let steps = steps
        .into_iter()
        .map(|(step, doc)| Ok((StepIndex(step), serde_json::from_str::<StepRow>(&doc)?)))
        .collect::<std::result::Result<Vec<_>, serde_json::Error>>()
        .map_err(|cause| unreadable(cause.into()))?;
    Run::restore(Arc::new(plan), row, steps).map_err(|cause| unreadable(cause.into()))
}

/// Takes everything in and writes what follows; `None` if somebody else was faster.
async fn turn(
    app: &App,
    tenant: TenantId,
    mut loaded: Loaded,
    what: &Move,
) -> Result<Option<(Loaded, bool)>> {
    let id = loaded.record.id;
    let now = app.clock.now();
    let read = app.store.read(Scope::Tenant(tenant), move |tx| {
        let news = tx.tasks().news(RUN, &id.to_string(), NEWS_AT_ONCE)?;
        Ok::<_, StoreError>((news, tx.clock(now)?))
    });
    let (news, now) = read.await.map_err(Error::Store)?;
    let mut effects = Vec::new();
    let broke = crate::teams::spends_all(app, tenant, &loaded, &news).await?;
    let before = loaded.run.state();
    if broke || parent_rests(app, tenant, &loaded).await? {
        take_in(&mut loaded.run, Input::Pause, now, &mut effects)?;
    }
    for one in &news {
        let Some(input) = said(one) else { continue };
        take_in(&mut loaded.run, input, now, &mut effects)?;
    }
    let mut alarms = Vec::new();
    match what {
        Move::News => {}
        Move::Asked(input) => {
            let applied = loaded.run.apply(input.clone(), now);
            effects.extend(applied.map_err(WorkflowError::Illegal)?);
        }
        Move::Alarms(rang) => {
            for alarm in rang {
                for input in rung(app, tenant, (&loaded, now), alarm).await? {
                    // Its team was told to go on before this was known; it is judged first.
                    if !(broke && input == Input::Resume) {
                        take_in(&mut loaded.run, input, now, &mut effects)?;
                    }
                }
                alarms.push(alarm.clone());
            }
        }
    }
    if news.is_empty() && alarms.is_empty() && effects.is_empty() {
        return Ok(Some((loaded, false)));
    }
    let effects = refuse_misfits(app, tenant, &mut loaded, (effects, now)).await?;
    let more = news.len() == NEWS_AT_ONCE;
    let after = loaded.run.state();
    let rests_or_wakes =
        (before == RunState::Paused) != (after == RunState::Paused) && !after.is_final();
    if rests_or_wakes {
        children::remind(app, tenant, &loaded, now).await?;
    }
    let turned = Turned { news, alarms, effects, now };
    let written = carry_out(app, tenant, &loaded, turned).await?;
    if !written {
        return Ok(None);
    }
    loaded.record.version += 1;
    loaded.record.state = after.as_str().to_owned();
    Ok(Some((loaded, more || rests_or_wakes)))
}

/// Takes in what may come too late.
pub(super) fn take_in(
    run: &mut Run,
    input: Input,
    now: Timestamp,
    to: &mut Vec<Effect>,
) -> Result<()> {
    match run.apply(input, now) {
        Ok(effects) => to.extend(effects),
        // A run that ended, or a step that is gone, does not hear late answers.
        Err(Illegal::State { .. } | Illegal::NotWaiting { .. }) => {}
        Err(illegal) => return Err(WorkflowError::Illegal(illegal).into()),
    }
    Ok(())
}

/// Reads which step of which round is meant.
pub(super) fn part(text: &str) -> Option<(StepIndex, u32)> {
    let (step, round) = text.split_once(':')?;
    Some((StepIndex(step.parse().ok()?), round.parse().ok()?))
}

/// Understands what became of a task.
fn said(news: &News) -> Option<Input> {
    let (step, round) = part(&news.part)?;
    Some(match news.state {
        TaskState::Succeeded => {
            let output = news.result.as_deref().and_then(|text| serde_json::from_str(text).ok());
            Input::TaskSucceeded { step, round, output: output.unwrap_or(Value::Null) }
        }
        TaskState::Cancelled => Input::TaskCancelled { step, round },
        _ => {
            let why = news.error.clone().unwrap_or_else(|| "it failed".to_owned());
            Input::TaskFailed { step, round, fault: Fault::new("task_failed", why), last: true }
        }
    })
}

/// Understands an alarm.
async fn rung(
    app: &App,
    tenant: TenantId,
    (loaded, now): (&Loaded, Timestamp),
    alarm: &Alarm,
) -> Result<Vec<Input>> {
    let (what, rest) = alarm.what.split_once(':').unwrap_or((&alarm.what, ""));
    let input = match what {
        AS_PARENT => children::wanted(app, tenant, loaded).await?,
        TELL_CHILDREN => {
            children::tell(app, tenant, loaded, now).await?;
            None
        }
        AS_TEAM => return crate::teams::wanted(app, tenant, (&loaded.record, now)).await,
        RETRY => children::retried(app, tenant, loaded, now).await?,
        "start" => Some(Input::Start),
        "cancel" => Some(Input::Cancel),
        "deadline" => Some(Input::RunTimedOut),
        "timer" => part(rest).map(|(step, round)| Input::TimerDue { step, round }),
        "child" => {
            let mut parts = rest.rsplitn(2, '/');
            let (child, place) = (parts.next(), parts.next());
            match (child.and_then(|id| id.parse().ok()), place.and_then(part)) {
                (Some(child), Some(place)) => child_ended(app, tenant, child, place).await?,
                _ => None,
            }
        }
        _ => None,
    };
    Ok(input.into_iter().collect())
}

async fn child_ended(
    app: &App,
    tenant: TenantId,
    child: RunId,
    (step, round): (StepIndex, u32),
) -> Result<Option<Input>> {
    let find = move |tx: &mut Tx<'_>| tx.runs().by_id(child);
    let found = app.store.read(Scope::Tenant(tenant), find).await.map_err(Error::Store)?;
    let row = found.and_then(|found| serde_json::from_str::<RunRow>(&found.doc).ok());
    Ok(Some(match row {
        Some(row) => {
            let outputs = row.outputs.unwrap_or_default();
            Input::ChildFinished { step, round, state: row.state, outputs, fault: row.fault }
        }
        None => {
            let fault = Some(Fault::new("child_lost", "the run of the step is not there"));
            let (state, outputs) = (RunState::Failed, Map::new());
            Input::ChildFinished { step, round, state, outputs, fault }
        }
    }))
}
