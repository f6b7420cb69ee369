//! The engine: one run of a workflow, moved on by what happens, telling what is to be done.
//!
//! [`Run::apply`] takes an [`Input`] and returns [`Effect`]s; it does nothing else. What it costs
//! depends on the steps that it touches and on those that wait for them, never on the size of the run.
//!
//! | A run is | and becomes | by |
//! |---|---|---|
//! | pending | running | `Start` |
//! | pending, running, paused | cancelled | `Cancel` |
//! | running | paused | `Pause` |
//! | paused | running | `Resume` |
//! | running, paused | completed | its last step, if none failed that counts |
//! | running, paused | failed | its last step, `RunTimedOut`, or any failure with `failFast` |
//! | completed, failed, cancelled | running | `RetryFrom` |
//!
//! | A step is | and becomes | when |
//! |---|---|---|
//! | pending | ready | all that it depends on has ended well and `when` holds |
//! | pending | skipped | `when` does not hold, or `ifSkipped: skip` and one before it was skipped |
//! | pending | cancelled | one that it depends on failed or was cancelled, and that counts |
//! | ready | running | it is a task or workflow, and fewer than `maxConcurrency` run |
//! | ready | waiting | it is an approval or timer |
//! | running, waiting | succeeded | the worker, the workflow, the person or the clock say so |
//! | running, waiting | failed | the last attempt failed, no was said, or it took too long |
//! | any that has not ended | cancelled | the run is cancelled or its time is over |
//! | any | pending, a round later | `RetryFrom` names it, or one that it depends on |
//!
//! To have ended well is to have succeeded, to have been skipped, or to have failed with
//! `onError: continue`. A failure cancels what depends on it and lets everything else come to its end,
//! so that in whatever order answers come, all steps end in the same states (with `failFast` this holds
//! for the run alone). A skipped step counts as done for those who depend on it unless they say
//! `ifSkipped: skip`. Approvals and timers take no place of `maxConcurrency`.

mod advance;
mod answer;
mod control;
mod message;
mod restore;
mod retry;
mod scope;
mod state;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use godel_model::{RunId, TaskPriority};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::definition::StepKind;
use super::plan::{Plan, StepIndex};

pub use control::RUN_TIMED_OUT;
pub use message::{Answer, ChildOrder, Effect, Illegal, Input, TaskOrder};
pub use restore::Mismatch;
pub use state::{Fault, RunRow, RunState, StepRow, StepState};
pub use status::{Counts, Status};

/// One run of a workflow.
#[derive(Debug, Clone)]
pub struct Run {
    plan: Arc<Plan>,
    id: RunId,
    depth: u32,
    time_limit: Option<Duration>,
    priority: Option<TaskPriority>,
    inputs: Arc<Map<String, Value>>,
    input_bytes: usize,
    state: RunState,
    max_concurrency: u32,
    outputs: Option<Map<String, Value>>,
    fault: Option<Fault>,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
    deadline: Option<Timestamp>,
    cells: Vec<Cell>,
    counts: Counts,
    /// Bytes of all outputs.
    output_bytes: usize,
    /// Tasks and workflows that could begin, the most urgent first.
    ready_work: BTreeSet<(i64, StepIndex)>,
    /// Approvals and timers that could begin.
    ready_gates: BTreeSet<StepIndex>,
    turn: Turn,
    touched: u64,
}

/// What is asked for when a run is made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// The id.
    pub id: RunId,
    /// What it is given.
    pub inputs: Map<String, Value>,
    /// How many runs are above it; 0 if nobody's step started it.
    pub depth: u32,
    /// How long it may take at most, if the workflow does not say less.
    pub time_limit: Option<Duration>,
    /// How urgent all its tasks are at least.
    pub priority: Option<TaskPriority>,
}

impl NewRun {
    /// Asks for a run that nobody's step starts.
    pub const fn top(id: RunId, inputs: Map<String, Value>) -> Self {
        Self { id, inputs, depth: 0, time_limit: None, priority: None }
    }

