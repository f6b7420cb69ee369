//! Beads and convoys on the wire.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// A unit of work, as it is in the git repository of its project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bead {
    /// The id, such as `godel-abc12`.
    pub id: String,
    /// The project in whose repository it is.
    pub project_id: Uuid,
    /// The type, such as `task` or `bug`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `open`, `in-progress`, `review` or `done`.
    pub status: String,
    /// `critical`, `high`, `medium` or `low`.
    pub priority: String,
    /// Its place in a manual order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<String>,
    /// Who works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Until when somebody holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Where it is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The names of commits that belong to it.
    pub commits: Vec<String>,
    /// The bead that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_bead: Option<String>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// Links to other beads.
    pub links: Vec<BeadLink>,
    /// What people and agents said about it.
    pub comments: Vec<BeadComment>,
    /// Why it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub resolution: Option<Value>,
    /// How its work got into a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub landed: Option<Value>,
    /// How long it may take, in minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u64>,
    /// What it may cost, in micro-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// How one sees that it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// Not before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub defer: Option<jiff::Timestamp>,
    /// What others keep here.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: jiff::Timestamp,
}

/// That somebody holds a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Lease {
    /// When it ends if it is not extended.
    #[schema(value_type = String, format = DateTime)]
    pub until: jiff::Timestamp,
}

/// A link from a bead to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BeadLink {
    /// How they are linked, such as `blocks`: this bead waits for the target then.
    #[serde(rename = "type")]
    #[schema(max_length = 100)]
    pub kind: String,
    /// The other bead.
    #[schema(max_length = 200)]
    pub target: String,
}

/// Something that was said about a bead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BeadComment {
    /// The id.
    pub id: String,
    /// Who said it.
    pub by: String,
    /// When.
    pub at: String,
    /// What was said.
    pub text: String,
}

/// A bead with what only git knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BeadDetail {
    /// The bead.
    #[serde(flatten)]
    pub bead: Bead,
    /// Its commits, each checked against git.
    pub checked_commits: Vec<CheckedCommit>,
}

/// A commit of a bead, checked against git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CheckedCommit {
    /// Its whole name.
    pub id: String,
    /// Its first line; none if the repository does not have it.
    pub subject: Option<String>,
    /// Whether the repository has it.
    pub present: bool,
    /// Whether the base branch has it.
    pub landed: bool,
}

/// A bead to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBead {
    /// The project; may be left out if only one has a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Uuid>,
    /// What is to be done, in a line.
    #[schema(min_length = 1, max_length = 500)]
    pub title: String,
    /// The type: task, bug, feature, refactor, chore, research, decision or epic.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The priority: critical, high, medium or low.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// What is to be done, at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100_000)]
    pub description: Option<String>,
    /// How one sees that it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100_000)]
    pub acceptance: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub labels: Vec<String>,
    /// The bead that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_bead: Option<String>,
    /// Beads that must be closed first.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub blocked_by: Vec<String>,
    /// Beads that wait for this one.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub blocks: Vec<String>,
    /// How long it may take, in minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u64>,
    /// What it may cost, in micro-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// What others keep here.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
}

/// What is to be changed of a bead; what is left out stays, an empty text removes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BeadPatch {
    /// The new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 500)]
    pub title: Option<String>,
    /// The new type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The new priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// The new description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100_000)]
    pub description: Option<String>,
    /// The new way to see that it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100_000)]
    pub acceptance: Option<String>,
    /// The new place in the manual order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub rank: Option<String>,
    /// The new estimate in minutes; 0 removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u64>,
    /// The new budget in micro-dollars; 0 removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// All labels it should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub labels: Option<Vec<String>>,
    /// Members to set; `null` removes one.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// The bead it should be a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_bead: Option<String>,
    /// Until when it is put off, such as `2030-01-31T08:00:00Z`; an empty text takes that back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 50)]
    pub defer: Option<String>,
}

/// Something that is worth knowing later, as it is in the git repository of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Its name in the project.
    pub id: String,
    /// The project in whose repository it is.
    pub project_id: Uuid,
    /// What to know.
    pub text: String,
    /// Who said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: jiff::Timestamp,
}

