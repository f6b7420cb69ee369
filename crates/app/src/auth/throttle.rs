//! Failures are slowed down: by address, by account, and by both.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use godel_decide::{Bucket, Limit};
use godel_model::SessionId;
use jiff::{SignedDuration, Timestamp};

use crate::{Error, Result};

/// One address on one account: five tries, then one every twelve seconds.
const PAIR: Limit = Limit { per_minute: 5, burst: 5, sockets: None };
/// How often one address may fail on all accounts in a minute, unless a setting says otherwise.
pub(crate) const FAILURES_PER_MINUTE: u32 = 30;
/// One account from all addresses: high, so that nobody locks somebody else out.
const ACCOUNT: Limit = Limit { per_minute: 60, burst: 200, sockets: None };
/// How often one address may let programs wait for a person.
const DEVICE: Limit = Limit { per_minute: 5, burst: 10, sockets: None };
const ENTRIES_MAX: usize = 20_000;
/// For how long a used token of an ended login is no news.
const NEWS_HOURS: i64 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Place {
    Pair(Option<IpAddr>, String),
    Address(Option<IpAddr>),
    Account(String),
    Device(Option<IpAddr>),
}

/// How often somebody failed of late.
#[derive(Debug)]
pub(crate) struct Throttle {
    /// One address on all accounts.
    address: Limit,
    failures: Mutex<HashMap<Place, Bucket>>,
    /// Ended logins of which a used token was shown, and when that was recorded.
    noted: Mutex<HashMap<SessionId, Timestamp>>,
}

/// Takes an IPv6 network for one address: whoever has one of them has all.
fn network(address: Option<IpAddr>) -> Option<IpAddr> {
    address.map(|address| match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    })
}

fn places(address: Option<IpAddr>, account: Option<&str>) -> Vec<Place> {
    let address = network(address);
    let mut places = vec![Place::Address(address)];
    if let Some(account) = account {
        places.push(Place::Pair(address, account.to_owned()));
        places.push(Place::Account(account.to_owned()));
    }
    places
}

impl Throttle {
    /// Lets one address fail so often in a minute.
    pub(crate) fn new(per_minute: u32) -> Self {
        let burst = per_minute.saturating_mul(2);
        let address = Limit { per_minute, burst, sockets: None };
        Self { address, failures: Mutex::default(), noted: Mutex::default() }
    }

    const fn limit(&self, place: &Place) -> Limit {
        match place {
            Place::Pair(..) => PAIR,
            Place::Address(_) => self.address,
            Place::Account(_) => ACCOUNT,
            Place::Device(_) => DEVICE,
        }
    }

