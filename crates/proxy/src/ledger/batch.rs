//! What one transaction of the ledger writes: many callers, each budget read and written once.

use std::collections::{BTreeMap, BTreeSet};

use godel_model::{
    Budget, BudgetId, CallEnd, CallStart, Crossing, EventType, Held, Incident, Metadata, NewEvent,
    Payload, Quota, Reserved, Source, TenantId, Trouble, UsageKey, UsageSum,
};
use godel_store::{OpenCalls, Tx};
use jiff::Timestamp;
use serde::Serialize;

use super::{Closing, Inner, OpenRow, Opening, Refusal, Told, lost, unasked};

/// What one transaction writes.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Which transaction of this server it is.
    pub(super) number: i64,
    pub(super) openings: Vec<Opening>,
    pub(super) closings: Vec<Closing>,
    pub(super) events: Vec<(TenantId, NewEvent, u32)>,
    pub(super) quotas: Vec<(TenantId, Quota)>,
}

/// What came of it.
pub(super) struct Written {
    /// Each opening with what is held back for it, or why it is not allowed.
    pub(super) answers: Vec<Result<CallStart, Refusal>>,
    /// How many calls of which rows are in the ledger now.
    pub(super) closed: Vec<(OpenRow, usize)>,
    /// The budgets that were told to be used up, and what is to be told of what was spent.
    pub(super) told: Told,
}

/// What a transaction has to do with: budgets and sums, each read once and written once.
#[derive(Default)]
struct Book<'a> {
    budgets: BTreeMap<(TenantId, BudgetId), Option<Budget>>,
    sums: BTreeMap<(TenantId, UsageKey), UsageSum>,
    /// The call before: the next one is often of the same, and then needs no key of its own.
    last: Option<(&'a CallStart, UsageSum)>,
    crossings: Vec<(TenantId, BudgetId, Crossing)>,
}

impl Batch {
    pub(super) fn write(
        &self,
        tx: &mut Tx<'_>,
        inner: &Inner,
        now: Timestamp,
    ) -> godel_store::Result<Written> {
        let mut book = Book::read(tx, self.budgets(), now)?;
        // First what is over: it may make room for what begins.
        let mut closed: BTreeMap<OpenRow, usize> = BTreeMap::new();
        let ended: Vec<_> =
            self.ended().map(|closing| (&closing.begun.start, &closing.end)).collect();
        let fresh = tx.calls().settle(&ended)?;
        for (closing, fresh) in self.ended().zip(fresh) {
            let start = &closing.begun.start;
            let tenant = start.purpose.tenant;
            if fresh {
                book.settle(start, &closing.end);
                if let Some(body) = &closing.body {
                    tx.bodies().put(tenant, start.id, body)?;
                }
            }
            if let Some(batch) = closing.begun.batch {
                *closed.entry((tenant, batch)).or_default() += 1;
            }
        }
        for ((tenant, batch), count) in &closed {
            // None of its calls is open after this.
            if inner.open().get(&(*tenant, *batch)).is_none_or(|left| left <= count) {
                tx.calls().close((*tenant, inner.node, *batch))?;
            }
        }
        let answers: Vec<_> =
            self.openings.iter().map(|opening| opening.reserve(&mut book)).collect();
        let mut begun: BTreeMap<TenantId, Vec<&CallStart>> = BTreeMap::new();
        for start in answers.iter().flatten() {
            begun.entry(start.purpose.tenant).or_default().push(start);
        }
        for (tenant, starts) in begun {
            tx.calls().open((tenant, inner.node, self.number), starts)?;
        }
        for (opening, answer) in self.openings.iter().zip(&answers) {
            // One that is too large for a fresh budget is no news of the budget.
            if let Err(Refusal::Exhausted(budget)) = answer
                && budget.is_low()
            {
                let tenant = opening.start.purpose.tenant;
                book.crossings.push((tenant, budget.id, Crossing::Exceeded));
            }
        }
        let told = book.write(tx, inner, now)?;
        for (tenant, quota) in &self.quotas {
            tx.quotas().put(*tenant, quota)?;
        }
        for (tenant, event, _) in &self.events {
            tx.record_for(*tenant, event.clone())?;
        }
        Ok(Written { answers, closed: closed.into_iter().collect(), told })
    }

    /// Returns everything that has ended.
    fn ended(&self) -> impl Iterator<Item = &Closing> {
        let after = self.openings.iter().filter_map(|opening| opening.after.as_deref());
        self.closings.iter().chain(after)
    }

    fn budgets(&self) -> BTreeSet<(TenantId, BudgetId)> {
        let mut all = BTreeSet::new();
        for opening in &self.openings {
            let tenant = opening.start.purpose.tenant;
            all.extend(opening.budgets.iter().map(|id| (tenant, *id)));
        }
        all.extend(self.ended().flat_map(|closing| budgets_of(&closing.begun.start)));
        all
    }
}

fn budgets_of(start: &CallStart) -> impl Iterator<Item = (TenantId, BudgetId)> {
    start.held.iter().map(|held| (start.purpose.tenant, held.budget))
}

