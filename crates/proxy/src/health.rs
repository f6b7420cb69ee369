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

/// Of how many models of a key it is remembered that they are to be left alone.
const RESTS_MAX: usize = 100;

/// What is asked: a provider with a key for a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) provider: &'a str,
    pub(crate) key: u64,
    pub(crate) model: &'a str,
}

#[derive(Debug)]
struct Stand {
    provider: String,
    key: u64,
    breaker: Breaker,
    /// The models that are to be left alone: limits of one say nothing of the others.
    rests: Vec<(String, Breaker)>,
    first_byte_ms: Option<f64>,
    worked: u64,
    failed: u64,
    last_error: Option<String>,
    /// Whether it was told that it takes no more requests, since it answered one.
    told: bool,
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

impl Stand {
    fn new(at: At<'_>) -> Self {
        Self {
            provider: at.provider.to_owned(),
            key: at.key,
            breaker: Breaker::default(),
            rests: Vec::new(),
            first_byte_ms: None,
            worked: 0,
            failed: 0,
            last_error: None,
            told: false,
        }
    }

    fn is(&self, at: At<'_>) -> bool {
        self.key == at.key && self.provider == at.provider
    }

    /// Returns how a model rests, if it was told to.
    fn rest(&self, model: &str) -> Option<&Breaker> {
        self.rests.iter().find(|(known, _)| known == model).map(|(_, rest)| rest)
    }

