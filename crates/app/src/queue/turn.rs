//! One turn of the queue: reports, new tasks and hand-outs of one tenant as one transaction.

mod give;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use godel_model::{
    AttemptEnd, Capability, Lane, Mint, NewTask, Payload, PoolName, RetryPolicy, Task, TaskId,
    TaskState, WorkerId, micros,
};
use godel_store::{
    Done, Ending, Enqueued, Fence, Head, Lease, Next, Ready, Result, Settled, Spot, Tx, fault,
};
use jiff::{SignedDuration, Timestamp};

use super::heal::heal;
use super::tell::{Author, More, Teller};

/// A task that is to be added.
#[derive(Debug, Clone)]
pub struct Add {
    /// The task.
    pub task: Task,
    /// Its line.
    pub lane: Lane,
    /// Who asks for it.
    pub author: Author,
    /// The task under which a worker adds it: a worker that lost that one adds nothing.
    pub under: Option<Fence>,
}

/// What a worker says of a task that it has.
#[derive(Debug, Clone)]
pub enum Say {
    /// It is done.
    Done(Option<Payload>),
    /// It failed.
    Failed {
        /// Why.
        error: String,
        /// Whether another attempt makes no sense.
        fatal: bool,
    },
    /// It is so far.
    Progress(Payload),
    /// It was not begun and is given back.
    Released,
}

/// A worker that waits for tasks.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The worker.
    pub worker: WorkerId,
    /// From which pool.
    pub pool: PoolName,
    /// What it can do.
    pub able: BTreeSet<Capability>,
    /// How many it can take now.
    pub free: u32,
    /// How many it can have in all.
    pub capacity: u32,
}

/// What one transaction does.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Tasks that are to be added.
    pub adds: Vec<Add>,
    /// What workers say.
    pub says: Vec<(Fence, Say, Author)>,
    /// Who waits for tasks, those who have waited longest first.
    pub asks: Vec<Arc<Ask>>,
    /// Which worker had the last task of a session; none if nobody has looked yet.
    pub sessions: Option<Arc<HashMap<String, WorkerId>>>,
}

/// Why one part of a batch was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnError {
    /// The worker does not have this attempt of the task any more.
    LeaseLost(TaskId),
    /// It waits for a task that does not exist.
    NoParent(TaskId),
    /// It waits for a task that will not succeed.
    ParentFailed(TaskId),
}

/// What became of a task that was to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It is there now, in this place.
    New(TaskState),
    /// One with the same key was there before.
    Known(TaskId),
}

/// What became of what a worker said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It was noted.
    Noted {
        /// Why the worker is to stop.
        stop: Option<String>,
    },
    /// The task is over, in this state.
    Over(TaskState),
    /// The task is tried again at a time.
    Again(Timestamp),
}

/// A task that was handed out.
#[derive(Debug, Clone)]
pub struct Given {
    /// The lease.
    pub lease: Lease,
    /// What was asked for.
    pub asked: NewTask,
    /// When.
    pub created_at: Timestamp,
}

/// What came of a batch, part by part.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// What became of the tasks.
    pub adds: Vec<std::result::Result<Added, TurnError>>,
    /// What became of the reports.
    pub says: Vec<std::result::Result<Said, TurnError>>,
    /// Who got what.
    pub given: Vec<Vec<Given>>,
    /// Who would have got something and is gone, or has as much as it can have.
    pub gone: Vec<WorkerId>,
    /// When the first task that waits for its time is due.
    pub due: Option<Timestamp>,
    /// Whether something is over that belongs to something else.
    pub news: bool,
    /// Which worker had the last task of a session, if that was looked up.
    pub recalled: Option<Arc<HashMap<String, WorkerId>>>,
}

/// What a turn needs from outside.
#[derive(Debug, Clone, Copy)]
pub struct Outside {
    /// Makes ids.
    pub mint: Mint,
    /// The time, by this server's clock.
    pub now: Timestamp,
    /// From 0 to 1: spreads out those who failed together.
    pub chance: f64,
}

impl Batch {
    /// Tells whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.adds.is_empty() && self.says.is_empty() && self.asks.is_empty()
    }

    /// Carries everything out.
    ///
    /// # Errors
    /// If the database fails; then nothing was changed.
    pub fn run(&self, tx: &mut Tx<'_>, outside: Outside) -> Result<Turn> {
        let own = tx.clock(outside.now)?;
        let outside = Outside { now: own, ..outside };
        let graph = self.adds.iter().any(|add| !add.task.asked.after.is_empty());
        if graph || !self.says.is_empty() {
            tx.tasks().lock_graph(graph)?;
        }
        // What is new goes from hand to hand if somebody waits for it; not if others can wait for it.
        let ready = if graph || self.asks.is_empty() { Ready::InLine } else { Ready::InHand };
        let mut work = Work { tx, outside, ready, fresh: Vec::new(), turn: Turn::default() };
        work.listen(&self.says)?;
        if !self.says.is_empty() {
            fault("queue-reported");
        }
        work.add(&self.adds)?;
        if !self.adds.is_empty() {
            fault("queue-added");
        }
        work.hand_out(self)?;
        if work.turn.given.iter().any(|given| !given.is_empty()) {
            fault("queue-given");
        }
        Ok(work.turn)
    }
}

