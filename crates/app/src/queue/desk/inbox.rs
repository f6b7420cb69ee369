//! What has arrived at a desk and waits for its turn.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_model::{Worker, WorkerId};
use godel_store::{Error, Fence};
use tokio::sync::oneshot;

use super::super::tell::Author;
use super::super::turn::{Add, Added, Ask, Batch, Given, Said, Say, Turn};
use super::{Answer, Outcome, Refused, Reply, Slot};

/// How much of one kind goes into one transaction.
const TURN_MAX: usize = 512;
/// How many workers of a tenant can wait at once on one server.
const PARKED_MAX: usize = 20_000;
/// Of how many sessions it is remembered who had them last.
const SESSIONS_MAX: usize = 10_000;

/// Somebody who waits for tasks.
pub(super) struct Parked {
    pub(super) number: u64,
    pub(super) ask: Arc<Ask>,
    pub(super) reply: Reply<Vec<Given>>,
}

/// What somebody who waits holds.
pub(super) struct Ticket {
    pub(super) number: u64,
    pub(super) answer: oneshot::Receiver<Answer<Vec<Given>>>,
}

/// What has arrived.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) adds: VecDeque<(Add, Reply<Added>)>,
    pub(super) says: VecDeque<(Fence, Say, Author, Reply<Said>)>,
    pub(super) parked: VecDeque<Parked>,
    /// Those whose patience has ended: they go with nothing if they get nothing in their turn.
    pub(super) late: HashSet<u64>,
    /// Whether there may be something for those who wait.
    pub(super) woken: bool,
    /// Up to which of those who wait was looked since there may be something; 0 if at all of them.
    pub(super) looked: u64,
    /// Whether something more came while not all had been looked at.
    pub(super) again: bool,
    pub(super) next: u64,
    pub(super) seen: HashSet<WorkerId>,
    pub(super) known: HashMap<WorkerId, (Arc<Worker>, Instant)>,
    /// Who had the last task of a session; none if nobody has looked yet.
    pub(super) sessions: Option<Arc<HashMap<String, WorkerId>>>,
    pub(super) closed: bool,
    /// Whether a turn is on its way that will take what is here.
    pub(super) summoned: bool,
    /// Whether the writer took no turn because too much waits for it.
    pub(super) no_room: bool,
    /// Turns that are over and not answered yet.
    pub(super) over: Vec<(Outcome, Slot)>,
}

impl Inbox {
    /// Tells whether there is anything to do.
    pub(super) fn has_news(&self) -> bool {
        !self.adds.is_empty() || !self.says.is_empty() || self.woken || self.looked > 0
    }

    /// Lets somebody wait; nobody waits at a desk that is closed. Who has no patience is served in the
    /// next turn or not at all.
    pub(super) fn park(&mut self, ask: Ask, patience: Duration) -> Answer<Option<Ticket>> {
        if self.closed {
            return Ok(None);
        }
        if self.parked.len() >= PARKED_MAX {
            return Err(Refused::Full);
        }
        let (reply, answer) = oneshot::channel();
        self.seen.insert(ask.worker);
        self.next += 1;
        let number = self.next;
        if patience.is_zero() {
            self.late.insert(number);
        }
        self.parked.push_back(Parked { number, ask: Arc::new(ask), reply });
        self.woken = true;
        Ok(Some(Ticket { number, answer }))
    }

    /// Tells whether a turn must be sent for; from then on it is on its way.
    pub(super) fn summon(&mut self) -> bool {
        !self.summoned && self.has_news() && {
            self.summoned = true;
            true
        }
    }

    /// Takes what has arrived; those who wait come along whenever something may be there for them.
    pub(super) fn take(&mut self) -> Option<Job> {
        self.summoned = false;
        while self.has_news() {
            let is_new = !self.adds.is_empty() || !self.says.is_empty() || self.woken;
            self.woken = false;
            // What is new is for those too who have been looked at.
            self.again |= is_new && self.looked > 0;
            let job = self.job();
            if !job.batch.is_empty() {
                return Some(job);
            }
        }
        None
    }

