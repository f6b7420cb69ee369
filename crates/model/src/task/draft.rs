//! A task, and what somebody asks for when making one.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Capability, Lane, PoolName, RetryPolicy, TaskPriority};
use crate::{Invalid, Payload, TaskId, UserId, code};

const TITLE_MAX_CHARS: usize = 500;
const KEY_MAX_CHARS: usize = 200;
const AFTER_MAX: usize = 1_000;
const TIMEOUT_MAX_SECONDS: u64 = 30 * 24 * 60 * 60;

/// What a task belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// The kind of thing: `run` is a run of a workflow.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Which part of it.
    pub part: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.kind, self.id, self.part)
    }
}

/// What somebody asks for when making a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewTask {
    /// What is to be done, in a line.
    pub title: String,
    /// What the worker gets.
    pub payload: Payload,
    /// Where it waits.
    #[serde(default)]
    pub pool: PoolName,
    /// How urgent it is.
    #[serde(default)]
    pub priority: TaskPriority,
    /// What its worker must be able to do.
    #[serde(default)]
    pub requires: BTreeSet<Capability>,
    /// How often it is tried.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// For how many seconds one attempt may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// From when on it may be handed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Timestamp>,
    /// After when it is of no use any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Which tasks must succeed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// Tasks of one session prefer one worker, where the pool says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Makes the request repeatable: a second one with the same key finds the first task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
}

impl NewTask {
    /// Checks what types alone cannot, and returns the line in which it waits.
    ///
    /// # Errors
    /// If something is too long, too large or makes no sense.
    pub fn check(&self) -> Result<Lane, Invalid> {
        let refuse = |why: String| Err(Invalid::new(code::INVALID_FIELD, why));
        let one_line = |text: &str| !text.chars().any(char::is_control);
        if self.title.trim().is_empty() {
            return refuse("a task needs a title".to_owned());
        }
        if self.title.chars().count() > TITLE_MAX_CHARS || !one_line(&self.title) {
            return refuse(format!("a title is one line of at most {TITLE_MAX_CHARS} characters"));
        }
        for (what, text) in [("a key", &self.key), ("the name of a session", &self.session)] {
            let fits = |text: &String| {
                !text.is_empty() && text.chars().count() <= KEY_MAX_CHARS && one_line(text)
            };
            if !text.as_ref().is_none_or(fits) {
                return refuse(format!("{what} has 1 to {KEY_MAX_CHARS} plain characters"));
            }
        }
        if self.after.len() > AFTER_MAX {
            return refuse(format!("a task can wait for at most {AFTER_MAX} others"));
        }
        if self.timeout_seconds.is_some_and(|time| !(1..=TIMEOUT_MAX_SECONDS).contains(&time)) {
            return refuse("a timeout is between a second and 30 days".to_owned());
        }
        if let (Some(start), Some(end)) = (self.start_at, self.deadline)
            && start >= end
        {
            return refuse("the deadline lies before the start".to_owned());
        }
        self.retry.check()?;
        Lane::new(&self.pool, &self.requires)
    }
}

/// A task as it was asked for; it never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The id, ordered by time of making.
    pub id: TaskId,
    /// What was asked for.
    pub asked: NewTask,
    /// When.
    pub created_at: Timestamp,
    /// By whom; none if Godel itself made it.
    pub created_by: Option<UserId>,
}
