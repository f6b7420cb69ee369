//! What requests used, one by one and summed up.

use serde::{Deserialize, Serialize};

/// How a provider served a request, which changes what its tokens cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// As usual, or with capacity that was bought ahead, for which the list price is counted.
    #[default]
    Standard,
    /// Later, for less.
    Flex,
    /// Before others, for more.
    Priority,
    /// Many together, within a day.
    Batch,
    /// By a machine that is faster.
    Fast,
    /// By the fastest machine there is.
    Ultrafast,
    /// In a way that nobody here knows; its price is not known either.
    Other,
}

impl Tier {
    /// Those that may have a price of their own.
    pub const PRICED: [Self; 5] =
        [Self::Flex, Self::Priority, Self::Batch, Self::Fast, Self::Ultrafast];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Flex => "flex",
            Self::Priority => "priority",
            Self::Batch => "batch",
            Self::Fast => "fast",
            Self::Ultrafast => "ultrafast",
            Self::Other => "other",
        }
    }

    /// Finds the tier that a provider or a client names, each in words of its own.
    pub fn named(text: &str) -> Self {
        const STANDARD: [&str; 9] = [
            "",
            "standard",
            "standard_only",
            "default",
            "auto",
            "on_demand",
            "unspecified",
            "scale",
            "provisioned_throughput",
        ];
        // Nearly all are these, so that nothing is copied for them.
        if STANDARD.contains(&text) {
            return Self::Standard;
        }
        let text = text.trim().to_ascii_lowercase();
        // Google says `SERVICE_TIER_FLEX`, and elsewhere `ON_DEMAND_FLEX`.
        let text = ["service_tier_", "on_demand_"]
            .into_iter()
            .find_map(|before| text.strip_prefix(before))
            .unwrap_or(&text);
        if STANDARD.contains(&text) {
            return Self::Standard;
        }
        Self::PRICED.into_iter().find(|tier| tier.as_str() == text).unwrap_or(Self::Other)
    }
}

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
    /// How often tools of the provider were called that are paid for by the call.
    pub server_tools: u64,
    /// How it was served; it is told in the price of a request, and means nothing in a sum.
    #[serde(skip)]
    pub tier: Tier,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_found_by_the_words_of_each_provider() {
        for (text, tier) in [
            ("default", Tier::Standard),
            ("auto", Tier::Standard),
            ("on_demand", Tier::Standard),
            ("ON_DEMAND", Tier::Standard),
            ("SERVICE_TIER_UNSPECIFIED", Tier::Standard),
            ("scale", Tier::Standard),
            ("flex", Tier::Flex),
            ("SERVICE_TIER_FLEX", Tier::Flex),
            ("ON_DEMAND_PRIORITY", Tier::Priority),
            ("Priority", Tier::Priority),
            ("batch", Tier::Batch),
            ("fast", Tier::Fast),
            ("ultrafast", Tier::Ultrafast),
            ("performance", Tier::Other),
        ] {
            assert_eq!(Tier::named(text), tier, "{text}");
        }
        for tier in Tier::PRICED {
            assert_eq!(Tier::named(tier.as_str()), tier);
        }
    }
}
