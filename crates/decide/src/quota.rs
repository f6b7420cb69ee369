//! Quotas: how much may be used in a minute, in an hour and in a day.

use jiff::Timestamp;

const WINDOWS: usize = 3;
const WINDOW_MS: [f64; WINDOWS] = [60_000.0, 3_600_000.0, 86_400_000.0];
const WINDOW_NAMES: [&str; WINDOWS] = ["minute", "hour", "day"];

/// How much may be used; `None` for any amount.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// In a minute.
    pub per_minute: Option<u32>,
    /// In an hour.
    pub per_hour: Option<u32>,
    /// In a day.
    pub per_day: Option<u32>,
}

impl Quota {
    /// Tells whether nothing is limited.
    pub const fn is_open(&self) -> bool {
        self.per_minute.is_none() && self.per_hour.is_none() && self.per_day.is_none()
    }

    /// Returns each window that is limited: its name, its length in milliseconds and its limit.
    pub fn limits(&self) -> impl Iterator<Item = (&'static str, f64, u32)> + use<> {
        let windows = WINDOW_NAMES.into_iter().zip(WINDOW_MS).zip(self.windows());
        windows.filter_map(|((name, length), limit)| limit.map(|limit| (name, length, limit)))
    }

    const fn windows(&self) -> [Option<u32>; WINDOWS] {
        [self.per_minute, self.per_hour, self.per_day]
    }

    /// Returns what is left of the tightest window: its limit, its rest, and when it is full again.
    fn left(&self, levels: [f64; WINDOWS]) -> Option<Left> {
        let windows = self.windows();
        let left = |at: usize| windows[at].map(|limit| (levels[at].max(0.0) as u32, limit, at));
        let (remaining, limit, at) =
            (0..WINDOWS).filter_map(left).min_by_key(|(remaining, ..)| *remaining)?;
        let missing = (f64::from(limit) - levels[at]).max(0.0);
        let reset_ms = (missing * WINDOW_MS[at] / f64::from(limit.max(1))).ceil() as u64;
        Some(Left { limit, remaining, reset_ms })
    }
}

/// What is left of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// How much there is in all.
    pub limit: u32,
    /// How much is left now.
    pub remaining: u32,
    /// After how many milliseconds it is full again.
    pub reset_ms: u64,
}

/// A quota is used up for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedUp {
    /// How much there is in all.
    pub limit: u32,
    /// In which time: `minute`, `hour` or `day`.
    pub window: &'static str,
    /// After how many milliseconds there is enough again.
    pub retry_after_ms: u64,
}

/// Where somebody stands with a quota: a token bucket for each window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meterage {
    levels: [f64; WINDOWS],
    at: Timestamp,
}

impl Meterage {
    /// Begins with everything left.
    pub fn full(quota: Quota, now: Timestamp) -> Self {
        Self {
            levels: quota.windows().map(|limit| limit.map_or(f64::INFINITY, f64::from)),
            at: now,
        }
    }

    fn refill(&mut self, quota: Quota, now: Timestamp) {
        let elapsed = (now.as_microsecond() - self.at.as_microsecond()).max(0) as f64 / 1_000.0;
        for (at, limit) in quota.windows().into_iter().enumerate() {
            // Without a limit everything is left, and so it is when there is one later.
            self.levels[at] = limit.map_or(f64::INFINITY, |limit| {
                let limit = f64::from(limit);
                (self.levels[at] + elapsed * limit / WINDOW_MS[at]).min(limit)
            });
        }
        self.at = self.at.max(now);
    }

    /// Takes an amount of every window, or of none.
    ///
    /// # Errors
    /// If a window has too little left; it tells the one that takes longest.
    pub fn take(
        &mut self,
        quota: Quota,
        amount: f64,
        now: Timestamp,
    ) -> Result<Option<Left>, UsedUp> {
        self.refill(quota, now);
        let missing = |at: usize| {
            let limit = quota.windows()[at]?;
            // More than a window ever holds is let through when it is full, or it never would be.
            let needed = amount.min(f64::from(limit));
            let lack = needed - self.levels[at];
            (lack > 0.0).then(|| {
                let wait = (lack * WINDOW_MS[at] / f64::from(limit.max(1))).ceil() as u64;
                UsedUp { limit, window: WINDOW_NAMES[at], retry_after_ms: wait.max(1) }
            })
        };
        let longest = (0..WINDOWS).filter_map(missing).max_by_key(|used| used.retry_after_ms);
        if let Some(used) = longest {
            return Err(used);
        }
        self.charge(amount);
        Ok(quota.left(self.levels))
    }

