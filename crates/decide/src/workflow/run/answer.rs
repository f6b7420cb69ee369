//! What comes back: from workers, clocks, people and other workflows.

use std::io;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::definition::StepKind;
use super::super::limits::{OUTPUT_MAX_BYTES, OUTPUTS_MAX_BYTES};
use super::super::plan::StepIndex;
use super::{Answer, Effect, Fault, Illegal, Run, RunState, StepState};

/// How the run of another workflow ended.
pub(super) struct ChildEnd {
    pub(super) state: RunState,
    pub(super) outputs: Map<String, Value>,
    pub(super) fault: Option<Fault>,
}

impl Run {
    pub(super) fn task_succeeded(
        &mut self,
        step: StepIndex,
        round: u32,
        output: Value,
        now: Timestamp,
    ) -> Result<(), Illegal> {
        if self.awaits(step, round, StepState::Running)? {
            self.succeed(step, output, now);
        }
        Ok(())
    }

    /// Notes a failed attempt; `last` is the time if there will be no other.
    pub(super) fn task_failed(
        &mut self,
        step: StepIndex,
        round: u32,
        fault: Fault,
        last: Option<Timestamp>,
    ) -> Result<(), Illegal> {
        if !self.awaits(step, round, StepState::Running)? {
            return Ok(());
        }
        self.cell_mut(step).failures += 1;
        match last {
            Some(now) => self.fail(step, fault, now),
            None => {
                self.cell_mut(step).fault = Some(Box::new(fault));
                self.note(step);
            }
        }
        Ok(())
    }

    pub(super) fn task_cancelled(
        &mut self,
        step: StepIndex,
        round: u32,
        now: Timestamp,
    ) -> Result<(), Illegal> {
        if self.awaits(step, round, StepState::Running)? {
            let fault = Fault::new("task_cancelled", "the task of the step was cancelled");
            self.cell_mut(step).fault = Some(Box::new(fault));
            self.give_up(step, StepState::Cancelled, now);
        }
        Ok(())
    }

    pub(super) fn timer_due(
        &mut self,
        step: StepIndex,
        round: u32,
        now: Timestamp,
    ) -> Result<(), Illegal> {
        if !self.awaits(step, round, StepState::Waiting)? {
            return Ok(());
        }
        // A clock that goes ahead may ring too early; then it is set again.
        if let Some(at) = self.cell(step).due_at.filter(|due| *due > now) {
            self.turn.effects.push(Effect::SetTimer { step, round, at });
            return Ok(());
        }
        match &self.plan.step(step).kind {
            StepKind::Timer(_) => self.succeed(step, Value::Null, now),
            StepKind::Approval(_) => {
                let fault = Fault::new("approval_timed_out", "nobody answered in time");
                self.fail(step, fault, now);
            }
            StepKind::Task(_) | StepKind::Workflow(_) => {}
        }
        Ok(())
    }

    pub(super) fn answered(
        &mut self,
        step: StepIndex,
        answer: &Answer,
        yes: bool,
        now: Timestamp,
    ) -> Result<(), Illegal> {
        let definition = self.plan.get(step).ok_or(Illegal::UnknownStep(step))?;
        let id = || definition.id.clone();
        let StepKind::Approval(gate) = &definition.kind else {
            return Err(Illegal::WrongKind { id: id(), wanted: "approval" });
        };
        let state = self.cell(step).state;
        if state != StepState::Waiting {
            return Err(Illegal::NotWaiting { id: id(), state });
        }
        if !gate.admits(&answer.names) {
            return Err(Illegal::NotAllowed { id: id(), by: answer.by.clone() });
        }
        if yes {
            let output = json!({ "approved": true, "by": answer.by, "note": answer.note });
            self.succeed(step, output, now);
        } else {
            let why = answer.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            let fault = Fault::new("rejected", format!("{} said no{why}", answer.by));
            self.fail(step, fault, now);
        }
        Ok(())
    }

    pub(super) fn child_finished(
        &mut self,
        step: StepIndex,
        round: u32,
        end: ChildEnd,
        now: Timestamp,
    ) -> Result<(), Illegal> {
        if !self.awaits(step, round, StepState::Running)? {
            return Ok(());
        }
        match end.state {
            RunState::Completed => self.succeed(step, Value::Object(end.outputs), now),
            RunState::Cancelled => {
                let fault = Fault::new("child_cancelled", "the workflow of the step was cancelled");
                self.cell_mut(step).fault = Some(Box::new(fault));
                self.give_up(step, StepState::Cancelled, now);
            }
            RunState::Failed => {
                let why = end.fault.map_or_else(String::new, |fault| format!(": {fault}"));
                let message = format!("the workflow of the step failed{why}");
                self.fail(step, Fault::new("child_failed", message), now);
            }
            // It has not finished, whatever was said.
            RunState::Pending | RunState::Running | RunState::Paused => {}
        }
        Ok(())
    }

    /// Tells whether a step still waits for an answer to this round.
    fn awaits(&self, step: StepIndex, round: u32, state: StepState) -> Result<bool, Illegal> {
        let cell = self.cells.get(step.at()).ok_or(Illegal::UnknownStep(step))?;
        Ok(cell.round == round && cell.state == state)
    }

    fn succeed(&mut self, step: StepIndex, output: Value, now: Timestamp) {
        let bytes = if output.is_null() { 0 } else { bytes_of(&output) };
        if bytes > OUTPUT_MAX_BYTES || self.output_bytes + bytes > OUTPUTS_MAX_BYTES {
            let message = if bytes > OUTPUT_MAX_BYTES {
                format!("the step gave back {bytes} bytes; at most {OUTPUT_MAX_BYTES} are kept")
            } else {
                format!("the steps gave back more than {OUTPUTS_MAX_BYTES} bytes together")
            };
            return self.fail(step, Fault::new("output_too_large", message), now);
        }
        self.output_bytes += bytes;
        let cell = self.cell_mut(step);
        cell.output = (!output.is_null()).then(|| Box::new(output));
        cell.output_bytes = bytes as u32;
        cell.fault = None;
        self.close(step, StepState::Succeeded, now);
    }
}

/// How many bytes a value has as JSON.
pub(super) fn bytes_of(value: &impl Serialize) -> usize {
    struct Scale(usize);

    impl io::Write for Scale {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut scale = Scale(0);
    match serde_json::to_writer(&mut scale, value) {
        Ok(()) => scale.0,
        Err(_) => usize::MAX,
    }
}
