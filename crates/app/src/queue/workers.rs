//! Workers: who takes tasks, and what they say of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use godel_model::{
    AttemptEnd, Capability, Lane, Mood, Name, PoolName, Reach, TaskId, TenantId, Worker, WorkerId,
};
use godel_store::{Error as StoreError, Fence, Lease, Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tracing::instrument;

use super::desk::{Desk, Refused};
use super::tell::{Author, More, Teller};
use super::turn::{Ask, Given, Outside, Said, Say};
use super::upkeep::{end_held, lives_until, outside};
use super::{QueueError, tally};
use crate::{App, Call, Error, Result};

/// How long a worker is believed to live after it was last heard of.
pub const LIVES: SignedDuration = SignedDuration::from_secs(30);
/// After which time without a word of anybody nobody can have listened.
const SILENCE: SignedDuration = SignedDuration::from_secs(15);
/// The longest that a worker waits for tasks in one request.
pub const WAIT_MAX: Duration = Duration::from_secs(60);
/// How many workers a tenant can have.
const WORKERS_MAX: i64 = 20_000;

/// Somebody who wants to take tasks.
#[derive(Debug, Clone)]
pub struct NewWorker {
    /// What people call it.
    pub name: String,
    /// From which pool.
    pub pool: PoolName,
    /// What it can do.
    pub capabilities: BTreeSet<Capability>,
    /// How many tasks it can have at once.
    pub capacity: u32,
}

/// What a worker is told when it is heard of.
#[derive(Debug, Clone)]
pub struct Beat {
    /// What it has in its hands, by the book.
    pub held: Vec<Lease>,
    /// Until when it is believed to live.
    pub expires_at: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    worker: WorkerId,
    name: &'a str,
    pool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mood: Option<&'static str>,
}

impl<'a> Told<'a> {
    fn of(worker: &'a Worker) -> Self {
        let (name, pool) = (worker.name.as_str(), worker.pool.as_str());
        Self { worker: worker.id, name, pool, capacity: None, mood: None }
    }
}

/// Lets a worker in.
///
/// # Errors
/// If the caller may not, or what it says makes no sense.
#[instrument(level = "debug", name = "app.workers.register", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn register(app: &App, call: &Call, new: NewWorker) -> Result<Worker> {
    call.may("task", "execute", Reach::Team)?;
    let name: Name<_> = new.name.parse()?;
    let now = app.clock.now();
    let worker = Worker {
        id: app.mint.id(),
        name,
        pool: new.pool,
        capabilities: new.capabilities,
        capacity: new.capacity,
        mood: Mood::Active,
        error: None,
        user: call.actor.user,
        registered_at: now,
        seen_at: now,
        expires_at: lives_until(now),
    };
    worker.check()?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        if tx.workers().live()? >= WORKERS_MAX {
            return Err(Error::invalid("there are too many workers already"));
        }
        let worker = Worker {
            registered_at: now,
            seen_at: now,
            expires_at: lives_until(now),
            ..worker.clone()
        };
        tx.workers().insert(&worker)?;
        let told = Told { capacity: Some(worker.capacity), ..Told::of(&worker) };
        tx.record(call_.event(&app_, "worker:registered", &told, ("workerId", worker.id)))?;
        Ok(worker)
    };
    let worker = app.store.write(call.scope(), work).await?.value;
    app.desks.of(call.actor.tenant).know(worker.clone());
    Ok(worker)
}

/// Lists workers and how many tasks each of them has, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.workers.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    before: Option<WorkerId>,
    limit: usize,
) -> Result<Vec<(Worker, u32)>> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), move |tx| {
        let loads = tx.tasks().loads()?;
        let load = |id| loads.iter().find(|(worker, _)| *worker == id).map_or(0, |found| found.1);
        let page = tx.workers().page(before, limit)?;
        Ok::<_, Error>(
            page.into_iter().map(|one| (one.id, one)).map(|(id, w)| (w, load(id))).collect(),
        )
    });
    read.await
}

/// Finds a worker and what it has in its hands.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "app.workers.find", skip_all, fields(tenant = %call.actor.tenant, worker = %id))]
pub async fn find(app: &App, call: &Call, id: WorkerId) -> Result<(Worker, Vec<Lease>)> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), move |tx| {
        let worker = tx.workers().by_id(id)?.ok_or(QueueError::NoWorker(id))?;
        Ok((worker, tx.tasks().held_by(id)?))
    });
    read.await
}

/// Hears that a worker lives, and tells it what it has in its hands by the book.
///
/// # Errors
/// If the caller is not that worker, or it is gone.
#[instrument(level = "debug", name = "app.workers.beat", skip_all, fields(tenant = %call.actor.tenant, worker = %id))]
pub async fn beat(app: &App, call: &Call, id: WorkerId) -> Result<Beat> {
    call.may("task", "execute", Reach::Team)?;
    let (_, worker) = own(app, call, id).await?;
    let now = app.clock.now();
    let id = worker.id;
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        let expires_at = lives_until(now);
        if !tx.workers().touch(id, now, expires_at)? {
            return Err(Error::Queue(QueueError::NoWorker(id)));
        }
        Ok(Beat { held: tx.tasks().held_by(id)?, expires_at })
    };
    Ok(app.store.write(call.scope(), work).await?.value)
}

