//! What requests used, one by one and summed up.

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

    fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.server_tools += other.server_tools;
    }
}

/// By what sums are kept; a text that is empty stands for none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsageKey {
    /// The quarter of an hour, counted from 1970-01-01 in UTC; of a sum for a day, its first.
    pub quarter: i64,
    /// The provider.
    pub provider: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// The project.
    pub project: String,
    /// The user.
    pub user: String,
    /// The agent.
    pub agent: String,
    /// The bead.
    pub bead: String,
    /// The convoy.
    pub convoy: String,
}

/// A quarter of an hour in microseconds. No time zone of today differs from UTC by less.
pub const QUARTER_MICROS: i64 = 900_000_000;
/// So many quarters of an hour are a day in UTC.
pub const QUARTERS_PER_DAY: i64 = 96;

impl UsageKey {
    /// Returns the day in UTC, counted from 1970-01-01.
    pub fn day(&self) -> i64 {
        self.quarter.div_euclid(QUARTERS_PER_DAY)
    }
}

/// What some requests used and cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageSum {
    /// How many there were, attempts counted one by one.
    pub requests: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them have no known price.
    pub unpriced: u64,
    /// How many of them were paid by a subscription, which has no price either.
    pub by_login: u64,
    /// How many answers were given again from memory; they are no requests and cost nothing.
    pub from_cache: u64,
    /// How many of them are estimates.
    pub estimated: u64,
    /// Their tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// What those with a known price cost, in millionths of a dollar.
    pub cost_micros: i64,
    /// What was not spent on them.
    #[serde(flatten)]
    pub saved: Saved,
}

/// What was not spent, in millionths of a dollar; less than nothing where it cost more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Saved {
    /// Because input was read from a provider's cache, less what it cost to write it there; or because an
    /// answer was given again.
    pub saved_by_cache_micros: i64,
    /// Because a cheaper provider or model was chosen than the one that would have been asked first.
    pub saved_by_routing_micros: i64,
}

impl Saved {
    fn add(&mut self, other: Self) {
        self.saved_by_cache_micros += other.saved_by_cache_micros;
        self.saved_by_routing_micros += other.saved_by_routing_micros;
    }
}

impl UsageSum {
    /// Adds other requests.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.unpriced += other.unpriced;
        self.by_login += other.by_login;
        self.from_cache += other.from_cache;
        self.estimated += other.estimated;
        self.usage.add(&other.usage);
        self.saved.add(other.saved);
        self.cost_micros = self.cost_micros.saturating_add(other.cost_micros);
    }
}
