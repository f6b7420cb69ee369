//! Who may make how many requests, and hold how many sockets.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use godel_decide::{Admission, Bucket, Limit};
use godel_hints::Hints;
use godel_model::Actor;
use jiff::Timestamp;
use uuid::Uuid;

/// Above this number of callers, buckets that are full again are forgotten.
const BUCKETS_MAX: usize = 10_000;
/// How many WebSockets and streams a server holds open, whoever they belong to.
const OPEN_MAX: u64 = 50_000;

/// For how long Redis is left alone after it did not answer.
const REDIS_PAUSE_MS: i64 = 5_000;

/// The buckets of all callers: in Redis if there is one, so that several servers share them.
#[derive(Debug)]
pub struct Rates {
    limit: Limit,
    hints: Option<Hints>,
    buckets: Mutex<HashMap<Uuid, Bucket>>,
    open: Mutex<Open>,
    open_max: u64,
    /// When Redis may be asked again, in milliseconds since the epoch.
    redis_again_ms: AtomicI64,
}

/// How many WebSockets and streams are open.
#[derive(Debug, Default)]
struct Open {
    of: HashMap<Uuid, u32>,
    all: u64,
}

/// Why there is no place for one more WebSocket or stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    /// The caller has as many as it may.
    Caller,
    /// The server has as many as it can hold.
    Server,
}

/// A place for one open WebSocket or stream; it is free again when this is dropped.
#[derive(Debug)]
pub struct SocketPlace {
    rates: std::sync::Arc<Rates>,
    caller: Uuid,
}

impl Rates {
    pub(crate) fn new(limit: Limit, hints: Option<Hints>) -> Self {
        let redis_again_ms = AtomicI64::new(0);
        Self {
            limit,
            hints,
            buckets: Mutex::default(),
            open: Mutex::default(),
            open_max: OPEN_MAX,
            redis_again_ms,
        }
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

    /// Takes a place for one more WebSocket or stream of a credential.
    ///
    /// # Errors
    /// If there is none.
    pub fn socket(self: &std::sync::Arc<Self>, caller: Uuid) -> Result<SocketPlace, NoPlace> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.of.get(&caller).copied().unwrap_or_default();
        if self.limit.sockets.is_some_and(|most| own >= most) {
            return Err(NoPlace::Caller);
        }
        if open.all >= self.open_max {
            return Err(NoPlace::Server);
        }
        open.of.insert(caller, own + 1);
        open.all += 1;
        Ok(SocketPlace { rates: std::sync::Arc::clone(self), caller })
    }

    /// Counts all open WebSockets and streams.
    pub fn open_sockets(&self) -> u64 {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        let mut open = self.rates.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        if let Some(own) = open.of.get_mut(&self.caller) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                open.of.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use godel_decide::Tier;

    use super::*;

    #[test]
    fn a_caller_and_a_server_have_so_many_places_and_no_more() {
        let limit = Limit { sockets: Some(2), ..Tier::Enterprise.limit() };
        let mut rates = Rates::new(limit, None);
        rates.open_max = 3;
        let (rates, ann, ben) = (Arc::new(rates), Uuid::from_u128(1), Uuid::from_u128(2));
        let anns = [rates.socket(ann).unwrap(), rates.socket(ann).unwrap()];
        assert_eq!(rates.socket(ann).unwrap_err(), NoPlace::Caller);
        let bens = rates.socket(ben).unwrap();
        assert_eq!(rates.socket(ben).unwrap_err(), NoPlace::Server);
        assert_eq!(rates.open_sockets(), 3);
        drop(anns);
        drop([rates.socket(ben).unwrap(), rates.socket(ann).unwrap()]);
        drop(bens);
        assert_eq!(rates.open_sockets(), 0);
        assert!(rates.open.lock().unwrap().of.is_empty(), "who is gone takes no memory");
    }
}
