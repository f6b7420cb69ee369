//! The desk of a tenant: where everything about its tasks arrives and is carried out in turns.

mod refused;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use godel_model::{Clock, Mint, TenantId, Worker, WorkerId};
use godel_store::{Error, Fence, Scope, Store, fault};
use tokio::sync::{Notify, oneshot};

pub(super) use self::refused::Refused;
use super::tally::Tally;
use super::tell::Author;
use super::turn::{Add, Added, Ask, Batch, Given, Outside, Said, Say, Turn};
use crate::Crew;

/// How much of one kind goes into one transaction.
const TURN_MAX: usize = 512;
/// How many workers of a tenant can wait at once on one server.
const PARKED_MAX: usize = 20_000;
/// Of how many sessions it is remembered who had them last.
const SESSIONS_MAX: usize = 10_000;
/// How long what a worker said of itself is believed without asking the database.
const KNOWN_FOR: Duration = Duration::from_secs(5);

type Answer<T> = Result<T, Refused>;
type Reply<T> = oneshot::Sender<Answer<T>>;

struct Parked {
    number: u64,
    ask: Arc<Ask>,
    /// When it goes with nothing: it may be so late only when its turn comes back.
    until: tokio::time::Instant,
    reply: Reply<Vec<Given>>,
}

#[derive(Default)]
struct Inbox {
    adds: VecDeque<(Add, Reply<Added>)>,
    says: VecDeque<(Fence, Say, Author, Reply<Said>)>,
    parked: VecDeque<Parked>,
    /// Whether there may be something for those who wait.
    woken: bool,
    /// Up to which of those who wait was looked since there may be something; 0 if at all of them.
    looked: u64,
    /// Whether something more came while not all had been looked at.
    again: bool,
    next: u64,
    seen: HashSet<WorkerId>,
    known: HashMap<WorkerId, (Arc<Worker>, Instant)>,
    /// Who had the last task of a session.
    sessions: Arc<HashMap<String, WorkerId>>,
    closed: bool,
}

/// What all desks share.
struct Office {
    store: Store,
    clock: Arc<dyn Clock>,
    mint: Mint,
    /// Rings when a task was given a time.
    keeper: Notify,
    /// Rings when something is over.
    news: Notify,
    tally: Tally,
}

/// The desk of one tenant.
pub struct Desk {
    tenant: TenantId,
    office: Arc<Office>,
    inbox: Mutex<Inbox>,
    bell: Notify,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// The desks of all tenants that this server works for.
pub struct Desks {
    office: Arc<Office>,
    crew: Crew,
    open: Mutex<HashMap<TenantId, Arc<Desk>>>,
}

impl std::fmt::Debug for Desks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desks").finish_non_exhaustive()
    }
}

impl Desks {
    /// Opens the office.
    pub fn new(store: Store, clock: Arc<dyn Clock>, mint: Mint, crew: Crew) -> Self {
        let (keeper, news) = (Notify::new(), Notify::new());
        let tally = Tally::default();
        let office = Arc::new(Office { store, clock, mint, keeper, news, tally });
        Self { office, crew, open: Mutex::default() }
    }

    /// Returns the desk of a tenant.
    pub fn of(&self, tenant: TenantId) -> Arc<Desk> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let made = open.entry(tenant).or_insert_with(|| {
            let desk = Arc::new(Desk {
                tenant,
                office: Arc::clone(&self.office),
                inbox: Mutex::default(),
                bell: Notify::new(),
            });
            let clerk = Arc::clone(&desk);
            let stop = self.crew.stopping();
            self.crew.spawn(async move {
                loop {
                    tokio::select! {
                        () = clerk.bell.notified() => clerk.work().await,
                        () = stop.cancelled() => break,
                    }
                }
                // Who was heard before the end is answered.
                clerk.send_home();
                clerk.work().await;
            });
            desk
        });
        Arc::clone(made)
    }

    /// Hands nothing out any more; what workers say is still heard.
    pub(super) fn close(&self) {
        self.all().iter().for_each(|desk| desk.send_home());
    }

    /// Returns the desks that are open.
    pub(super) fn all(&self) -> Vec<Arc<Desk>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.values().map(Arc::clone).collect()
    }

    /// Returns what counts what happens to tasks.
    pub(crate) fn tally(&self) -> &Tally {
        &self.office.tally
    }

    /// Waits until a task was given a time.
    pub(super) async fn changed(&self) {
        self.office.keeper.notified().await;
    }

    /// Waits until something is over.
    pub(crate) async fn news(&self) {
        self.office.news.notified().await;
    }

    /// Tells that something is over.
    pub(crate) fn ring_news(&self) {
        self.office.news.notify_one();
    }
}

