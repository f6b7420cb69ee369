//! Those who asked models a moment ago, and the keys of their tenants.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_model::{KeyHash, TenantId};
use godel_proxy::{Keys, Who};
use jiff::{SignedDuration, Timestamp};

/// For how long an answer is believed; on another server of the same database a revoked token works
/// no longer than this.
const CACHE_SECS: i64 = 5;
const CACHE_MAX: usize = 20_000;

/// Whom an answer is about: a secret and the project it was used for.
pub(super) type Asker = (KeyHash, Option<String>);

/// The versions of secrets by name.
type Versions = Vec<(String, i64)>;

#[derive(Debug, Default)]
struct Known {
    askers: HashMap<Asker, (Arc<Who>, Timestamp)>,
    /// The versions of a tenant's secrets, and the keys in them.
    keys: HashMap<TenantId, (Versions, Arc<Keys>)>,
    round: u64,
}

/// Those who asked models a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Askers {
    known: Mutex<Known>,
}

impl Askers {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns who it is, or else the round in which it is looked up.
    pub(super) fn get(&self, asker: &Asker, now: Timestamp) -> Result<Arc<Who>, u64> {
        let known = self.lock();
        let found = known.askers.get(asker).filter(|(_, until)| *until > now);
        found.map(|(who, _)| Arc::clone(who)).ok_or(known.round)
    }

    /// Keeps an answer until it ends by itself, unless somebody was forgotten since it was asked for.
    pub(super) fn put(
        &self,
        asker: Asker,
        who: &Arc<Who>,
        (round, ends): (u64, Option<Timestamp>),
        now: Timestamp,
    ) {
        let until = now.saturating_add(SignedDuration::from_secs(CACHE_SECS)).unwrap_or(now);
        let until = ends.map_or(until, |ends| ends.min(until));
        let mut known = self.lock();
        if known.round != round {
            return;
        }
        if known.askers.len() >= CACHE_MAX {
            known.askers.retain(|_, (_, until)| *until > now);
        }
        if known.askers.len() < CACHE_MAX {
            known.askers.insert(asker, (Arc::clone(who), until));
        }
    }

    /// Returns the keys of a tenant, if its secrets are still the same.
    pub(super) fn keys(&self, tenant: TenantId, versions: &[(String, i64)]) -> Option<Arc<Keys>> {
        let known = self.lock();
        known
            .keys
            .get(&tenant)
            .filter(|(known, _)| known == versions)
            .map(|(_, keys)| Arc::clone(keys))
    }

    pub(super) fn put_keys(&self, tenant: TenantId, versions: Versions, keys: &Arc<Keys>) {
        self.lock().keys.insert(tenant, (versions, Arc::clone(keys)));
    }

    /// Forgets everybody: tokens, budgets, projects or secrets have changed.
    pub(crate) fn forget_all(&self) {
        let mut known = self.lock();
        known.round += 1;
        known.askers.clear();
    }

    /// Forgets the keys too: where they come from has changed.
    pub(super) fn forget_keys(&self) {
        self.forget_all();
        self.lock().keys.clear();
    }
}
