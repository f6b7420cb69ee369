//! Callers that were looked up a moment ago.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use godel_model::KeyHash;
use jiff::{SignedDuration, Timestamp};

use super::Identity;

/// For how long an answer about a caller is believed; on another server of the same database a
/// revoked key works no longer than this.
const CACHE_SECS: i64 = 5;
const CACHE_MAX_CALLERS: usize = 10_000;

/// Callers by the hash of their secret: looking one up tells nothing about others by its time.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    known: Mutex<HashMap<KeyHash, (Identity, Timestamp)>>,
}

impl Callers {
    pub(super) fn get(&self, hash: &KeyHash, now: Timestamp) -> Option<Identity> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(hash).filter(|(_, until)| *until > now).map(|(identity, _)| identity.clone())
    }

    pub(super) fn put(&self, hash: KeyHash, identity: Identity, now: Timestamp) {
        let until = now.saturating_add(SignedDuration::from_secs(CACHE_SECS)).unwrap_or(now);
        let until = identity.expires_at.map_or(until, |ends| ends.min(until));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CACHE_MAX_CALLERS {
            known.retain(|_, (_, until)| *until > now);
        }
        if known.len() < CACHE_MAX_CALLERS {
            known.insert(hash, (identity, until));
        }
    }

    /// Forgets everybody: whoever may call has changed.
    pub(crate) fn forget_all(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