/// Notes what a worker, or somebody who looks after it, says: it works, is paused, or cannot work.
///
/// # Errors
/// If the caller may not, or the worker is gone.
#[instrument(level = "debug", name = "app.workers.set_mood", skip_all, fields(tenant = %call.actor.tenant, worker = %id))]
pub async fn set_mood(
    app: &App,
    call: &Call,
    id: WorkerId,
    mood: Mood,
    error: Option<String>,
) -> Result<Worker> {
    call.may("task", "execute", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        if !tx.workers().set_mood(id, mood, error.as_deref())? {
            return Err(Error::Queue(QueueError::NoWorker(id)));
        }
        let worker = tx.workers().by_id(id)?.ok_or(QueueError::NoWorker(id))?;
        let told = Told { mood: Some(mood.as_str()), ..Told::of(&worker) };
        tx.record(call_.event(&app_, "worker:changed", &told, ("workerId", id)))?;
        Ok(worker)
    };
    let worker = app.store.write(call.scope(), work).await?.value;
    let desk = app.desks.of(call.actor.tenant);
    desk.forget(id);
    desk.wake();
    Ok(worker)
}

/// Waits for tasks that a worker can do, up to a time.
///
/// # Errors
/// If the caller is not that worker, or it is gone.
#[instrument(level = "debug", name = "app.workers.claim", skip_all, fields(tenant = %call.actor.tenant, worker = %id))]
pub async fn claim(
    app: &App,
    call: &Call,
    id: WorkerId,
    (free, wait): (u32, Duration),
) -> Result<Vec<Given>> {
    call.may("task", "execute", Reach::Team)?;
    let (desk, worker) = own(app, call, id).await?;
    let Some(ask) = ask_of(&worker, free) else {
        desk.heard(id);
        // One that may not have anything does not ask again at once.
        tokio::time::sleep(wait.min(WAIT_MAX).min(Duration::from_secs(1))).await;
        return Ok(Vec::new());
    };
    desk.ask(ask, wait.min(WAIT_MAX)).await.map_err(Into::into)
}

/// Returns what a worker asks for; `None` if it may not have anything.
fn ask_of(worker: &Worker, free: u32) -> Option<Ask> {
    (worker.mood == Mood::Active && free > 0).then(|| Ask {
        worker: worker.id,
        pool: worker.pool.clone(),
        able: worker.capabilities.clone(),
        free: free.min(worker.capacity),
        capacity: worker.capacity,
    })
}

/// Takes in what a worker says of a task that it has.
///
/// # Errors
/// If the caller is not that worker, or has this attempt no more.
#[instrument(level = "debug", name = "app.workers.say", skip_all, fields(tenant = %call.actor.tenant, worker = %id, %task))]
pub async fn say(
    app: &App,
    call: &Call,
    (id, task, attempt): (WorkerId, TaskId, u32),
    say: Say,
) -> Result<Said> {
    call.may("task", "execute", Reach::Team)?;
    let (desk, worker) = own(app, call, id).await?;
    let fence = Fence { task, attempt, worker: id };
    desk.say(fence, say, author(&worker, call)).await.map_err(Into::into)
}

/// Takes in what a worker says of a task that it has, and gives it what it can do next with the same
/// write: one word instead of two for each task.
///
/// # Errors
/// If the caller is not that worker, or has this attempt no more; then it is given nothing.
#[instrument(level = "debug", name = "app.workers.say_and_claim", skip_all, fields(tenant = %call.actor.tenant, worker = %id, %task))]
pub async fn say_and_claim(
    app: &App,
    call: &Call,
    (id, task, attempt): (WorkerId, TaskId, u32),
    say: Say,
    (free, wait): (u32, Duration),
) -> Result<(Said, Vec<Given>)> {
    call.may("task", "execute", Reach::Team)?;
    let (desk, worker) = own(app, call, id).await?;
    let fence = Fence { task, attempt, worker: id };
    let author = author(&worker, call);
    match ask_of(&worker, free) {
        Some(ask) => desk.say_and_ask((fence, say, author), ask, wait.min(WAIT_MAX)).await,
        None => desk.say(fence, say, author).await.map(|said| (said, Vec::new())),
    }
    .map_err(Into::into)
}

fn author(worker: &Worker, call: &Call) -> Author {
    let name = Some(format!("worker:{}", worker.name.as_str()));
    Author { name, trace_id: call.trace_id.clone() }
}

/// Lets a worker go: what it has is given back.
///
/// # Errors
/// If the caller may not, or it is gone already.
#[instrument(level = "debug", name = "app.workers.leave", skip_all, fields(tenant = %call.actor.tenant, worker = %id))]
pub async fn leave(app: &App, call: &Call, id: WorkerId) -> Result<()> {
    call.may("task", "execute", Reach::Team)?;
    let tenant = call.actor.tenant;
    if bury(app, tenant, id, AttemptEnd::Released, Some(call)).await? {
        return Ok(());
    }
    Err(Error::Queue(QueueError::NoWorker(id)))
}

