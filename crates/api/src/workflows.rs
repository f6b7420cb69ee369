//! Workflows, runs and teams on the wire.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::TaskDetail;

/// The text of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowSource {
    /// YAML or JSON.
    pub source: String,
}

/// A workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// The id.
    pub id: Uuid,
    /// The name, unique in its tenant.
    pub name: String,
    /// How often it was changed.
    pub version: i64,
    /// The user who made it.
    #[serde(default)]
    #[schema(required = true)]
    pub created_by: Uuid,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// The text, where one workflow is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A step of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStep {
    /// The id.
    pub id: String,
    /// `task`, `workflow`, `approval` or `timer`.
    pub kind: String,
    /// What it waits for.
    pub depends_on: Vec<String>,
    /// In which wave it runs at the earliest, from 1 on.
    pub wave: u32,
}

/// What a workflow is, as it was understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowOutline {
    /// The name.
    pub name: String,
    /// The steps, in their order.
    pub steps: Vec<WorkflowStep>,
}

/// What a run is to be.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartRun {
    /// What it is given.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub inputs: serde_json::Map<String, serde_json::Value>,
    /// Makes the request repeatable: a second one with the same key finds the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub key: Option<String>,
}

/// A run of a workflow that is not stored, or of a stored one by its name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRun {
    /// The id or the name of a stored workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The workflow as YAML or JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it is given.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub inputs: serde_json::Map<String, serde_json::Value>,
    /// Makes the request repeatable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub key: Option<String>,
}

/// How many steps are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StepCounts {
    /// Those that wait for other steps.
    pub pending: u32,
    /// Those that could begin.
    pub ready: u32,
    /// Those that run.
    pub running: u32,
    /// Those that wait for a person or a time.
    pub waiting: u32,
    /// Those that succeeded.
    pub succeeded: u32,
    /// Those that failed.
    pub failed: u32,
    /// Those that were skipped.
    pub skipped: u32,
    /// Those that were cancelled.
    pub cancelled: u32,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    /// The id.
    pub id: Uuid,
    /// The name of the workflow.
    pub name: String,
    /// The stored workflow of which it is a run.
    pub workflow_id: Option<Uuid>,
    /// `pending`, `running`, `paused`, `completed`, `failed` or `cancelled`.
    pub state: String,
    /// The run whose step started it.
    pub parent_id: Option<Uuid>,
    /// The team whose plan it is.
    pub team_id: Option<Uuid>,
    /// The user who started it.
    #[serde(default)]
    #[schema(required = true)]
    pub created_by: Uuid,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last moved on.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// How a run stands.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// What a list shows.
    #[serde(flatten)]
    pub row: RunRow,
    /// How much is done, from 0 to 1.
    pub progress: f64,
    /// How many steps are in each state.
    pub counts: StepCounts,
    /// How many steps go on at once.
    pub max_concurrency: u32,
    /// The longest way that is still ahead: the ids of its steps.
    pub critical_path: Vec<String>,
    /// How many seconds that is likely to take.
    pub remaining_seconds: u64,
    /// What it was given.
    #[schema(value_type = Object)]
    pub inputs: serde_json::Value,
    /// What it gave back.
    #[schema(value_type = Option<Object>)]
    pub outputs: Option<serde_json::Value>,
    /// Why it failed.
    pub error: Option<String>,
    /// When it was started.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Timestamp>,
}

/// A step of a run.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStep {
    /// The id.
    pub id: String,
    /// `task`, `workflow`, `approval` or `timer`.
    pub kind: String,
    /// Who may answer an approval, by name or as `role:NAME`; empty stands for everybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// What it waits for.
    pub depends_on: Vec<String>,
    /// `pending`, `ready`, `running`, `waiting`, `succeeded`, `failed`, `skipped` or `cancelled`.
    pub state: String,
    /// How often it was begun anew.
    pub round: u32,
    /// Its task.
    pub task_id: Option<Uuid>,
    /// What it gave back.
    #[schema(value_type = Option<Object>)]
    pub output: Option<serde_json::Value>,
    /// Why it failed, was skipped or cancelled.
    pub error: Option<String>,
    /// When it began.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Timestamp>,
    /// Until when it waits.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub due_at: Option<Timestamp>,
}

