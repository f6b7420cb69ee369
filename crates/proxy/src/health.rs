//! How providers and their keys are doing.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use godel_decide::{Breaker, BreakerState};
use jiff::Timestamp;

/// How much a new time to the first byte counts against the old ones.
const NEWEST: f64 = 0.2;
/// Retries that may be made at once, and how many requests allow one more.
const RETRIES_MAX: u32 = 20;
const REQUESTS_EACH: u32 = 5;

#[derive(Debug)]
struct Stand {
    provider: String,
    key: u64,
    breaker: Breaker,
    first_byte_ms: Option<f64>,
    worked: u64,
    failed: u64,
    last_error: Option<String>,
}

/// How providers and their keys are doing.
#[derive(Debug)]
pub(crate) struct Health {
    /// There are few: to look at each costs less than to hash a name.
    of: Mutex<Vec<Stand>>,
    /// How many requests came that no retry was made for.
    retries: Mutex<u32>,
}

/// How one provider is doing, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderHealth {
    /// The provider.
    pub provider: String,
    /// Whether it is asked: `up`, `down` or `trial`.
    pub state: &'static str,
    /// How long the first byte took lately, in milliseconds.
    pub first_byte_ms: Option<f64>,
    /// How many requests it answered.
    pub worked: u64,
    /// How many it did not.
    pub failed: u64,
    /// What went wrong last.
    pub last_error: Option<String>,
}

fn of<'a>(all: &'a mut [Stand], provider: &str, key: u64) -> Option<&'a mut Stand> {
    all.iter_mut().find(|stand| stand.key == key && stand.provider == provider)
}

fn made<'a>(all: &'a mut Vec<Stand>, provider: &str, key: u64) -> &'a mut Stand {
    let known = all.iter().position(|stand| stand.key == key && stand.provider == provider);
    let place = known.unwrap_or(all.len());
    if place == all.len() {
        all.push(Stand {
            provider: provider.to_owned(),
            key,
            breaker: Breaker::default(),
            first_byte_ms: None,
            worked: 0,
            failed: 0,
            last_error: None,
        });
    }
    &mut all[place]
}

impl Default for Health {
    fn default() -> Self {
        Self { of: Mutex::default(), retries: Mutex::new(RETRIES_MAX * REQUESTS_EACH) }
    }
}

impl Health {
    fn lock(&self) -> MutexGuard<'_, Vec<Stand>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a provider may be asked with a key.
    pub(crate) fn admits(&self, provider: &str, key: u64, now: Timestamp) -> bool {
        let mut all = self.lock();
        of(&mut all, provider, key).is_none_or(|stand| stand.breaker.admits(now))
    }

    /// Tells whether a provider works with a key and how fast, without taking its trial.
    pub(crate) fn look(&self, provider: &str, key: u64, now: Timestamp) -> (bool, Option<f64>) {
        let mut all = self.lock();
        let stand = of(&mut all, provider, key);
        let works =
            stand.as_ref().is_none_or(|stand| stand.breaker.state(now) != BreakerState::Open);
        (works, stand.and_then(|stand| stand.first_byte_ms))
    }

    /// Notes that it worked.
    pub(crate) fn worked(&self, provider: &str, key: u64, first_byte: Duration) {
        let took = first_byte.as_secs_f64() * 1_000.0;
        let mut all = self.lock();
        let stand = made(&mut all, provider, key);
        stand.breaker.worked();
        stand.worked += 1;
        stand.first_byte_ms =
            Some(stand.first_byte_ms.map_or(took, |known| known + (took - known) * NEWEST));
    }

    /// Notes that it was not asked after all.
    pub(crate) fn untried(&self, provider: &str, key: u64) {
        if let Some(stand) = of(&mut self.lock(), provider, key) {
            stand.breaker.untried();
        }
    }

    /// Notes that it answered, if only to refuse.
    pub(crate) fn answered(&self, provider: &str, key: u64) {
        if let Some(stand) = of(&mut self.lock(), provider, key) {
            stand.breaker.worked();
        }
    }

    /// Notes that it failed; tells whether it is left alone from now on.
    pub(crate) fn failed(
        &self,
        provider: &str,
        key: u64,
        failure: &Failure,
        now: Timestamp,
    ) -> bool {
        let mut all = self.lock();
        let stand = made(&mut all, provider, key);
        stand.failed += 1;
        stand.last_error = Some(failure.why.clone());
        match failure.rest {
            Some(seconds) if failure.shut => {
                stand.breaker.shut(now, i64::try_from(seconds).unwrap_or(i64::MAX));
                false
            }
            Some(seconds) => {
                stand.breaker.rest(now, seconds);
                false
            }
            None => stand.breaker.failed(now),
        }
    }

