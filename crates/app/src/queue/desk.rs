//! The desk of a tenant: where everything about its tasks arrives and is carried out in turns.

mod inbox;
mod refused;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use godel_model::{Capability, Clock, Mint, TenantId, Worker, WorkerId};
use godel_store::{Error, Fence, Scope, Store, Tx, Written, fault};
use tokio::sync::{Notify, oneshot};

use self::inbox::{Inbox, Job, Ticket};
pub(super) use self::refused::Refused;
use super::tally::Tally;
use super::tell::Author;
use super::turn::{Add, Added, Ask, Given, Outside, Said, Say, Turn};
use crate::Crew;

/// How long what a worker said of itself is believed without asking the database.
const KNOWN_FOR: Duration = Duration::from_secs(5);

type Answer<T> = Result<T, Refused>;
type Reply<T> = oneshot::Sender<Answer<T>>;

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
    /// Rings when a turn is over, or the writer takes nothing more and somebody must wait for it.
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
                        () = clerk.bell.notified() => clerk.attend().await,
                        () = stop.cancelled() => break,
                    }
                }
                // Who was heard before the end is answered, behind all who were heard before.
                clerk.inbox().send_home();
                clerk.wait_for_room().await;
                clerk.attend().await;
            });
            desk
        });
        Arc::clone(made)
    }

    /// Hands nothing out any more; what workers say is still heard.
    pub(super) fn close(&self) {
        self.all().iter().for_each(|desk| desk.inbox().send_home());
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
    pub async fn add(self: &Arc<Self>, add: Add) -> Answer<Added> {
        let (reply, answer) = oneshot::channel();
        self.inbox().adds.push_back((add, reply));
        self.summon();
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Adds several tasks; each has an answer of its own.
    pub async fn add_all(self: &Arc<Self>, adds: Vec<Add>) -> Vec<Answer<Added>> {
        let mut answers = Vec::with_capacity(adds.len());
        {
            let mut inbox = self.inbox();
            for add in adds {
                let (reply, answer) = oneshot::channel();
                inbox.adds.push_back((add, reply));
                answers.push(answer);
            }
        }
        self.summon();
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
    pub async fn say(self: &Arc<Self>, fence: Fence, say: Say, author: Author) -> Answer<Said> {
        let (reply, answer) = oneshot::channel();
        {
            let mut inbox = self.inbox();
            inbox.seen.insert(fence.worker);
            inbox.says.push_back((fence, say, author, reply));
        }
        self.summon();
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Waits for tasks, up to a time.
    ///
    /// # Errors
    /// If too many wait, or the database fails.
    pub async fn ask(self: &Arc<Self>, ask: Ask, patience: Duration) -> Answer<Vec<Given>> {
        let Some(ticket) = self.inbox().park(ask, patience)? else { return Ok(Vec::new()) };
        self.summon();
        self.wait(ticket, patience).await
    }

    /// Takes in what a worker says of its task, and gives it what it can do next in the same turn, or
    /// as soon as there is something, up to a time.
    ///
    /// # Errors
    /// If the task is not in its hands any more; then it is given nothing.
    pub async fn say_and_ask(
        self: &Arc<Self>,
        (fence, say, author): (Fence, Say, Author),
        ask: Ask,
        patience: Duration,
    ) -> Answer<(Said, Vec<Given>)> {
        let (reply, said) = oneshot::channel();
        let ticket = {
            let mut inbox = self.inbox();
            inbox.seen.insert(fence.worker);
            inbox.says.push_back((fence, say, author, reply));
            // Who cannot wait is heard all the same.
            inbox.park(ask, patience).unwrap_or_default()
        };
        self.summon();
        let said = said.await.unwrap_or(Err(Refused::Store(Error::Closed)));
        let Some(ticket) = ticket else { return said.map(|said| (said, Vec::new())) };
        match said {
            Ok(said) => Ok((said, self.wait(ticket, patience).await?)),
            Err(refused) => {
                let given = self.wait(ticket, Duration::ZERO).await.unwrap_or_default();
                self.inbox().give_back(given);
                self.summon();
                Err(refused)
            }
        }
    }

    async fn wait(&self, mut ticket: Ticket, patience: Duration) -> Answer<Vec<Given>> {
        if !patience.is_zero()
            && let Ok(answered) = tokio::time::timeout(patience, &mut ticket.answer).await
        {
            return answered.map_err(|_| Error::Closed)?;
        }
        if self.inbox().let_go(ticket.number) {
            return Ok(Vec::new());
        }
        // Its turn comes, or is under way.
        let answered = ticket.answer.await;
        self.inbox().late.remove(&ticket.number);
        answered.map_err(|_| Error::Closed)?
    }

    /// Lets those who wait be served: there may be something for them.
    pub fn wake(self: &Arc<Self>) {
        self.inbox().woken = true;
        self.summon();
    }

    /// Notes who has the last tasks of sessions.
    pub(super) fn learn(&self, moved: impl Iterator<Item = (String, WorkerId)>) {
        let mut inbox = self.inbox();
        moved.for_each(|(session, worker)| inbox.learn(session, worker));
    }

    /// Forgets who has the last tasks of sessions, so that it is looked up.
    pub(super) fn forget_sessions(&self) {
        self.inbox().sessions = None;
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
    pub(super) fn know(&self, mut worker: Worker) -> Arc<Worker> {
        // What is for it alone by name is open to it.
        worker.capabilities.extend(Capability::of_agent(worker.name.as_str()).ok());
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

    /// Has what has arrived carried out, unless that is on its way already.
    ///
    /// Whoever comes first sends for the writer at once: it begins while others are on their way, and
    /// what they bring comes along.
    fn summon(self: &Arc<Self>) {
        if !self.inbox().summon() {
            return;
        }
        let slot = Slot::default();
        let (desk, told) = (Arc::clone(self), Arc::clone(&slot));
        let then = move |written| {
            // The clerk answers: for the writer each one who is woken would be a call of the system.
            desk.inbox().over.push((written, told));
            desk.bell.notify_one();
        };
        if !self.office.store.post(Scope::Tenant(self.tenant), self.turn(&slot), then) {
            self.inbox().no_room = true;
            self.bell.notify_one();
        }
    }

    /// Answers those whose turns are over, and waits for the writer if it takes nothing more.
    async fn attend(self: &Arc<Self>) {
        let over = std::mem::take(&mut self.inbox().over);
        for (written, slot) in over {
            self.finish(written, &slot);
        }
        if std::mem::take(&mut self.inbox().no_room) {
            self.wait_for_room().await;
        }
    }

    /// Carries out what has arrived as soon as the writer takes something again.
    async fn wait_for_room(self: &Arc<Self>) {
        let slot = Slot::default();
        let store = &self.office.store;
        let written = store.write(Scope::Tenant(self.tenant), self.turn(&slot)).await;
        self.finish(written, &slot);
    }

    fn finish(self: &Arc<Self>, written: Outcome, slot: &Slot) {
        fault("queue-committed");
        let job = lock(slot).take();
        match written {
            Ok(written) => {
                self.office.tally.count(self.tenant, &written.events);
                self.answer(written.value, job.unwrap_or_default());
            }
            // If it did not even begin, what waits for it is still here.
            Err(error) => job.or_else(|| self.inbox().take()).unwrap_or_default().refuse(&error),
        }
        self.summon();
    }

    /// Returns what takes all that has arrived when its transaction begins, and carries it out.
    ///
    /// Whatever arrives while it waits for the database comes along, in the order of arrival.
    fn turn(
        self: &Arc<Self>,
        slot: &Slot,
    ) -> impl FnMut(&mut Tx<'_>) -> godel_store::Result<Turn> + Send + 'static {
        let (desk, slot) = (Arc::clone(self), Arc::clone(slot));
        move |tx| {
            let mut slot = lock(&slot);
            let job = match &mut *slot {
                // It is carried out anew: things may have changed for those too who got nothing.
                Some(job) => {
                    desk.inbox().woken = true;
                    job
                }
                None => slot.insert(desk.inbox().take().unwrap_or_default()),
            };
            if job.batch.is_empty() {
                return Ok(Turn::default());
            }
            let mint = desk.office.mint;
            let chance = f64::from(mint.bytes::<1>()[0]) / 255.0;
            let outside = Outside { mint, now: desk.office.clock.now(), chance };
            desk.inbox().bring_sessions(job);
            let mut turn = job.batch.run(tx, outside)?;
            // Who got nothing is there for the next turn, which may begin before this one is on disk.
            desk.inbox().take_back(job, &mut turn);
            desk.summon();
            Ok(turn)
        }
    }

    fn answer(&self, turn: Turn, job: Job) {
        let Turn { adds: added, says: said, given, due, news, .. } = turn;
        for (reply, answer) in job.adds.into_iter().zip(added) {
            drop(reply.send(answer.map_err(Refused::Turn)));
        }
        for (reply, answer) in job.says.into_iter().zip(said) {
            drop(reply.send(answer.map_err(Refused::Turn)));
        }
        let mut lost = Vec::new();
        for (parked, given) in job.parked.into_iter().zip(given) {
            fault("queue-handing-over");
            // Nobody took it over: it goes back untouched.
            if let Err(Ok(given)) = parked.reply.send(Ok(given)) {
                lost.extend(given);
            }
        }
        if !lost.is_empty() {
            self.inbox().give_back(lost);
        }
        if due.is_some() {
            self.office.keeper.notify_one();
        }
        if news {
            self.office.news.notify_one();
        }
    }
}

/// Where a turn leaves who waits for it, until it is on disk.
type Slot = Arc<Mutex<Option<Job>>>;
/// What became of a turn.
type Outcome = godel_store::Result<Written<Turn>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
