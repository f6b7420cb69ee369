//! What one transaction of the ledger writes: many callers, each budget read and written once.

use std::collections::BTreeMap;

use godel_model::{
    Budget, BudgetId, CallStart, Crossing, EventType, Held, Metadata, NewEvent, Payload, Quota,
    Reserved, Source, TenantId, UsageKey, UsageSum,
};
use godel_store::Tx;
use jiff::Timestamp;
use serde::Serialize;

use super::{Closing, Inner, Opening, Refusal, UsedUp};

/// What one transaction writes.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) openings: Vec<Opening>,
    pub(super) closings: Vec<Closing>,
    pub(super) events: Vec<(TenantId, NewEvent, u32)>,
    pub(super) quotas: Vec<(TenantId, Quota)>,
}

/// What came of it.
pub(super) struct Written {
    pub(super) answers: Vec<Result<Vec<Held>, Refusal>>,
    /// The budgets that were told to be used up.
    pub(super) news: Vec<UsedUp>,
}

/// The budgets that a batch has to do with, each read once and written once.
type Book = BTreeMap<(TenantId, BudgetId), Option<Budget>>;

impl Batch {
    pub(super) fn write(
        &self,
        tx: &mut Tx<'_>,
        inner: &Inner,
        now: Timestamp,
    ) -> godel_store::Result<Written> {
        let mut book = self.read_budgets(tx, now)?;
        let mut sums: BTreeMap<(TenantId, UsageKey), UsageSum> = BTreeMap::new();
        let (mut crossings, mut news) = (Vec::new(), Vec::new());
        // First what is over: it may make room for what begins.
        let ended = self.openings.iter().filter_map(|opening| opening.after.as_deref());
        for closing in self.closings.iter().chain(ended) {
            let (start, end) = (&closing.start, &closing.end);
            let tenant = start.purpose.tenant;
            // What failed may have been written all the same, and is written anew.
            if closing.fresh && tx.calls().by_id(tenant, start.id)?.is_none() {
                tx.calls().open(start, inner.node)?;
            }
            if !tx.calls().settle(tenant, start.id, end)? {
                continue;
            }
            if let Some(body) = &closing.body {
                tx.bodies().put(tenant, start.id, body)?;
            }
            sums.entry((tenant, start.key())).or_default().add(&end.sum(start.paid_by));
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
        for (opening, answer) in self.openings.iter().zip(&answers) {
            // One that is too large for a fresh budget is no news of the budget.
            if let Err(Refusal::Exhausted(budget)) = answer
                && budget.is_low()
            {
                crossings.push((opening.start.purpose.tenant, budget.id, Crossing::Exceeded));
            }
        }
        for (tenant, id, crossing) in crossings {
            let Some(Some(budget)) = book.get(&(tenant, id)) else { continue };
            let used_up = (budget.id, budget.starts, budget.cap);
            if crossing == Crossing::Exceeded {
                if inner.told().contains(&used_up) || news.contains(&used_up) {
                    continue;
                }
                news.push(used_up);
            }
            tx.record_for(tenant, told(inner, budget, crossing, now))?;
        }
        for (tenant, quota) in &self.quotas {
            tx.quotas().put(*tenant, quota)?;
        }
        for (tenant, event, _) in &self.events {
            tx.record_for(*tenant, event.clone())?;
        }
        Ok(Written { answers, news })
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
