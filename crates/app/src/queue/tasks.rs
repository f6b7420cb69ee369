//! Tasks: making them, looking at them, and changing their fate.

use godel_model::{
    Attempt, Lane, NewTask, Reach, Task, TaskId, TaskState, UserId, Worker, WorkerId,
};
use godel_store::{Closing, Fence, Found, TaskFilter, Tx};
use jiff::{SignedDuration, Timestamp};
use tracing::instrument;

use super::tell::{Author, More, Teller};
use super::turn::{Add, Added, end_descendants};
use super::{QueueError, lanes, tally};
use crate::{App, Call, Error, Result};

/// How long a worker has to stop a task that was cancelled before it is taken away from it.
const STOP_PATIENCE: SignedDuration = SignedDuration::from_secs(30);
/// How many tasks one request can make.
pub const CREATE_MAX: usize = 1_000;

/// What became of a request to make a task.
#[derive(Debug, Clone)]
pub struct Created {
    /// The task.
    pub id: TaskId,
    /// Where it is; none if it was there before.
    pub state: Option<TaskState>,
}

fn author(call: &Call) -> Author {
    Author { name: Some(call.actor.name.clone()), trace_id: call.trace_id.clone() }
}

fn add(app: &App, call: &Call, asked: NewTask, under: Option<Fence>) -> Result<Add> {
    let lane = asked.check()?;
    let created_by = Some(call.actor.user);
    let task = Task { id: app.mint.id(), asked, created_at: app.clock.now(), created_by };
    Ok(Add { task, lane, author: author(call), under })
}

fn created(id: TaskId, added: Added) -> Created {
    match added {
        Added::New(state) => Created { id, state: Some(state) },
        Added::Known(id) => Created { id, state: None },
    }
}

/// Makes a task; it is on disk when this returns.
///
/// # Errors
/// If the caller may not, it makes no sense, or waits for what is not there or has failed.
#[instrument(level = "debug", name = "app.tasks.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(app: &App, call: &Call, asked: NewTask) -> Result<Created> {
    call.may("task", "create", Reach::Own)?;
    let add = add(app, call, asked.clone(), None)?;
    lanes::admit(app, call.actor.tenant, [&add.lane]).await?;
    let id = add.task.id;
    let added = app.desks.of(call.actor.tenant).add(add).await?;
    if let Added::Known(known) = added {
        let find = move |tx: &mut Tx<'_>| tx.tasks().find(known);
        let found = app.store.read(call.scope(), find).await.map_err(Error::Store)?;
        if found.is_some_and(|found| found.task.asked != asked) {
            return Err(Error::OnceKeyReused);
        }
    }
    Ok(created(id, added))
}

/// Makes several tasks; each is made, or refused with a reason, by itself.
///
/// # Errors
/// If the caller may not, or there are too many.
#[instrument(level = "debug", name = "app.tasks.create_all", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create_all(
    app: &App,
    call: &Call,
    asked: Vec<NewTask>,
) -> Result<Vec<Result<Created>>> {
    call.may("task", "create", Reach::Own)?;
    if asked.is_empty() || asked.len() > CREATE_MAX {
        return Err(Error::invalid("one request makes 1 to 1,000 tasks"));
    }
    let adds =
        asked.into_iter().map(|asked| add(app, call, asked, None)).collect::<Result<Vec<_>>>()?;
    lanes::admit(app, call.actor.tenant, adds.iter().map(|add| &add.lane)).await?;
    let ids: Vec<_> = adds.iter().map(|add| add.task.id).collect();
    let answers = app.desks.of(call.actor.tenant).add_all(adds).await;
    let each = ids.into_iter().zip(answers);
    Ok(each.map(|(id, added)| added.map(|added| created(id, added)).map_err(Into::into)).collect())
}

