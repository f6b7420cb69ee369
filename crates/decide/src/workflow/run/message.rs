//! What happens to a run, and what is to be done about it.

use std::collections::BTreeSet;
use std::time::Duration;

use godel_model::{Capability, PoolName, RetryPolicy, TaskPriority};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::definition::WorkflowRef;
use super::super::plan::StepIndex;
use super::state::{Fault, RunState, StepState};

/// Something that happened. Answers carry the round that they answer to; those to an older round, or
/// to a step that has ended, change nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Somebody starts the run.
    Start,
    /// A worker did the task.
    TaskSucceeded {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
        /// What came of it.
        output: Value,
    },
    /// An attempt of the task failed.
    TaskFailed {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
        /// Why.
        fault: Fault,
        /// Whether the queue does not try again.
        last: bool,
    },
    /// Somebody took the task off the queue.
    TaskCancelled {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
    },
    /// The time came that was asked for by [`Effect::SetTimer`].
    TimerDue {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
    },
    /// A person said yes.
    Approved {
        /// Which step.
        step: StepIndex,
        /// Who, and what they said.
        answer: Answer,
    },
    /// A person said no.
    Rejected {
        /// Which step.
        step: StepIndex,
        /// Who, and what they said.
        answer: Answer,
    },
    /// The run of a step's workflow ended.
    ChildFinished {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
        /// How it ended.
        state: RunState,
        /// What it gave back.
        outputs: Map<String, Value>,
        /// Why it failed.
        fault: Option<Fault>,
    },
    /// Nothing new is to begin.
    Pause,
    /// It may go on.
    Resume,
    /// It is to end now.
    Cancel,
    /// Steps that are over, and all that depends on them, are to be done anew.
    RetryFrom {
        /// Which steps; none stands for all that failed or were cancelled.
        steps: Vec<StepIndex>,
    },
    /// The time came that was asked for by [`Effect::SetDeadline`].
    RunTimedOut,
    /// Another number of tasks and workflows may go on at once.
    Scale {
        /// How many.
        max_concurrency: u32,
    },
    /// It may take until another time.
    Deadline {
        /// Until when; none stands for as long as it likes.
        at: Option<Timestamp>,
    },
}

/// The answer of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Who it was, as it is shown.
    pub by: String,
    /// All names that they go by, such as `user:ann` and `role:admin`.
    pub names: Vec<String>,
    /// What they said.
    pub note: Option<String>,
}

/// What is to be done. All effects of one input belong in one transaction with it.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A task is to be put on the queue.
    EnqueueTask(Box<TaskOrder>),
    /// A task is to be taken off the queue, or its worker to be told to stop.
    CancelTask {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
    },
    /// [`Input::TimerDue`] is to come at that time.
    SetTimer {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
        /// When.
        at: Timestamp,
    },
    /// [`Input::RunTimedOut`] is to come at that time.
    SetDeadline {
        /// When.
        at: Timestamp,
    },
    /// Somebody is to be asked.
    AskApproval {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
        /// Who may answer; empty for everybody who may act on the run.
        by: Vec<String>,
        /// The question.
        message: Option<String>,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// A run of another workflow is to be started.
    StartChild(Box<ChildOrder>),
    /// The run of a step's workflow is to be cancelled.
    CancelChild {
        /// Which step.
        step: StepIndex,
        /// Which round of it.
        round: u32,
    },
    /// The row of a step is to be written.
    StepChanged {
        /// Which step.
        step: StepIndex,
    },
    /// The row of the run is to be written.
    RunChanged,
    /// The run ended.
    Finished {
        /// How.
        state: RunState,
        /// What it gives back, if it completed.
        outputs: Option<Map<String, Value>>,
        /// Why it failed.
        fault: Option<Fault>,
    },
}

/// A task to be put on the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskOrder {
    /// Which step.
    pub step: StepIndex,
    /// Which round of it.
    pub round: u32,
    /// The same for each time that this step is begun in this round: `run/step/round`.
    pub key: String,
    /// What is to be done, in a line.
    pub title: String,
    /// Where it waits.
    pub pool: PoolName,
    /// How urgent it is.
    pub priority: TaskPriority,
    /// What its worker must be able to do.
    pub requires: BTreeSet<Capability>,
    /// The agent that must do it.
    pub agent: Option<String>,
    /// Tasks of one session prefer one worker.
    pub session: Option<String>,
    /// What the worker gets, all templates filled in.
    pub payload: Map<String, Value>,
    /// How long an attempt may take.
    pub timeout: Option<Duration>,
    /// How often it is tried.
    pub retry: RetryPolicy,
}

/// A run of another workflow to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildOrder {
    /// Which step.
    pub step: StepIndex,
    /// Which round of it.
    pub round: u32,
    /// The same for each time that this step is begun in this round: `run/step/round`.
    pub key: String,
    /// Which workflow.
    pub workflow: WorkflowRef,
    /// What it is given, all templates filled in.
    pub inputs: Map<String, Value>,
    /// How many runs are above it.
    pub depth: u32,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How urgent all its tasks are at least.
    pub priority: Option<TaskPriority>,
}

/// Why an input cannot be; the run is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The run cannot do this in its state.
    #[error("a run that is {state} cannot be {wanted}")]
    State {
        /// The state that it is in.
        state: RunState,
        /// What was wanted, as in "cannot be ..".
        wanted: &'static str,
    },
    /// There is no such step.
    #[error("there is no step {0}")]
    UnknownStep(StepIndex),
    /// The step is of another kind.
    #[error("step `{id}` is no {wanted}")]
    WrongKind {
        /// The step.
        id: String,
        /// The kind that was wanted.
        wanted: &'static str,
    },
    /// Nobody is asked at the moment.
    #[error("step `{id}` is {state} and waits for no answer")]
    NotWaiting {
        /// The step.
        id: String,
        /// The state that it is in.
        state: StepState,
    },
    /// This person may not answer.
    #[error("{by} may not answer for step `{id}`")]
    NotAllowed {
        /// The step.
        id: String,
        /// Who tried.
        by: String,
    },
    /// The step is not over.
    #[error("step `{id}` is {state}; only what is over can be done anew")]
    NotRetryable {
        /// The step.
        id: String,
        /// The state that it is in.
        state: StepState,
    },
    /// The step depends on another that failed.
    #[error("step `{id}` depends on `{on}`, which did not succeed")]
    Blocked {
        /// The step.
        id: String,
        /// What must be done anew first.
        on: String,
    },
    /// Nothing failed.
    #[error("no step failed")]
    NothingToRetry,
    /// A number is out of its limits.
    #[error("from 1 to {max} tasks can go on at once, not {wanted}")]
    BadScale {
        /// What was wanted.
        wanted: u32,
        /// The most that can be.
        max: u32,
    },
}
