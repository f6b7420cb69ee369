//! The queue: tasks, pools, dead letters, schedules and workers.

pub(crate) mod dead;
pub(crate) mod pools;
pub(in crate::routes) mod read;
pub(crate) mod reports;
pub(crate) mod schedules;
pub(crate) mod tasks;
pub(crate) mod workers;