    /// Returns after how many seconds the first of some providers may be asked again.
    pub(crate) fn opens_in(&self, provider: &str, key: u64, now: Timestamp) -> Option<u64> {
        of(&mut self.lock(), provider, key).and_then(|stand| stand.breaker.opens_in(now))
    }

    /// Tells whether a provider is left alone only because it asked for it.
    pub(crate) fn is_resting(&self, provider: &str, key: u64, now: Timestamp) -> bool {
        of(&mut self.lock(), provider, key).is_some_and(|stand| stand.breaker.is_resting(now))
    }

    /// Notes that a request came: each allows a part of a retry.
    pub(crate) fn asked(&self) {
        let mut retries = self.retries.lock().unwrap_or_else(PoisonError::into_inner);
        *retries = (*retries + 1).min(RETRIES_MAX * REQUESTS_EACH);
    }

    /// Takes one retry, if the budget of retries has one.
    pub(crate) fn may_retry(&self) -> bool {
        let mut retries = self.retries.lock().unwrap_or_else(PoisonError::into_inner);
        let may = *retries >= REQUESTS_EACH;
        if may {
            *retries -= REQUESTS_EACH;
        }
        may
    }

    /// Tells how every provider that was asked is doing; of several keys the best counts.
    pub(crate) fn all(&self, now: Timestamp) -> Vec<ProviderHealth> {
        let mut found: Vec<ProviderHealth> = Vec::new();
        for stand in self.lock().iter() {
            let provider = &stand.provider;
            let state = match stand.breaker.state(now) {
                BreakerState::Closed => "up",
                BreakerState::HalfOpen => "trial",
                BreakerState::Open => "down",
            };
            let told = ProviderHealth {
                provider: provider.clone(),
                state,
                first_byte_ms: stand.first_byte_ms,
                worked: stand.worked,
                failed: stand.failed,
                last_error: stand.last_error.clone(),
            };
            match found.iter_mut().find(|known| known.provider == *provider) {
                Some(known) => {
                    known.worked += told.worked;
                    known.failed += told.failed;
                    // `up` is the greatest of the three words.
                    if told.state > known.state {
                        (known.state, known.last_error) = (told.state, told.last_error);
                    }
                }
                None => found.push(told),
            }
        }
        found.sort_by(|a, b| a.provider.cmp(&b.provider));
        found
    }
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// As a sentence.
    pub(crate) why: String,
    /// For how many seconds the provider itself wants to be left alone.
    pub(crate) rest: Option<u64>,
    /// Whether it could not work before that time: our key is not taken.
    pub(crate) shut: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    #[test]
    fn retries_are_a_fifth_of_the_requests_at_most() {
        let health = Health::default();
        let made = (0..100).filter(|_| health.may_retry()).count();
        assert_eq!(made, 20);
        (0..50).for_each(|_| health.asked());
        assert_eq!((0..100).filter(|_| health.may_retry()).count(), 10);
    }

    #[test]
    fn a_provider_that_failed_gets_one_trial_and_is_up_again_when_that_works() {
        let (health, ms) = (Health::default(), Duration::from_millis(1));
        let failure = Failure { why: "500".to_owned(), rest: None, shut: false };
        (0..4).for_each(|_| assert!(!health.failed("a", 1, &failure, at(0))));
        assert!(health.failed("a", 1, &failure, at(0)) && !health.admits("a", 1, at(4)));
        assert!(health.admits("a", 1, at(6)) && !health.admits("a", 1, at(6)), "one trial");
        health.untried("a", 1);
        assert!(health.admits("a", 1, at(6)), "the trial was not made");
        assert!(!health.failed("a", 1, &failure, at(6)), "that is no news");
        assert!(!health.admits("a", 1, at(11)) && health.admits("a", 1, at(17)));
        health.worked("a", 1, ms);
        assert!(health.admits("a", 1, at(17)) && health.admits("a", 1, at(17)));
        assert_eq!(health.all(at(17))[0].state, "up");
    }

    #[test]
    fn a_provider_with_one_good_key_is_up() {
        let health = Health::default();
        let failure = Failure { why: "500".to_owned(), rest: None, shut: false };
        let opened: Vec<bool> = (0..5).map(|_| health.failed("a", 1, &failure, at(0))).collect();
        assert_eq!(opened, [false, false, false, false, true]);
        assert!(!health.admits("a", 1, at(1)) && health.admits("a", 2, at(1)));
        assert_eq!(health.all(at(1))[0].state, "down");
        health.worked("a", 2, Duration::from_millis(10));
        let all = health.all(at(1));
        assert_eq!((all.len(), all[0].state, all[0].worked, all[0].failed), (1, "up", 1, 5));
    }
}