    /// Asks for the run that a step of another one starts.
    pub fn child(id: RunId, order: &ChildOrder) -> Self {
        Self {
            id,
            inputs: order.inputs.clone(),
            depth: order.depth,
            time_limit: order.timeout,
            priority: order.priority,
        }
    }
}

/// What a step is at the moment.
#[derive(Debug, Clone, Default)]
struct Cell {
    state: StepState,
    round: u32,
    failures: u32,
    /// How many of those that it depends on have not ended well; counts only while it is pending.
    left: u32,
    tolerated: bool,
    /// Whether its row is to be written at the end of this turn.
    changed: bool,
    output: Option<Box<Value>>,
    output_bytes: u32,
    fault: Option<Box<Fault>>,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
    due_at: Option<Timestamp>,
}

impl Cell {
    /// Tells whether those who depend on it may go on.
    const fn ended_well(&self) -> bool {
        match self.state {
            StepState::Succeeded | StepState::Skipped => true,
            StepState::Failed | StepState::Cancelled => self.tolerated,
            StepState::Pending | StepState::Ready | StepState::Running | StepState::Waiting => {
                false
            }
        }
    }

    /// Tells whether it was cancelled because the run ended.
    fn was_cut_off(&self) -> bool {
        let ended = |fault: &Fault| fault.code == control::RUN_ENDED;
        self.state == StepState::Cancelled && self.fault.as_deref().is_some_and(ended)
    }

    /// Tells whether those who depend on it can never go on.
    const fn ended_badly(&self) -> bool {
        self.state.is_final() && !self.ended_well()
    }
}

/// What is collected while one input is worked on.
#[derive(Debug, Clone, Default)]
struct Turn {
    effects: Vec<Effect>,
    /// Steps that ended, whose dependants were not told yet.
    ended: Vec<StepIndex>,
    changed: Vec<StepIndex>,
    run_changed: bool,
    finished: bool,
}

impl Run {
    /// Makes a run that is not started yet.
    ///
    /// # Errors
    /// All that is wrong with what it is given.
    pub fn new(plan: Arc<Plan>, asked: NewRun) -> Result<Self, Vec<String>> {
        let inputs = plan.definition().bind(asked.inputs)?;
        let max_concurrency = plan.definition().max_concurrency;
        let mut run = Self::blank(plan, asked.id, inputs, max_concurrency);
        run.depth = asked.depth;
        run.time_limit = asked.time_limit;
        run.priority = asked.priority;
        Ok(run)
    }

    fn blank(plan: Arc<Plan>, id: RunId, inputs: Map<String, Value>, max_concurrency: u32) -> Self {
        let mut cells = vec![Cell::default(); plan.len()];
        for (step, cell) in (0_u32..).zip(&mut cells) {
            cell.left = plan.graph().dependencies(step).len() as u32;
        }
        let counts = Counts { pending: cells.len() as u32, ..Counts::default() };
        Self {
            id,
            depth: 0,
            time_limit: None,
            priority: None,
            input_bytes: answer::bytes_of(&inputs),
            inputs: Arc::new(inputs),
            state: RunState::Pending,
            max_concurrency: max_concurrency.max(1),
            outputs: None,
            fault: None,
            started_at: None,
            finished_at: None,
            deadline: None,
            cells,
            counts,
            output_bytes: 0,
            ready_work: BTreeSet::new(),
            ready_gates: BTreeSet::new(),
            turn: Turn::default(),
            touched: 0,
            plan,
        }
    }

