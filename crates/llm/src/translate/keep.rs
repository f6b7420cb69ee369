//! What only the upstream understands, kept between the turns of a conversation.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What must be given back to the upstream together with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keepsake {
    /// The id of the call, as the client knows it.
    pub call: String,
    /// What is given back; only this crate can read it.
    pub state: Arc<str>,
}

/// Whose keepsakes are meant: what one provider or tenant keeps is never shown to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The session or tenant.
    pub scope: &'a str,
    /// The provider that said it.
    pub provider: &'a str,
}

/// How much is kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepLimits {
    /// The most keepsakes.
    pub entries: usize,
    /// The most bytes of all keepsakes together.
    pub bytes: usize,
    /// How long one that nobody asks for is kept.
    pub ttl_seconds: i64,
}

impl Default for KeepLimits {
    fn default() -> Self {
        Self { entries: 20_000, bytes: 64 * 1024 * 1024, ttl_seconds: 6 * 60 * 60 }
    }
}

/// What a keepsake takes besides its text, roughly.
const ENTRY_BYTES: usize = 200;

type Key = Arc<(String, String, String)>;

/// All keepsakes; those that nobody has asked for the longest make room for new ones.
#[derive(Debug, Default)]
pub struct Keepsakes {
    limits: KeepLimits,
    entries: HashMap<Key, Entry>,
    /// The order in which they were last used.
    order: BTreeMap<u64, Key>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    state: Arc<str>,
    use_number: u64,
    used_seconds: i64,
}

impl Keepsakes {
    /// Begins with none.
    pub fn new(limits: KeepLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Keeps one; an older one of the same call is forgotten.
    pub fn put(&mut self, place: Place<'_>, keepsake: Keepsake, now_seconds: i64) {
        let key = key(place, &keepsake.call);
        self.remove(&key);
        let size = size(&key, &keepsake.state);
        // One alone must not drive out all others.
        if size > self.limits.bytes / 4 || self.limits.entries == 0 {
            return;
        }
        self.forget_old(now_seconds);
        while self.entries.len() >= self.limits.entries || self.bytes + size > self.limits.bytes {
            let Some((_, oldest)) = self.order.first_key_value() else { break };
            self.remove(&Arc::clone(oldest));
        }
        self.bytes += size;
        self.uses += 1;
        self.order.insert(self.uses, Arc::clone(&key));
        let entry =
            Entry { state: keepsake.state, use_number: self.uses, used_seconds: now_seconds };
        self.entries.insert(key, entry);
    }

    /// Returns what was kept for a call, and keeps it longer.
    pub fn get(&mut self, place: Place<'_>, call: &str, now_seconds: i64) -> Option<Arc<str>> {
        self.forget_old(now_seconds);
        let key = key(place, call);
        let entry = self.entries.get_mut(&key)?;
        self.order.remove(&entry.use_number);
        self.uses += 1;
        (entry.use_number, entry.used_seconds) = (self.uses, now_seconds);
        self.order.insert(self.uses, key);
        Some(Arc::clone(&entry.state))
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn forget_old(&mut self, now_seconds: i64) {
        while let Some((_, oldest)) = self.order.first_key_value() {
            let oldest = Arc::clone(oldest);
            let fresh = self.entries.get(&oldest).is_some_and(|entry| {
                now_seconds.saturating_sub(entry.used_seconds) <= self.limits.ttl_seconds
            });
            if fresh {
                return;
            }
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.use_number);
            self.bytes = self.bytes.saturating_sub(size(key, &entry.state));
        }
    }
}

fn key(place: Place<'_>, call: &str) -> Key {
    Arc::new((place.scope.to_owned(), place.provider.to_owned(), call.to_owned()))
}

fn size(key: &Key, state: &str) -> usize {
    ENTRY_BYTES + key.0.len() + key.1.len() + key.2.len() + state.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place<'_> = Place { scope: "s", provider: "p" };

    fn keepsake(call: &str, state: &str) -> Keepsake {
        Keepsake { call: call.to_owned(), state: state.into() }
    }

    #[test]
    fn a_keepsake_belongs_to_one_scope_and_provider() {
        let mut keepsakes = Keepsakes::default();
        keepsakes.put(HERE, keepsake("a", "1"), 0);
        assert_eq!(keepsakes.get(HERE, "a", 0).as_deref(), Some("1"));
        assert_eq!(keepsakes.get(Place { scope: "t", ..HERE }, "a", 0), None);
        assert_eq!(keepsakes.get(Place { provider: "q", ..HERE }, "a", 0), None);
    }

    #[test]
    fn what_is_asked_for_lives_longer() {
        let limits = KeepLimits { ttl_seconds: 10, ..KeepLimits::default() };
        let mut keepsakes = Keepsakes::new(limits);
        keepsakes.put(HERE, keepsake("a", "1"), 0);
        keepsakes.put(HERE, keepsake("b", "1"), 0);
        assert!(keepsakes.get(HERE, "a", 8).is_some());
        assert!(keepsakes.get(HERE, "b", 11).is_none());
        assert!(keepsakes.get(HERE, "a", 18).is_some());
        assert!(keepsakes.get(HERE, "a", 29).is_none());
        assert!(keepsakes.is_empty() && keepsakes.order.is_empty() && keepsakes.bytes == 0);
    }

    #[test]
    fn the_least_used_makes_room() {
        let limits = KeepLimits { entries: 2, ..KeepLimits::default() };
        let mut keepsakes = Keepsakes::new(limits);
        for call in ["a", "b"] {
            keepsakes.put(HERE, keepsake(call, "1"), 0);
        }
        assert!(keepsakes.get(HERE, "a", 0).is_some());
        keepsakes.put(HERE, keepsake("c", "1"), 0);
        assert!(keepsakes.get(HERE, "b", 0).is_none());
        assert_eq!(keepsakes.len(), 2);
    }

    #[test]
    fn bytes_are_limited_too() {
        let limits = KeepLimits { bytes: 4000, ..KeepLimits::default() };
        let mut keepsakes = Keepsakes::new(limits);
        for call in 0..100 {
            keepsakes.put(HERE, keepsake(&call.to_string(), &"x".repeat(500)), 0);
        }
        assert!(keepsakes.bytes <= 4000 && !keepsakes.is_empty());
        keepsakes.put(HERE, keepsake("huge", &"x".repeat(4000)), 0);
        assert!(keepsakes.get(HERE, "huge", 0).is_none());
    }
}
