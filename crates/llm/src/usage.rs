//! What a request used.

use serde::{Deserialize, Serialize};

/// Tokens of one request, each counted once: the kinds do not overlap, except for `reasoning`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Input that no cache knew.
    pub input: u64,
    /// Input that was read from a cache.
    pub cache_read: u64,
    /// Input that was written to a cache for five minutes.
    pub cache_write_5m: u64,
    /// Input that was written to a cache for an hour.
    pub cache_write_1h: u64,
    /// All output, reasoning included.
    pub output: u64,
    /// How much of the output was reasoning.
    pub reasoning: u64,
    /// How often tools of the provider were called.
    pub server_tools: u64,
}

impl Usage {
    /// Returns all input, from a cache or not.
    pub const fn input_all(&self) -> u64 {
        self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h
    }
}
