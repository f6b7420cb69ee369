//! How urgent a task is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Invalid, code};

/// The four tiers: no task is handed out while one of a more urgent tier waits in the same pool.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum TaskPriority {
    /// Before everything else.
    Critical,
    /// Before what is usual.
    High,
    /// What is usual.
    #[default]
    Medium,
    /// When nothing else waits.
    Low,
}

impl TaskPriority {
    /// All tiers, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    /// Returns the number under which the tier is stored: 0 is the most urgent.
    pub const fn tier(self) -> i64 {
        self as i64
    }

    /// Reads a stored tier; what is beyond the last counts as the last.
    pub fn from_tier(tier: i64) -> Self {
        Self::ALL.into_iter().find(|one| one.tier() == tier).unwrap_or(Self::Low)
    }

    /// Returns the name of the tier.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

impl fmt::Display for TaskPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TaskPriority {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|one| one.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such priority")
                .with_hint("priorities are critical, high, medium and low")
        })
    }
}