/// Returns the caller's own worker, if it lives.
pub(super) async fn own(app: &App, call: &Call, id: WorkerId) -> Result<(Arc<Desk>, Arc<Worker>)> {
    let desk = app.desks.of(call.actor.tenant);
    let worker = match desk.known(id) {
        Some(known) => known,
        None => {
            let find = move |tx: &mut Tx<'_>| tx.workers().by_id(id);
            let found = app.store.read(call.scope(), find).await.map_err(Error::Store)?;
            let worker = found.filter(|one| one.expires_at > Timestamp::UNIX_EPOCH);
            desk.know(worker.ok_or(QueueError::NoWorker(id))?)
        }
    };
    if worker.user != call.actor.user {
        return Err(Error::Queue(QueueError::OthersWorker(id)));
    }
    Ok((desk, worker))
}

/// Notes that a worker is gone and gives what it had to others; `false` if it was gone, or lives.
pub(super) async fn bury(
    app: &App,
    tenant: TenantId,
    id: WorkerId,
    how: AttemptEnd,
    call: Option<&Call>,
) -> Result<bool> {
    let outside = outside(app);
    let (app_, call) = (app.clone(), call.cloned());
    let work = move |tx: &mut Tx<'_>| {
        let outside = Outside { now: tx.clock(outside.now)?, ..outside };
        // Who leaves is believed; who is silent must be so for long enough.
        let before = if call.is_some() { Timestamp::MAX } else { outside.now };
        // Locks are taken in this order everywhere.
        tx.tasks().lock_graph(false)?;
        let Some(worker) = tx.workers().by_id(id)? else { return Ok(None) };
        if !tx.workers().bury(id, outside.now, before)? {
            return Ok(None);
        }
        let name = call.as_ref().map(|call| call.actor.name.clone());
        let author = Author { name, trace_id: None };
        let teller = Teller { mint: outside.mint, now: outside.now, author: &author };
        let why = if call.is_some() { "the worker left" } else { "the worker fell silent" };
        let held = end_held(tx, id, (how, why), (outside, teller))?;
        for spot in tx.tasks().unassign(&Lane::of_worker(&worker.pool, id))? {
            tx.lanes().note(&spot.lane)?;
            teller.tell(tx, "task:unassigned", &spot, &More::default())?;
        }
        let event = teller.event("worker:offline", &Told::of(&worker), ("workerId", id));
        tx.record(event)?;
        Ok::<_, StoreError>(Some(held))
    };
    let gone = tally::write(&app_, tenant, work).await?;
    if let (AttemptEnd::Lost, Some(held)) = (how, gone) {
        tally::fell_silent(held);
    }
    let desk = app_.desks.of(tenant);
    desk.forget(id);
    desk.wake();
    Ok(gone.is_some())
}

/// Lets all workers live on if no server was there to hear them.
///
/// Where several servers share a queue, somebody who was heard a moment ago shows that one was.
pub(super) async fn grace(app: &App, alone: bool) -> Result<()> {
    let now = app.clock.now();
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        let heard = tx.workers().heard_last()?;
        if !alone && heard.is_some_and(|at| now.duration_since(at) < SILENCE) {
            return Ok(0);
        }
        // The clock may have been set back meanwhile: nobody is believed for longer than others.
        tx.workers().set_expiry(lives_until(now))
    };
    app.store.write(Scope::System, work).await?;
    Ok(())
}

/// Lets leases go on as before, although the clock was set.
pub(super) async fn shift(app: &App, by: SignedDuration) -> Result<()> {
    let until = lives_until(app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        tx.tasks().shift(by)?;
        tx.workers().set_expiry(until)
    };
    app.store.write(Scope::System, work).await?;
    Ok(())
}

/// Notes who was heard of since the last time.
pub(super) async fn note_all(app: &App) -> Result<()> {
    for desk in app.desks.all() {
        let mut seen: Vec<WorkerId> = desk.take_seen().into_iter().collect();
        if seen.is_empty() {
            continue;
        }
        // In the order in which those who hand tasks out look at them.
        seen.sort_unstable();
        let now = app.clock.now();
        let work = move |tx: &mut Tx<'_>| {
            let now = tx.clock(now)?;
            for worker in &seen {
                tx.workers().touch(*worker, now, lives_until(now))?;
            }
            Ok::<_, StoreError>(())
        };
        app.store.write(Scope::Tenant(desk.tenant()), work).await?;
    }
    Ok(())
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        use super::turn::TurnError;
        match refused {
            Refused::Store(error) => Self::Store(error),
            Refused::Full => Self::Throttled { retry_ms: 1_000 },
            Refused::Turn(TurnError::LeaseLost(task)) => Error::Queue(QueueError::LeaseLost(task)),
            Refused::Turn(TurnError::NoParent(task)) => Error::Queue(QueueError::NoTask(task)),
            Refused::Turn(TurnError::ParentFailed(task)) => {
                Error::Queue(QueueError::DependencyFailed(task))
            }
        }
    }
}
