//! The states of runs and steps, and the rows in which they are stored.

use std::fmt;
use std::str::FromStr;

use godel_model::{Invalid, RunId, TaskPriority, code};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::limits::FAULT_MAX_CHARS;

macro_rules! states {
    ($(#[$doc:meta])+ $name:ident, $what:literal { $($(#[$one:meta])+ $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$one])+ $variant,)+
        }

        impl $name {
            /// All states.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                let names: Vec<&str> = Self::ALL.iter().map(|state| state.as_str()).collect();
                Self::ALL.iter().copied().find(|state| state.as_str() == text).ok_or_else(|| {
                    Invalid::new(code::INVALID_FIELD, concat!("there is no such state of a ", $what))
                        .with_hint(format!("states are {}", names.join(", ")))
                })
            }
        }
    };
}

states! {
    /// The state of a run.
    RunState, "run" {
        /// It was made and not started.
        #[default]
        Pending = "pending",
        /// It goes on.
        Running = "running",
        /// What has begun goes on, and nothing new begins.
        Paused = "paused",
        /// All steps ended, and none failed that counts.
        Completed = "completed",
        /// A step failed, or the time was over.
        Failed = "failed",
        /// Somebody cancelled it.
        Cancelled = "cancelled",
    }
}

impl RunState {
    /// Tells whether nothing more happens by itself.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

states! {
    /// The state of a step.
    StepState, "step" {
        /// It waits for other steps.
        #[default]
        Pending = "pending",
        /// It could begin, and waits for a free place or for the run to be resumed.
        Ready = "ready",
        /// Its task is in the queue or with a worker, or its workflow runs.
        Running = "running",
        /// It waits for a person or for a time.
        Waiting = "waiting",
        /// It was done.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// Its condition did not hold.
        Skipped = "skipped",
        /// It was cancelled, or what it depends on did not succeed.
        Cancelled = "cancelled",
    }
}

impl StepState {
    /// Tells whether nothing more happens by itself.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Skipped | Self::Cancelled)
    }
}

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// A stable name, such as `template_failed`.
    pub code: String,
    /// What happened, in a sentence.
    pub message: String,
}

impl Fault {
    /// Makes a fault; a message that is too long is cut.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(FAULT_MAX_CHARS) {
            message.truncate(end);
        }
        Self { code: code.into(), message }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A run as it is stored, without its steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    /// The id.
    pub id: RunId,
    /// The state.
    pub state: RunState,
    /// What it was given, defaults included.
    pub inputs: Map<String, Value>,
    /// How many tasks and workflows go on at once.
    pub max_concurrency: u32,
    /// How many runs are above it.
    pub depth: u32,
    /// How long it may take at most, in milliseconds, whatever the workflow says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<u64>,
    /// How urgent all its tasks are at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    /// What it gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Map<String, Value>>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// When it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// When its time is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

/// A step of a run as it is stored. A step without a row has not begun and was never begun anew.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRow {
    /// The state.
    pub state: StepState,
    /// How often it was begun anew.
    #[serde(default)]
    pub round: u32,
    /// How many attempts failed in this round, as far as they were told.
    #[serde(default)]
    pub failures: u32,
    /// Whether it failed and that does not count.
    #[serde(default)]
    pub tolerated: bool,
    /// What it gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Why it failed, was skipped or cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Until when it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
}