    /// Tells whether another try may be made, before it is made.
    ///
    /// # Errors
    /// If there were too many failures.
    pub(crate) fn check(
        &self,
        address: Option<IpAddr>,
        account: Option<&str>,
        now: Timestamp,
    ) -> Result<()> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for place in places(address, account) {
            if let Some(bucket) = failures.get(&place) {
                let next = bucket.clone().take(self.limit(&place), now);
                if !next.allowed {
                    return Err(Error::Throttled { retry_ms: next.retry_after_ms });
                }
            }
        }
        Ok(())
    }

    /// Counts a try of a password before it is made.
    ///
    /// # Errors
    /// If there were too many.
    pub(crate) fn attempt(
        &self,
        address: Option<IpAddr>,
        account: &str,
        now: Timestamp,
    ) -> Result<()> {
        self.check(address, Some(account), now)?;
        if self.failed(address, Some(account), now) {
            return Err(Error::Throttled { retry_ms: 1_000 });
        }
        Ok(())
    }

    /// Gives a try back that was right, or that could not be made.
    pub(crate) fn give_back(&self, address: Option<IpAddr>, account: &str) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for place in places(address, Some(account)) {
            let limit = self.limit(&place);
            if let Some(bucket) = failures.get_mut(&place) {
                bucket.give_back(limit);
            }
        }
    }

    /// Tells whether it is news that somebody shows a used token of an ended login: a program that
    /// tries again and again is one line on the record, not thousands.
    pub(crate) fn is_news(&self, login: SessionId, now: Timestamp) -> bool {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let old = now.saturating_sub(SignedDuration::from_hours(NEWS_HOURS)).unwrap_or(now);
        if noted.get(&login).is_some_and(|at| *at > old) {
            return false;
        }
        if noted.len() >= ENTRIES_MAX {
            noted.retain(|_, at| *at > old);
        }
        // Full of others: it is told once more rather than never.
        if noted.len() < ENTRIES_MAX {
            noted.insert(login, now);
        }
        true
    }

    /// Counts a program that wants to wait for a person.
    ///
    /// # Errors
    /// If there were too many from this address.
    pub(crate) fn device(&self, address: Option<IpAddr>, now: Timestamp) -> Result<()> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Place::Device(network(address));
        if failures.len() > 2 * ENTRIES_MAX {
            return Err(Error::Throttled { retry_ms: 60_000 });
        }
        let bucket = failures.entry(place).or_insert_with(|| Bucket::full(DEVICE, now));
        let taken = bucket.take(DEVICE, now);
        if taken.allowed {
            return Ok(());
        }
        Err(Error::Throttled { retry_ms: taken.retry_after_ms })
    }

    /// Notes a failure; returns whether it is one too many.
    pub(crate) fn failed(
        &self,
        address: Option<IpAddr>,
        account: Option<&str>,
        now: Timestamp,
    ) -> bool {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() > ENTRIES_MAX {
            failures.retain(|place, bucket| !bucket.is_idle(self.limit(place), now));
        }
        let mut too_many = false;
        for place in places(address, account) {
            let limit = self.limit(&place);
            // Full of others that do not go: whoever is new has to wait.
            if failures.len() > 2 * ENTRIES_MAX && !failures.contains_key(&place) {
                return true;
            }
            let bucket = failures.entry(place).or_insert_with(|| Bucket::full(limit, now));
            too_many |= !bucket.take(limit, now).allowed;
        }
        too_many
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_is_slowed_down_and_others_are_not_locked_out() {
        let (throttle, now) = (Throttle::new(FAILURES_PER_MINUTE), Timestamp::UNIX_EPOCH);
        let (bad, good): (IpAddr, IpAddr) =
            ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        for _ in 0..5 {
            throttle.check(Some(bad), Some("ann"), now).unwrap();
            throttle.failed(Some(bad), Some("ann"), now);
        }
        assert!(throttle.check(Some(bad), Some("ann"), now).is_err());
        assert!(throttle.check(Some(good), Some("ann"), now).is_ok(), "from elsewhere");
        assert!(throttle.check(Some(bad), Some("bob"), now).is_ok(), "another account");
        let later = now + jiff::SignedDuration::from_secs(13);
        assert!(throttle.check(Some(bad), Some("ann"), later).is_ok(), "after a while");
    }

    #[test]
    fn a_program_that_shows_a_used_token_again_and_again_is_news_once_an_hour() {
        let (throttle, now) = (Throttle::new(FAILURES_PER_MINUTE), Timestamp::UNIX_EPOCH);
        let (one, two) = (godel_model::Mint::system().id(), godel_model::Mint::system().id());
        assert!(throttle.is_news(one, now) && throttle.is_news(two, now));
        let minutes = |minutes| now + SignedDuration::from_mins(minutes);
        assert!((0..60).all(|minute| !throttle.is_news(one, minutes(minute))));
        assert!(throttle.is_news(one, minutes(61)));
    }

    #[test]
    fn one_address_cannot_try_every_account() {
        let (throttle, now) = (Throttle::new(FAILURES_PER_MINUTE), Timestamp::UNIX_EPOCH);
        let bad: Option<IpAddr> = Some("10.0.0.1".parse().unwrap());
        for number in 0..60 {
            throttle.check(bad, Some(&format!("user-{number}")), now).unwrap();
            throttle.failed(bad, Some(&format!("user-{number}")), now);
        }
        assert!(throttle.check(bad, Some("another"), now).is_err());
    }
}
