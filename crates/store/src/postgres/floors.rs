//! Since when what each worker has can have begun.
//!
//! What workers have is counted at each hand-out. Rows of what they had before are gone, but as long as
//! somebody holds on to an old state, each count would walk over all of them.

use std::collections::HashMap;

use uuid::Uuid;

/// Of how many workers it is remembered.
const KNOWN_MAX: usize = 20_000;

/// Since when what each worker has can have begun, in microseconds. It holds for good, because a lease
/// never begins in the past.
#[derive(Debug, Default)]
pub(crate) struct Floors {
    known: HashMap<Uuid, i64>,
    /// Seen by a transaction that is not committed.
    seen: Vec<(Uuid, i64)>,
}

impl Floors {
    /// Returns since when what a worker has can have begun, if it is now this late.
    pub(crate) fn of(&self, worker: Uuid, now: i64) -> i64 {
        // A clock that was set back must not hide what begins now.
        self.known.get(&worker).map_or(i64::MIN, |floor| (*floor).min(now))
    }

    /// Notes when the oldest of what a worker has began.
    pub(crate) fn see(&mut self, worker: Uuid, oldest: i64) {
        self.seen.push((worker, oldest));
    }

    /// Believes what was seen: it is committed.
    pub(super) fn keep(&mut self) {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.extend(self.seen.drain(..));
    }

    /// Forgets what was seen: it was undone.
    pub(super) fn undo(&mut self) {
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_committed_is_believed() {
        let (mut floors, worker) = (Floors::default(), Uuid::from_bytes([1; 16]));
        assert_eq!(floors.of(worker, 50), i64::MIN);
        floors.see(worker, 10);
        assert_eq!(floors.of(worker, 50), i64::MIN, "it may be undone");
        floors.undo();
        floors.keep();
        assert_eq!(floors.of(worker, 50), i64::MIN);
        floors.see(worker, 10);
        floors.keep();
        assert_eq!(floors.of(worker, 50), 10);
        assert_eq!(floors.of(worker, 5), 5, "the clock was set back");
    }
}
