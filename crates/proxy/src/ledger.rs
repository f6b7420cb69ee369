//! The ledger: each attempt is on disk before a provider is asked, and again when it has ended.
//!
//! Everything that arrives while the last batch is being written is the next batch: nobody waits for
//! a timer, one transaction is for many callers, and each budget is read and written once in it. What
//! begins in one transaction is one row of open calls, which goes when the last of them is in the
//! ledger. What has ended, for which nobody waits, waits a moment for more of it, so that what begins
//! is written in short transactions; before a call is told that others hold what is left of a budget,
//! whatever has ended is written.

mod batch;
mod pending;
mod spent;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_model::{
    Budget, BudgetId, CallEnd, CallId, CallStart, Clock, Mint, NewEvent, Outcome, Quota, Saved,
    TenantId, UsageSum,
};
use godel_store::{CallBody, Scope, Store, Tx};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use batch::{Batch, Written};
use pending::Pending;

/// How many entries one transaction takes at most.
const BATCH_MAX: usize = 512;
/// For how long a server is believed to be alive after it said so.
const ALIVE_SECS: i64 = 60;
/// How long to wait before a database that failed is tried again.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
/// How many rows of lost attempts are settled at once.
const LOST_AT_ONCE: usize = 50;
/// How many rows are looked for of which it is not known whether they were written.
const UNSURE_MAX: usize = 1_000;
/// How often an event is written anew before it is given up.
const EVENT_TRIES: u32 = 3;
/// Of how many used-up budgets it is remembered that they were told of.
const TOLD_MAX: usize = 10_000;

/// Why an attempt is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A budget is used up.
    Exhausted(Box<Budget>),
    /// Calls under way hold what is left of a budget.
    Busy(Box<Budget>),
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
    /// Whether it was looked again, after everything that had ended was written.
    looked_again: bool,
}

/// An attempt that is on disk, or that needs not be because nobody is asked.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    pub(crate) start: CallStart,
    /// In which transaction it was written, if it was.
    batch: Option<i64>,
}

/// What is to be written when an attempt has ended.
#[derive(Debug, Clone)]
struct Closing {
    begun: Begun,
    end: CallEnd,
    /// What was said, if that is kept.
    body: Option<CallBody>,
}

/// An attempt that may begin. If it never does, because its client has gone meanwhile, its drop
/// settles it.
struct Opened {
    ledger: Ledger,
    begun: Option<Begun>,
}

impl Opened {
    fn take(mut self) -> Option<Begun> {
        self.begun.take()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(begun) = self.begun.take() {
            let now = self.ledger.inner.clock.now();
            self.ledger.settle(begun, unasked(now), None);
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
            let Closing { begun, end, body } = *closing;
            self.ledger.settle(begun, end, body);
        }
    }
}

/// A budget that is used up: it, its period and its limit.
type UsedUp = (BudgetId, Timestamp, i64);

/// What a transaction told, or left to be told: budgets that are used up, and what each tenant spent.
type Told = (Vec<UsedUp>, Vec<(TenantId, UsageSum)>);

/// A row of open calls of this server: the tenant, and in which transaction they began.
type OpenRow = (TenantId, i64);

type Answer = oneshot::Sender<Result<Opened, Refusal>>;

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
    /// Counts the transactions in which something began.
    batches: AtomicI64,
    /// How many calls of each row of open calls are not in the ledger yet.
    open: Mutex<HashMap<OpenRow, usize>>,
    /// The budgets of which somebody was told that they are used up, each in its period.
    told: Mutex<HashSet<UsedUp>>,
    untold: Mutex<spent::Untold>,
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
    fn open(&self) -> MutexGuard<'_, HashMap<OpenRow, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> MutexGuard<'_, HashSet<UsedUp>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers which budgets somebody was told of, and what is still to be told.
    fn have_told(&self, (budgets, spent): Told) {
        let mut told = self.told();
        if told.len() >= TOLD_MAX {
            told.clear();
        }
        told.extend(budgets);
        drop(told);
        self.note_spent(spent);
    }
}

impl Ledger {
    /// Opens the ledger; [`Ledger::run`] must be running for anything to be written.
    pub fn new(store: Store, clock: Arc<dyn Clock>, mint: Mint) -> Self {
        let node = mint.id::<CallId>().uuid();
        let inner = Inner {
            store,
            clock,
            mint,
            node,
            pending: Mutex::default(),
            batches: AtomicI64::new(0),
            open: Mutex::default(),
            told: Mutex::default(),
            untold: Mutex::default(),
            wake: Notify::new(),
            idle: Notify::new(),
        };
        Self { inner: Arc::new(inner) }
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
    ) -> Result<Begun, Refusal> {
        let stopping = || Refusal::Broken("the server is stopping".to_owned());
        let (tell, told) = oneshot::channel();
        let after = after.and_then(|mut ended| ended.closing.take());
        let opening = Opening { start, worst, estimate, budgets, after, looked_again: false };
        self.pending().openings.push((opening, tell));
        self.inner.wake.notify_one();
        told.await.map_err(|_| stopping())??.take().ok_or_else(stopping)
    }

    /// Takes how an attempt ended, to be written together with the next one.
    pub(crate) fn ended(&self, begun: Begun, end: CallEnd, body: Option<CallBody>) -> Ended {
        let closing = Closing { begun, end, body };
        Ended { ledger: self.clone(), closing: Some(Box::new(closing)) }
    }

    /// Writes how an attempt ended, soon; never waits and never fails.
    pub(crate) fn settle(&self, begun: Begun, end: CallEnd, body: Option<CallBody>) {
        if self.pending().end(Closing { begun, end, body }) {
            self.inner.wake.notify_one();
        }
    }

