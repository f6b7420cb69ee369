//! What cannot be done with tasks, workers and schedules.

use godel_model::{Code, Report, ScheduleId, TaskId, TaskState, WorkerId, code};

use super::lanes::{LINES_MAX, POOLS_MAX};

/// What cannot be done with tasks, workers and schedules.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// There is no such task.
    #[error("there is no task {0}")]
    NoTask(TaskId),
    /// A task is over, so that this cannot be done with it.
    #[error("task {0} is over: it is {1}")]
    TaskOver(TaskId, TaskState),
    /// A task is not over, so that this cannot be done with it.
    #[error("task {0} is {1}; only one that is dead, cancelled or delayed can be tried again")]
    TaskNotOver(TaskId, TaskState),
    /// A task does not wait, so that this cannot be done with it.
    #[error("task {0} is {1}; only one that is ready or delayed can be assigned")]
    TaskNotWaiting(TaskId, TaskState),
    /// A task is no dead letter, so that it cannot be removed.
    #[error("task {0} is {1}; only one that is dead can be removed")]
    TaskNotDead(TaskId, TaskState),
    /// Something that is not over depends on a task.
    #[error("task {0} is still needed: its run is not over, or another task waits for it")]
    TaskNeeded(TaskId),
    /// A task waits for one that will not succeed.
    #[error("task {0}, which it would wait for, has failed or was cancelled")]
    DependencyFailed(TaskId),
    /// The worker does not have this attempt of a task any more.
    #[error("this attempt of task {0} is not in this worker's hands any more")]
    LeaseLost(TaskId),
    /// There is no such worker.
    #[error("there is no worker {0}, or it was silent for too long")]
    NoWorker(WorkerId),
    /// The worker belongs to somebody else.
    #[error("worker {0} was registered with another credential")]
    OthersWorker(WorkerId),
    /// A pool has as many lines as it can have.
    #[error("tasks of pool {0} ask for {max} different sets of capabilities already", max = LINES_MAX)]
    TooManyLines(String),
    /// There are as many pools as there can be.
    #[error("there are {POOLS_MAX} pools already")]
    TooManyPools,
    /// There is no such schedule.
    #[error("there is no schedule {0}")]
    NoSchedule(ScheduleId),
    /// Another schedule has this name.
    #[error("another schedule is called \"{0}\"")]
    ScheduleNameTaken(String),
}

impl Report for QueueError {
    fn code(&self) -> Code {
        match self {
            Self::NoTask(_) => code::TASK_NOT_FOUND,
            Self::TaskOver(..)
            | Self::TaskNotOver(..)
            | Self::TaskNotWaiting(..)
            | Self::TaskNotDead(..)
            | Self::TaskNeeded(_) => code::TASK_STATE,
            Self::DependencyFailed(_) => code::DEPENDENCY_FAILED,
            Self::LeaseLost(_) => code::TASK_LEASE_LOST,
            Self::NoWorker(_) => code::WORKER_NOT_FOUND,
            Self::OthersWorker(_) => code::FORBIDDEN,
            Self::TooManyLines(_) | Self::TooManyPools => code::TOO_MANY_LINES,
            Self::NoSchedule(_) => code::SCHEDULE_NOT_FOUND,
            Self::ScheduleNameTaken(_) => code::SCHEDULE_NAME_TAKEN,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoTask(_) => "godel task list shows them; what is over is kept for 30 days",
            Self::TaskOver(..) => "godel task retry TASK puts it back into the queue",
            Self::TaskNotOver(..) | Self::TaskNotWaiting(..) | Self::TaskNotDead(..) => {
                "godel task show TASK tells where it is"
            }
            Self::TaskNeeded(_) => {
                "let its run end first: godel task show TASK tells which one that is"
            }
            Self::DependencyFailed(_) => "try that one again first: godel task retry TASK",
            Self::LeaseLost(_) => "drop what was done: another attempt may be running",
            Self::NoWorker(_) => "register again, and say at least every 10 seconds that it lives",
            Self::OthersWorker(_) => "use the credential with which it was registered",
            Self::TooManyLines(_) => {
                "use capabilities for kinds of workers and the payload for everything else; a set that \
                 no task asks for is free again after 10 minutes"
            }
            Self::TooManyPools => {
                "use fewer pools; one that has no task is free again after 10 minutes"
            }
            Self::NoSchedule(_) => "godel schedule list shows them",
            Self::ScheduleNameTaken(_) => "choose another name",
        };
        Some(hint.to_owned())
    }
}
