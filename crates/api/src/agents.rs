//! Agents, and what is run with them, on the wire.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What an agent is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAgent {
    /// What people call it; its role and a number unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub label: Option<String>,
    /// What is to be done; a bead is made of it if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 20000)]
    pub task: Option<String>,
    /// The bead to work on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bead: Option<String>,
    /// The project, if there are several with a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Uuid>,
    /// Which agent it is: `native`, `claude`, `codex`, `gemini`, `opencode`, `pi`, `acp` or `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The command line of an `acp` or `command` agent; `{prompt}` stands for what it is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its role, such as `worker` or `reviewer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Where it works: `worktree` or `gvisor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Its walls: `read-only`, `workspace`, `workspace+net` or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Hosts that it may reach with `workspace+net`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// What it may spend, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<i64>,
    /// After how many seconds it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The id.
    pub id: Uuid,
    /// What people call it.
    pub label: String,
    /// pending, initializing, running, paused, completed, failed or killed.
    pub status: String,
    /// initializing, spawning, executing, waiting, paused, completing, completed, failed or killed.
    pub lifecycle_state: String,
    /// idle, busy, waiting, paused, offline or error.
    pub view: String,
    /// What it is doing or why it stands still, in a line.
    pub note: Option<String>,
    /// The project.
    pub project_id: Uuid,
    /// For whom it works: the user who asked for it.
    #[serde(default)]
    #[schema(required = true)]
    pub user_id: Uuid,
    /// The bead.
    pub bead: String,
    /// The convoy that it works for.
    pub convoy: Option<String>,
    /// The team that it works for.
    pub team_id: Option<Uuid>,
    /// What is to be done.
    pub task: String,
    /// Which agent it is.
    pub harness: String,
    /// The model.
    pub model: String,
    /// How many tokens of input the model takes, as the list of models says; none if it does not say.
    pub context_tokens: Option<u64>,
    /// Its role.
    pub role: String,
    /// Where it works.
    pub runtime: String,
    /// Its walls.
    pub sandbox: String,
    /// Its worktree.
    pub worktree: Option<String>,
    /// The last commit of its branch that was checked.
    pub commit: Option<String>,
    /// Its conversation.
    pub session_id: Uuid,
    /// The task of the queue by which it runs.
    pub task_id: Option<Uuid>,
    /// How often it was started.
    pub runs: u32,
    /// How often it was begun anew after trouble.
    pub retry_count: u32,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// What it may spend, in millionths of a dollar.
    pub budget_micros: Option<i64>,
    /// What it has spent, in millionths of a dollar; none if a price is not known.
    pub spent_micros: Option<i64>,
    /// Its list of things to do.
    pub todos: Vec<AgentTodo>,
    /// When it was asked for.
    #[schema(value_type = String, format = DateTime)]
    pub spawned_at: Timestamp,
    /// When something last happened.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Timestamp>,
    /// What happened to it, the oldest first; the newest 100 steps.
    pub history: Vec<AgentStep>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentTodo {
    /// What.
    #[schema(max_length = 1000)]
    pub text: String,
    /// pending, in_progress or completed.
    pub state: String,
}

/// A step in the life of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentStep {
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The state since then.
    pub state: String,
    /// Why.
    pub why: String,
}

/// Something to say to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentMessage {
    /// What.
    #[schema(max_length = 20000)]
    pub text: String,
}

/// How an agent is begun anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestartAgent {
    /// With another model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// As another agent; it is told what came before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
}

/// Copies of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkAgent {
    /// How many copies.
    #[schema(minimum = 1, maximum = 16)]
    pub copies: u32,
}

/// What an agent said and did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentLog {
    /// The lines, the oldest first.
    pub items: Vec<AgentLine>,
    /// The position behind the last line, to ask for more with `after`.
    pub next: i64,
    /// The position to ask for older lines with `before`; none if there are none, or they were not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<i64>,
}

/// One line of the log of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentLine {
    /// Its position in the log of events.
    pub seq: i64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The kind of event, such as `agent:text`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it tells.
    #[schema(value_type = Object)]
    pub payload: serde_json::Value,
}

/// Whether everything stands still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Estop {
    /// Whether it does.
    pub stopped: bool,
    /// Why.
    pub reason: Option<String>,
    /// How many agents this request paused or resumed.
    pub agents: u32,
}

