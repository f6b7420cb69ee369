//! Workers: who takes tasks.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Capability, PoolName};
use crate::{Invalid, Name, UserId, WorkerId, code};

const CAPACITY_MAX: u32 = 10_000;
const CAPABILITIES_MAX: usize = 100;

/// Marks names of workers.
#[derive(Debug)]
pub enum OfWorker {}

/// What a worker says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mood {
    /// It takes tasks.
    #[default]
    Active,
    /// It takes none for now.
    Paused,
    /// It cannot work.
    Error,
}

impl Mood {
    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Error => "error",
        }
    }
}

impl FromStr for Mood {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        [Self::Active, Self::Paused, Self::Error]
            .into_iter()
            .find(|one| one.as_str() == text)
            .ok_or_else(|| {
                Invalid::new(code::INVALID_FIELD, "there is no such state of a worker")
                    .with_hint("a worker says active, paused or error")
            })
    }
}

/// How a worker is doing, as others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerStatus {
    /// It has nothing to do.
    Idle,
    /// It has tasks.
    Busy,
    /// It takes no tasks for now.
    Paused,
    /// It was not heard of for too long, or has left.
    Offline,
    /// It says that it cannot work.
    Error,
}

impl WorkerStatus {
    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Paused => "paused",
            Self::Offline => "offline",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for WorkerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Somebody who takes tasks: a program in this process, on this machine or far away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The id.
    pub id: WorkerId,
    /// What people call it.
    pub name: Name<OfWorker>,
    /// From which pool it takes tasks.
    pub pool: PoolName,
    /// What it can do.
    pub capabilities: BTreeSet<Capability>,
    /// How many tasks it can have at once.
    pub capacity: u32,
    /// What it says of itself.
    pub mood: Mood,
    /// Why it cannot work.
    pub error: Option<String>,
    /// Whose credential it uses.
    pub user: UserId,
    /// When it came.
    pub registered_at: Timestamp,
    /// When it was last heard of.
    pub seen_at: Timestamp,
    /// Until when it is believed to live.
    pub expires_at: Timestamp,
}

impl Worker {
    /// Checks what types alone cannot.
    ///
    /// # Errors
    /// If a number makes no sense.
    pub fn check(&self) -> Result<(), Invalid> {
        let refuse = |why: String| Err(Invalid::new(code::INVALID_FIELD, why));
        if !(1..=CAPACITY_MAX).contains(&self.capacity) {
            return refuse(format!("a worker has 1 to {CAPACITY_MAX} tasks at once"));
        }
        if self.capabilities.len() > CAPABILITIES_MAX {
            return refuse(format!("a worker has at most {CAPABILITIES_MAX} capabilities"));
        }
        Ok(())
    }

    /// Tells how it is doing, with this many tasks in its hands.
    pub fn status(&self, load: u32, now: Timestamp) -> WorkerStatus {
        match self.mood {
            _ if self.expires_at <= now => WorkerStatus::Offline,
            Mood::Paused => WorkerStatus::Paused,
            Mood::Error => WorkerStatus::Error,
            Mood::Active if load == 0 => WorkerStatus::Idle,
            Mood::Active => WorkerStatus::Busy,
        }
    }
}
