//! Which provider answered a session, and with which key: what it keeps to itself must come back to it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use godel_model::TenantId;

/// How many sessions are remembered; the oldest is forgotten first.
const SESSIONS_MAX: usize = 20_000;

#[derive(Debug, Default)]
struct Known {
    of: HashMap<(TenantId, String), (Home, u64)>,
    order: BTreeMap<u64, (TenantId, String)>,
    next: u64,
}

/// A provider, and the number of a key of it.
type Home = (Arc<str>, u64);

/// Which provider answered which session.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: Mutex<Known>,
}

impl Sessions {
    /// Notes who answers a session.
    pub(crate) fn put(
        &self,
        tenant: TenantId,
        session: &str,
        (provider, key_id): (&Arc<str>, u64),
    ) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, place) = ((tenant, session.to_owned()), known.next);
        let home = (Arc::clone(provider), key_id);
        known.next += 1;
        if let Some((_, before)) = known.of.insert(key.clone(), (home, place)) {
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
    pub(crate) fn get(&self, tenant: TenantId, session: &str) -> Option<Home> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.of.get(&(tenant, session.to_owned())).map(|(home, _)| home.clone())
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
        let name = |text: &str| Arc::<str>::from(text);
        sessions.put(ann, "s", (&name("a"), 1));
        sessions.put(ann, "s", (&name("b"), 2));
        assert_eq!(sessions.get(ann, "s"), Some((name("b"), 2)));
        assert_eq!(sessions.get(ben, "s"), None);
        (0..SESSIONS_MAX)
            .for_each(|number| sessions.put(ben, &number.to_string(), (&name("c"), 3)));
        assert_eq!(sessions.get(ann, "s"), None);
        assert_eq!(sessions.known.lock().unwrap().order.len(), SESSIONS_MAX);
    }
}