/// Why everything is to stand still.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskEstop {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// How a convoy is run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartConvoy {
    /// How many agents work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 200)]
    pub agents: Option<u32>,
    /// What all of them may spend, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<i64>,
    /// Which agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Where they work: worktree or gvisor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Whether all of it lands as one: the beads land in the branch of one bead, and that lands in the target
    /// branch. As the project says if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<bool>,
}

/// A convoy that is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConvoyRun {
    /// The convoy.
    pub convoy: String,
    /// running, stopped or done.
    pub state: String,
    /// How many agents work at once.
    pub agents: u32,
    /// How many agents run now.
    pub running: u32,
    /// What all of them may spend, in millionths of a dollar.
    pub budget_micros: Option<i64>,
    /// Where they work, if it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The bead in whose branch the others land, if all of it lands as one.
    pub whole: Option<String>,
    /// What keeps it from going on, if something does.
    pub note: Option<String>,
}

/// What an agent was at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSnapshot {
    /// The id.
    pub id: Uuid,
    /// The digest of its files.
    pub snapshot: String,
    /// Whose they are; an id that nobody has if it was imported.
    pub agent_id: Uuid,
    /// What the agent is called.
    pub agent: String,
    /// For whom the agent works, or who brought it here; none in those of old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// The bead.
    pub bead: String,
    /// The last node of its conversation.
    pub node: Option<u32>,
    /// The commit that its branch was at.
    pub commit: Option<String>,
    /// Whether it came from another server.
    #[serde(default)]
    pub imported: bool,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub taken_at: Timestamp,
}

/// A snapshot that came from another server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedSnapshot {
    /// The snapshot.
    pub snapshot: AgentSnapshot,
    /// What an agent of it has not that it had there, in words: a file brings no rights.
    pub changed: Vec<String>,
}

/// Several agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentList {
    /// The agents.
    pub items: Vec<Agent>,
}

/// A worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    /// Its name: the id of its bead.
    pub id: String,
    /// The project.
    pub project_id: Uuid,
    /// Where it is.
    pub path: String,
    /// The branch.
    pub branch: Option<String>,
    /// The commit that it stands on.
    pub head: Option<String>,
    /// How many commits it has that its base did not have.
    pub ahead: Option<u64>,
    /// How many files are changed, staged or new.
    pub dirty: Option<u64>,
    /// How it is.
    pub state: String,
}

/// All worktrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorktreeList {
    /// The worktrees.
    pub items: Vec<Worktree>,
}

/// A worktree that is gone. All work in it was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedWorktree {
    /// Its name: the id of its bead.
    pub id: String,
    /// The project.
    pub project_id: Uuid,
    /// Its branch.
    pub branch: String,
    /// Whether the branch is gone, too, because others have all of it.
    pub branch_deleted: bool,
    /// Commands that bring back what was not committed, and commits that nobody else has.
    pub restore: Vec<String>,
    /// How many bytes of ignored files are gone.
    pub ignored_bytes: u64,
}

/// Which worktrees are cleaned up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CleanWorktrees {
    /// Those of this project; of all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Uuid>,
    /// Whether it is only told what would be removed.
    #[serde(default)]
    pub dry_run: bool,
}

/// A worktree and why it goes, stays or cannot go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeFate {
    /// Its name: the id of its bead.
    pub id: String,
    /// The project.
    pub project_id: Uuid,
    /// Why.
    pub why: String,
}

/// What was cleaned up, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CleanedWorktrees {
    /// Those that are gone.
    pub removed: Vec<RemovedWorktree>,
    /// Those that would be removed.
    pub due: Vec<WorktreeFate>,
    /// Those whose time has come and that could not be removed.
    pub refused: Vec<WorktreeFate>,
    /// Those whose time has not come.
    pub kept: Vec<WorktreeFate>,
}

/// Numbers about agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMetrics {
    /// How many agents are in each state.
    #[schema(value_type = Object)]
    pub states: std::collections::BTreeMap<String, i64>,
    /// How many run on this server.
    pub running: u32,
    /// How many can run on this server.
    pub capacity: u32,
    /// How many things wait for a person.
    pub waiting: u32,
}
