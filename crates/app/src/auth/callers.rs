//! Callers that were looked up a moment ago.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use godel_model::{KeyHash, SessionId};
use jiff::{SignedDuration, Timestamp};

use super::Identity;

/// For how long an answer about a caller is believed; on another server of the same database a
/// revoked key works no longer than this.
pub(super) const CACHE_SECS: i64 = 5;
const CACHE_MAX_CALLERS: usize = 10_000;

/// Callers by the hash of their secret: looking one up tells nothing about others by its time.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    callers: HashMap<KeyHash, (Identity, Timestamp)>,
    round: Round,
}

/// Counts how often callers were forgotten. What was looked up in an earlier round may be what was
/// just revoked, so it is not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Round(u64);

impl Callers {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns who it is, or else the round in which it is looked up.
    pub(super) fn get(&self, hash: &KeyHash, now: Timestamp) -> Result<Identity, Round> {
        let known = self.lock();
        let found = known.callers.get(hash).filter(|(_, until)| *until > now);
        found.map(|(identity, _)| identity.clone()).ok_or(known.round)
    }

    /// Keeps an answer, unless somebody was forgotten since it was asked for.
    pub(super) fn put(&self, hash: KeyHash, identity: Identity, asked: Round, now: Timestamp) {
        let until = now.saturating_add(SignedDuration::from_secs(CACHE_SECS)).unwrap_or(now);
        let until = identity.expires_at.map_or(until, |ends| ends.min(until));
        let mut known = self.lock();
        if known.round != asked {
            return;
        }
        if known.callers.len() >= CACHE_MAX_CALLERS {
            known.callers.retain(|_, (_, until)| *until > now);
        }
        if known.callers.len() < CACHE_MAX_CALLERS {
            known.callers.insert(hash, (identity, until));
        }
    }

    /// Forgets everybody: whoever may call has changed.
    pub(crate) fn forget_all(&self) {
        let mut known = self.lock();
        known.round.0 += 1;
        known.callers.clear();
    }

    /// Forgets those who are known by one login.
    pub(crate) fn forget_login(&self, session: SessionId) {
        let mut known = self.lock();
        known.round.0 += 1;
        known.callers.retain(|_, (identity, _)| identity.actor.session != Some(session));
    }
}

#[cfg(test)]
mod tests {
    use godel_model::{Actor, Mint, Role};

    use super::*;

    fn logged_in() -> (Identity, SessionId) {
        let (mint, session) = (Mint::system(), Mint::system().id());
        let actor = Actor {
            tenant: mint.id(),
            home: true,
            user: mint.id(),
            name: "user:ann".to_owned(),
            role: Role::Viewer,
            scopes: [].into(),
            projects: [].into(),
            key: None,
            session: Some(session),
        };
        (Identity { actor: actor.into(), expires_at: None }, session)
    }

    #[test]
    fn who_was_looked_up_before_a_revocation_is_not_kept_after_it() {
        let (callers, now, hash) = (Callers::default(), Timestamp::UNIX_EPOCH, KeyHash([1; 32]));
        let (ann, session) = logged_in();
        for forget in
            [&|| callers.forget_all() as (), &|| callers.forget_login(session)] as [&dyn Fn(); 2]
        {
            let asked = callers.get(&hash, now).unwrap_err();
            // The answer is on its way when the key is revoked and everybody is forgotten.
            forget();
            callers.put(hash, ann.clone(), asked, now);
            assert!(callers.get(&hash, now).is_err(), "a revoked caller was kept");
            let asked = callers.get(&hash, now).unwrap_err();
            callers.put(hash, ann.clone(), asked, now);
            assert!(callers.get(&hash, now).is_ok(), "and one that is asked for later is");
            callers.forget_all();
        }
    }

    #[test]
    fn the_end_of_one_login_forgets_nobody_else() {
        let (callers, now) = (Callers::default(), Timestamp::UNIX_EPOCH);
        let ((ann, gone), (ben, _)) = (logged_in(), logged_in());
        for (place, identity) in [(1, ann), (2, ben)] {
            let asked = callers.get(&KeyHash([place; 32]), now).unwrap_err();
            callers.put(KeyHash([place; 32]), identity, asked, now);
        }
        callers.forget_login(gone);
        assert!(callers.get(&KeyHash([1; 32]), now).is_err());
        assert!(callers.get(&KeyHash([2; 32]), now).is_ok());
    }
}