/// All that is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Memories {
    /// By project, then by name.
    pub items: Vec<Memory>,
}

/// Something that is to be remembered.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMemory {
    /// What to know.
    #[schema(min_length = 1, max_length = 100_000)]
    pub text: String,
    /// Its name: small letters, digits and `-`; made of the text unless given. What has it already is
    /// replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 60)]
    pub name: Option<String>,
}

/// Who should work on a bead.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AssignBead {
    /// The agent.
    #[schema(min_length = 1, max_length = 100)]
    pub agent_id: String,
    /// Whether the work begins with it.
    #[serde(default)]
    pub start: bool,
}

/// A claim that is asked for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimBead {
    /// Who claims.
    #[schema(min_length = 1, max_length = 100)]
    pub agent_id: String,
    /// How long it lasts, in seconds; 1800 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 604_800)]
    pub lease_secs: Option<u64>,
}

/// A claim that succeeded.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct BeadClaim {
    /// The bead.
    pub bead: Bead,
    /// What proves the claim; it is shown once.
    pub token: String,
    /// When it ends if it is not extended.
    #[schema(value_type = String, format = DateTime)]
    pub until: jiff::Timestamp,
}

/// A claim that should last longer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExtendBead {
    /// What proves the claim.
    #[schema(max_length = 200)]
    pub token: String,
    /// How long it lasts from now, in seconds; 1800 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 604_800)]
    pub lease_secs: Option<u64>,
}

/// A bead that is given back.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseBead {
    /// What proves the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub token: Option<String>,
    /// Though another holds it.
    #[serde(default)]
    pub force: bool,
}

/// Where a bead should go.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveBead {
    /// The status: open, in-progress, review or done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Closes it as done, wont-do or duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// The sentence for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100_000)]
    pub reason: Option<String>,
    /// What proves the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub token: Option<String>,
    /// Though it is not earned; the reason is kept.
    #[serde(default)]
    pub force: bool,
}

/// Something to say about a bead.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewComment {
    /// What to say.
    #[schema(min_length = 1, max_length = 100_000)]
    pub text: String,
}

/// What can be begun now, and what cannot.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReadyBeads {
    /// What can be begun now, by priority, then age.
    pub items: Vec<BeadRow>,
    /// What cannot, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingBead>,
}

/// A line of a list of beads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BeadRow {
    /// The bead.
    pub id: String,
    /// The project in whose repository it is.
    pub project_id: Uuid,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title.
    pub title: String,
    /// How far it has come.
    pub status: String,
    /// How urgent it is.
    pub priority: String,
    /// Who works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether something holds it up.
    pub blocked: bool,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
}

/// A bead that cannot be begun now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WaitingBead {
    /// The bead.
    #[serde(flatten)]
    pub row: BeadRow,
    /// What keeps it.
    #[schema(value_type = Vec<Object>)]
    pub reasons: Vec<Value>,
}

/// A line of the diary of a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BeadLogEntry {
    /// The commit of the state branch.
    pub commit: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub at: jiff::Timestamp,
    /// The event, such as `bead:created`.
    pub event: String,
    /// Who did it.
    pub by: String,
    /// What was done, for people.
    pub line: String,
}

/// What an import of beads did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedBeads {
    /// The project whose beads they are.
    pub project_id: Uuid,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// How many beads are new.
    pub created: usize,
    /// How many were here and changed there since.
    pub updated: usize,
    /// How many were here already as they are.
    pub unchanged: usize,
    /// The first 500 of those that are new or changed, in the order of the file.
    pub changes: Vec<ImportedBead>,
}

/// A bead that is new, or changed in the source since it was last imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedBead {
    /// The bead.
    pub id: String,
    /// Its title there.
    pub title: String,
    /// Whether it was not here before.
    pub is_new: bool,
    /// What differs from what was imported before, by the names of the source.
    pub fields: Vec<ImportedField>,
}

/// A field that differs, before and after; of a long value only the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedField {
    /// Its name in the source.
    pub name: String,
    /// What was imported before, if anything.
    pub before: Option<String>,
    /// What it is there now, if anything.
    pub after: Option<String>,
}
