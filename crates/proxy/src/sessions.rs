//! Which provider answered a session: what it keeps to itself must come back to it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use godel_model::TenantId;

/// How many sessions are remembered; the oldest is forgotten first.
const SESSIONS_MAX: usize = 20_000;

#[derive(Debug, Default)]
struct Known {
    of: HashMap<(TenantId, String), (String, u64)>,
    order: BTreeMap<u64, (TenantId, String)>,
    next: u64,
}

/// Which provider answered which session.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: Mutex<Known>,
}

impl Sessions {
    /// Notes who answers a session.
    pub(crate) fn put(&self, tenant: TenantId, session: &str, provider: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, place) = ((tenant, session.to_owned()), known.next);
        known.next += 1;
        if let Some((_, before)) = known.of.insert(key.clone(), (provider.to_owned(), place)) {
            known.order.remove(&before);
        }
        known.order.insert(place, key);
        if known.of.len() > SESSIONS_MAX
            && let Some((_, oldest)) = known.order.pop_first()
        {
            known.of.remove(&oldest);
        }
    }

    /// Returns who answered a session.
    pub(crate) fn get(&self, tenant: TenantId, session: &str) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.of.get(&(tenant, session.to_owned())).map(|(provider, _)| provider.clone())
    }
}

#[cfg(test)]
mod tests {
    use godel_model::Mint;

    use super::*;

    #[test]
    fn the_last_to_answer_is_known_and_the_oldest_session_is_forgotten() {
        let (sessions, mint) = (Sessions::default(), Mint::system());
        let (ann, ben): (TenantId, TenantId) = (mint.id(), mint.id());
        sessions.put(ann, "s", "a");
        sessions.put(ann, "s", "b");
        assert_eq!(sessions.get(ann, "s").as_deref(), Some("b"));
        assert_eq!(sessions.get(ben, "s"), None);
        (0..SESSIONS_MAX).for_each(|number| sessions.put(ben, &number.to_string(), "c"));
        assert_eq!(sessions.get(ann, "s"), None);
        assert_eq!(sessions.known.lock().unwrap().order.len(), SESSIONS_MAX);
    }
}