/// Makes a task on behalf of one that a worker has, as urgent as that one if it inherits; who lost that
/// one makes nothing.
///
/// # Errors
/// As for [`create`], and if the worker has that attempt no more.
#[instrument(level = "debug", name = "app.tasks.spawn", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn spawn(
    app: &App,
    call: &Call,
    mut asked: NewTask,
    (under, inherits): (Fence, bool),
) -> Result<Created> {
    call.may("task", "execute", Reach::Team)?;
    super::workers::own(app, call, under.worker).await?;
    if inherits {
        let find = move |tx: &mut Tx<'_>| tx.tasks().lease(under.task);
        let held = app.store.read(call.scope(), find).await.map_err(Error::Store)?;
        asked.priority = held.map_or(asked.priority, |lease| lease.spot.priority);
    }
    let add = add(app, call, asked, Some(under))?;
    lanes::admit(app, call.actor.tenant, [&add.lane]).await?;
    let id = add.task.id;
    let added = app.desks.of(call.actor.tenant).add(add).await?;
    Ok(created(id, added))
}

/// Lists tasks, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.tasks.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    filter: TaskFilter,
    (before, limit): (Option<TaskId>, usize),
) -> Result<Vec<Found>> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read_long(call.scope(), move |tx| tx.tasks().page(&filter, before, limit));
    read.await.map_err(Error::Store)
}

/// Finds a task, and its attempts that did not succeed.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.tasks.find", skip_all, fields(tenant = %call.actor.tenant, task = %id))]
pub async fn find(app: &App, call: &Call, id: TaskId) -> Result<(Found, Vec<Attempt>)> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), move |tx| {
        let found = tx.tasks().find(id)?.ok_or(QueueError::NoTask(id))?;
        Ok::<_, Error>((found, tx.tasks().attempts(id)?))
    });
    read.await
}

/// Lets a call go on if it may change this task: all of the team, or its own.
fn may_change(call: &Call, by: Option<UserId>) -> Result<()> {
    match call.may("task", "update", Reach::Team) {
        Err(_) if by == Some(call.actor.user) => call.may("task", "update", Reach::Own),
        other => other,
    }
}

/// Cancels a task, and all that waits for it; a worker that has it is asked to stop.
///
/// # Errors
/// If the caller may not, there is none, or it is over.
#[instrument(level = "debug", name = "app.tasks.cancel", skip_all, fields(tenant = %call.actor.tenant, task = %id))]
pub async fn cancel(app: &App, call: &Call, id: TaskId, reason: Option<String>) -> Result<Found> {
    call.may("task", "update", Reach::Own)?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        tx.tasks().lock_graph(true)?;
        let found = tx.tasks().find(id)?.ok_or(QueueError::NoTask(id))?;
        may_change(&call_, found.task.created_by)?;
        let why = reason.as_deref().unwrap_or("somebody cancelled it");
        let author = author(&call_);
        let teller = Teller { mint: app_.mint, now, author: &author };
        if !call_off(tx, id, why, teller)? {
            return Err(Error::Queue(QueueError::TaskOver(id, found.state)));
        }
        tx.tasks().find(id)?.ok_or(Error::Queue(QueueError::NoTask(id)))
    };
    tally::write(app, call.actor.tenant, work).await
}

/// Cancels a task that is not over, and all that waits for it; `false` if it is over.
pub(crate) fn call_off(
    tx: &mut Tx<'_>,
    id: TaskId,
    why: &str,
    teller: Teller<'_>,
) -> godel_store::Result<bool> {
    let now = teller.now;
    let closing = Closing { state: TaskState::Cancelled, error: why, because: None, at: now };
    if let Some(spot) = tx.tasks().close_waiting(id, closing)? {
        let more = More { error: Some(why), ..More::default() };
        teller.tell(tx, "task:cancelled", &spot, &more)?;
        end_descendants(tx, id, now, teller)?;
        return Ok(true);
    }
    let Some(lease) = tx.tasks().lease(id)? else { return Ok(false) };
    let until = now.saturating_add(STOP_PATIENCE).unwrap_or(now);
    if tx.tasks().ask_to_stop(id, why, until)? {
        let more = More { error: Some(why), worker: Some(lease.worker), ..More::default() };
        teller.tell(tx, "task:stopping", &lease.spot, &more)?;
    }
    Ok(true)
}

