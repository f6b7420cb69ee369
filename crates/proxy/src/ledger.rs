//! The ledger: each attempt is on disk before a provider is asked, and again when it has ended.
//!
//! Everything that arrives while the last batch is being written is the next batch: no timer, one
//! transaction for many callers, and each budget is read and written once in it.

mod batch;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_model::{
    Budget, BudgetId, CallEnd, CallId, CallStart, Clock, Mint, NewEvent, Outcome, Quota, TenantId,
};
use godel_store::{CallBody, CallRecord, Scope, Store, Tx};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use batch::{Batch, Written};

/// How many entries one transaction takes at most.
const BATCH_MAX: usize = 512;
/// For how long a server is believed to be alive after it said so.
const ALIVE_SECS: i64 = 60;
/// How long to wait before a database that failed is tried again.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
/// How many lost attempts are settled at once.
const LOST_AT_ONCE: usize = 200;
/// How many attempts are looked for of which it is not known whether they were written.
const UNSURE_MAX: usize = 1_000;
/// How often an event is written anew before it is given up.
const EVENT_TRIES: u32 = 3;
/// Of how many used-up budgets it is remembered that they were told of.
const TOLD_MAX: usize = 10_000;

/// Why an attempt is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A budget is used up.
    Exhausted(Budget),
    /// Calls under way hold what is left of a budget.
    Busy(Budget),
    /// The ledger cannot be written.
    Broken(String),
}

/// What is to be written before a provider is asked.
#[derive(Debug, Clone)]
struct Opening {
    start: CallStart,
    worst: i64,
    estimate: i64,
    budgets: Arc<[BudgetId]>,
    /// An earlier attempt of the same request, whose hold goes over to this one.
    after: Option<Box<Closing>>,
}

/// What is to be written when an attempt has ended.
#[derive(Debug, Clone)]
struct Closing {
    start: CallStart,
    end: CallEnd,
    /// What was said, if that is kept.
    body: Option<CallBody>,
    /// Whether nothing was written of it before.
    fresh: bool,
}

/// An attempt that may begin. If it never does, because its client has gone meanwhile, its drop
/// settles it.
struct Opened {
    ledger: Ledger,
    start: Option<CallStart>,
}

impl Opened {
    fn take(mut self) -> Option<CallStart> {
        self.start.take()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(start) = self.start.take() {
            let now = self.ledger.inner.clock.now();
            self.ledger.settle(start, unasked(now), None);
        }
    }
}

/// An attempt that has ended and is written together with the next one, or else by its drop.
pub(crate) struct Ended {
    ledger: Ledger,
    closing: Option<Box<Closing>>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(closing) = self.closing.take() {
            let Closing { start, end, body, .. } = *closing;
            self.ledger.settle(start, end, body);
        }
    }
}

/// A budget that is used up: it, its period and its limit.
type UsedUp = (BudgetId, Timestamp, i64);

type Answer = oneshot::Sender<Result<Opened, Refusal>>;

#[derive(Default)]
struct Pending {
    openings: Vec<(Opening, Answer)>,
    closings: Vec<Closing>,
    events: Vec<(TenantId, NewEvent, u32)>,
    /// What providers said of quotas; what is lost of it is said again.
    quotas: Vec<(TenantId, Quota)>,
    /// What could not be written with others is written alone, so that it stops nobody else.
    again: VecDeque<Closing>,
    /// Whether such a one is next.
    again_next: bool,
    /// What may have been written although the database said that it failed.
    unsure: Vec<(TenantId, CallId)>,
    closed: bool,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.openings.is_empty()
            && self.closings.is_empty()
            && self.events.is_empty()
            && self.quotas.is_empty()
            && self.again.is_empty()
    }

    fn take(&mut self) -> Self {
        let fresh = !(self.openings.is_empty()
            && self.closings.is_empty()
            && self.events.is_empty()
            && self.quotas.is_empty());
        let alone = !self.again.is_empty() && (self.again_next || !fresh);
        self.again_next = fresh && !alone;
        if alone {
            let again = self.again.pop_front();
            return Self {
                again: again.into_iter().collect(),
                closed: self.closed,
                ..Self::default()
            };
        }
        let some = |length: usize| length.min(BATCH_MAX);
        let (open, close) = (some(self.openings.len()), some(self.closings.len()));
        Self {
            openings: self.openings.drain(..open).collect(),
            closings: self.closings.drain(..close).collect(),
            events: std::mem::take(&mut self.events),
            quotas: std::mem::take(&mut self.quotas),
            closed: self.closed,
            ..Self::default()
        }
    }
}

