//! Where a task is, and how its attempts ended.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Invalid, WorkerId, code};

/// Where a task is; it is in exactly one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It can be handed out.
    Ready,
    /// It waits for its time.
    Delayed,
    /// It waits for other tasks.
    Blocked,
    /// A worker has it.
    Running,
    /// It was done.
    Succeeded,
    /// It was tried as often as allowed, or its time is over: a dead letter.
    Dead,
    /// Somebody cancelled it, or what it waited for did not succeed.
    Cancelled,
}

impl TaskState {
    /// All places.
    pub const ALL: [Self; 7] = [
        Self::Ready,
        Self::Delayed,
        Self::Blocked,
        Self::Running,
        Self::Succeeded,
        Self::Dead,
        Self::Cancelled,
    ];

    /// Tells whether nothing more happens by itself.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Dead | Self::Cancelled)
    }

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Delayed => "delayed",
            Self::Blocked => "blocked",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TaskState {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|one| one.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such state of a task").with_hint(
                "states are ready, delayed, blocked, running, succeeded, dead and cancelled",
            )
        })
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttemptEnd {
    /// The worker did it.
    Succeeded,
    /// The worker said that it failed.
    Failed,
    /// The worker was not heard of for too long.
    Lost,
    /// It took longer than allowed.
    Timeout,
    /// The worker gave it back untouched.
    Released,
    /// It was cancelled.
    Cancelled,
}

impl AttemptEnd {
    const ALL: [Self; 6] =
        [Self::Succeeded, Self::Failed, Self::Lost, Self::Timeout, Self::Released, Self::Cancelled];

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Lost => "lost",
            Self::Timeout => "timeout",
            Self::Released => "released",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a stored name.
    pub fn from_stored(text: &str) -> Self {
        Self::ALL.into_iter().find(|one| one.as_str() == text).unwrap_or(Self::Failed)
    }
}

/// One attempt of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// 1, 2, 3 and so on: also the fence that keeps late answers out.
    pub number: u32,
    /// Who had it.
    pub worker: WorkerId,
    /// When it began.
    pub started_at: Timestamp,
    /// When and how it ended; none while it runs.
    pub ended: Option<(Timestamp, AttemptEnd)>,
    /// What went wrong.
    pub error: Option<String>,
}