/// Settles what is open in some rows and forgets them; with each it is told whether nobody was asked
/// then. Returns what is told of it.
pub(super) fn settle_rows(
    tx: &mut Tx<'_>,
    inner: &Inner,
    rows: &[(OpenCalls, bool)],
    now: Timestamp,
) -> godel_store::Result<Told> {
    let calls = rows.iter().flat_map(|(open, _)| &open.calls);
    let mut book = Book::read(tx, calls.flat_map(budgets_of).collect(), now)?;
    for (open, unsure) in rows {
        let end = |start: &CallStart| if *unsure { unasked(now) } else { lost(start.worst, now) };
        let ends: Vec<CallEnd> = open.calls.iter().map(end).collect();
        let ended: Vec<_> = open.calls.iter().zip(&ends).collect();
        for ((start, end), fresh) in ended.iter().zip(tx.calls().settle(&ended)?) {
            if fresh {
                book.settle(start, end);
            }
        }
        tx.calls().close((open.tenant, open.node, open.batch))?;
    }
    book.write(tx, inner, now)
}

impl<'a> Book<'a> {
    /// Reads every budget in one order, so that two servers never wait for each other.
    fn read(
        tx: &mut Tx<'_>,
        budgets: BTreeSet<(TenantId, BudgetId)>,
        now: Timestamp,
    ) -> godel_store::Result<Self> {
        let mut book = Self::default();
        for (tenant, id) in budgets {
            let mut budget = tx.budgets().lock(tenant, id)?;
            if let Some(budget) = &mut budget {
                budget.roll(now);
            }
            book.budgets.insert((tenant, id), budget);
        }
        Ok(book)
    }

    /// Counts a call that has ended.
    fn settle(&mut self, start: &'a CallStart, end: &CallEnd) {
        let tenant = start.purpose.tenant;
        match &mut self.last {
            Some((last, sum)) if is_same_sum(last, start) => sum.add(&end.sum(start.paid_by)),
            _ => {
                self.sum_up();
                self.last = Some((start, end.sum(start.paid_by)));
            }
        }
        for held in &start.held {
            let Some(Some(budget)) = self.budgets.get_mut(&(tenant, held.budget)) else { continue };
            if let Some(crossing) = budget.settle(held.amount, end.cost.unwrap_or(0)) {
                self.crossings.push((tenant, held.budget, crossing));
            }
        }
    }

    /// Adds what belongs together to its sum.
    fn sum_up(&mut self) {
        if let Some((start, sum)) = self.last.take() {
            self.sums.entry((start.purpose.tenant, start.key())).or_default().add(&sum);
        }
    }

    /// Writes sums, budgets, and what is to be told of them; returns which are told to be used up, and
    /// what each tenant spent.
    fn write(
        &mut self,
        tx: &mut Tx<'_>,
        inner: &Inner,
        now: Timestamp,
    ) -> godel_store::Result<Told> {
        self.sum_up();
        let mut spent: BTreeMap<TenantId, UsageSum> = BTreeMap::new();
        for ((tenant, key), sum) in &self.sums {
            tx.usage().add(*tenant, key, sum)?;
            spent.entry(*tenant).or_default().add(sum);
        }
        for ((tenant, _), budget) in &self.budgets {
            if let Some(budget) = budget {
                tx.budgets().store(*tenant, budget)?;
            }
        }
        let mut news = Vec::new();
        for (tenant, id, crossing) in &self.crossings {
            let Some(Some(budget)) = self.budgets.get(&(*tenant, *id)) else { continue };
            let used_up = (budget.id, budget.starts, budget.allows.cap);
            if *crossing == Crossing::Exceeded {
                if inner.told().contains(&used_up) || news.contains(&used_up) {
                    continue;
                }
                news.push(used_up);
            }
            let event = crossed(inner, budget, *crossing, now);
            if let Some(trouble) = Trouble::of_budget(budget, *crossing == Crossing::Exceeded) {
                let id = event.id.uuid();
                let incident = Incident { id, raised_at: now, answer: None, trouble };
                tx.incidents().raise(*tenant, &incident)?;
            }
            tx.record_for(*tenant, event)?;
        }
        Ok((news, spent.into_iter().collect()))
    }
}

/// Tells whether two calls are summed up together.
fn is_same_sum(a: &CallStart, b: &CallStart) -> bool {
    (&a.provider, &a.model, &a.purpose) == (&b.provider, &b.model, &b.purpose)
        && a.quarter() == b.quarter()
}

impl Opening {
    /// Holds back what the call may cost in each of its budgets, or in none.
    fn reserve(&self, book: &mut Book<'_>) -> Result<CallStart, Refusal> {
        let (tenant, budgets) = (self.start.purpose.tenant, &mut book.budgets);
        let mut held: Vec<Held> = Vec::with_capacity(self.budgets.len());
        for id in self.budgets.iter() {
            let Some(Some(budget)) = budgets.get_mut(&(tenant, *id)) else { continue };
            let refusal = match budget.reserve(self.worst, self.estimate) {
                Reserved::Held(amount) => {
                    held.push(Held { budget: *id, amount });
                    continue;
                }
                Reserved::Wait => Refusal::Busy(Box::new(budget.clone())),
                Reserved::Exhausted => Refusal::Exhausted(Box::new(budget.clone())),
            };
            for Held { budget, amount } in held {
                if let Some(Some(budget)) = budgets.get_mut(&(tenant, budget)) {
                    budget.settle(amount, 0);
                }
            }
            return Err(refusal);
        }
        Ok(CallStart { held, ..self.start.clone() })
    }
}

fn crossed(inner: &Inner, budget: &Budget, crossing: Crossing, now: Timestamp) -> NewEvent {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Crossed {
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
    let told = Crossed {
        budget: budget.id,
        scope: budget.scope.to_string(),
        period: budget.period.as_str(),
        cap_micros: budget.allows.cap,
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
