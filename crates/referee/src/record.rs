//! The format of a history: one record a line, each a JSON object with its kind in `t`.
//!
//! Times are whole microseconds. `at` of a client's record is the client's clock and only informs;
//! every other time is the database's. What comes first in the file happened first: an `invoke` is
//! written before the request leaves, an answer after it has arrived.
//!
//! Events about tasks, and where they lead from and to:
//!
//! | `kind` | From | To |
//! |---|---|---|
//! | `task:queued` | nowhere | blocked if a parent is not done, else delayed or ready |
//! | `task:delayed` | blocked | delayed: its parents are done, its time has not come |
//! | `task:ready` | blocked, delayed | ready |
//! | `task:started` | ready | leased; `attempt` is one more than ever before |
//! | `task:progress` | leased | leased |
//! | `task:succeeded` | leased | done |
//! | `task:failed` | leased | delayed for `delay_us`, or ready without |
//! | `task:lost` | leased | delayed for `delay_us`, or ready without |
//! | `task:released` | leased | ready; this attempt does not count towards `max_attempts` |
//! | `task:dead` | anything that has not ended | dead |
//! | `task:cancelled` | anything that has not ended | cancelled |
//! | `task:replayed` | dead, cancelled | as when it was queued; attempts are counted on |
//!
//! A last attempt that fails is told by `task:dead` alone; one that is lost, by `task:dead` with or
//! without a `task:lost` before it; if it was asked to stop, by `task:cancelled` instead of either. The
//! descendants of a task that is dead or cancelled become dead or cancelled, each with an event of its
//! own, and may be replayed with it. A `replay` of a delayed task promotes it before its time. Other
//! kinds only take up their position in the log.

use serde::{Deserialize, Serialize};

/// One line of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Record {
    /// How strict to be; if there is one, it is the first line.
    Begin(Begin),
    /// A client is about to ask.
    Invoke {
        /// The number of the operation, once in a history.
        op: u64,
        /// Who asks.
        client: String,
        /// The client's clock.
        at: i64,
        /// What is asked for.
        what: What,
    },
    /// The server said yes: what was asked for is durable.
    Ok {
        /// The number of the operation.
        op: u64,
        /// The client's clock.
        at: i64,
        /// What the server said.
        #[serde(default, skip_serializing_if = "Answer::is_empty")]
        answer: Answer,
    },
    /// The server said no: nothing has changed, and nothing will.
    Fail {
        /// The number of the operation.
        op: u64,
        /// The client's clock.
        at: i64,
        /// Why.
        #[serde(default)]
        error: String,
    },
    /// Nobody knows whether it was done. An `invoke` without an answer means the same.
    Unknown {
        /// The number of the operation.
        op: u64,
        /// The client's clock.
        at: i64,
    },
    /// The server told that a lease has expired.
    Expire {
        /// The task that was leased.
        task: String,
        /// The attempt that is lost.
        attempt: u32,
        /// When, by the database.
        at: i64,
    },
    /// A subscriber got events, in this order.
    Seen {
        /// The subscriber; it keeps its name when it reconnects.
        by: String,
        /// Whose log it reads.
        tenant: String,
        /// The positions.
        seqs: Vec<u64>,
        /// If it asked only for kinds that begin so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<String>,
    },
    /// The power was cut, or a process was killed.
    Cut {
        /// The client's clock.
        at: i64,
    },
    /// From here on nothing is added and no fault is made: workers that may take anything drain.
    Quiesced {
        /// The client's clock.
        at: i64,
        /// The pool that is quiet, or all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pool: Option<String>,
    },
    /// The queue has run dry: every task that was accepted has ended.
    Drained {
        /// The client's clock.
        at: i64,
    },
    /// What the server ended with.
    Dump(Dump),
}

/// How strict to be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Begin {
    /// How late a due task may be promoted; without it lateness is not looked at.
    pub slack: Option<i64>,
    /// By how much the times of two transactions may disagree with their order.
    pub skew: i64,
    /// Keys that begin so are asked for by the server itself (schedules, workflows).
    pub engine_keys: Vec<String>,
    /// Whether order within a tier is not promised.
    pub any_order_in_tier: bool,
    /// Whether there are workers that keep no record of what they ask.
    pub unseen_workers: bool,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Accept a task; the answer holds `task`.
    Enqueue(Ask),
    /// Accept a task in the name of a lease; the answer holds `task`.
    Spawn {
        /// The task that is leased.
        task: String,
        /// The attempt that asks.
        attempt: u32,
        /// The task to accept.
        child: Ask,
    },
    /// Hand out work; the answer holds `claims`.
    Claim {
        /// From which pool.
        pool: String,
        /// How much at most.
        #[serde(default)]
        limit: u32,
    },
    /// An attempt has succeeded.
    Complete(Lease),
    /// An attempt has failed; the answer may hold `delay`.
    Fail {
        /// The task that is leased.
        task: String,
        /// The attempt that failed.
        attempt: u32,
        /// Why.
        #[serde(default)]
        error: String,
    },
    /// An attempt tells how far it is.
    Progress(Lease),
    /// An attempt that was not begun goes back and does not count.
    Release(Lease),
    /// A node is alive.
    Heartbeat {
        /// Which one.
        node: String,
    },
    /// Stop a task and all that wait for it; the answer holds `stopping` if it runs.
    Cancel {
        /// Which one.
        task: String,
    },
    /// Give a task that is dead or cancelled its attempts again, or a delayed one its next at once.
    Replay {
        /// Which one; none means many by a filter.
        task: Option<String>,
    },
}