    /// Writes that an answer was given again, which asked nobody and cost nothing of what it would have.
    pub(crate) fn given_again(&self, start: CallStart, saved_by_cache_micros: i64) {
        let saved = Saved { saved_by_cache_micros, ..Saved::default() };
        let end = CallEnd { outcome: Outcome::Ok, saved, ..unasked(start.at) };
        self.settle(Begun { start, batch: None }, end, None);
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
            self.wait_for_company().await;
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

    /// Lets what has ended wait a moment for more of it: one transaction is cheaper than two.
    async fn wait_for_company(&self) {
        loop {
            let rest = self.pending().may_rest();
            let Some(until) = rest else { return };
            if tokio::time::timeout_at(until, self.inner.wake.notified()).await.is_err() {
                return;
            }
        }
    }

    async fn write(&self, next: Pending) {
        let Pending { openings, mut closings, events, quotas, again, .. } = next;
        closings.extend(again);
        let (openings, answers): (Vec<_>, Vec<_>) = openings.into_iter().unzip();
        let number = self.inner.batches.fetch_add(1, Ordering::Relaxed);
        let batch = Arc::new(Batch { number, openings, closings, events, quotas });
        let (inner, work) = (Arc::clone(&self.inner), Arc::clone(&batch));
        let now = inner.clock.now();
        let written =
            self.inner.store.write(Scope::System, move |tx| work.write(tx, &inner, now)).await;
        match written {
            Ok(written) => {
                let Written { answers: said, closed, told } = written.value;
                self.inner.have_told(told);
                self.note_open(number, &said, closed);
                let asked = answers.into_iter().zip(&batch.openings);
                for ((answer, opening), said) in asked.zip(said) {
                    self.answer((opening, answer), said, number);
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

    /// Tells who waits what came of it.
    fn answer(
        &self,
        (opening, answer): (&Opening, Answer),
        said: Result<CallStart, Refusal>,
        number: i64,
    ) {
        let answer = match &said {
            Err(Refusal::Busy(_)) => self.pending().look_again(opening, answer),
            _ => Some(answer),
        };
        let Some(answer) = answer else { return };
        let begun = |start| Some(Begun { start, batch: Some(number) });
        // Who asked may have gone while this was written: the drop settles it.
        drop(answer.send(said.map(|start| Opened { ledger: self.clone(), begun: begun(start) })));
    }

    /// Notes how many calls of which rows are open after a transaction.
    fn note_open(
        &self,
        number: i64,
        begun: &[Result<CallStart, Refusal>],
        closed: Vec<(OpenRow, usize)>,
    ) {
        let mut open = self.inner.open();
        for (row, count) in closed {
            if let Some(left) = open.get_mut(&row) {
                *left = left.saturating_sub(count);
                if *left == 0 {
                    open.remove(&row);
                }
            }
        }
        for start in begun.iter().flatten() {
            *open.entry((start.purpose.tenant, number)).or_default() += 1;
        }
    }

    /// Puts what has ended back into the queue; `false` if the ledger is about to end.
    fn take_back(&self, batch: &Batch) -> bool {
        let mut pending = self.pending();
        if !pending.closed {
            let ended = batch.openings.iter().filter_map(|opening| opening.after.as_deref());
            pending.again.extend(batch.closings.iter().chain(ended).cloned());
            let tenants = batch.openings.iter().map(|opening| opening.start.purpose.tenant);
            let tenants: HashSet<TenantId> = tenants.collect();
            let room = UNSURE_MAX.saturating_sub(pending.unsure.len());
            let rows = tenants.into_iter().map(|tenant| (tenant, batch.number));
            pending.unsure.extend(rows.take(room));
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
            self.pending().hurry = !empty;
            self.inner.wake.notify_one();
            idle.await;
            if empty {
                return;
            }
        }
    }

    /// Says that this server is alive, and settles what dead ones left open: at what it would have
    /// cost at most. Returns whether there was something, for there may be more. Who is `alone` with the database knows that
    /// all others are dead.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn keep(&self, alone: bool) -> godel_store::Result<bool> {
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
            let mut rows = Vec::new();
            for open in tx.calls().dead(now, LOST_AT_ONCE)? {
                rows.push((open, false));
            }
            for (tenant, batch) in &looked_for {
                let found = tx.calls().opened((*tenant, inner.node, *batch))?;
                rows.extend(found.map(|open| (open, true)));
            }
            let told = batch::settle_rows(tx, &inner, &rows, now)?;
            if rows.is_empty() {
                tx.calls().forget_dead(long_ago)?;
            }
            Ok::<_, godel_store::Error>((rows.len(), told))
        };
        let written = self.inner.store.write(Scope::System, work).await;
        if written.is_err() {
            self.pending().unsure.extend(unsure);
        }
        let (rows, told) = written?.value;
        self.inner.have_told(told);
        Ok(rows > 0)
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
        price: None,
        saved: Saved::default(),
        estimated: false,
        first_byte_micros: None,
        error: None,
    }
}

/// A call whose server died: it may have cost all that was held back for it.
fn lost(worst: Option<i64>, now: Timestamp) -> CallEnd {
    CallEnd {
        at: now,
        outcome: Outcome::Lost,
        status: None,
        usage: godel_model::Usage::default(),
        cost: worst,
        price: None,
        saved: Saved::default(),
        estimated: true,
        first_byte_micros: None,
        error: Some("the server ended before the answer did".to_owned()),
    }
}