    /// Takes an amount that was used already, or gives one back if it is negative.
    pub fn charge(&mut self, amount: f64) {
        for level in &mut self.levels {
            *level -= amount;
        }
    }

    /// Tells whether everything has been left for so long that this can be forgotten.
    pub fn is_idle(&mut self, quota: Quota, now: Timestamp) -> bool {
        self.refill(quota, now);
        let full = quota.windows().into_iter().zip(self.levels);
        full.into_iter().all(|(limit, level)| limit.is_none_or(|limit| level >= f64::from(limit)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap()
    }

    const SPEC: Quota =
        Quota { per_minute: Some(100), per_hour: Some(1_000), per_day: Some(5_000) };

    #[test]
    fn the_window_that_is_used_up_is_named_with_its_wait() {
        let mut meterage = Meterage::full(SPEC, at(0));
        for left in (0..100).rev() {
            let said = meterage.take(SPEC, 1.0, at(0)).unwrap().unwrap();
            assert_eq!((said.limit, said.remaining), (100, left));
        }
        let used = meterage.take(SPEC, 1.0, at(0)).unwrap_err();
        assert_eq!((used.limit, used.window, used.retry_after_ms), (100, "minute", 600));
        assert!(meterage.take(SPEC, 1.0, at(600)).is_ok());
        let mut hourly = Meterage::full(SPEC, at(0));
        hourly.levels = [100.0, 0.0, 4_000.0];
        assert_eq!(hourly.take(SPEC, 1.0, at(0)).unwrap_err().window, "hour");
    }

    #[test]
    fn a_debt_is_paid_back_by_time_only() {
        let quota = Quota { per_minute: Some(1_000), ..Quota::default() };
        let mut tokens = Meterage::full(quota, at(0));
        tokens.charge(3_000.0);
        assert_eq!(tokens.take(quota, 1.0, at(0)).unwrap_err().retry_after_ms, 120_060);
        assert!(tokens.take(quota, 1.0, at(120_060)).is_ok());
    }

    #[test]
    fn what_is_larger_than_the_whole_window_passes_when_it_is_full() {
        let quota = Quota { per_minute: Some(10), ..Quota::default() };
        let mut tokens = Meterage::full(quota, at(0));
        assert!(tokens.take(quota, 50.0, at(0)).is_ok());
        assert!(tokens.take(quota, 50.0, at(60_000)).is_err());
        assert!(
            tokens.is_idle(quota, at(600_000))
                && !Meterage { levels: [0.0; 3], at: at(0) }.is_idle(quota, at(1))
        );
    }

    #[test]
    fn a_limit_that_is_set_later_begins_full() {
        let now = Timestamp::UNIX_EPOCH;
        let mut stand = Meterage::full(Quota::default(), now);
        for _ in 0..1_000 {
            stand.take(Quota::default(), 1.0, now).unwrap();
        }
        let quota = Quota { per_minute: Some(2), ..Quota::default() };
        assert!(stand.take(quota, 1.0, now).is_ok() && stand.take(quota, 1.0, now).is_ok());
        assert!(stand.take(quota, 1.0, now).is_err());
    }

    proptest! {
        #[test]
        fn no_window_ever_gives_more_than_twice_its_limit(steps in proptest::collection::vec(0_i64..2_000, 1..400)) {
            // A full bucket and what one window brings: the most that any window can see.
            let quota = Quota { per_minute: Some(20), ..Quota::default() };
            let mut meterage = Meterage::full(quota, at(0));
            let (mut now, mut taken) = (0, Vec::new());
            for step in steps {
                now += step;
                if meterage.take(quota, 1.0, at(now)).is_ok() {
                    taken.push(now);
                }
            }
            for (place, start) in taken.iter().enumerate() {
                let within = taken[place..].iter().take_while(|at| **at < start + 60_000).count();
                prop_assert!(within <= 40, "{within}");
            }
        }
    }
}