impl Desk {
    /// Returns whose desk it is.
    pub(super) fn tenant(&self) -> TenantId {
        self.tenant
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be added.
    pub async fn add(&self, add: Add) -> Answer<Added> {
        let (reply, answer) = oneshot::channel();
        self.inbox().adds.push_back((add, reply));
        self.bell.notify_one();
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Adds several tasks; each has an answer of its own.
    pub async fn add_all(&self, adds: Vec<Add>) -> Vec<Answer<Added>> {
        let mut answers = Vec::with_capacity(adds.len());
        {
            let mut inbox = self.inbox();
            for add in adds {
                let (reply, answer) = oneshot::channel();
                inbox.adds.push_back((add, reply));
                answers.push(answer);
            }
        }
        self.bell.notify_one();
        let mut all = Vec::with_capacity(answers.len());
        for answer in answers {
            all.push(answer.await.unwrap_or(Err(Refused::Store(Error::Closed))));
        }
        all
    }

    /// Takes in what a worker says of its task; it is on disk when this returns.
    ///
    /// # Errors
    /// If the task is not in its hands any more.
    pub async fn say(&self, fence: Fence, say: Say, author: Author) -> Answer<Said> {
        let (reply, answer) = oneshot::channel();
        {
            let mut inbox = self.inbox();
            inbox.seen.insert(fence.worker);
            inbox.says.push_back((fence, say, author, reply));
        }
        self.bell.notify_one();
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Waits for tasks, up to a time.
    ///
    /// # Errors
    /// If too many wait, or the database fails.
    pub async fn ask(&self, ask: Ask, patience: Duration) -> Answer<Vec<Given>> {
        let (reply, mut answer) = oneshot::channel();
        let until = tokio::time::Instant::now() + patience;
        let number = {
            let mut inbox = self.inbox();
            if inbox.closed {
                return Ok(Vec::new());
            }
            if inbox.parked.len() >= PARKED_MAX {
                return Err(Refused::Full);
            }
            inbox.seen.insert(ask.worker);
            inbox.next += 1;
            let number = inbox.next;
            inbox.parked.push_back(Parked { number, ask: Arc::new(ask), until, reply });
            inbox.woken = true;
            number
        };
        self.bell.notify_one();
        if patience.is_zero() {
            return answer.await.map_err(|_| Error::Closed)?;
        }
        if let Ok(answered) = tokio::time::timeout_at(until, &mut answer).await {
            return answered.map_err(|_| Error::Closed)?;
        }
        // If it does not wait any more, it is being served at this moment.
        match self.unpark(number) {
            true => Ok(Vec::new()),
            false => answer.await.map_err(|_| Error::Closed)?,
        }
    }

    /// Lets one who waits go; `false` if it does not wait any more.
    fn unpark(&self, number: u64) -> bool {
        let mut inbox = self.inbox();
        let before = inbox.parked.len();
        inbox.parked.retain(|parked| parked.number != number);
        inbox.parked.len() < before
    }

    /// Lets those who wait be served: there may be something for them.
    pub fn wake(&self) {
        self.inbox().woken = true;
        self.bell.notify_one();
    }

    /// Tells whether anybody waits.
    pub(super) fn has_parked(&self) -> bool {
        !self.inbox().parked.is_empty()
    }

    /// Notes that a worker was heard of.
    pub fn heard(&self, worker: WorkerId) {
        self.inbox().seen.insert(worker);
    }

    /// Takes out who was heard of since the last time; who waits is here.
    pub(super) fn take_seen(&self) -> HashSet<WorkerId> {
        let mut inbox = self.inbox();
        let mut seen = std::mem::take(&mut inbox.seen);
        seen.extend(inbox.parked.iter().map(|parked| parked.ask.worker));
        seen
    }

    /// Returns what is known of a worker, if that is fresh.
    pub(super) fn known(&self, worker: WorkerId) -> Option<Arc<Worker>> {
        let inbox = self.inbox();
        let (known, since) = inbox.known.get(&worker)?;
        (since.elapsed() < KNOWN_FOR).then(|| Arc::clone(known))
    }

    /// Remembers a worker for a while.
    pub(super) fn know(&self, worker: Worker) -> Arc<Worker> {
        let worker = Arc::new(worker);
        let mut inbox = self.inbox();
        inbox.known.retain(|_, (_, since)| since.elapsed() < KNOWN_FOR);
        inbox.known.insert(worker.id, (Arc::clone(&worker), Instant::now()));
        worker
    }

    /// Forgets a worker: what it says of itself has changed, so it must ask anew.
    pub(super) fn forget(&self, worker: WorkerId) {
        let mut inbox = self.inbox();
        inbox.known.remove(&worker);
        let (own, others): (VecDeque<_>, _) = std::mem::take(&mut inbox.parked)
            .into_iter()
            .partition(|parked| parked.ask.worker == worker);
        inbox.parked = others;
        for parked in own {
            drop(parked.reply.send(Ok(Vec::new())));
        }
    }

    /// Lets everybody who waits go with nothing: nothing is handed out any more.
    fn send_home(&self) {
        let mut inbox = self.inbox();
        inbox.closed = true;
        for parked in inbox.parked.drain(..) {
            drop(parked.reply.send(Ok(Vec::new())));
        }
    }

    /// Carries out what has arrived, turn by turn, until nothing is left.
    async fn work(&self) {
        loop {
            // Whoever was answered just now brings the next thing first, so that it goes into this
            // turn too: one commit for all of them instead of one for the first.
            tokio::task::yield_now().await;
            let Some(job) = self.take() else { return };
            let Job { batch, adds, says, parked } = job;
            let (store, mint) = (&self.office.store, self.office.mint);
            let (now, chance) = (self.office.clock.now(), f64::from(mint.bytes::<1>()[0]) / 255.0);
            let outside = Outside { mint, now, chance };
            let written =
                store.write(Scope::Tenant(self.tenant), move |tx| batch.run(tx, outside)).await;
            fault("queue-committed");
            match written {
                Ok(written) => {
                    self.office.tally.count(self.tenant, &written.events);
                    self.answer(written.value, (adds, says, parked));
                }
                Err(error) => refuse_all(&error, (adds, says, parked)),
            }
        }
    }

    /// Takes what has arrived; those who wait come along whenever something may be there for them.
    fn take(&self) -> Option<Job> {
        let mut inbox = self.inbox();
        loop {
            let is_new = !inbox.adds.is_empty() || !inbox.says.is_empty() || inbox.woken;
            if !is_new && inbox.looked == 0 {
                return None;
            }
            inbox.woken = false;
            // What is new is for those too who have been looked at.
            inbox.again |= is_new && inbox.looked > 0;
            let job = inbox.job();
            if !job.batch.is_empty() {
                return Some(job);
            }
        }
    }

    fn answer(&self, turn: Turn, (adds, says, parked): Waiting) {
        let Turn { adds: added, says: said, given, gone, due, news } = turn;
        for (reply, answer) in adds.into_iter().zip(added) {
            drop(reply.send(answer.map_err(Refused::Turn)));
        }
        for (reply, answer) in says.into_iter().zip(said) {
            drop(reply.send(answer.map_err(Refused::Turn)));
        }
        let (mut back, mut lost) = (Vec::new(), Vec::new());
        for (parked, given) in parked.into_iter().zip(given) {
            if given.is_empty() {
                back.push(parked);
                continue;
            }
            self.remember(&given);
            fault("queue-handing-over");
            // Nobody took it over: it goes back untouched.
            if let Err(Ok(given)) = parked.reply.send(Ok(given)) {
                lost.extend(given);
            }
        }
        let more = {
            let mut inbox = self.inbox();
            let now = tokio::time::Instant::now();
            for parked in back {
                if inbox.closed || parked.until <= now || gone.contains(&parked.ask.worker) {
                    drop(parked.reply.send(Ok(Vec::new())));
                } else {
                    // Who has waited longest stays in front.
                    let place = inbox.parked.partition_point(|one| one.number < parked.number);
                    inbox.parked.insert(place, parked);
                }
            }
            // What somebody who is gone would have got is for others.
            inbox.woken |= !gone.is_empty();
            for given in lost {
                let spot = given.lease.spot;
                let worker = given.lease.worker;
                let fence = Fence { task: spot.task, attempt: spot.attempt, worker };
                let (reply, _) = oneshot::channel();
                inbox.says.push_back((fence, Say::Released, Author::default(), reply));
            }
            !inbox.says.is_empty() || inbox.woken
        };
        if more {
            self.bell.notify_one();
        }
        if due.is_some() {
            self.office.keeper.notify_one();
        }
        if news {
            self.office.news.notify_one();
        }
    }

    fn remember(&self, given: &[Given]) {
        let mut inbox = self.inbox();
        for given in given {
            let Some(session) = &given.asked.session else { continue };
            let sessions = Arc::make_mut(&mut inbox.sessions);
            if sessions.len() >= SESSIONS_MAX {
                sessions.clear();
            }
            sessions.insert(session.clone(), given.lease.worker);
        }
    }
}

impl Inbox {
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
        if !job.parked.is_empty() {
            job.batch.sessions = Arc::clone(&self.sessions);
        }
        job
    }
}

type Waiting = (Vec<Reply<Added>>, Vec<Reply<Said>>, Vec<Parked>);

/// One transaction, and who waits for it.
#[derive(Default)]
struct Job {
    batch: Batch,
    adds: Vec<Reply<Added>>,
    says: Vec<Reply<Said>>,
    parked: Vec<Parked>,
}

/// Tells everybody that the transaction failed.
fn refuse_all(error: &Error, (adds, says, parked): Waiting) {
    for reply in adds {
        drop(reply.send(Err(error.again().into())));
    }
    for reply in says {
        drop(reply.send(Err(error.again().into())));
    }
    for parked in parked {
        drop(parked.reply.send(Err(error.again().into())));
    }
}
