//! What all tenants have in the queue, counted now and then for those who look after the server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use godel_model::{Pool, TenantId};
use godel_store::{Depth, Error as StoreError, Scope, Staff};
use jiff::Timestamp;
use tokio::sync::watch;

use crate::{App, Crew};

/// How often it is counted at most.
const COUNT_EVERY: Duration = Duration::from_secs(5);
/// To count may take one part in so many of the time, however much there is.
const COST_PARTS: u32 = 50;
/// How long who asks waits for a new count before it is given the last one.
const PATIENCE: Duration = Duration::from_secs(2);

/// What all tenants had in the queue at a moment.
#[derive(Debug, Clone)]
pub struct Counts {
    /// When it was counted.
    pub at: Timestamp,
    /// How much was where.
    pub queue: Vec<(TenantId, Depth)>,
    /// Who worked.
    pub workers: Vec<Staff>,
    /// How many runs of workflows were in each state.
    pub runs: Vec<(String, u64)>,
    /// How many teams were in each state.
    pub teams: Vec<(String, u64)>,
    /// The pools with settings of their own.
    pub pools: Vec<(TenantId, Pool)>,
}

/// The last count, and what it cost.
struct Last {
    begun: Instant,
    cost: Duration,
    under_way: bool,
}

/// Counts what is in the queue when somebody wants to know, but not more often than is cheap: one
/// who looks every second must not slow a queue of a million tasks down.
pub struct Counter {
    last: Mutex<Option<Last>>,
    newest: watch::Sender<Option<Arc<Counts>>>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { last: Mutex::default(), newest: watch::Sender::new(None) }
    }
}

impl std::fmt::Debug for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counter").finish_non_exhaustive()
    }
}

impl Counter {
    /// Returns what is in the queue: as it is now if that is cheap enough, else as it was counted
    /// last; `None` if it was never counted.
    pub async fn counts(self: &Arc<Self>, app: &App, crew: &Crew) -> Option<Arc<Counts>> {
        let mut newest = self.newest.subscribe();
        newest.mark_unchanged();
        if self.begin() {
            let (counter, app) = (Arc::clone(self), app.clone());
            // Whoever asked may go away; the count is for the next one too.
            crew.spawn(async move { counter.count(&app).await });
        }
        if self.is_under_way() {
            drop(tokio::time::timeout(PATIENCE, newest.changed()).await);
        }
        self.newest.borrow().clone()
    }

    /// Tells whether it is time to count, and notes that somebody does.
    fn begin(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.as_ref().is_none_or(|last| {
            let pause = COUNT_EVERY.max(last.cost.saturating_mul(COST_PARTS));
            !last.under_way && last.begun.elapsed() >= pause
        });
        if due {
            let (begun, cost) = (Instant::now(), Duration::ZERO);
            *last = Some(Last { begun, cost, under_way: true });
        }
        due
    }

    fn is_under_way(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| last.under_way)
    }

    async fn count(&self, app: &App) {
        let now = app.clock.now();
        let read = app.store.read_long(Scope::System, move |tx| {
            let at = tx.clock(now)?;
            Ok::<_, StoreError>(Counts {
                at,
                queue: tx.census().queue()?,
                workers: tx.census().workers()?,
                runs: tx.census().runs()?,
                teams: tx.census().teams()?,
                pools: tx.pools().all()?,
            })
        });
        let counted = read.await;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_mut() {
            (last.cost, last.under_way) = (last.begun.elapsed(), false);
        }
        drop(last);
        match counted {
            Ok(counts) => drop(self.newest.send_replace(Some(Arc::new(counts)))),
            Err(error) => {
                tracing::debug!(%error, "the queue could not be counted");
                // Who waits gets the last count.
                self.newest.send_modify(|_| {});
            }
        }
    }
}