struct Work<'w, 'c> {
    tx: &'w mut Tx<'c>,
    outside: Outside,
    ready: Ready,
    /// New tasks that are in no line yet.
    fresh: Vec<Head>,
    turn: Turn,
}

impl Work<'_, '_> {
    fn teller<'a>(&self, author: &'a Author) -> Teller<'a> {
        Teller { mint: self.outside.mint, now: self.outside.now, author }
    }

    fn due(&mut self, at: Timestamp) {
        self.turn.due = Some(self.turn.due.map_or(at, |due| due.min(at)));
    }

    /// Takes in what workers say: what is done together, the rest one by one.
    fn listen(&mut self, says: &[(Fence, Say, Author)]) -> Result<()> {
        let done: Vec<Done> = says
            .iter()
            .filter_map(|(fence, say, _)| match say {
                Say::Done(result) => Some(Done { fence: *fence, result: result.clone() }),
                _ => None,
            })
            .collect();
        let settled = if done.is_empty() {
            Vec::new()
        } else {
            self.tx.tasks().succeed(&done, self.outside.now)?
        };
        let mut settled = settled.into_iter();
        for (fence, say, author) in says {
            let said = match say {
                Say::Done(_) => match settled.next().flatten() {
                    Some(settled) => self.succeeded(*fence, &settled, author).map(Some)?,
                    None => None,
                },
                Say::Failed { error, fatal } => {
                    let how = AttemptEnd::Failed;
                    self.ended(*fence, (how, error), *fatal, author)?
                }
                Say::Released => self.ended(*fence, (AttemptEnd::Released, ""), false, author)?,
                Say::Progress(progress) => self.progress(*fence, progress, author)?,
            };
            self.turn.says.push(said.ok_or(TurnError::LeaseLost(fence.task)));
        }
        Ok(())
    }

    fn succeeded(&mut self, fence: Fence, settled: &Settled, author: &Author) -> Result<Said> {
        let teller = self.teller(author);
        let took = micros(self.outside.now) - micros(settled.started_at);
        let more =
            More { worker: Some(fence.worker), took_us: Some(took.max(0)), ..More::default() };
        teller.tell(self.tx, "task:succeeded", &settled.spot, &more)?;
        self.turn.news = true;
        if settled.has_children {
            for (spot, state) in self.tx.tasks().unblock(settled.spot.task, self.outside.now)? {
                let because = Some(settled.spot.task);
                let more = More { because, state: Some(state.as_str()), ..More::default() };
                let kind = if state == TaskState::Ready { "task:ready" } else { "task:delayed" };
                teller.tell(self.tx, kind, &spot, &more)?;
            }
        }
        Ok(Said::Over(TaskState::Succeeded))
    }

    /// Ends an attempt that did not succeed.
    fn ended(
        &mut self,
        fence: Fence,
        (how, error): (AttemptEnd, &str),
        fatal: bool,
        author: &Author,
    ) -> Result<Option<Said>> {
        let teller = self.teller(author);
        let ended = end_attempt(self.tx, fence, (how, error, fatal), (self.outside, teller))?;
        if let Some(Said::Again(at)) = ended {
            self.due(at);
        }
        self.turn.news = true;
        Ok(ended)
    }

    fn progress(
        &mut self,
        fence: Fence,
        progress: &Payload,
        author: &Author,
    ) -> Result<Option<Said>> {
        let Some(lease) = self.tx.tasks().progress(fence, progress.as_str())? else {
            return Ok(None);
        };
        let raw = serde_json::from_str(progress.as_str()).ok();
        let more = More { worker: Some(fence.worker), progress: raw, ..More::default() };
        self.teller(author).tell(self.tx, "task:progress", &lease.spot, &more)?;
        Ok(Some(Said::Noted { stop: lease.cancel }))
    }

    fn add(&mut self, adds: &[Add]) -> Result<()> {
        let mut answers: Vec<_> = adds.iter().map(|_| None).collect();
        let mut fresh = Vec::with_capacity(adds.len());
        let mut places = Vec::with_capacity(adds.len());
        for (place, add) in adds.iter().enumerate() {
            if let Some(fence) = add.under
                && !self.tx.tasks().hold(fence)?
            {
                if let Some(answer) = answers.get_mut(place) {
                    *answer = Some(Err(TurnError::LeaseLost(fence.task)));
                }
                continue;
            }
            fresh.push((&add.task, &add.lane));
            places.push((place, add));
        }
        let enqueued = if fresh.is_empty() {
            Vec::new()
        } else {
            self.tx.tasks().enqueue(&fresh, self.ready, self.outside.now)?
        };
        for ((place, add), enqueued) in places.into_iter().zip(enqueued) {
            let answer = match enqueued {
                Enqueued::New(spot, state) => self.added(add, &spot, state).map(Ok)?,
                Enqueued::Known(id) => Ok(Added::Known(id)),
                Enqueued::NoParent(id) => Err(TurnError::NoParent(id)),
                Enqueued::ParentFailed(id) => Err(TurnError::ParentFailed(id)),
            };
            if let Some(slot) = answers.get_mut(place) {
                *slot = Some(answer);
            }
        }
        self.turn.adds = answers.into_iter().flatten().collect();
        Ok(())
    }

    fn added(&mut self, add: &Add, spot: &Spot, state: TaskState) -> Result<Added> {
        let asked = &add.task.asked;
        let more = More {
            title: Some(&asked.title),
            state: Some(state.as_str()),
            after: &asked.after,
            key: asked.key.as_deref(),
            ..More::default()
        };
        let teller = self.teller(&add.author);
        teller.tell(self.tx, "task:queued", spot, &more)?;
        if let (TaskState::Delayed, Some(at)) = (state, asked.start_at) {
            self.due(at);
        }
        if state == TaskState::Blocked {
            for spot in self.tx.tasks().raise_ancestors(spot.task, spot.priority)? {
                let more = More { because: Some(add.task.id), ..More::default() };
                teller.tell(self.tx, "task:raised", &spot, &more)?;
            }
        }
        if self.ready == Ready::InHand && state == TaskState::Ready {
            let (asked, created_at) = (asked.clone(), add.task.created_at);
            let (spot, at, from) = (spot.clone(), self.outside.now, Ready::InHand);
            self.fresh.push(Head { spot, at, asked, created_at, from });
        }
        Ok(Added::New(state))
    }
}

