//! Tasks: what is to be done by a worker, once somebody is free to do it.

mod draft;
mod outcome;
mod pool;
mod priority;
mod retry;
mod schedule;
mod worker;

pub use draft::{NewTask, Owner, Task};
pub use outcome::{Attempt, AttemptEnd, TaskState};
pub use pool::{Capability, Lane, Placement, Pool, PoolName, PoolSettings};
pub use priority::TaskPriority;
pub use retry::RetryPolicy;
pub use schedule::{NewSchedule, Schedule};
pub use worker::{Mood, Worker, WorkerStatus};