    /// Puts together what goes into one transaction.
    fn job(&mut self) -> Job {
        let mut job = Job::default();
        let adds = self.adds.len().min(TURN_MAX);
        for (add, reply) in self.adds.drain(..adds) {
            job.batch.adds.push(add);
            job.adds.push(reply);
        }
        let says = self.says.len().min(TURN_MAX);
        for (fence, say, author, reply) in self.says.drain(..says) {
            job.batch.says.push((fence, say, author));
            job.says.push(reply);
        }
        // Who does not listen any more must not be given anything.
        self.parked.retain(|parked| !parked.reply.is_closed());
        let first = self.parked.partition_point(|parked| parked.number <= self.looked);
        let last = self.parked.len().min(first + TURN_MAX);
        for parked in self.parked.drain(first..last) {
            job.batch.asks.push(Arc::clone(&parked.ask));
            job.parked.push(parked);
        }
        // If they are many, those behind come in the next turn: what nobody in front can do may be
        // for one of them.
        let is_rest = self.parked.len() > first;
        self.looked = job.parked.last().filter(|_| is_rest).map_or(0, |parked| parked.number);
        if self.looked == 0 {
            self.woken |= std::mem::take(&mut self.again);
        }
        job
    }

    /// Lets one who waits go; `false` if its turn is still to come or under way, from which it does
    /// not come back to wait.
    pub(super) fn let_go(&mut self, number: u64) -> bool {
        if self.late.contains(&number) {
            return false;
        }
        let before = self.parked.len();
        self.parked.retain(|parked| parked.number != number);
        let waited = self.parked.len() < before;
        if !waited {
            self.late.insert(number);
        }
        waited
    }

    /// Tells a turn who had the last task of a session.
    pub(super) fn bring_sessions(&self, job: &mut Job) {
        if !job.parked.is_empty() {
            job.batch.sessions = self.sessions.as_ref().map(Arc::clone);
        }
    }

    /// Takes those back to whom a turn gave nothing.
    pub(super) fn take_back(&mut self, job: &mut Job, turn: &mut Turn) {
        job.batch.sessions = None;
        if let Some(recalled) = turn.recalled.take() {
            self.sessions.get_or_insert(recalled);
        }
        let asked = std::mem::take(&mut job.parked).into_iter();
        let given = std::mem::take(&mut turn.given).into_iter();
        let asks = std::mem::take(&mut job.batch.asks);
        for ((parked, given), ask) in asked.zip(given).zip(asks) {
            let late = self.late.contains(&parked.number);
            if !given.is_empty() {
                self.remember(&given);
                job.parked.push(parked);
                job.batch.asks.push(ask);
                turn.given.push(given);
            } else if self.closed || late || turn.gone.contains(&ask.worker) {
                self.late.remove(&parked.number);
                drop(parked.reply.send(Ok(Vec::new())));
            } else {
                // Who has waited longest stays in front.
                let place = self.parked.partition_point(|one| one.number < parked.number);
                self.parked.insert(place, parked);
            }
        }
        // What somebody who is gone would have got is for others.
        self.woken |= !turn.gone.is_empty();
    }

    /// Puts tasks that nobody took over back, untouched.
    pub(super) fn give_back(&mut self, lost: Vec<Given>) {
        for given in lost {
            let (spot, worker) = (given.lease.spot, given.lease.worker);
            let fence = Fence { task: spot.task, attempt: spot.attempt, worker };
            let (reply, _) = oneshot::channel();
            self.says.push_back((fence, Say::Released, Author::default(), reply));
        }
    }

    /// Lets everybody who waits go with nothing: nothing is handed out any more.
    pub(super) fn send_home(&mut self) {
        self.closed = true;
        for parked in self.parked.drain(..) {
            drop(parked.reply.send(Ok(Vec::new())));
        }
    }

    fn remember(&mut self, given: &[Given]) {
        for given in given {
            if let Some(session) = &given.asked.session {
                self.learn(session.clone(), given.lease.worker);
            }
        }
    }

    /// Notes who has the last task of a session. Before anybody has looked the log is believed.
    pub(super) fn learn(&mut self, session: String, worker: WorkerId) {
        let Some(sessions) = &mut self.sessions else { return };
        let sessions = Arc::make_mut(sessions);
        if sessions.len() >= SESSIONS_MAX {
            sessions.clear();
        }
        sessions.insert(session, worker);
    }
}

/// One transaction, and who waits for it.
#[derive(Default)]
pub(super) struct Job {
    pub(super) batch: Batch,
    pub(super) adds: Vec<Reply<Added>>,
    pub(super) says: Vec<Reply<Said>>,
    pub(super) parked: Vec<Parked>,
}

impl Job {
    /// Tells everybody that the transaction failed.
    pub(super) fn refuse(self, error: &Error) {
        for reply in self.adds {
            drop(reply.send(Err(error.again().into())));
        }
        for reply in self.says {
            drop(reply.send(Err(error.again().into())));
        }
        for parked in self.parked {
            drop(parked.reply.send(Err(error.again().into())));
        }
    }
}