/// One time that a step was begun.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunStepRound {
    /// Counts from 0.
    pub round: u32,
    /// Its task, with what it got, what came of it, and its attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskDetail>,
    /// The run that it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunRow>,
}

/// A step of a run, and each time that it was begun.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunStepDetail {
    /// The step.
    #[serde(flatten)]
    pub step: RunStep,
    /// The last time first, 10 at most.
    pub rounds: Vec<RunStepRound>,
    /// Whether there were earlier ones.
    pub cut: bool,
}

/// Steps of a run, in the order of its workflow.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunSteps {
    /// The steps, at most 1,000.
    pub steps: Vec<RunStep>,
    /// From which number on there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// Which steps are tried again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryRun {
    /// Their ids, of steps that failed or succeeded; none stands for all that failed.
    #[serde(default)]
    pub steps: Vec<String>,
}

/// The answer of a person to a step that asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerStep {
    /// The id of the step.
    pub step: String,
    /// Whether it may go on.
    pub approve: bool,
    /// What is said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub note: Option<String>,
}

/// How many runs were cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CancelledRuns {
    /// How many.
    pub cancelled: u64,
}

/// A picture of a workflow or a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Drawing {
    /// `mermaid` or `dot`.
    pub format: String,
    /// The text.
    pub text: String,
}

/// What a team is asked to do: name, strategy (`parallel`, `map-reduce`, `pipeline`, `tree`), goal,
/// items, roles, size, lead, merge, copies, fanOut, aggregate, quorum, tolerate, budgetMicros,
/// deadline, retry, timeoutSeconds, pool, priority, requires, fallBack.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Object)]
pub struct TeamSpec(pub serde_json::Value);

/// A team, and how it stands.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Team {
    /// The id.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// `created`, `running`, `paused`, `completed`, `failed` or `cancelled`.
    pub state: String,
    /// How the work is shared at the moment.
    pub strategy: String,
    /// How many agents work at once.
    pub size: u32,
    /// How much is done, from 0 to 1.
    pub progress: f64,
    /// How many steps of its run are in each state.
    pub counts: StepCounts,
    /// The present run, or the last.
    pub run_id: Option<Uuid>,
    /// Why simpler ways were taken.
    pub fallbacks: Vec<String>,
    /// What its workers said that they spent, in millionths of a dollar.
    pub spent_micros: i64,
    /// What may be spent.
    pub budget_micros: Option<i64>,
    /// What came of it.
    #[schema(value_type = Option<Object>)]
    pub result: Option<serde_json::Value>,
    /// Why nothing came of it, or why it was paused.
    pub error: Option<String>,
    /// What people were told last that they should see to.
    pub alert: Option<String>,
    /// What was asked for.
    #[schema(value_type = Object)]
    pub spec: serde_json::Value,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// How many agents of a team work at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScaleTeam {
    /// How many.
    pub size: u32,
}

/// A worker that has tasks of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamAgent {
    /// The worker.
    pub worker_id: Uuid,
    /// How many tasks of the team it has.
    pub tasks: u32,
}

/// The workers that have tasks of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TeamAgents {
    /// The workers.
    pub items: Vec<TeamAgent>,
}

/// Numbers about a team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMetrics {
    /// The team.
    pub team_id: Uuid,
    /// The name.
    pub name: String,
    /// The state.
    pub state: String,
    /// How much is done, from 0 to 1.
    pub progress: f64,
    /// How many steps are in each state.
    pub counts: StepCounts,
    /// What was spent, in millionths of a dollar.
    pub spent_micros: i64,
    /// How many simpler ways were taken.
    pub fallbacks: u32,
    /// For how many seconds it has worked.
    pub seconds: u64,
}
