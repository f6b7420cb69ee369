//! What the work of a project may use.

use serde::{Deserialize, Serialize};

use crate::{Invalid, code};

const MODELS_MAX: usize = 50;
const MODEL_MAX_CHARS: usize = 200;

/// What the work of a project may use; `None` means that the server's own limits are the only ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Limits {
    /// How many agents run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_agents: Option<u32>,
    /// Processor time of all agents together, in thousandths of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_millis: Option<u32>,
    /// Memory of all agents together, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How many model requests may be made in a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// What may be spent in a month, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly_budget_micros: Option<u64>,
    /// Which models may be used, as patterns with `*`; none means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
}

impl Limits {
    /// Checks the limits.
    ///
    /// # Errors
    /// If a limit is 0 or too large to be meant, or there are too many models.
    pub fn check(&self) -> Result<(), Invalid> {
        let refuse =
            |field, why: &str| Err(Invalid::new(code::INVALID_FIELD, why).with_field(field));
        if self.models.len() > MODELS_MAX {
            return refuse("limits.models", "a project can name at most 50 models");
        }
        for model in &self.models {
            if model.is_empty()
                || model.chars().count() > MODEL_MAX_CHARS
                || model.chars().any(|c| c.is_control() || c.is_whitespace())
            {
                let why = "a model must have 1 to 200 characters without blanks";
                return refuse("limits.models", why);
            }
        }
        // What JSON can hold exactly in every language.
        let fits = |limit: u64| (1..1 << 53).contains(&limit);
        let limits = [
            ("limits.maxAgents", self.max_agents.map(u64::from)),
            ("limits.cpuMillis", self.cpu_millis.map(u64::from)),
            ("limits.requestsPerMinute", self.requests_per_minute.map(u64::from)),
            ("limits.memoryBytes", self.memory_bytes),
            ("limits.monthlyBudgetMicros", self.monthly_budget_micros),
        ];
        for (field, limit) in limits {
            if limit.is_some_and(|limit| !fits(limit)) {
                return refuse(field, "a limit must be larger than 0; leave it out for no limit");
            }
        }
        Ok(())
    }
}