/// One attempt of one task: the token that fences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The task.
    pub task: String,
    /// The attempt, counted from 1 over the whole life of the task.
    pub attempt: u32,
}

/// A task as it is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The idempotency key; asking again with it is asking for the same task.
    pub key: String,
    /// For whom.
    pub tenant: String,
    /// Where it runs.
    pub pool: String,
    /// 0 critical, 1 high, 2 medium, 3 low.
    pub tier: u8,
    /// The keys of the tasks that must succeed first, of the same tenant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// How many attempts it has, and has again after each replay.
    pub max_attempts: u32,
    /// How long it must wait from when the database takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<i64>,
    /// The time before which it must not run, by the database; goes before `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<i64>,
    /// How long it must wait after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Backoff>,
}

/// The wait after failure k of an epoch: from `1 - random` of it up to all of
/// `min(most, first * 2^(k-1))`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: i64,
    /// The longest wait.
    pub most: i64,
    /// Which part of it is left to chance, from 0 to 1.
    #[serde(default)]
    pub random: f64,
}

/// What the server said to an operation; each fills what it has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// The task that an enqueue or a spawn made or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// When it was done, by the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// How long the task waits after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<i64>,
    /// Whether a cancel only asks the worker to stop, so that the task may still end in any way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopping: bool,
    /// What a claim handed out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// Everything that the claim could have taken: tier, since when it is ready, task. Only where it
    /// is exact, as in a simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_before: Option<Vec<(u8, i64, String)>>,
}

impl Answer {
    /// An answer that names a task.
    pub fn task(task: impl Into<String>) -> Self {
        Self { task: Some(task.into()), ..Self::default() }
    }

    /// An answer that hands out work.
    pub fn claims(claims: Vec<Claim>) -> Self {
        Self { claims, ..Self::default() }
    }

    /// The same, with the time of the database.
    pub fn at(self, at: i64) -> Self {
        Self { at: Some(at), ..self }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One task that was handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The task.
    pub task: String,
    /// The attempt, which is also the token that fences.
    pub attempt: u32,
    /// When, by the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// The tier it was taken from, if it may differ from what was asked (inheritance, ageing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u8>,
}

/// Where a task is; it is in exactly one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// May be claimed.
    Ready,
    /// Waits for a time.
    Delayed,
    /// Waits for its parents.
    Blocked,
    /// Runs.
    Leased,
    /// Has succeeded.
    Done,
    /// Has no attempts left, or waits for one that is dead.
    Dead,
    /// Was stopped.
    Cancelled,
}

impl Place {
    /// Whether nothing more happens by itself.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Dead | Self::Cancelled)
    }

    /// Its name in a history.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Delayed => "delayed",
            Self::Blocked => "blocked",
            Self::Leased => "leased",
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What the server ended with, read from one snapshot: all tasks before all events, `end` last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dump {
    /// One row of the tables; a task that is in two of them has two.
    Task(StoredTask),
    /// The depth that the server reports. What is not reported is none.
    Depth(Depth),
    /// How long the log of a tenant is.
    Log {
        /// Whose log.
        tenant: String,
        /// The position of its last event.
        head: u64,
    },
    /// One event, each log in its own order and from its first event.
    Event(Event),
    /// The dump is whole.
    End {
        /// How many tasks it holds.
        tasks: u64,
        /// How many events it holds.
        events: u64,
    },
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTask {
    /// The task.
    pub task: String,
    /// Its idempotency key.
    pub key: Option<String>,
    /// For whom.
    pub tenant: String,
    /// Where it runs.
    pub pool: String,
    /// The tier in which it counts now.
    pub tier: u8,
    /// Where it is.
    pub place: Place,
    /// Its last attempt, 0 if there was none.
    pub attempt: u32,
    /// How often it was replayed, if that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u32>,
    /// The tasks that must succeed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// How many attempts it has in an epoch; needed only if the server asked for it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
}

/// How many tasks are in one place, as the server says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depth {
    /// The pool.
    pub pool: String,
    /// The tier.
    pub tier: u8,
    /// The place; those that have ended need not be reported.
    pub place: Place,
    /// How many.
    pub count: u64,
}

/// One event of a tenant's log; those that are not about tasks only take up their position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Whose log.
    pub tenant: String,
    /// Its position, from 1.
    pub seq: u64,
    /// What happened: `task:queued`, `task:started` and so on.
    pub kind: String,
    /// When, by the database.
    pub at: i64,
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The attempt, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u8>,
    /// The pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// How long the task waits after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_us: Option<i64>,
}