    /// Leaves a model alone for some seconds.
    fn rest_model(&mut self, model: &str, now: Timestamp, seconds: u64) {
        self.rests.retain(|(known, rest)| known == model || rest.is_resting(now));
        let place = self.rests.iter().position(|(known, _)| known == model);
        match place {
            Some(place) => self.rests[place].1.rest(now, seconds),
            None if self.rests.len() < RESTS_MAX => {
                let mut rest = Breaker::default();
                rest.rest(now, seconds);
                self.rests.push((model.to_owned(), rest));
            }
            None => self.breaker.rest(now, seconds),
        }
    }
}

fn of<'a>(all: &'a mut [Stand], at: At<'_>) -> Option<&'a mut Stand> {
    all.iter_mut().find(|stand| stand.is(at))
}

fn made<'a>(all: &'a mut Vec<Stand>, at: At<'_>) -> &'a mut Stand {
    let known = all.iter().position(|stand| stand.is(at));
    let place = known.unwrap_or(all.len());
    if place == all.len() {
        all.push(Stand::new(at));
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

    /// Tells whether somebody may be asked.
    pub(crate) fn admits(&self, at: At<'_>, now: Timestamp) -> bool {
        of(&mut self.lock(), at).is_none_or(|stand| {
            stand.rest(at.model).is_none_or(|rest| !rest.is_resting(now))
                && stand.breaker.admits(now)
        })
    }

    /// Tells whether it works and how fast, without taking its trial.
    pub(crate) fn look(&self, at: At<'_>, now: Timestamp) -> (bool, Option<f64>) {
        let mut all = self.lock();
        let Some(stand) = of(&mut all, at) else { return (true, None) };
        let rests = stand.rest(at.model).is_some_and(|rest| rest.is_resting(now));
        let works = !rests && stand.breaker.state(now) != BreakerState::Open;
        (works, stand.first_byte_ms)
    }

    /// Notes that it has begun to answer.
    pub(crate) fn began(&self, at: At<'_>, first_byte: Duration) {
        let took = first_byte.as_secs_f64() * 1_000.0;
        let mut all = self.lock();
        let stand = made(&mut all, at);
        stand.breaker.began();
        stand.first_byte_ms =
            Some(stand.first_byte_ms.map_or(took, |known| known + (took - known) * NEWEST));
    }

    /// Notes that it has answered, to the end.
    pub(crate) fn worked(&self, at: At<'_>) {
        let mut all = self.lock();
        let stand = made(&mut all, at);
        stand.breaker.worked();
        stand.worked += 1;
        stand.told = false;
    }

    /// Notes that it was not asked after all, or that nobody waited for its answer.
    pub(crate) fn untried(&self, at: At<'_>) {
        if let Some(stand) = of(&mut self.lock(), at) {
            stand.breaker.untried();
        }
    }

    /// Tells whether it is left alone because it failed.
    pub(crate) fn is_shut(&self, at: At<'_>, now: Timestamp) -> bool {
        let is_open =
            |rest: &Breaker| rest.state(now) == BreakerState::Open && !rest.is_resting(now);
        of(&mut self.lock(), at).is_some_and(|stand| is_open(&stand.breaker))
    }

    /// Notes that it answered, if only to refuse.
    pub(crate) fn answered(&self, at: At<'_>) {
        if let Some(stand) = of(&mut self.lock(), at) {
            stand.breaker.worked();
        }
    }

    /// Notes that it failed; tells whether it is left alone from now on.
    pub(crate) fn failed(&self, at: At<'_>, failure: &Failure, now: Timestamp) -> bool {
        let mut all = self.lock();
        let stand = made(&mut all, at);
        stand.failed += 1;
        stand.last_error = Some(failure.why.clone());
        match failure.rest {
            None => return stand.breaker.failed(now),
            Some(Rest::Shut(seconds)) => {
                stand.breaker.shut(now, i64::try_from(seconds).unwrap_or(i64::MAX));
            }
            Some(Rest::All(seconds)) => stand.breaker.rest(now, seconds),
            Some(Rest::Model(seconds)) => {
                // If this was the one trial after a pause, another model may make the next.
                stand.breaker.untried();
                stand.rest_model(at.model, now, seconds);
            }
        }
        false
    }

    /// Tells whether it is news that it takes no more requests.
    pub(crate) fn is_news(&self, at: At<'_>) -> bool {
        let mut all = self.lock();
        let stand = made(&mut all, at);
        !std::mem::replace(&mut stand.told, true)
    }

    /// Returns after how many seconds it may be asked again.
    pub(crate) fn opens_in(&self, at: At<'_>, now: Timestamp) -> Option<u64> {
        let mut all = self.lock();
        let stand = of(&mut all, at)?;
        let rest = stand.rest(at.model).and_then(|rest| rest.opens_in(now));
        rest.max(stand.breaker.opens_in(now))
    }

    /// Tells whether it is left alone only because it asked for it.
    pub(crate) fn is_resting(&self, at: At<'_>, now: Timestamp) -> bool {
        let mut all = self.lock();
        let Some(stand) = of(&mut all, at) else { return false };
        let rests = stand.rest(at.model).is_some_and(|rest| rest.is_resting(now));
        let failing = stand.breaker.state(now) == BreakerState::Open;
        stand.breaker.is_resting(now) || (rests && !failing)
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
    /// For how long the provider is to be left alone whatever comes.
    pub(crate) rest: Option<Rest>,
}

/// Who is left alone, and for how many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Our key: it could not work before, because it is not taken.
    Shut(u64),
    /// Everything that is asked with our key, as the provider itself wants it.
    All(u64),
    /// This one model, as the provider itself wants it.
    Model(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: At<'_> = At { provider: "a", key: 1, model: "m" };
    const OTHER_KEY: At<'_> = At { key: 2, ..A };
    const OTHER_MODEL: At<'_> = At { model: "n", ..A };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn failure(rest: Option<Rest>) -> Failure {
        Failure { why: "500".to_owned(), rest }
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
        let (health, failed) = (Health::default(), failure(None));
        (0..4).for_each(|_| assert!(!health.failed(A, &failed, at(0))));
        assert!(health.failed(A, &failed, at(0)) && !health.admits(A, at(4)));
        assert!(health.admits(A, at(6)) && !health.admits(A, at(6)), "one trial");
        health.untried(A);
        assert!(health.admits(A, at(6)), "the trial was not made");
        assert!(!health.failed(A, &failed, at(6)), "that is no news");
        assert!(!health.admits(A, at(11)) && health.admits(A, at(17)));
        health.began(A, Duration::from_millis(1));
        health.worked(A);
        assert!(health.admits(A, at(17)) && health.admits(A, at(17)));
        assert_eq!(health.all(at(17))[0].state, "up");
    }

    #[test]
    fn a_provider_with_one_good_key_is_up() {
        let (health, failed) = (Health::default(), failure(None));
        let opened: Vec<bool> = (0..5).map(|_| health.failed(A, &failed, at(0))).collect();
        assert_eq!(opened, [false, false, false, false, true]);
        assert!(!health.admits(A, at(1)) && health.admits(OTHER_KEY, at(1)));
        assert_eq!(health.all(at(1))[0].state, "down");
        health.began(OTHER_KEY, Duration::from_millis(10));
        health.worked(OTHER_KEY);
        let all = health.all(at(1));
        assert_eq!((all.len(), all[0].state, all[0].worked, all[0].failed), (1, "up", 1, 5));
    }

    #[test]
    fn a_trial_that_meets_a_limit_of_its_model_leaves_the_next_to_another_model() {
        let (health, failed) = (Health::default(), failure(None));
        assert!((0..5).any(|_| health.failed(A, &failed, at(0))));
        assert!(health.is_shut(A, at(4)) && health.admits(A, at(6)));
        assert!(!health.failed(A, &failure(Some(Rest::Model(7))), at(6)));
        assert!(!health.admits(A, at(7)) && health.admits(OTHER_MODEL, at(7)));
        assert!(!health.is_shut(OTHER_MODEL, at(7)));
    }

    #[test]
    fn a_limit_of_one_model_is_none_of_another() {
        let health = Health::default();
        assert!(!health.failed(A, &failure(Some(Rest::Model(7))), at(0)));
        assert!(!health.admits(A, at(6)) && !health.look(A, at(6)).0);
        assert!(health.is_resting(A, at(6)) && health.opens_in(A, at(3)) == Some(5));
        assert!(health.admits(OTHER_MODEL, at(0)) && !health.is_resting(OTHER_MODEL, at(0)));
        health.worked(OTHER_MODEL);
        assert!(!health.admits(A, at(6)) && health.admits(A, at(7)));
        health.failed(A, &failure(Some(Rest::All(7))), at(10));
        assert!(!health.admits(OTHER_MODEL, at(16)) && health.admits(OTHER_KEY, at(16)));
    }

    #[test]
    fn that_nobody_takes_the_key_is_news_once() {
        let health = Health::default();
        assert!(health.is_news(A) && !health.is_news(A));
        health.worked(A);
        assert!(health.is_news(A));
    }
}
