//! What a worker has by the book, compared with what it has in its hands.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use godel_api::HeldTask;
use jiff::Timestamp;
use uuid::Uuid;

/// One attempt of one task.
pub type Key = (Uuid, u32);

/// What the book says that is to be done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// These are to be stopped, and why.
    pub(crate) stop: Vec<(Key, String)>,
    /// These are in other hands.
    pub(crate) lost: Vec<Key>,
    /// These were given to the worker by an answer that never arrived; they go back.
    pub(crate) strays: Vec<Key>,
}

/// What was noticed so far.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// What the book had the last time and the hands did not: an answer may be on its way.
    suspects: HashSet<Key>,
    /// What went back: if the answer comes after all, it is too late.
    gone: HashSet<Key>,
}

impl Book {
    /// Tells whether an attempt went back before it was known.
    pub(crate) fn is_gone(&self, key: &Key) -> bool {
        self.gone.contains(key)
    }

    /// Compares what was asked for at a time with what was in the hands since when.
    pub(crate) fn compare(
        &mut self,
        hands: &HashMap<Key, Instant>,
        asked: Instant,
        held: &[HeldTask],
    ) -> Findings {
        let mut found = Findings::default();
        let book: HashMap<Key, &HeldTask> =
            held.iter().map(|one| ((one.task_id, one.attempt), one)).collect();
        for (key, since) in hands {
            match book.get(key) {
                Some(one) => found.stop.extend(one.stop.clone().map(|why| (*key, why))),
                // What came after the question is not in the answer.
                None if *since < asked => found.lost.push(*key),
                None => {}
            }
        }
        let unknown: HashSet<Key> =
            book.keys().filter(|key| !hands.contains_key(*key)).copied().collect();
        found.strays = unknown.intersection(&self.suspects).copied().collect();
        self.gone.retain(|key| book.contains_key(key));
        self.gone.extend(&found.strays);
        self.suspects = unknown;
        found
    }
}

/// The clock of the server, as far as a worker knows it: its own may be wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Anchor {
    /// A time that the server told.
    pub(crate) at: Timestamp,
    /// When that was.
    pub(crate) since: Instant,
}

impl Anchor {
    /// Returns when a time of the server comes.
    pub(crate) fn when(&self, at: Timestamp) -> Instant {
        let ahead = Duration::try_from(at.duration_since(self.at)).unwrap_or_default();
        self.since.checked_add(ahead).unwrap_or(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> Key {
        (Uuid::from_bytes([number; 16]), 1)
    }

    fn held(number: u8, stop: Option<&str>) -> HeldTask {
        let (task_id, attempt) = key(number);
        let stop = stop.map(str::to_owned);
        HeldTask { task_id, attempt, started_at: Timestamp::UNIX_EPOCH, stop }
    }

    #[test]
    fn what_is_cancelled_is_stopped_and_what_is_gone_is_lost() {
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        let hands = HashMap::from([(key(1), now), (key(2), now), (key(3), later)]);
        let found = Book::default().compare(&hands, later, &[held(1, Some("no use"))]);
        assert_eq!(found.stop, [(key(1), "no use".to_owned())]);
        assert_eq!(found.lost, [key(2)], "the third came after the question");
        assert!(found.strays.is_empty());
    }

    #[test]
    fn what_was_never_received_goes_back_at_the_second_look() {
        let (mut book, hands, now) = (Book::default(), HashMap::new(), Instant::now());
        assert_eq!(book.compare(&hands, now, &[held(1, None)]), Findings::default());
        assert!(!book.is_gone(&key(1)));
        let found = book.compare(&hands, now, &[held(1, None), held(2, None)]);
        assert_eq!(found.strays, [key(1)]);
        assert!(book.is_gone(&key(1)) && !book.is_gone(&key(2)));
        // The second one arrived in between.
        let hands = HashMap::from([(key(2), now)]);
        assert!(book.compare(&hands, now, &[held(2, None)]).strays.is_empty());
        assert!(!book.is_gone(&key(1)), "forgotten when the book has it no more");
    }

    #[test]
    fn the_time_of_the_server_counts() {
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let anchor = Anchor { at, since: Instant::now() };
        let soon: Timestamp = "2026-01-01T00:00:05Z".parse().unwrap();
        assert_eq!(anchor.when(soon), anchor.since + Duration::from_secs(5));
        assert_eq!(anchor.when("2025-01-01T00:00:00Z".parse().unwrap()), anchor.since);
    }
}