/// Ends an attempt that did not succeed, and tells of it and of all that follows; `None` if it is
/// not in that worker's hands any more.
pub(super) fn end_attempt(
    tx: &mut Tx<'_>,
    fence: Fence,
    (how, error, fatal): (AttemptEnd, &str, bool),
    (outside, teller): (Outside, Teller<'_>),
) -> Result<Option<Said>> {
    let Some(found) = tx.tasks().find(fence.task)? else { return Ok(None) };
    let policy = found.task.asked.retry;
    let ending = Ending { how, error, at: outside.now, fatal };
    let due = |lease: &Lease| pause_until(&policy, &lease.spot, outside);
    let Some((lease, next)) = tx.tasks().fail(fence, ending, due)? else { return Ok(None) };
    let spot = &lease.spot;
    let worker = Some(fence.worker);
    let error = (!error.is_empty()).then_some(error);
    match next {
        Next::Again(at) => {
            let kind = match how {
                AttemptEnd::Lost => "task:lost",
                AttemptEnd::Released => "task:released",
                _ => "task:failed",
            };
            heal(tx, &found, &lease, (how, outside.now))?;
            let delay_us = Some(micros(at) - micros(outside.now));
            teller.tell(tx, kind, spot, &More { worker, error, delay_us, ..More::default() })?;
            Ok(Some(Said::Again(at)))
        }
        Next::Dead | Next::Cancelled => {
            let dead = next == Next::Dead;
            let (kind, state) = if dead {
                ("task:dead", TaskState::Dead)
            } else {
                ("task:cancelled", TaskState::Cancelled)
            };
            let error = lease.cancel.as_deref().or(error);
            teller.tell(tx, kind, spot, &More { worker, error, ..More::default() })?;
            end_descendants(tx, spot.task, outside.now, teller)?;
            Ok(Some(Said::Over(state)))
        }
    }
}

/// Cancels all that waits for a task that will not succeed, and tells of it.
pub(super) fn end_descendants(
    tx: &mut Tx<'_>,
    task: TaskId,
    now: Timestamp,
    teller: Teller<'_>,
) -> Result<()> {
    for spot in tx.tasks().cancel_descendants(task, now)? {
        let more = More { because: Some(task), ..More::default() };
        teller.tell(tx, "task:cancelled", &spot, &more)?;
    }
    Ok(())
}

fn pause_until(policy: &RetryPolicy, spot: &Spot, outside: Outside) -> Timestamp {
    // What a replay or a release added does not make the pause longer.
    let before = spot.last.saturating_sub(policy.max_attempts);
    let pause = policy.pause_micros(spot.attempt.saturating_sub(before), outside.chance);
    outside.now.saturating_add(SignedDuration::from_micros(pause)).unwrap_or(outside.now)
}
