//! The queue on the wire: tasks, pools, dead letters and schedules.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

/// How often and after what pause a task is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TaskRetry {
    /// How often it is tried in all: 1 to 100.
    #[schema(minimum = 1, maximum = 100)]
    pub max_attempts: u32,
    /// The pause after the first failure, in milliseconds; it doubles each time.
    pub delay_ms: u64,
    /// The longest pause, in milliseconds.
    pub max_delay_ms: u64,
    /// Whether another worker tries it next, where one is able.
    pub elsewhere: bool,
}

impl Default for TaskRetry {
    fn default() -> Self {
        Self { max_attempts: 3, delay_ms: 1_000, max_delay_ms: 30_000, elsewhere: false }
    }
}

/// A task that is to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTask {
    /// What is to be done, in a line.
    #[schema(min_length = 1, max_length = 500)]
    pub title: String,
    /// What the worker gets: an object of at most 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Box<RawValue>>,
    /// Where it waits; `default` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// `critical`, `high`, `medium` (unless given) or `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// What its worker must be able to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// How often it is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<TaskRetry>,
    /// For how many seconds one attempt may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// From when on it may be handed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub start_at: Option<Timestamp>,
    /// After when it is of no use any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline: Option<Timestamp>,
    /// Which tasks must succeed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Uuid>,
    /// Tasks of one session prefer one worker, where the pool says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Makes the request repeatable for as long as the task is kept: a second one with the same key
    /// finds the first task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub key: Option<String>,
}

/// Several tasks that are to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTasks {
    /// The tasks: 1 to 1,000.
    pub tasks: Vec<NewTask>,
}

/// What became of a request to make a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskMade {
    /// The id of the task.
    pub id: Uuid,
    /// Whether it was made now; else one with the same key was there before.
    pub fresh: bool,
    /// Where it is, if it was made now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// What became of one of several tasks.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskAnswer {
    /// The task, if it is there.
    #[serde(flatten)]
    pub made: Option<TaskMade>,
    /// Why it was not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<crate::ErrorBody>,
}

/// What became of several tasks, in the order of the request.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TasksMade {
    /// One answer for each task.
    pub items: Vec<TaskAnswer>,
}

/// One attempt of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskAttempt {
    /// 1, 2, 3 and so on.
    pub number: u32,
    /// Who had it.
    pub worker_id: Uuid,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// `succeeded`, `failed`, `lost`, `timeout`, `released` or `cancelled`; none while it runs.
    pub ending: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
}

/// A task, and where it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The id.
    pub id: Uuid,
    /// What is to be done, in a line.
    pub title: String,
    /// What the worker gets.
    #[schema(value_type = Object)]
    pub payload: serde_json::Value,
    /// `ready`, `delayed`, `blocked`, `running`, `succeeded`, `dead` or `cancelled`.
    pub state: String,
    /// Where it waits.
    pub pool: String,
    /// How urgent it is by now; it may be higher than asked for.
    pub priority: String,
    /// How urgent it was asked to be.
    pub asked_priority: String,
    /// What its worker must be able to do.
    pub requires: Vec<String>,
    /// The last attempt that was begun; 0 if none was.
    pub attempt: u32,
    /// The last attempt that is allowed; none once it is over.
    pub last_attempt: Option<u32>,
    /// How often it is tried.
    pub retry: TaskRetry,
    /// For how many seconds one attempt may run.
    pub timeout_seconds: Option<u64>,
    /// Since when it is ready, or when it will be.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ready_at: Option<Timestamp>,
    /// After when it is of no use any more.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline: Option<Timestamp>,
    /// Which tasks must succeed first.
    pub after: Vec<Uuid>,
    /// How many of them have not.
    pub waits_for: u32,
    /// The session to which it belongs.
    pub session: Option<String>,
    /// The key of the request that made it.
    pub key: Option<String>,
    /// What it belongs to, such as `run:<id>:<step>`.
    pub owner: Option<String>,
    /// Who has it, or had it last.
    pub worker_id: Option<Uuid>,
    /// When the present or last attempt began.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// Until when the present attempt may take.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Timestamp>,
    /// What the worker last told.
    #[schema(value_type = Option<Object>)]
    pub progress: Option<serde_json::Value>,
    /// Why it is being stopped.
    pub stopping: Option<String>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// What came of it.
    #[schema(value_type = Option<Object>)]
    pub result: Option<serde_json::Value>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// Which other task's end is the reason.
    pub because: Option<Uuid>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// By whom; none if Godel itself made it.
    pub created_by: Option<Uuid>,
}

