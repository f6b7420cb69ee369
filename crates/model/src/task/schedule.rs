//! Tasks that come again and again.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::NewTask;
use crate::{Name, ScheduleId, UserId};

/// Marks names of schedules.
#[derive(Debug)]
pub enum OfSchedule {}

/// What somebody asks for when making a schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSchedule {
    /// The name, unique in its tenant.
    pub name: Name<OfSchedule>,
    /// When, as five fields of cron.
    pub cron: String,
    /// In which time zone, as the IANA calls it.
    pub timezone: String,
    /// What is made each time.
    pub task: NewTask,
}

/// A task that comes again and again.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The id.
    pub id: ScheduleId,
    /// What was asked for.
    pub asked: NewSchedule,
    /// Whether it makes nothing for now.
    pub paused: bool,
    /// When it makes the next one; none if never again.
    pub next_at: Option<Timestamp>,
    /// When it made the last one.
    pub last_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// By whom.
    pub created_by: UserId,
}
