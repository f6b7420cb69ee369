//! What machines and storage cost, where somebody has to pay for them.

use std::collections::BTreeMap;
use std::time::Duration;

use godel_model::RUNTIMES;
use serde::Deserialize;

use super::BadConfig;

/// The most that anything costs, in dollars: whoever writes more meant something else.
const DOLLARS_MAX: f64 = 10_000.0;

/// The sums are never further behind.
const EVERY_MAX_SECONDS: u64 = 3_600;

/// What machines and storage cost, as the file says it: in dollars.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RateTable {
    runtime: BTreeMap<String, f64>,
    storage: Option<f64>,
    every_seconds: u64,
}

impl Default for RateTable {
    fn default() -> Self {
        Self { runtime: BTreeMap::new(), storage: None, every_seconds: 60 }
    }
}

/// What machines and storage cost, in millionths of a dollar. What is not named costs nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rates {
    /// An hour of an agent at work, by the runtime that it works in.
    pub runtime_hour: BTreeMap<String, i64>,
    /// A gigabyte of snapshots that is kept for a month of 30 days.
    pub storage_gb_month: Option<i64>,
    /// How often agents at work are added to the sums.
    pub every: Duration,
}

impl Rates {
    /// Tells whether nothing costs anything.
    pub fn is_empty(&self) -> bool {
        self.runtime_hour.is_empty() && self.storage_gb_month.is_none()
    }
}

impl RateTable {
    /// Reads what everything costs.
    pub(super) fn read(self) -> Result<Rates, BadConfig> {
        let mut runtime_hour = BTreeMap::new();
        for (name, dollars) in self.runtime {
            if !RUNTIMES.contains(&name.as_str()) {
                let known = RUNTIMES.join(" and ");
                let why =
                    format!("rates.runtime.{name}: there is no such runtime; there are {known}");
                return Err(BadConfig(why));
            }
            runtime_hour.insert(name.clone(), micros(&format!("rates.runtime.{name}"), dollars)?);
        }
        let storage = self.storage.map(|dollars| micros("rates.storage", dollars)).transpose()?;
        let every = Duration::from_secs(self.every_seconds.clamp(1, EVERY_MAX_SECONDS));
        Ok(Rates { runtime_hour, storage_gb_month: storage, every })
    }
}

/// Turns dollars into millionths of them.
fn micros(name: &str, dollars: f64) -> Result<i64, BadConfig> {
    if !(0.0..=DOLLARS_MAX).contains(&dollars) {
        return Err(BadConfig(format!("{name}: it must be between 0 and {DOLLARS_MAX} dollars")));
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is at most ten thousand million")]
    Ok((dollars * 1e6).round() as i64)
}
