//! The queue: tasks, and the one place where each of them is.
//!
//! A task is in exactly one of `ready`, `delayed`, `blocked`, `lease` and `outcome`. Every function
//! here moves tasks between places; whoever calls records the events in the same transaction.

mod claim;
mod dag;
mod enqueue;
mod hot;
mod read;
mod rows;
mod settle;
mod upkeep;

use godel_model::{
    AttemptEnd, Lane, NewTask, Payload, Task, TaskId, TaskPriority, TaskState, TenantId, WorkerId,
    from_micros,
};
use jiff::Timestamp;

pub(crate) use claim::ALL as CLAIM;
pub(crate) use hot::ONLY_POSTGRES;
pub(crate) use read::ALL as READ;
pub use read::{Depth, Found, TaskFilter};
pub(crate) use rows::ALL as ROWS;
pub use settle::Next;
pub(crate) use upkeep::ALL as UPKEEP;
pub use upkeep::News;

use crate::{Error, Result, Tx};

/// What goes with a task from place to place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The task.
    pub task: TaskId,
    /// Its line.
    pub lane: Lane,
    /// How urgent it is by now.
    pub priority: TaskPriority,
    /// The last attempt that was begun.
    pub attempt: u32,
    /// The last attempt that is allowed.
    pub last: u32,
}

/// Where a new task goes that can be handed out at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// Into its line.
    InLine,
    /// Nowhere: whoever added it hands it out, or puts it into its line, in the same transaction.
    InHand,
}

/// What became of a task that was to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enqueued {
    /// It is there now, in this place.
    New(Spot, TaskState),
    /// One with the same key was there before.
    Known(TaskId),
    /// It waits for a task that does not exist.
    NoParent(TaskId),
    /// It waits for a task that has failed or was cancelled.
    ParentFailed(TaskId),
}

/// A task at the head of its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// What goes with it.
    pub spot: Spot,
    /// Since when it is ready.
    pub at: Timestamp,
    /// What was asked for.
    pub asked: NewTask,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// Where it is.
    pub from: Ready,
}

/// A task in the hands of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What goes with it; `attempt` is the one that runs.
    pub spot: Spot,
    /// Who has it.
    pub worker: WorkerId,
    /// Since when.
    pub started_at: Timestamp,
    /// Until when this attempt may take.
    pub ends_at: Option<Timestamp>,
    /// What the worker last told.
    pub progress: Option<String>,
    /// Why it is to be stopped.
    pub cancel: Option<String>,
}

/// Who says something of a task: only the worker of its present attempt is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The task.
    pub task: TaskId,
    /// The attempt.
    pub attempt: u32,
    /// The worker.
    pub worker: WorkerId,
}

/// A task that was done.
#[derive(Debug, Clone)]
pub struct Done {
    /// Who says so.
    pub fence: Fence,
    /// What came of it.
    pub result: Option<Payload>,
}

/// A task that was done, as it was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// What goes with it.
    pub spot: Spot,
    /// How long it ran.
    pub started_at: Timestamp,
    /// Whether other tasks wait for it.
    pub has_children: bool,
}

/// How an attempt that did not succeed ended.
#[derive(Debug, Clone, Copy)]
pub struct Ending<'a> {
    /// How.
    pub how: AttemptEnd,
    /// Why.
    pub error: &'a str,
    /// When.
    pub at: Timestamp,
    /// Whether another attempt makes no sense.
    pub fatal: bool,
}

/// The end of a task that did not succeed.
#[derive(Debug, Clone, Copy)]
pub struct Closing<'a> {
    /// Dead or cancelled.
    pub state: TaskState,
    /// Why.
    pub error: &'a str,
    /// Which other task's end is the reason.
    pub because: Option<TaskId>,
    /// When.
    pub at: Timestamp,
}

/// The queue of a tenant, or of all tenants.
pub struct Tasks<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Tasks<'_, '_> {
    fn tenant(&self) -> Result<TenantId> {
        self.tx.tenant()
    }
}

/// Counts attempts as they are stored.
fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Reads what was asked for.
fn asked(text: &str) -> Result<NewTask> {
    serde_json::from_str(text)
        .map_err(|cause| Error::Unreadable { what: "task", cause: cause.into() })
}

/// Reads a state as it is stored.
fn state(text: &str) -> Result<TaskState> {
    text.parse::<TaskState>()
        .map_err(|cause| Error::Unreadable { what: "state of a task", cause: cause.into() })
}

/// Puts a task together.
fn task(id: TaskId, text: &str, created: (i64, Option<uuid::Uuid>)) -> Result<Task> {
    let (created_at, person) = created;
    Ok(Task {
        id,
        asked: asked(text)?,
        created_at: from_micros(created_at),
        created_by: person.map(godel_model::UserId::from_uuid),
    })
}
