//! Who may make how many requests, and hold how many sockets.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use godel_decide::{Admission, Bucket, Limit};
use godel_model::Actor;
use godel_store::hints::Hints;
use jiff::Timestamp;
use uuid::Uuid;

/// Above this number of callers, buckets that are full again are forgotten.
const BUCKETS_MAX: usize = 10_000;

/// For how long Redis is left alone after it did not answer.
const REDIS_PAUSE_MS: i64 = 5_000;

/// The buckets of all callers: in Redis if there is one, so that several servers share them.
#[derive(Debug)]
pub struct Rates {
    limit: Limit,
    hints: Option<Hints>,
    buckets: Mutex<HashMap<Uuid, Bucket>>,
    sockets: Mutex<HashMap<Uuid, u32>>,
    /// When Redis may be asked again, in milliseconds since the epoch.
    redis_again_ms: AtomicI64,
}

/// A place for one open socket; it is free again when this is dropped.
#[derive(Debug)]
pub struct SocketPlace {
    rates: std::sync::Arc<Rates>,
    caller: Uuid,
}

impl Rates {
    pub(crate) fn new(limit: Limit, hints: Option<Hints>) -> Self {
        let redis_again_ms = AtomicI64::new(0);
        Self { limit, hints, buckets: Mutex::default(), sockets: Mutex::default(), redis_again_ms }
    }

    /// Returns what each caller may use.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Takes a token for a request of this caller.
    pub async fn admit(&self, actor: &Actor, now: Timestamp) -> Admission {
        if let Some(hints) = self.hints.as_ref().filter(|_| self.redis_is_trusted(now)) {
            let caller = actor.credential().to_string();
            let (burst, rate) = (self.limit.burst, self.limit.per_minute);
            match hints.take(actor.tenant, &caller, burst, rate).await {
                Ok((allowed, tokens)) => return self.limit.admission(allowed, tokens),
                // Without Redis each server counts for itself: stricter or laxer, never closed.
                Err(error) => {
                    tracing::warn!(%error, "rate limits are not shared for some seconds");
                    self.distrust_redis(now);
                }
            }
        }
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > BUCKETS_MAX {
            buckets.retain(|_, bucket| !bucket.is_idle(self.limit, now));
        }
        let full = || Bucket::full(self.limit, now);
        buckets.entry(actor.credential()).or_insert_with(full).take(self.limit, now)
    }

    /// Tells whether Redis may be asked: after a failure it is left alone for a while.
    fn redis_is_trusted(&self, now: Timestamp) -> bool {
        now.as_millisecond() >= self.redis_again_ms.load(Ordering::Relaxed)
    }

    fn distrust_redis(&self, now: Timestamp) {
        self.redis_again_ms.store(now.as_millisecond() + REDIS_PAUSE_MS, Ordering::Relaxed);
    }

    /// Takes a place for one more socket of this caller, if there is one.
    pub fn socket(self: &std::sync::Arc<Self>, actor: &Actor) -> Option<SocketPlace> {
        let mut sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        let open = sockets.entry(actor.credential()).or_default();
        if self.limit.sockets.is_some_and(|most| *open >= most) {
            return None;
        }
        *open += 1;
        Some(SocketPlace { rates: std::sync::Arc::clone(self), caller: actor.credential() })
    }

    /// Counts all open sockets.
    pub fn open_sockets(&self) -> u64 {
        let sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        sockets.values().map(|open| u64::from(*open)).sum()
    }
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        let mut sockets = self.rates.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = sockets.get_mut(&self.caller) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                sockets.remove(&self.caller);
            }
        }
    }
}
