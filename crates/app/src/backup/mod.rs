//! Backups: streamed to whoever asks, made by schedule, and restored.

mod restore;
mod schedule;
mod stream;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_decide::{Health, backup_health};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Semaphore;

pub use self::restore::{Restored, restore};
pub use self::schedule::{Schedule, run_once, start};
pub use self::stream::{Download, stream};

/// How many backups may be streamed at the same time: each holds a transaction open.
const STREAMS_MAX: usize = 2;

/// How backups are doing.
#[derive(Debug)]
pub struct Backups {
    streams: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The interval and since when it counts, if there is a schedule.
    plan: Option<(SignedDuration, Timestamp)>,
    numbers: Numbers,
    failure: Option<String>,
}

/// Numbers about the backups that were made by schedule.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbers {
    /// How many were made since the start of the server.
    pub made: u64,
    /// How many failed since the start of the server.
    pub failed: u64,
    /// When the newest one was begun.
    pub newest: Option<Timestamp>,
    /// How many bytes the newest one has.
    pub bytes: u64,
    /// How long the newest one took, with its check.
    pub seconds: f64,
}

impl Default for Backups {
    fn default() -> Self {
        Self { streams: Arc::new(Semaphore::new(STREAMS_MAX)), state: Mutex::default() }
    }
}

impl Backups {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns numbers about the backups that were made by schedule; `None` without one.
    pub fn numbers(&self) -> Option<Numbers> {
        let state = self.state();
        state.plan.map(|_| state.numbers)
    }

    /// Judges the schedule, and says what is wrong; `None` without a schedule.
    pub(crate) fn health(&self, now: Timestamp) -> Option<(Health, Option<String>)> {
        let state = self.state();
        let (every, since) = state.plan?;
        let newest = state.numbers.newest.unwrap_or(since);
        let health = backup_health(every, newest, now);
        let message = match (health, state.numbers.newest) {
            (Health::Healthy, _) => return Some((health, None)),
            (_, Some(newest)) => format!("the newest backup is from {newest:.0}"),
            (_, None) => format!("there is no backup; the schedule began at {since:.0}"),
        };
        let why = state.failure.as_ref().map(|why| format!("; the last try failed: {why}"));
        Some((health, Some(message + &why.unwrap_or_default())))
    }
}