/// The ledger of this server; cheap to clone.
#[derive(Debug, Clone)]
pub struct Ledger {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    clock: Arc<dyn Clock>,
    mint: Mint,
    node: Uuid,
    pending: Mutex<Pending>,
    /// The budgets of which somebody was told that they are used up, each in its period.
    told: Mutex<HashSet<UsedUp>>,
    wake: Notify,
    /// Told whenever everything that was there is written.
    idle: Notify,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Inner {
    fn told(&self) -> MutexGuard<'_, HashSet<UsedUp>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers which budgets somebody was told of.
    fn have_told(&self, news: Vec<UsedUp>) {
        let mut told = self.told();
        if told.len() >= TOLD_MAX {
            told.clear();
        }
        told.extend(news);
    }
}

impl Ledger {
    /// Opens the ledger; [`Ledger::run`] must be running for anything to be written.
    pub fn new(store: Store, clock: Arc<dyn Clock>, mint: Mint) -> Self {
        let node = mint.id::<CallId>().uuid();
        let (pending, told) = (Mutex::default(), Mutex::default());
        let (wake, idle) = (Notify::new(), Notify::new());
        Self { inner: Arc::new(Inner { store, clock, mint, node, pending, told, wake, idle }) }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.inner.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes that a provider is about to be asked, and holds back what that may cost. When this
    /// returns, it is on disk.
    ///
    /// # Errors
    /// If a budget does not allow it, or the disk does not take it.
    pub(crate) async fn open(
        &self,
        start: CallStart,
        (worst, estimate): (i64, i64),
        budgets: Arc<[BudgetId]>,
        after: Option<Ended>,
    ) -> Result<CallStart, Refusal> {
        let stopping = || Refusal::Broken("the server is stopping".to_owned());
        let (tell, told) = oneshot::channel();
        let after = after.and_then(|mut ended| ended.closing.take());
        let opening = Opening { start, worst, estimate, budgets, after };
        self.pending().openings.push((opening, tell));
        self.inner.wake.notify_one();
        told.await.map_err(|_| stopping())??.take().ok_or_else(stopping)
    }

    /// Takes how an attempt ended, to be written together with the next one.
    pub(crate) fn ended(&self, start: CallStart, end: CallEnd, body: Option<CallBody>) -> Ended {
        let closing = Closing { start, end, body, fresh: false };
        Ended { ledger: self.clone(), closing: Some(Box::new(closing)) }
    }

    /// Writes how an attempt ended, soon; never waits and never fails.
    pub fn settle(&self, start: CallStart, end: CallEnd, body: Option<CallBody>) {
        self.pending().closings.push(Closing { start, end, body, fresh: false });
        self.inner.wake.notify_one();
    }

    /// Writes that an answer was given again, which asked nobody and cost nothing.
    pub(crate) fn given_again(&self, start: CallStart) {
        let end = CallEnd { outcome: Outcome::Ok, ..unasked(start.at) };
        self.pending().closings.push(Closing { start, end, body: None, fresh: true });
        self.inner.wake.notify_one();
    }

    /// Tells a tenant of something, soon.
    pub(crate) fn tell(&self, tenant: TenantId, event: NewEvent) {
        self.pending().events.push((tenant, event, 0));
        self.inner.wake.notify_one();
    }

    /// Writes what a provider said of the quotas of somebody's login, soon.
    pub(crate) fn note(&self, tenant: TenantId, quotas: Vec<Quota>) {
        let mut pending = self.pending();
        for quota in quotas {
            let same = |(owner, known): &(TenantId, Quota)| {
                (*owner, known.user, &known.provider, &known.window.name)
                    == (tenant, quota.user, &quota.provider, &quota.window.name)
            };
            pending.quotas.retain(|known| !same(known));
            if pending.quotas.len() < BATCH_MAX {
                pending.quotas.push((tenant, quota));
            }
        }
        drop(pending);
        self.inner.wake.notify_one();
    }

    /// Writes batch after batch until [`Ledger::stop`]; whatever is there then is written first.
    pub async fn run(&self) {
        loop {
            let next = self.pending().take();
            if next.is_empty() {
                self.inner.idle.notify_waiters();
                if next.closed {
                    return;
                }
                self.inner.wake.notified().await;
                continue;
            }
            self.write(next).await;
            // Those who were just answered, and those who came meanwhile, get their turn first: the
            // next batch is larger then.
            tokio::task::yield_now().await;
        }
    }

    async fn write(&self, next: Pending) {
        let Pending { openings, mut closings, events, quotas, again, .. } = next;
        closings.extend(again);
        let (openings, answers): (Vec<_>, Vec<_>) = openings.into_iter().unzip();
        let batch = Arc::new(Batch { openings, closings, events, quotas });
        let (inner, work) = (Arc::clone(&self.inner), Arc::clone(&batch));
        let now = inner.clock.now();
        let written =
            self.inner.store.write(Scope::System, move |tx| work.write(tx, &inner, now)).await;
        match written {
            Ok(written) => {
                let Written { answers: said, news } = written.value;
                self.inner.have_told(news);
                for ((answer, opening), said) in answers.into_iter().zip(&batch.openings).zip(said)
                {
                    // Who asked may have gone while this was written: the drop settles it.
                    drop(answer.send(said.map(|held| Opened {
                        ledger: self.clone(),
                        start: Some(CallStart { held, ..opening.start.clone() }),
                    })));
                }
            }
            Err(error) => {
                tracing::error!(%error, "the ledger could not be written");
                for answer in answers {
                    drop(answer.send(Err(Refusal::Broken(error.to_string()))));
                }
                // What was spent must not be forgotten: it is written when the database works again.
                if self.take_back(&batch) {
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Puts what has ended back into the queue; `false` if the ledger is about to end.
    fn take_back(&self, batch: &Batch) -> bool {
        let mut pending = self.pending();
        if !pending.closed {
            let ended = batch.openings.iter().filter_map(|opening| opening.after.as_deref());
            pending.again.extend(batch.closings.iter().chain(ended).cloned());
            let begun = batch.openings.iter().map(|opening| &opening.start);
            let begun = begun.map(|start| (start.purpose.tenant, start.id));
            let room = UNSURE_MAX.saturating_sub(pending.unsure.len());
            pending.unsure.extend(begun.take(room));
            let events = batch.events.iter().filter(|(.., tries)| *tries < EVENT_TRIES);
            let events = events.map(|(tenant, event, tries)| (*tenant, event.clone(), tries + 1));
            pending.events.extend(events);
        }
        !pending.closed
    }

    /// Lets the ledger write what is there and then end.
    pub fn stop(&self) {
        self.pending().closed = true;
        self.inner.wake.notify_one();
    }

    /// Waits until everything that is there now is written.
    pub async fn settled(&self) {
        loop {
            let idle = self.inner.idle.notified();
            let empty = self.pending().is_empty();
            self.inner.wake.notify_one();
            idle.await;
            if empty {
                return;
            }
        }
    }

    /// Says that this server is alive, and settles what dead ones left open: at what it would have
    /// cost at most. Returns how many attempts that were. Who is `alone` with the database knows that
    /// all others are dead.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn keep(&self, alone: bool) -> godel_store::Result<usize> {
        let inner = Arc::clone(&self.inner);
        let now = inner.clock.now();
        let later = |secs| now.saturating_add(SignedDuration::from_secs(secs)).unwrap_or(now);
        let (until, long_ago) = (later(ALIVE_SECS), later(-10 * ALIVE_SECS));
        let unsure = std::mem::take(&mut self.pending().unsure);
        let looked_for = unsure.clone();
        let work = move |tx: &mut Tx<'_>| {
            tx.calls().alive(inner.node, until)?;
            if alone {
                tx.calls().forget_others(inner.node)?;
            }
            let lost = tx.calls().dead(now, LOST_AT_ONCE)?;
            let mut closings: Vec<Closing> =
                lost.into_iter().map(|record| lost_call(record, now)).collect();
            for (tenant, id) in &looked_for {
                let found = tx.calls().by_id(*tenant, *id)?;
                if let Some(CallRecord { start, end: None }) = found {
                    closings.push(Closing { start, end: unasked(now), body: None, fresh: false });
                }
            }
            let batch = Batch { closings, ..Batch::default() };
            batch.write(tx, &inner, now)?;
            if batch.closings.is_empty() {
                tx.calls().forget_dead(long_ago)?;
            }
            Ok::<_, godel_store::Error>(batch.closings.len())
        };
        let written = self.inner.store.write(Scope::System, work).await;
        if written.is_err() {
            self.pending().unsure.extend(unsure);
        }
        Ok(written?.value)
    }

    /// Says that this server is gone, so that nobody waits for it.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn leave(&self) -> godel_store::Result<()> {
        let node = self.inner.node;
        self.inner.store.write(Scope::System, move |tx| tx.calls().gone(node)).await.map(drop)
    }
}

/// A call that was never made, because its client went away before.
fn unasked(now: Timestamp) -> CallEnd {
    CallEnd {
        at: now,
        outcome: Outcome::Cancelled,
        status: None,
        usage: godel_model::Usage::default(),
        cost: Some(0),
        estimated: false,
        first_byte_micros: None,
        error: None,
    }
}

/// A call whose server died: it may have cost all that was held back for it.
fn lost_call(record: CallRecord, now: Timestamp) -> Closing {
    let end = CallEnd {
        at: now,
        outcome: Outcome::Lost,
        status: None,
        usage: godel_model::Usage::default(),
        cost: record.start.worst,
        estimated: true,
        first_byte_micros: None,
        error: Some("the server ended before the answer did".to_owned()),
    };
    Closing { start: record.start, end, body: None, fresh: false }
}
