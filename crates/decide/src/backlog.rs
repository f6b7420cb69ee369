//! Backlog: what becomes of events that a slow subscriber has not taken yet.
//!
//! The log itself is the buffer. A subscriber is a cursor in it, so a slow one costs no memory;
//! the policy only says how far it may fall behind before something is skipped.

use godel_model::Seq;

/// How many events a subscriber may be behind unless it asks for another number.
pub const BUFFER_DEFAULT_EVENTS: usize = 1_024;
/// The largest buffer that a subscriber may ask for.
pub const BUFFER_MAX_EVENTS: usize = 4_096;

/// What a subscription does when its client is slower than the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Waits: the cursor stands still until the client takes more; nothing is skipped.
    #[default]
    Block,
    /// Keeps the oldest events that were not taken yet and skips the newer ones.
    Drop,
    /// Keeps the newest events and skips the older ones.
    Sliding,
}

/// A run of the log that the subscriber will not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip {
    /// The first position that is skipped.
    pub from: Seq,
    /// The last position that is skipped.
    pub to: Seq,
}

/// Decides what to skip of `waiting`, the positions that match and were not sent yet, in order.
pub fn shed(policy: Policy, buffer: usize, waiting: &[Seq]) -> Option<Skip> {
    let buffer = buffer.max(1);
    if waiting.len() <= buffer {
        return None;
    }
    let (from, to) = match policy {
        Policy::Block => return None,
        Policy::Drop => (waiting[buffer], waiting[waiting.len() - 1]),
        Policy::Sliding => (waiting[0], waiting[waiting.len() - buffer - 1]),
    };
    Some(Skip { from, to })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seqs(positions: impl IntoIterator<Item = i64>) -> Vec<Seq> {
        positions.into_iter().map(Seq).collect()
    }

    #[test]
    fn drop_keeps_the_oldest_and_sliding_the_newest() {
        let waiting = seqs(11..=20);
        let skip = |from, to| Some(Skip { from: Seq(from), to: Seq(to) });
        assert_eq!(shed(Policy::Drop, 4, &waiting), skip(15, 20));
        assert_eq!(shed(Policy::Sliding, 4, &waiting), skip(11, 16));
        assert_eq!(shed(Policy::Block, 4, &waiting), None);
        assert_eq!(shed(Policy::Sliding, 10, &waiting), None);
    }

    proptest! {
        #[test]
        fn what_is_kept_fits_the_buffer(buffer in 1_usize..50, gaps in proptest::collection::vec(1_i64..4, 0..120)) {
            let waiting: Vec<Seq> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(Seq(*at)) }).collect();
            for policy in [Policy::Drop, Policy::Sliding] {
                let skipped = shed(policy, buffer, &waiting);
                let kept = waiting.iter().filter(|seq| skipped.is_none_or(|s| **seq < s.from || **seq > s.to)).count();
                prop_assert_eq!(kept, waiting.len().min(buffer));
            }
        }
    }
}