    /// Takes in what happened and returns what is to be done about it.
    ///
    /// # Errors
    /// If it cannot be in this state; then nothing has changed.
    pub fn apply(&mut self, input: Input, now: Timestamp) -> Result<Vec<Effect>, Illegal> {
        match input {
            Input::Start => self.start(now)?,
            Input::Pause => self.pause()?,
            Input::Resume => self.resume()?,
            Input::Cancel => self.cancel(now)?,
            Input::RunTimedOut => self.time_out(now),
            Input::Scale { max_concurrency } => self.scale(max_concurrency)?,
            Input::Deadline { at } => self.move_deadline(at)?,
            Input::RetryFrom { steps } => self.retry_from(&steps, now)?,
            Input::TaskSucceeded { step, round, output } => {
                self.task_succeeded(step, round, output, now)?;
            }
            Input::TaskFailed { step, round, fault, last } => {
                self.task_failed(step, round, fault, last.then_some(now))?;
            }
            Input::TaskCancelled { step, round } => self.task_cancelled(step, round, now)?,
            Input::TimerDue { step, round } => self.timer_due(step, round, now)?,
            Input::Approved { step, answer } => self.answered(step, &answer, true, now)?,
            Input::Rejected { step, answer } => self.answered(step, &answer, false, now)?,
            Input::ChildFinished { step, round, state, outputs, fault } => {
                let end = answer::ChildEnd { state, outputs, fault };
                self.child_finished(step, round, end, now)?;
            }
        }
        self.advance(now);
        Ok(self.end_turn())
    }

    /// Returns the id.
    pub const fn id(&self) -> RunId {
        self.id
    }

    /// Returns the plan.
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the state.
    pub const fn state(&self) -> RunState {
        self.state
    }

    /// Returns the state of a step; pending if there is no such step.
    pub fn step_state(&self, step: StepIndex) -> StepState {
        self.cells.get(step.at()).map_or(StepState::Pending, |cell| cell.state)
    }

    /// Returns the round of a step.
    pub fn step_round(&self, step: StepIndex) -> u32 {
        self.cells.get(step.at()).map_or(0, |cell| cell.round)
    }

    /// Returns how many steps and arrows were looked at so far: what the engine costs.
    pub const fn touched(&self) -> u64 {
        self.touched
    }

    fn cell(&self, step: StepIndex) -> &Cell {
        &self.cells[step.at()]
    }

    fn cell_mut(&mut self, step: StepIndex) -> &mut Cell {
        &mut self.cells[step.at()]
    }

    /// Moves a step to another state, keeps count, and notes that its row is to be written.
    fn enter(&mut self, step: StepIndex, state: StepState) {
        let cell = &mut self.cells[step.at()];
        let before = std::mem::replace(&mut cell.state, state);
        *self.counts.of_mut(before) -= 1;
        *self.counts.of_mut(state) += 1;
        self.touched += 1;
        // That a step is ready follows from the others, so it is not worth a write.
        if state != StepState::Ready {
            self.note(step);
        }
    }

    fn note(&mut self, step: StepIndex) {
        let cell = &mut self.cells[step.at()];
        if !cell.changed {
            cell.changed = true;
            self.turn.changed.push(step);
        }
    }

    /// How many steps have not ended.
    const fn open(&self) -> u32 {
        self.counts.pending + self.counts.ready + self.counts.running + self.counts.waiting
    }

    /// Puts a step where it waits for its turn.
    fn line_up(&mut self, step: StepIndex) {
        match &self.plan.step(step).kind {
            StepKind::Task(task) => {
                self.ready_work.insert((task.priority.tier(), step));
            }
            StepKind::Workflow(_) => {
                self.ready_work.insert((TaskPriority::Medium.tier(), step));
            }
            StepKind::Approval(_) | StepKind::Timer(_) => {
                self.ready_gates.insert(step);
            }
        }
    }

    fn end_turn(&mut self) -> Vec<Effect> {
        let turn = std::mem::take(&mut self.turn);
        let mut effects = turn.effects;
        for step in turn.changed {
            self.cell_mut(step).changed = false;
            effects.push(Effect::StepChanged { step });
        }
        if turn.run_changed {
            effects.push(Effect::RunChanged);
        }
        if turn.finished {
            effects.push(Effect::Finished {
                state: self.state,
                outputs: self.outputs.clone(),
                fault: self.fault.clone(),
            });
        }
        effects
    }
}