/// Tries a task again: one that is dead or cancelled with as many attempts as at first, one that
/// waits for its next attempt at once.
///
/// # Errors
/// If the caller may not, there is none, or it is not in such a state.
#[instrument(level = "debug", name = "app.tasks.retry", skip_all, fields(tenant = %call.actor.tenant, task = %id))]
pub async fn retry(app: &App, call: &Call, id: TaskId) -> Result<Found> {
    call.may("task", "update", Reach::Own)?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        tx.tasks().lock_graph(true)?;
        let found = tx.tasks().find(id)?.ok_or(QueueError::NoTask(id))?;
        may_change(&call_, found.task.created_by)?;
        let author = author(&call_);
        let teller = Teller { mint: app_.mint, now, author: &author };
        if found.state == TaskState::Delayed {
            for spot in tx.tasks().promote(&[id], now)? {
                teller.tell(tx, "task:ready", &spot, &More::default())?;
            }
        } else if !replay(tx, &found, teller)? {
            return Err(Error::Queue(QueueError::TaskNotOver(id, found.state)));
        }
        tx.tasks().find(id)?.ok_or(Error::Queue(QueueError::NoTask(id)))
    };
    let found = tally::write(app, call.actor.tenant, work).await?;
    app.desks.of(call.actor.tenant).wake();
    Ok(found)
}

/// Puts a task that is over and did not succeed back, with all that was cancelled because of it.
pub(super) fn replay(tx: &mut Tx<'_>, found: &Found, teller: Teller<'_>) -> Result<bool> {
    if !matches!(found.state, TaskState::Dead | TaskState::Cancelled) {
        return Ok(false);
    }
    let id = found.task.id;
    let Some(revived) = tx.tasks().revive(id, found.state, teller.now)? else { return Ok(false) };
    for (spot, state) in revived {
        // Nobody may have looked for its line since it ended.
        tx.lanes().note(&spot.lane)?;
        let because = (spot.task != id).then_some(id);
        let more = More { state: Some(state.as_str()), because, ..More::default() };
        teller.tell(tx, "task:replayed", &spot, &more)?;
    }
    Ok(true)
}

/// Gives a task that waits to one worker alone.
///
/// # Errors
/// If the caller may not, one of them is not there, or the task does not wait.
#[instrument(level = "debug", name = "app.tasks.assign", skip_all, fields(tenant = %call.actor.tenant, task = %id, %worker))]
pub async fn assign(app: &App, call: &Call, id: TaskId, worker: WorkerId) -> Result<Found> {
    call.may("task", "update", Reach::Team)?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        // Whoever buries the worker comes before this or behind it.
        tx.tasks().lock_graph(true)?;
        let lives = |one: &Worker| one.expires_at > Timestamp::UNIX_EPOCH;
        let found = tx.workers().by_id(worker)?.filter(lives);
        let Worker { pool, .. } = found.ok_or(QueueError::NoWorker(worker))?;
        let found = tx.tasks().find(id)?.ok_or(QueueError::NoTask(id))?;
        if !matches!(found.state, TaskState::Ready | TaskState::Delayed) {
            return Err(Error::Queue(QueueError::TaskNotWaiting(id, found.state)));
        }
        let lane = Lane::of_worker(&pool, worker);
        let spot = tx.tasks().assign(id, &lane)?.ok_or(QueueError::NoTask(id))?;
        let author = author(&call_);
        let teller = Teller { mint: app_.mint, now, author: &author };
        let more = More { worker: Some(worker), ..More::default() };
        teller.tell(tx, "task:assigned", &spot, &more)?;
        tx.tasks().find(id)?.ok_or(Error::Queue(QueueError::NoTask(id)))
    };
    let found = app.store.write(call.scope(), work).await?.value;
    app.desks.of(call.actor.tenant).wake();
    Ok(found)
}
