//! How many tokens an answer is said to have cost.

use serde::{Deserialize, Serialize};

/// Token counts, divided the way a price list divides them.
///
/// `input` leaves out what was read from or written to a cache, and `output` includes `reasoning`.
/// Each dialect adds them up in its own way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Input tokens that no cache had a part in.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
    /// All output tokens.
    pub output: u64,
    /// The part of `output` that was spent on thinking.
    pub reasoning: u64,
}

impl Usage {
    /// All input tokens.
    pub(crate) fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}
