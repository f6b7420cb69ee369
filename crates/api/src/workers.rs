//! Workers on the wire: who takes tasks, and what they say of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::NewTask;

/// Somebody who wants to take tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWorker {
    /// What people call it.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// From which pool; `default` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// How many tasks it can have at once; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub capacity: Option<u32>,
}

/// Somebody who takes tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worker {
    /// The id.
    pub id: Uuid,
    /// What people call it.
    pub name: String,
    /// From which pool it takes tasks.
    pub pool: String,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// `idle`, `busy`, `paused`, `offline` or `error`.
    pub status: String,
    /// How many tasks it has, counted from what is handed out.
    pub load: u32,
    /// How many it can have at once.
    pub capacity: u32,
    /// Why it cannot work.
    pub error: Option<String>,
    /// Whose credential it uses.
    pub user_id: Uuid,
    /// When it came.
    #[schema(value_type = String, format = DateTime)]
    pub registered_at: Timestamp,
    /// When it was last heard of.
    #[schema(value_type = String, format = DateTime)]
    pub seen_at: Timestamp,
}

/// A task in the hands of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldTask {
    /// The task.
    pub task_id: Uuid,
    /// The attempt.
    pub attempt: u32,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// Why it is to be stopped: the worker ends it and says that it failed.
    pub stop: Option<String>,
}

/// A worker and what it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerDetail {
    /// The worker.
    #[serde(flatten)]
    pub worker: Worker,
    /// What it has.
    pub tasks: Vec<HeldTask>,
}

/// What a worker, or who looks after it, says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerPatch {
    /// `active`, `paused` or `error`.
    pub state: String,
    /// Why it cannot work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub error: Option<String>,
}

/// What a worker is told when it says that it lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerBeat {
    /// What it has, by the book.
    pub tasks: Vec<HeldTask>,
    /// Until when it is believed to live.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// How many tasks a worker can take, and how long it waits for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimTasks {
    /// How many; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<u32>,
    /// For how many milliseconds it waits if there is nothing: at most 60,000; 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// A task that was handed out.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GivenTask {
    /// The task.
    pub id: Uuid,
    /// The attempt: whoever says something of the task shows it.
    pub attempt: u32,
    /// Whether it is the last attempt.
    pub last: bool,
    /// What is to be done, in a line.
    pub title: String,
    /// What it is about.
    #[schema(value_type = Object)]
    pub payload: Box<RawValue>,
    /// The pool.
    pub pool: String,
    /// How urgent it is.
    pub priority: String,
    /// The session to which it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Until when this attempt may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Timestamp>,
}

/// Tasks that were handed out.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GivenTasks {
    /// The tasks, the most urgent first.
    pub tasks: Vec<GivenTask>,
}

/// A worker says that it has done a task.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompleteTask {
    /// The worker.
    pub worker_id: Uuid,
    /// The attempt.
    pub attempt: u32,
    /// What came of it: an object of at most 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub result: Option<Box<RawValue>>,
    /// How many tasks it takes next, and how long it waits for them; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<ClaimTasks>,
}

/// A worker says that a task failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FailTask {
    /// The worker.
    pub worker_id: Uuid,
    /// The attempt.
    pub attempt: u32,
    /// Why.
    #[schema(max_length = 20000)]
    pub error: String,
    /// Whether another attempt makes no sense.
    #[serde(default)]
    pub fatal: bool,
}

/// A worker says how far it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProgressTask {
    /// The worker.
    pub worker_id: Uuid,
    /// The attempt.
    pub attempt: u32,
    /// How far: an object.
    #[schema(value_type = Object)]
    pub progress: Box<RawValue>,
}

/// A worker gives a task back that it has not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReleaseTask {
    /// The worker.
    pub worker_id: Uuid,
    /// The attempt.
    pub attempt: u32,
}

/// A worker makes a task on behalf of the one that it has.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpawnTask {
    /// The worker.
    pub worker_id: Uuid,
    /// The attempt.
    pub attempt: u32,
    /// What is to be made.
    pub task: NewTask,
}

/// What became of what a worker said.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskSaid {
    /// Where the task is now.
    pub state: String,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub again_at: Option<Timestamp>,
    /// Why the worker is to stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The tasks that the worker has next, if it asked for some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<GivenTask>,
}
