//! Admission: may this request be served now?

use jiff::Timestamp;

/// The service levels of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// 60 requests a minute, bursts of 10, 1 WebSocket.
    Free,
    /// 600 requests a minute, bursts of 100, 5 WebSockets.
    Pro,
    /// 6,000 requests a minute, bursts of 1,000, any number of WebSockets.
    Enterprise,
}

/// How much a caller may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Requests a minute in the long run.
    pub per_minute: u32,
    /// Requests at once after a quiet time.
    pub burst: u32,
    /// Open WebSockets; `None` for any number.
    pub sockets: Option<u32>,
}

impl Limit {
    /// Returns how many tokens a full bucket holds; one at least, or nobody would ever get in.
    pub const fn bucket(self) -> u32 {
        if self.burst == 0 { 1 } else { self.burst }
    }

    /// Says what a bucket with this many tokens means for a request that was let in or not.
    pub fn admission(self, allowed: bool, tokens: f64) -> Admission {
        let capacity = f64::from(self.bucket());
        let per_ms = f64::from(self.per_minute.max(1)) / 60_000.0;
        let tokens = tokens.clamp(0.0, capacity);
        Admission {
            allowed,
            limit: self.bucket(),
            remaining: tokens as u32,
            retry_after_ms: if allowed {
                0
            } else {
                ((1.0 - tokens).max(0.0) / per_ms).ceil() as u64
            },
            reset_ms: ((capacity - tokens) / per_ms).ceil() as u64,
        }
    }
}

impl Tier {
    /// Returns what the tier allows.
    pub const fn limit(self) -> Limit {
        match self {
            Self::Free => Limit { per_minute: 60, burst: 10, sockets: Some(1) },
            Self::Pro => Limit { per_minute: 600, burst: 100, sockets: Some(5) },
            Self::Enterprise => Limit { per_minute: 6_000, burst: 1_000, sockets: None },
        }
    }
}

/// A token bucket: a request takes one token; time brings them back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    tokens: f64,
    filled_at: Timestamp,
}

/// What a bucket says to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// Whether the request may go on.
    pub allowed: bool,
    /// How many could go on at once if the bucket were full; never less than `remaining`.
    pub limit: u32,
    /// How many more could go on right now.
    pub remaining: u32,
    /// After how many milliseconds the next one may go on (0: now).
    pub retry_after_ms: u64,
    /// After how many milliseconds the bucket is full again.
    pub reset_ms: u64,
}

impl Bucket {
    /// Returns a full bucket.
    pub fn full(limit: Limit, now: Timestamp) -> Self {
        Self { tokens: f64::from(limit.bucket()), filled_at: now }
    }

    /// Takes one token, if there is one.
    pub fn take(&mut self, limit: Limit, now: Timestamp) -> Admission {
        let capacity = f64::from(limit.bucket());
        let per_ms = f64::from(limit.per_minute.max(1)) / 60_000.0;
        let elapsed_ms =
            (now.as_microsecond() - self.filled_at.as_microsecond()).max(0) as f64 / 1_000.0;
        self.tokens = (self.tokens + elapsed_ms * per_ms).min(capacity);
        self.filled_at = self.filled_at.max(now);
        let allowed = self.tokens >= 1.0;
        if allowed {
            self.tokens -= 1.0;
        }
        limit.admission(allowed, self.tokens)
    }

    /// Gives a token back that was taken for nothing.
    pub fn give_back(&mut self, limit: Limit) {
        self.tokens = (self.tokens + 1.0).min(f64::from(limit.burst.max(1)));
    }

    /// Tells whether the bucket has been full for so long that it can be forgotten.
    pub fn is_idle(&self, limit: Limit, now: Timestamp) -> bool {
        let refill_ms = f64::from(limit.burst) * 60_000.0 / f64::from(limit.per_minute.max(1));
        (now.as_microsecond() - self.filled_at.as_microsecond()) as f64 / 1_000.0 > refill_ms
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap()
    }

    #[test]
    fn a_burst_is_served_and_then_the_rate_holds() {
        let limit = Tier::Free.limit();
        let mut bucket = Bucket::full(limit, at(0));
        for left in (0..10).rev() {
            let said = bucket.take(limit, at(0));
            assert!(said.allowed);
            assert_eq!(said.remaining, left);
        }
        let refused = bucket.take(limit, at(0));
        assert!(!refused.allowed);
        assert_eq!(refused.retry_after_ms, 1_000);
        assert!(!bucket.take(limit, at(999)).allowed);
        assert!(bucket.take(limit, at(1_000)).allowed);
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing_for_free() {
        let limit = Tier::Free.limit();
        let mut bucket = Bucket::full(limit, at(0));
        for _ in 0..10 {
            bucket.take(limit, at(0));
        }
        assert!(!bucket.take(limit, at(-3_600_000)).allowed);
        assert!(!bucket.take(limit, at(500)).allowed);
    }

    proptest! {
        #[test]
        fn never_more_remain_than_the_limit_says(
            steps in proptest::collection::vec((-5_000_i64..90_000, 0_u32..50, 0_u32..600), 1..100)
        ) {
            let first = Tier::Enterprise.limit();
            let (mut bucket, mut now) = (Bucket::full(first, at(0)), 0);
            for (gap, burst, per_minute) in steps {
                now += gap;
                // The limits may change between two requests; the bucket of the caller stays.
                let limit = Limit { per_minute, burst, sockets: None };
                let said = bucket.take(limit, at(now));
                prop_assert!(said.remaining <= said.limit, "{said:?}");
                prop_assert_eq!(said.limit, burst.max(1));
            }
        }

        #[test]
        fn what_another_server_counted_stays_within_the_limit(tokens in -5.0_f64..2_000.0) {
            let said = Tier::Free.limit().admission(true, tokens);
            prop_assert!(said.remaining <= said.limit && said.limit == 10);
        }

        #[test]
        fn never_more_than_burst_plus_rate(gaps in proptest::collection::vec(0_i64..3_000, 1..200)) {
            let limit = Tier::Free.limit();
            let mut bucket = Bucket::full(limit, at(0));
            let mut now = 0;
            let mut served = 0_i64;
            for gap in gaps {
                now += gap;
                served += i64::from(bucket.take(limit, at(now)).allowed);
                prop_assert!(served <= 10 + now / 1_000 + 1);
            }
        }
    }
}
