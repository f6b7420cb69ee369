//! The ledger: each attempt is on disk before a provider is asked, and again when it has ended.
//!
//! Everything that arrives while the last batch is being written is the next batch: no timer, one
//! transaction for many callers, and each budget is read and written once in it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use godel_model::{
    Budget, BudgetId, CallEnd, CallId, CallStart, Clock, Crossing, EventType, Held, Metadata, Mint,
    NewEvent, Outcome, Payload, Reserved, Source, TenantId, UsageKey, UsageSum,
};
use godel_store::{CallRecord, Scope, Store, Tx};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

/// How many entries one transaction takes at most.
const BATCH_MAX: usize = 512;
/// For how long a server is believed to be alive after it said so.
const ALIVE_SECS: i64 = 60;
/// How long to wait before a database that failed is tried again.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
/// How many lost attempts are settled at once.
const LOST_AT_ONCE: usize = 200;

/// Why an attempt is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
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
}

type Answer = oneshot::Sender<Result<Vec<Held>, Refusal>>;

#[derive(Debug, Default)]
struct Pending {
    openings: Vec<(Opening, Answer)>,
    closings: Vec<Closing>,
    events: Vec<(TenantId, NewEvent)>,
    closed: bool,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.openings.is_empty() && self.closings.is_empty() && self.events.is_empty()
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
    wake: Notify,
    /// Told whenever everything that was there is written.
    idle: Notify,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Ledger {
    /// Opens the ledger; [`Ledger::run`] must be running for anything to be written.
    pub fn new(store: Store, clock: Arc<dyn Clock>, mint: Mint) -> Self {
        let node = mint.id::<CallId>().uuid();
        let (pending, wake, idle) = (Mutex::default(), Notify::new(), Notify::new());
        Self { inner: Arc::new(Inner { store, clock, mint, node, pending, wake, idle }) }
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.inner.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes that a provider is about to be asked, and holds back what that may cost. When this
    /// returns, it is on disk.
    ///
    /// # Errors
    /// If a budget does not allow it, or the disk does not take it.
    pub async fn open(
        &self,
        start: CallStart,
        (worst, estimate): (i64, i64),
        budgets: Arc<[BudgetId]>,
        after: Option<(CallStart, CallEnd)>,
    ) -> Result<CallStart, Refusal> {
        let (tell, told) = oneshot::channel();
        let after = after.map(|(start, end)| Box::new(Closing { start, end }));
        let opening = Opening { start: start.clone(), worst, estimate, budgets, after };
        self.pending().openings.push((opening, tell));
        self.inner.wake.notify_one();
        let held =
            told.await.map_err(|_| Refusal::Broken("the server is stopping".to_owned()))??;
        Ok(CallStart { held, ..start })
    }

    /// Writes how an attempt ended, soon; never waits and never fails.
    pub fn settle(&self, start: CallStart, end: CallEnd) {
        self.pending().closings.push(Closing { start, end });
        self.inner.wake.notify_one();
    }

    /// Tells a tenant of something, soon.
    pub(crate) fn tell(&self, tenant: TenantId, event: NewEvent) {
        self.pending().events.push((tenant, event));
        self.inner.wake.notify_one();
    }

    /// Writes batch after batch until [`Ledger::stop`]; whatever is there then is written first.
    pub async fn run(&self) {
        loop {
            let next = self.take();
            if next.is_empty() {
                self.inner.idle.notify_waiters();
                if next.closed {
                    return;
                }
                self.inner.wake.notified().await;
                continue;
            }
            self.write(next).await;
        }
    }

    fn take(&self) -> Pending {
        let mut pending = self.pending();
        let some = |length: usize| length.min(BATCH_MAX);
        let (open, close) = (some(pending.openings.len()), some(pending.closings.len()));
        Pending {
            openings: pending.openings.drain(..open).collect(),
            closings: pending.closings.drain(..close).collect(),
            events: std::mem::take(&mut pending.events),
            closed: pending.closed,
        }
    }

    async fn write(&self, next: Pending) {
        let Pending { openings, closings, events, .. } = next;
        let (openings, answers): (Vec<_>, Vec<_>) = openings.into_iter().unzip();
        let batch = Arc::new(Batch { openings, closings, events });
        let (inner, work) = (Arc::clone(&self.inner), Arc::clone(&batch));
        let now = inner.clock.now();
        let written =
            self.inner.store.write(Scope::System, move |tx| work.write(tx, &inner, now)).await;
        match written {
            Ok(written) => {
                let openings = batch.openings.iter();
                for ((answer, opening), said) in
                    answers.into_iter().zip(openings).zip(written.value)
                {
                    // Who asked may have gone while this was written: nobody else would settle it.
                    if let Err(Ok(held)) = answer.send(said) {
                        self.settle(CallStart { held, ..opening.start.clone() }, unasked(now));
                    }
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
            pending.closings.extend(batch.closings.iter().chain(ended).cloned());
            pending.events.extend(batch.events.iter().cloned());
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
        let work = move |tx: &mut Tx<'_>| {
            tx.calls().alive(inner.node, until)?;
            if alone {
                tx.calls().forget_others(inner.node)?;
            }
            let lost = tx.calls().dead(now, LOST_AT_ONCE)?;
            let closings = lost.into_iter().map(|record| lost_call(record, now)).collect();
            let batch = Batch { openings: Vec::new(), closings, events: Vec::new() };
            batch.write(tx, &inner, now)?;
            if batch.closings.is_empty() {
                tx.calls().forget_dead(long_ago)?;
            }
            Ok::<_, godel_store::Error>(batch.closings.len())
        };
        Ok(self.inner.store.write(Scope::System, work).await?.value)
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
    Closing { start: record.start, end }
}

/// What one transaction writes.
#[derive(Debug)]
struct Batch {
    openings: Vec<Opening>,
    closings: Vec<Closing>,
    events: Vec<(TenantId, NewEvent)>,
}

/// The budgets that a batch has to do with, each read once and written once.
type Book = BTreeMap<(TenantId, BudgetId), Option<Budget>>;

impl Batch {
    fn write(
        &self,
        tx: &mut Tx<'_>,
        inner: &Inner,
        now: Timestamp,
    ) -> godel_store::Result<Vec<Result<Vec<Held>, Refusal>>> {
        let mut book = self.read_budgets(tx, now)?;
        let mut sums: BTreeMap<(TenantId, UsageKey), UsageSum> = BTreeMap::new();
        let mut crossings = Vec::new();
        // First what is over: it may make room for what begins.
        let ended = self.openings.iter().filter_map(|opening| opening.after.as_deref());
        for closing in self.closings.iter().chain(ended) {
            let (start, end) = (&closing.start, &closing.end);
            let tenant = start.purpose.tenant;
            if !tx.calls().settle(tenant, start.id, end)? {
                continue;
            }
            sums.entry((tenant, start.key())).or_default().add(&end.sum());
            for held in &start.held {
                let Some(Some(budget)) = book.get_mut(&(tenant, held.budget)) else { continue };
                if let Some(crossing) = budget.settle(held.amount, end.cost.unwrap_or(0)) {
                    crossings.push((tenant, held.budget, crossing));
                }
            }
        }
        let mut answers = Vec::with_capacity(self.openings.len());
        for opening in &self.openings {
            let answer = opening.reserve(&mut book);
            if let Ok(held) = &answer {
                let start = CallStart { held: held.clone(), ..opening.start.clone() };
                tx.calls().open(&start, inner.node)?;
            }
            answers.push(answer);
        }
        for ((tenant, key), sum) in &sums {
            tx.usage().add(*tenant, key, sum)?;
        }
        for ((tenant, _), budget) in &book {
            if let Some(budget) = budget {
                tx.budgets().store(*tenant, budget)?;
            }
        }
        for (tenant, id, crossing) in crossings {
            if let Some(Some(budget)) = book.get(&(tenant, id)) {
                tx.record_for(tenant, told(inner, budget, crossing, now))?;
            }
        }
        for (tenant, event) in &self.events {
            tx.record_for(*tenant, event.clone())?;
        }
        Ok(answers)
    }

    /// Reads every budget in one order, so that two servers never wait for each other.
    fn read_budgets(&self, tx: &mut Tx<'_>, now: Timestamp) -> godel_store::Result<Book> {
        let mut book = Book::new();
        for opening in &self.openings {
            let tenant = opening.start.purpose.tenant;
            book.extend(opening.budgets.iter().map(|id| ((tenant, *id), None)));
        }
        let ended = self.openings.iter().filter_map(|opening| opening.after.as_deref());
        for closing in self.closings.iter().chain(ended) {
            let tenant = closing.start.purpose.tenant;
            book.extend(closing.start.held.iter().map(|held| ((tenant, held.budget), None)));
        }
        for ((tenant, id), budget) in &mut book {
            *budget = tx.budgets().lock(*tenant, *id)?;
            if let Some(budget) = budget {
                budget.roll(now);
            }
        }
        Ok(book)
    }
}

impl Opening {
    /// Holds back what the call may cost in each of its budgets, or in none.
    fn reserve(&self, book: &mut Book) -> Result<Vec<Held>, Refusal> {
        let tenant = self.start.purpose.tenant;
        let mut held: Vec<Held> = Vec::with_capacity(self.budgets.len());
        for id in self.budgets.iter() {
            let Some(Some(budget)) = book.get_mut(&(tenant, *id)) else { continue };
            let refusal = match budget.reserve(self.worst, self.estimate) {
                Reserved::Held(amount) => {
                    held.push(Held { budget: *id, amount });
                    continue;
                }
                Reserved::Wait => Refusal::Busy(budget.clone()),
                Reserved::Exhausted => Refusal::Exhausted(budget.clone()),
            };
            for Held { budget, amount } in held {
                if let Some(Some(budget)) = book.get_mut(&(tenant, budget)) {
                    budget.settle(amount, 0);
                }
            }
            return Err(refusal);
        }
        Ok(held)
    }
}

fn told(inner: &Inner, budget: &Budget, crossing: Crossing, now: Timestamp) -> NewEvent {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Told {
        budget: BudgetId,
        scope: String,
        period: &'static str,
        cap_micros: i64,
        spent_micros: i64,
    }
    let kind = match crossing {
        Crossing::Warning => "budget:warning",
        Crossing::Exceeded => "budget:exceeded",
    };
    let told = Told {
        budget: budget.id,
        scope: budget.scope.to_string(),
        period: budget.period.as_str(),
        cap_micros: budget.cap,
        spent_micros: budget.spent,
    };
    NewEvent {
        id: inner.mint.id(),
        kind: EventType::known(kind),
        at: now,
        source: Source::component("proxy"),
        payload: Payload::of(&told),
        metadata: Metadata::default().about("budgetId", budget.id),
    }
}
