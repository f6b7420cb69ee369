//! The rules of Godel: pure functions from data to data.
//!
//! # Invariants
//! - Nothing here does IO, reads a clock or draws a random number.
//! - A decider returns what is to be done; `app` and `server` do it.

mod admission;
pub mod agent;
mod alarm;
pub mod attempts;
mod backlog;
mod backup;
mod breaker;
mod cron;
mod health;
pub mod line;
mod placement;
mod quota;
mod retention;
mod routing;
pub mod team;
pub mod workflow;

pub use admission::{Admission, Bucket, Limit, Tier};
pub use alarm::{Alarm, alarm};
pub use backlog::{BUFFER_DEFAULT_EVENTS, BUFFER_MAX_EVENTS, Policy, Skip, shed};
pub use backup::{backup_health, surplus, until_backup};
pub use breaker::{Breaker, BreakerState};
pub use cron::Cron;
pub use health::{DiskMarks, Health, Verdict, overall};
pub use placement::{Asker, Offer, place};
pub use quota::{Left, Meterage, Quota, UsedUp};
pub use retention::{Retention, cut};
pub use routing::{Candidate, Prefer, order};
