//! How a run stands.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::definition::{StepKind, TimerStep};
use super::super::plan::{CriticalPath, StepIndex};
use super::{Cell, Run, RunState, StepState};

/// A step of which nothing is known is taken to last so long.
const GUESS: Duration = Duration::from_secs(60);

/// How many steps are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Those that wait for other steps.
    pub pending: u32,
    /// Those that could begin.
    pub ready: u32,
    /// Those that run.
    pub running: u32,
    /// Those that wait for a person or a time.
    pub waiting: u32,
    /// Those that succeeded.
    pub succeeded: u32,
    /// Those that failed, tolerated ones included.
    pub failed: u32,
    /// Those that were skipped.
    pub skipped: u32,
    /// Those that were cancelled, tolerated ones included.
    pub cancelled: u32,
    /// Those that failed or were cancelled and it does not count.
    pub tolerated: u32,
}

impl Counts {
    /// Returns how many steps there are.
    pub const fn total(&self) -> u32 {
        self.pending + self.ready + self.running + self.waiting + self.ended()
    }

    /// Returns how many steps have ended.
    pub const fn ended(&self) -> u32 {
        self.succeeded + self.failed + self.skipped + self.cancelled
    }

    /// Returns how many steps are in a state.
    pub const fn of(&self, state: StepState) -> u32 {
        match state {
            StepState::Pending => self.pending,
            StepState::Ready => self.ready,
            StepState::Running => self.running,
            StepState::Waiting => self.waiting,
            StepState::Succeeded => self.succeeded,
            StepState::Failed => self.failed,
            StepState::Skipped => self.skipped,
            StepState::Cancelled => self.cancelled,
        }
    }

    pub(super) const fn of_mut(&mut self, state: StepState) -> &mut u32 {
        match state {
            StepState::Pending => &mut self.pending,
            StepState::Ready => &mut self.ready,
            StepState::Running => &mut self.running,
            StepState::Waiting => &mut self.waiting,
            StepState::Succeeded => &mut self.succeeded,
            StepState::Failed => &mut self.failed,
            StepState::Skipped => &mut self.skipped,
            StepState::Cancelled => &mut self.cancelled,
        }
    }
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The state.
    pub state: RunState,
    /// How many steps are in each state.
    pub counts: Counts,
    /// How much is done, from 0 to 1.
    pub progress: f64,
    /// The longest way that is still ahead, and how long it is likely to take.
    pub remaining: CriticalPath,
}

impl Run {
    /// Returns how many steps are in each state.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns how much is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        let total = self.counts.total();
        if total == 0 {
            return f64::from(u8::from(self.state.is_final()));
        }
        f64::from(self.counts.ended()) / f64::from(total)
    }

    /// Returns how the run stands. `usual` tells how long a step took in earlier runs; where it does
    /// not know, the steps of this run that have ended are asked.
    pub fn status(&self, now: Timestamp, usual: impl Fn(StepIndex) -> Option<Duration>) -> Status {
        let guess = self.average().unwrap_or(GUESS);
        let takes = |step: StepIndex| self.still_takes(step, now, usual(step).unwrap_or(guess));
        let mut remaining = self.plan.critical_path(takes);
        remaining.steps.retain(|step| !self.cell(*step).state.is_final());
        Status { state: self.state, counts: self.counts, progress: self.progress(), remaining }
    }

    fn still_takes(&self, step: StepIndex, now: Timestamp, usual: Duration) -> Duration {
        let cell = self.cell(step);
        let since =
            |start: Timestamp| Duration::try_from(now.duration_since(start)).unwrap_or_default();
        match (cell.state, cell.due_at) {
            (state, _) if state.is_final() || self.state.is_final() => Duration::ZERO,
            (_, Some(due)) => Duration::try_from(due.duration_since(now)).unwrap_or_default(),
            (StepState::Running | StepState::Waiting, None) => {
                usual.saturating_sub(cell.started_at.map_or(Duration::ZERO, since))
            }
            _ => match &self.plan.step(step).kind {
                StepKind::Timer(TimerStep::For(duration)) => *duration,
                StepKind::Timer(TimerStep::Until(_))
                | StepKind::Task(_)
                | StepKind::Workflow(_)
                | StepKind::Approval(_) => usual,
            },
        }
    }

    /// How long the steps that succeeded took, on average.
    fn average(&self) -> Option<Duration> {
        let took = |cell: &Cell| match (cell.state, cell.started_at, cell.finished_at) {
            (StepState::Succeeded, Some(start), Some(end)) => {
                Duration::try_from(end.duration_since(start)).ok()
            }
            _ => None,
        };
        let (count, sum) = self
            .cells
            .iter()
            .filter_map(took)
            .fold((0_u32, Duration::ZERO), |(count, sum), one| {
                (count + 1, sum.saturating_add(one))
            });
        sum.checked_div(count)
    }
}
