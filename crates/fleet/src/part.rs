//! That an agent is one of several at its bead, and what became of its work.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What became of the work of an agent that was one of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Nobody has chosen yet.
    Open,
    /// It is the work of the bead.
    Picked,
    /// Another was picked.
    PassedOver,
    /// None was picked.
    Dropped,
}

/// That an agent is one of several at its bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The trial.
    pub trial: Uuid,
    /// The number of its attempt.
    pub number: u32,
    /// What became of its work.
    pub fate: Fate,
    /// What gates said about its commits; on the bead it would be taken for a word on the bead's work.
    pub verdicts: Vec<Said>,
}

/// What a gate said about a commit of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// The gate.
    pub gate: String,
    /// Whether it was passed.
    pub passed: bool,
    /// The commit.
    pub commit: String,
    /// What it said if not.
    pub detail: Option<String>,
}

/// Returns the name of the worktree of an attempt, which its branch and its agent have, too.
pub fn tree_of(bead: &str, number: u32) -> String {
    format!("attempt-{bead}-{number}")
}
