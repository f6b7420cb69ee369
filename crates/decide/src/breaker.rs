//! A circuit breaker: whoever fails again and again is left alone for a while.

use jiff::{SignedDuration, Timestamp};

/// So many failures one after the other open it.
const FAILURES_MAX: u32 = 5;
/// For how long it is open at first; each time it opens again, twice as long.
const PAUSE_SECS: i64 = 5;
const PAUSE_MAX_SECS: i64 = 60;
/// How long a trial may take before another is let through.
const TRIAL_SECS: i64 = 30;

/// Whether something may be tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: u32,
    /// How often it opened since it last worked.
    openings: u32,
    closed_until: Option<Timestamp>,
    trial_until: Option<Timestamp>,
    /// Until when it asked to be left alone; it has not failed, so no trial is needed then.
    rests_until: Option<Timestamp>,
}

/// How a breaker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// All goes through.
    Closed,
    /// Nothing goes through.
    Open,
    /// One trial goes through.
    HalfOpen,
}

impl Breaker {
    /// Tells how it stands.
    pub fn state(&self, now: Timestamp) -> BreakerState {
        if self.rests_until.is_some_and(|until| until > now) {
            return BreakerState::Open;
        }
        match self.closed_until {
            None => BreakerState::Closed,
            Some(until) if until > now => BreakerState::Open,
            Some(_) => BreakerState::HalfOpen,
        }
    }

    /// Tells whether a try may go through; of those after a pause only one may at a time.
    pub fn admits(&mut self, now: Timestamp) -> bool {
        match self.state(now) {
            BreakerState::Closed => true,
            BreakerState::Open => false,
            BreakerState::HalfOpen => {
                let free = self.trial_until.is_none_or(|until| until <= now);
                if free {
                    self.trial_until = Some(later(now, TRIAL_SECS));
                }
                free
            }
        }
    }

    /// Notes that a try worked. Who asked to be left alone meant others that come later.
    pub fn worked(&mut self) {
        *self = Self { rests_until: self.rests_until, ..Self::default() };
    }

    /// Notes that a try has begun to work. It lets others through again, but one failure shuts it
    /// anew: what has begun well may still break off.
    pub fn began(&mut self) {
        if self.closed_until.take().is_some() {
            self.failures = FAILURES_MAX - 1;
        }
        self.trial_until = None;
    }

    /// Notes that a try that was let through was not made, so that another may be.
    pub fn untried(&mut self) {
        self.trial_until = None;
    }

    /// Notes that a try failed; tells whether it opened just now.
    pub fn failed(&mut self, now: Timestamp) -> bool {
        let state = self.state(now);
        self.failures = self.failures.saturating_add(1);
        if state == BreakerState::HalfOpen
            || (state == BreakerState::Closed && self.failures >= FAILURES_MAX)
        {
            let pause = PAUSE_SECS.saturating_mul(1 << self.openings.min(10)).min(PAUSE_MAX_SECS);
            self.openings = self.openings.saturating_add(1);
            self.trial_until = None;
            self.closed_until = Some(later(now, pause));
            return state == BreakerState::Closed;
        }
        false
    }

    /// Opens it for a while at once: another try could not work.
    pub fn shut(&mut self, now: Timestamp, seconds: i64) {
        self.closed_until = Some(later(now, seconds.clamp(1, PAUSE_MAX_SECS)));
        self.trial_until = None;
    }

    /// Leaves it alone until the time that it asked for itself, within reason.
    pub fn rest(&mut self, now: Timestamp, seconds: u64) {
        let seconds = i64::try_from(seconds).unwrap_or(PAUSE_MAX_SECS).clamp(1, PAUSE_MAX_SECS);
        let until = later(now, seconds);
        self.rests_until = Some(self.rests_until.map_or(until, |known| known.max(until)));
        self.trial_until = None;
    }

    /// Tells whether it is left alone only because it asked for it.
    pub fn is_resting(&self, now: Timestamp) -> bool {
        let failing = self.closed_until.is_some_and(|until| until > now);
        self.rests_until.is_some_and(|until| until > now) && !failing
    }

    /// Returns after how many seconds it lets something through again.
    pub fn opens_in(&self, now: Timestamp) -> Option<u64> {
        let until = self.closed_until.max(self.rests_until).filter(|until| *until > now)?;
        let left = until.duration_since(now);
        u64::try_from(left.as_millis().div_euclid(1_000) + 1).ok()
    }
}

fn later(now: Timestamp, seconds: i64) -> Timestamp {
    now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    #[test]
    fn it_opens_after_five_failures_in_a_row_and_tries_one_after_a_pause() {
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            assert!(!breaker.failed(at(0)));
        }
        breaker.worked();
        for _ in 0..4 {
            assert!(!breaker.failed(at(0)));
        }
        assert!(breaker.admits(at(0)));
        assert!(breaker.failed(at(0)), "the fifth in a row");
        assert!(!breaker.admits(at(4)));
        assert_eq!(breaker.opens_in(at(1)), Some(5));
        assert!(breaker.admits(at(5)) && !breaker.admits(at(5)), "one trial at a time");
        assert!(!breaker.failed(at(6)), "it was open already");
        assert!(!breaker.admits(at(15)) && breaker.admits(at(16)), "twice as long");
        breaker.worked();
        assert_eq!(breaker.state(at(16)), BreakerState::Closed);
    }

    #[test]
    fn a_trial_that_never_ends_does_not_close_the_way_for_ever() {
        let mut breaker = Breaker::default();
        for _ in 0..5 {
            breaker.failed(at(0));
        }
        assert!(breaker.admits(at(10)) && !breaker.admits(at(39)));
        assert!(breaker.admits(at(40)));
    }

    #[test]
    fn what_begins_well_and_breaks_off_again_and_again_is_left_alone() {
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            breaker.began();
            assert!(!breaker.failed(at(0)));
        }
        breaker.began();
        assert!(breaker.failed(at(0)), "that each of them began is no success");
        assert!(!breaker.admits(at(4)) && breaker.admits(at(5)));
        breaker.began();
        assert!(breaker.admits(at(5)) && breaker.admits(at(5)), "others need not wait for its end");
        assert!(breaker.failed(at(6)), "it broke off again");
        assert!(!breaker.admits(at(15)) && breaker.admits(at(16)), "for twice as long");
        breaker.began();
        breaker.worked();
        assert!(!breaker.failed(at(17)), "it came to its end, so that one failure is one");
    }

    #[test]
    fn what_was_asked_before_does_not_end_a_rest() {
        let mut breaker = Breaker::default();
        breaker.rest(at(0), 7);
        breaker.began();
        breaker.worked();
        assert!(!breaker.admits(at(6)) && breaker.admits(at(7)));
    }

    #[test]
    fn who_asks_to_be_left_alone_is() {
        let mut breaker = Breaker::default();
        breaker.rest(at(0), 7);
        assert!(!breaker.admits(at(6)));
        assert!(breaker.admits(at(7)) && breaker.admits(at(7)), "it has not failed");
        assert!(!breaker.is_resting(at(7)));
        breaker.rest(at(0), 100_000);
        assert!(breaker.is_resting(at(1)));
        breaker.shut(at(1), 5);
        assert!(!breaker.is_resting(at(2)), "it fails, whatever it asked for");
        assert!(breaker.admits(at(61)), "nobody is left alone for a day");
    }
}
