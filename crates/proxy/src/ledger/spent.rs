//! What is told of what was spent: the sum of many calls now and then, and no call by itself.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use godel_model::{EventType, Metadata, NewEvent, Payload, Source, TenantId, UsageSum};
use jiff::Timestamp;
use serde::Serialize;

use super::{Inner, Ledger};

/// What tenants spent that nobody was told of yet.
pub(super) type Untold = HashMap<TenantId, UsageSum>;

/// What is told, in the words of the usage report.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spent {
    requests: u64,
    failed: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost_micros: i64,
}

impl From<UsageSum> for Spent {
    fn from(sum: UsageSum) -> Self {
        Self {
            requests: sum.requests,
            failed: sum.failed,
            input_tokens: sum.usage.input_all(),
            output_tokens: sum.usage.output,
            cost_micros: sum.cost_micros,
        }
    }
}

impl Inner {
    fn untold(&self) -> MutexGuard<'_, Untold> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what was written, to be told with what comes next.
    pub(super) fn note_spent(&self, spent: Vec<(TenantId, UsageSum)>) {
        let mut untold = self.untold();
        for (tenant, sum) in spent {
            untold.entry(tenant).or_default().add(&sum);
        }
    }

    fn spent(&self, sum: UsageSum, now: Timestamp) -> NewEvent {
        NewEvent {
            id: self.mint.id(),
            kind: EventType::known("usage:recorded"),
            at: now,
            source: Source::component("proxy"),
            payload: Payload::of(&Spent::from(sum)),
            metadata: Metadata::default(),
        }
    }
}

impl Ledger {
    /// Tells each tenant what it spent since it was told last, if it did; soon.
    ///
    /// Who watches costs asks again then. Nothing is lost if the server dies before: what counts is the
    /// ledger itself.
    pub fn tell_spent(&self) {
        let now = self.inner.clock.now();
        let untold = std::mem::take(&mut *self.inner.untold());
        for (tenant, sum) in untold {
            self.tell(tenant, self.inner.spent(sum, now));
        }
    }
}
