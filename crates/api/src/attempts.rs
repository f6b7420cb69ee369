//! Several attempts at one bead, on the wire.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// How a bead is to be tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAttempts {
    /// How many ways; one for each model unless given, and 3 without models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 2, maximum = 8)]
    pub attempts: Option<u32>,
    /// The models, in turn; those of the project if none are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 8)]
    pub models: Vec<String>,
    /// Which agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub harness: Option<String>,
    /// What all of them may spend together, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub budget_micros: Option<i64>,
}

/// How an attempt is picked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PickAttempt {
    /// Although its gates did not pass, or were not run; the merge queue judges it before it lands.
    #[serde(default)]
    pub force: bool,
}

/// Beads that are tried several ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptsList {
    /// The newest first.
    pub items: Vec<Attempts>,
}

/// Several attempts at one bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attempts {
    /// The bead.
    pub bead: String,
    /// The project.
    pub project_id: Uuid,
    /// The user who asked for them.
    #[serde(default)]
    #[schema(required = true)]
    pub user_id: Uuid,
    /// The convoy that it belongs to.
    pub convoy: Option<String>,
    /// Where it stands: `running`, `picking`, `dropping`, `picked` or `dropped`.
    pub state: String,
    /// Whether all attempts are at rest, and somebody has to choose.
    pub needs_choice: bool,
    /// The number of the attempt that was picked.
    pub picked: Option<u32>,
    /// The commit that all began from.
    pub base: String,
    /// What keeps it from going on.
    pub note: Option<String>,
    /// What all may spend together, in millionths of a dollar.
    pub budget_micros: Option<i64>,
    /// What all have spent; nothing where a price is not known.
    pub spent_micros: Option<i64>,
    /// The attempts.
    pub attempts: Vec<Attempt>,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// When it was over.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
}

/// One attempt at a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Its number; those of a bead are never given twice.
    pub number: u32,
    /// What its agent is called.
    pub agent: String,
    /// The id of its agent.
    pub agent_id: Uuid,
    /// The model.
    pub model: Option<String>,
    /// How it stands: `waiting`, `working`, `paused`, `done`, `failed` or `stopped`.
    pub state: String,
    /// What its agent does, or why it stands still.
    pub note: Option<String>,
    /// Whether it was picked.
    pub picked: bool,
    /// Whether the gates passed on its last commit; nothing if they were not run on it.
    pub gates_passed: Option<bool>,
    /// What each gate said about that commit.
    pub gates: Vec<AttemptGate>,
    /// Its last commit, if it has made any.
    pub commit: Option<String>,
    /// How many files it changes.
    pub files: u64,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
    /// What it has cost, in millionths of a dollar; nothing where a price is not known.
    pub spent_micros: Option<i64>,
    /// For how many seconds it has been at it.
    pub seconds: Option<u64>,
    /// What its agent said at its end.
    pub summary: Option<String>,
    /// The reference of git that keeps its commits, once it is put away.
    pub archived: Option<String>,
    /// References of git that keep what it had not committed.
    pub rescued: Vec<String>,
}

/// What a gate said about an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptGate {
    /// The gate.
    pub gate: String,
    /// Whether it passed.
    pub passed: bool,
    /// What it said if not.
    pub detail: Option<String>,
}

/// What an attempt changed, or how two differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptDiff {
    /// The bead.
    pub bead: String,
    /// The number of the attempt.
    pub number: u32,
    /// The number of the other one.
    pub against: Option<u32>,
    /// The commit on the one side: that of the attempt with two of them, else what all began from.
    pub from: String,
    /// The commit on the other side.
    pub to: String,
    /// How many files differ.
    pub files: u64,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
    /// The lines, as git writes them.
    pub patch: String,
    /// Whether lines are left out because they are too many.
    pub cut: bool,
}