/// A task with its attempts.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskDetail {
    /// The task.
    #[serde(flatten)]
    pub task: Task,
    /// Its attempts, the first one first.
    pub attempts: Vec<TaskAttempt>,
}

/// Why a task is cancelled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTask {
    /// Why, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub reason: Option<String>,
}

/// Which worker is to do a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AssignTask {
    /// The worker.
    pub worker_id: Uuid,
}

/// How many tasks of a pool and a priority are in each place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueDepthRow {
    /// The pool.
    pub pool: String,
    /// The priority.
    pub priority: String,
    /// Can be handed out.
    pub ready: u64,
    /// Wait for their time.
    pub delayed: u64,
    /// Wait for other tasks.
    pub blocked: u64,
    /// Are in the hands of workers.
    pub running: u64,
    /// Are dead letters.
    pub dead: u64,
    /// Since when the oldest one that is ready waits.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub oldest_ready_at: Option<Timestamp>,
}

/// What is in the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueDepth {
    /// How many can be handed out.
    pub ready: u64,
    /// How many wait for their time.
    pub delayed: u64,
    /// How many wait for other tasks.
    pub blocked: u64,
    /// How many are in the hands of workers.
    pub running: u64,
    /// How many are dead letters.
    pub dead: u64,
    /// By pool and priority, the most urgent first.
    pub rows: Vec<QueueDepthRow>,
}

/// A pool, and how it works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// The name.
    pub name: String,
    /// Whether nothing is handed out for now.
    pub paused: bool,
    /// After how many seconds of waiting a task rises by one priority; none means never.
    pub ageing_seconds: Option<u32>,
    /// `least-loaded`, `round-robin` or `affinity`.
    pub placement: String,
    /// From how many dead letters on there is an alert; 0 means never.
    pub dead_alert: u32,
    /// Whether there was one, and half of them or more are still there.
    pub alerted: bool,
}

/// The pools of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PoolList {
    /// The pools, by name.
    pub items: Vec<Pool>,
}

/// What is to be different about a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolPatch {
    /// Whether nothing is handed out for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// After how many seconds of waiting a task rises by one priority; 0 means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ageing_seconds: Option<u32>,
    /// `least-loaded`, `round-robin` or `affinity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// From how many dead letters on there is an alert; 0 means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_alert: Option<u32>,
}

/// Which dead letters are put back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayDead {
    /// Only those of this pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Only those whose last error has this in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Only those with this in the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// How many dead letters were put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Replayed {
    /// How many.
    pub replayed: u64,
}

/// A schedule that is to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSchedule {
    /// The name, unique in its tenant.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// When: minute, hour, day, month and weekday as cron has them, or `@daily` and the like.
    #[schema(example = "0 9 * * mon-fri")]
    pub cron: String,
    /// In which time zone, such as `Europe/Berlin`; UTC unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// What is made each time.
    pub task: NewTask,
}

/// A task that comes again and again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The id.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// When.
    pub cron: String,
    /// In which time zone.
    pub timezone: String,
    /// The title of what is made each time.
    pub title: String,
    /// Where that waits.
    pub pool: String,
    /// How urgent it is.
    pub priority: String,
    /// Whether it makes nothing for now.
    pub paused: bool,
    /// When it makes the next one.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_at: Option<Timestamp>,
    /// When it made the last one.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Timestamp>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What is to be different about a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePatch {
    /// Whether it makes nothing for now.
    pub paused: bool,
}
