//! The merge queue on the wire.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A bead in the merge queue: how its work gets into its branch, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Landing {
    /// The bead.
    pub bead: String,
    /// What the bead is called.
    pub title: String,
    /// The project.
    pub project_id: Uuid,
    /// Where it stands: `waiting`, `checking`, `mending`, `proposed`, `pushing`, `landed`, `failed`, `removed` or
    /// `reverted`.
    pub stage: String,
    /// Whether its work is in the branch now.
    pub landed: bool,
    /// The branch; nothing before it was first tried.
    pub target: Option<String>,
    /// The commit in that branch.
    pub commit: Option<String>,
    /// The commit of the bead that was allowed to land.
    pub source: String,
    /// Why it failed: `conflict`, `gate`, `changed`, `after`, `closed` or `git`.
    pub trouble: Option<String>,
    /// What keeps it from landing, in words.
    pub why: Option<String>,
    /// Files in conflict.
    pub files: Vec<String>,
    /// On whose wish it lands: `person`, `convoy` or `review`.
    pub asked: String,
    /// The convoy that it belongs to.
    pub convoy: Option<String>,
    /// Its pull request, if it lands by one.
    #[serde(default)]
    pub pull_request: Option<LandingPull>,
    /// What the gates said about the merged files.
    pub gates: Vec<GateVerdict>,
    /// Those that were judged together have the same.
    pub batch: Option<Uuid>,
    /// The agent that repairs its conflicts.
    pub mender: Option<String>,
    /// Its place in the line, from 1.
    pub position: Option<u32>,
    /// After how many seconds it has probably landed, as far as earlier landings tell.
    pub eta_seconds: Option<u64>,
    /// When it was put into the line.
    #[schema(value_type = String, format = DateTime)]
    pub added_at: Timestamp,
    /// When it was first tried.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub began_at: Option<Timestamp>,
    /// When it was over.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
}

/// The pull request by which a bead lands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LandingPull {
    /// Its number; nothing before it was opened.
    pub number: Option<u64>,
    /// Where people look at it.
    pub url: Option<String>,
    /// What became of it: `open`, `merged` or `closed`.
    pub state: Option<String>,
    /// What the forge's checks say: `none`, `pending`, `passed` or `failed`.
    pub checks: Option<String>,
    /// What people say on the forge: `none`, `approved` or `changes_requested`.
    pub review: Option<String>,
}

/// What a gate said about what is to land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateVerdict {
    /// The gate.
    pub gate: String,
    /// Whether it passed.
    pub passed: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Whether that was known from before.
    pub cached: bool,
}

/// The lines of projects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LandingLines {
    /// One for each project that has something in it.
    pub items: Vec<LandingLine>,
}

/// The line of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LandingLine {
    /// The project.
    pub project_id: Uuid,
    /// That it stands still.
    pub paused: Option<LandingPaused>,
    /// What is in it, in order, and then what is over, the newest first.
    pub landings: Vec<Landing>,
}

/// That a line stands still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LandingPaused {
    /// Who said so.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

/// Which place a bead gets among those that wait: before another, before all, or else behind all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveLanding {
    /// Before this bead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub before: Option<String>,
    /// Before all others.
    #[serde(default)]
    pub first: bool,
}

/// Which line stands still, or goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskPause {
    /// The project.
    pub project_id: Uuid,
    /// Why, for those who come later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub reason: Option<String>,
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reverted {
    /// The bead.
    pub bead: String,
    /// The commit that takes it back.
    pub commit: String,
    /// How its landing stands now.
    pub landing: Landing,
}
