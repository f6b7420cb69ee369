//! What is done when an agent or a whole strategy fails.

use godel_model::{RetryPolicy, WorkerId};

use super::spec::{Aggregate, Strategy, TeamSpec};
use crate::workflow::Fault;

/// A simpler way to do the same job, and why it is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct FallBack {
    /// What is planned next, with [`TeamPlan::finished`](super::TeamPlan::finished).
    pub spec: TeamSpec,
    /// Why, in a sentence for people.
    pub why: String,
}

/// Returns the next simpler way, or none if there is no simpler one or none is wanted.
///
/// The ladder is tree, map-reduce, parallel, and a pipeline with one agent, which does one piece after
/// the other and tolerates no less than before.
pub fn fall_back(spec: &TeamSpec, fault: &Fault) -> Option<FallBack> {
    if !spec.fall_back {
        return None;
    }
    let mut next = spec.clone();
    let change = match spec.strategy {
        Strategy::Tree => {
            next.strategy = Strategy::MapReduce;
            next.lead = None;
            "the work is split without a lead"
        }
        Strategy::MapReduce => {
            next.strategy = Strategy::Parallel;
            next.aggregate = Aggregate::List;
            next.copies = 1;
            next.merge = None;
            "the results are listed and not joined"
        }
        Strategy::Parallel => {
            next.strategy = Strategy::Pipeline;
            next.size = 1;
            next.copies = 1;
            next.aggregate = Aggregate::List;
            "one agent does one piece after the other"
        }
        Strategy::Pipeline => return None,
    };
    let why = format!("{} failed ({fault}): {change}", spec.strategy.as_str());
    Some(FallBack { spec: next, why })
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Nobody's: it may work the next time, with the same agent too.
    Transient,
    /// The agent's: it died, hung or answered nonsense.
    Agent,
    /// The task's: it cannot work, whoever tries.
    Task,
}

/// An agent failed at a task.
#[derive(Debug, Clone, Copy)]
pub struct AgentFailure<'a> {
    /// Whose fault it is.
    pub kind: FailureKind,
    /// How often the task was tried so far, this time included.
    pub attempts: u32,
    /// Who failed at it so far through their own fault, this one included.
    pub failed: &'a [WorkerId],
    /// Who could do it: alive, in the pool, and able.
    pub able: &'a [WorkerId],
}

/// What is done when an agent fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// It is tried again, by whoever takes it.
    Retry,
    /// It is tried again by another.
    Replace {
        /// Who must not get it.
        exclude: Vec<WorkerId>,
    },
    /// It waits in the queue until somebody comes who can do it; people are told.
    Park {
        /// Why, in a sentence for people.
        why: String,
    },
    /// It is not tried again.
    GiveUp {
        /// Why, in a sentence for people.
        why: String,
    },
}

/// Decides what is done when an agent fails at a task.
pub fn remedy(failure: AgentFailure<'_>, policy: &RetryPolicy) -> Remedy {
    if failure.kind == FailureKind::Task {
        return Remedy::GiveUp { why: "it cannot be done, whoever tries".to_owned() };
    }
    if failure.attempts >= policy.max_attempts {
        return Remedy::GiveUp { why: format!("it was tried {} times", failure.attempts) };
    }
    if failure.able.is_empty() {
        return Remedy::Park { why: "there is no agent that could do it".to_owned() };
    }
    if failure.kind == FailureKind::Transient {
        return Remedy::Retry;
    }
    if failure.able.iter().any(|worker| !failure.failed.contains(worker)) {
        return Remedy::Replace { exclude: failure.failed.to_vec() };
    }
    let why = format!("all {} agents that could do it have failed at it", failure.able.len());
    Remedy::Park { why }
}
