//! What people do to a run as a whole.

use jiff::Timestamp;

use super::super::definition::StepKind;
use super::super::limits::CONCURRENCY_MAX;
use super::super::plan::StepIndex;
use super::advance::later;
use super::{Effect, Fault, Illegal, Run, RunState, StepState};

/// The code of a run that took longer than it may.
pub const RUN_TIMED_OUT: &str = "run_timed_out";
/// The code of steps that the end of the run cut off.
pub(super) const RUN_ENDED: &str = "run_ended";

impl Run {
    pub(super) fn start(&mut self, now: Timestamp) -> Result<(), Illegal> {
        if self.state != RunState::Pending {
            return Err(self.illegal("started"));
        }
        self.started_at = Some(now);
        self.go_on(now);
        let plan = std::sync::Arc::clone(&self.plan);
        for step in plan.graph().order().iter().copied() {
            // Those that wait for nobody come first in the order.
            if !plan.graph().dependencies(step).is_empty() {
                break;
            }
            self.consider(StepIndex(step), now);
        }
        Ok(())
    }

    /// Sets the run going, with all the time that it may take before it.
    pub(super) fn go_on(&mut self, now: Timestamp) {
        self.state = RunState::Running;
        let limits = [self.plan.definition().timeout, self.time_limit];
        self.deadline = limits.into_iter().flatten().min().map(|limit| later(now, limit));
        self.turn.run_changed = true;
        if let Some(at) = self.deadline {
            self.turn.effects.push(Effect::SetDeadline { at });
        }
    }

    pub(super) fn pause(&mut self) -> Result<(), Illegal> {
        if self.state != RunState::Running {
            return Err(self.illegal("paused"));
        }
        self.state = RunState::Paused;
        self.turn.run_changed = true;
        Ok(())
    }

    pub(super) fn resume(&mut self) -> Result<(), Illegal> {
        if self.state != RunState::Paused {
            return Err(self.illegal("resumed"));
        }
        self.state = RunState::Running;
        self.turn.run_changed = true;
        Ok(())
    }

    pub(super) fn cancel(&mut self, now: Timestamp) -> Result<(), Illegal> {
        if self.state.is_final() {
            return Err(self.illegal("cancelled"));
        }
        self.stop(RunState::Cancelled, None, now);
        Ok(())
    }

    /// Ends the run if its time is really over; a timer of an earlier start may come late.
    pub(super) fn time_out(&mut self, now: Timestamp) {
        let Some(at) = self.deadline.filter(|_| !self.state.is_final()) else { return };
        if at > now {
            self.turn.effects.push(Effect::SetDeadline { at });
        } else {
            let fault = Fault::new(RUN_TIMED_OUT, "the run took longer than it may");
            self.stop(RunState::Failed, Some(fault), now);
        }
    }

    pub(super) fn scale(&mut self, max_concurrency: u32) -> Result<(), Illegal> {
        if self.state.is_final() {
            return Err(self.illegal("scaled"));
        }
        if !(1..=CONCURRENCY_MAX).contains(&max_concurrency) {
            return Err(Illegal::BadScale { wanted: max_concurrency, max: CONCURRENCY_MAX });
        }
        self.max_concurrency = max_concurrency;
        self.turn.run_changed = true;
        Ok(())
    }

    /// Lets the run take until another time; the timer of the time before comes early and does nothing.
    pub(super) fn move_deadline(&mut self, at: Option<Timestamp>) -> Result<(), Illegal> {
        if self.state.is_final() {
            return Err(self.illegal("given another deadline"));
        }
        self.deadline = at;
        self.turn.run_changed = true;
        if let Some(at) = at {
            self.turn.effects.push(Effect::SetDeadline { at });
        }
        Ok(())
    }

    /// Ends the run at once, with all that has not ended.
    pub(super) fn stop(&mut self, state: RunState, fault: Option<Fault>, now: Timestamp) {
        for index in 0..self.cells.len() as u32 {
            let step = StepIndex(index);
            if self.cell(step).state.is_final() {
                continue;
            }
            self.call_off(step);
            let message = format!("the run was {state} before the step ended");
            self.cell_mut(step).fault = Some(Box::new(Fault::new(RUN_ENDED, message)));
            self.close(step, StepState::Cancelled, now);
        }
        self.ready_work.clear();
        self.ready_gates.clear();
        self.turn.ended.clear();
        self.finish(state, fault, now);
    }

    /// Has whoever works on a step stop.
    pub(super) fn call_off(&mut self, step: StepIndex) {
        if self.cell(step).state != StepState::Running {
            return;
        }
        let round = self.cell(step).round;
        self.turn.effects.push(match &self.plan.step(step).kind {
            StepKind::Workflow(_) => Effect::CancelChild { step, round },
            StepKind::Task(_) | StepKind::Approval(_) | StepKind::Timer(_) => {
                Effect::CancelTask { step, round }
            }
        });
    }

    pub(super) const fn illegal(&self, wanted: &'static str) -> Illegal {
        Illegal::State { state: self.state, wanted }
    }
}
