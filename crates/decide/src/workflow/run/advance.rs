//! How a run goes on: who may begin now, and what follows from an end.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use std::time::Duration;

use super::super::definition::{
    ApprovalStep, IfSkipped, OnError, StepKind, TaskStep, TimerStep, WorkflowStep,
};
use super::super::expr::{holds, render};
use super::super::limits::{NESTING_MAX, PAYLOAD_MAX_BYTES};
use super::super::plan::StepIndex;
use super::answer::bytes_of;
use super::{ChildOrder, Effect, Fault, Run, RunState, StepState, TaskOrder};

impl Run {
    /// Goes on as far as possible.
    pub(super) fn advance(&mut self, now: Timestamp) {
        if self.state == RunState::Pending || self.state.is_final() {
            self.turn.ended.clear();
            return;
        }
        loop {
            self.tell_dependants(now);
            if self.state.is_final() {
                return;
            }
            if self.open() == 0 {
                return self.end(now);
            }
            if self.state != RunState::Running || !self.begin_next(now) {
                return;
            }
        }
    }

    /// Tells those who wait for steps that ended.
    fn tell_dependants(&mut self, now: Timestamp) {
        let plan = std::sync::Arc::clone(&self.plan);
        while let Some(step) = self.turn.ended.pop() {
            let bad = self.cell(step).ended_badly();
            if bad && plan.definition().fail_fast {
                let id = &plan.step(step).id;
                let fault = Fault::new("step_failed", format!("step `{id}` did not succeed"));
                return self.stop(RunState::Failed, Some(fault), now);
            }
            for after in plan.dependants(step) {
                self.touched += 1;
                if self.cell(after).state != StepState::Pending {
                    continue;
                }
                if bad {
                    let id = &plan.step(step).id;
                    let message = format!("step `{id}`, which it depends on, did not succeed");
                    self.cell_mut(after).fault =
                        Some(Box::new(Fault::new("dependency_failed", message)));
                    self.close(after, StepState::Cancelled, now);
                } else {
                    let cell = self.cell_mut(after);
                    cell.left -= 1;
                    if cell.left == 0 {
                        self.consider(after, now);
                    }
                }
            }
        }
    }

    /// Decides whether a step for which nothing is left to wait is to be done at all.
    pub(super) fn consider(&mut self, step: StepIndex, now: Timestamp) {
        let plan = std::sync::Arc::clone(&self.plan);
        let definition = plan.step(step);
        if definition.if_skipped == IfSkipped::Skip {
            self.touched += plan.graph().dependencies(step.0).len() as u64;
            let skipped = |other: StepIndex| self.cell(other).state == StepState::Skipped;
            if plan.dependencies(step).any(skipped) {
                return self.close(step, StepState::Skipped, now);
            }
        }
        match definition.when.as_deref().map_or(Ok(true), |when| holds(when, self)) {
            Ok(true) => {
                self.enter(step, StepState::Ready);
                self.line_up(step);
            }
            Ok(false) => self.close(step, StepState::Skipped, now),
            Err(why) => {
                let message = format!("the condition of the step failed: {why}");
                self.fail(step, Fault::new("condition_failed", message), now);
            }
        }
    }

    /// Begins one step that is ready; false if there is none, or no place for it.
    fn begin_next(&mut self, now: Timestamp) -> bool {
        let step = match self.ready_gates.pop_first() {
            Some(gate) => gate,
            None if self.counts.running >= self.max_concurrency => return false,
            None => match self.ready_work.pop_first() {
                Some((_, work)) => work,
                None => return false,
            },
        };
        let plan = std::sync::Arc::clone(&self.plan);
        let definition = plan.step(step);
        self.cell_mut(step).started_at = Some(now);
        let begun = match &definition.kind {
            StepKind::Task(task) => self.begin_task(step, task, definition.timeout),
            StepKind::Workflow(child) => self.begin_child(step, child, definition.timeout),
            StepKind::Approval(gate) => self.ask(step, gate, definition.timeout, now),
            StepKind::Timer(timer) => self.set_timer(step, timer, now),
        };
        if let Err(fault) = begun {
            self.fail(step, fault, now);
        }
        true
    }

    fn begin_task(
        &mut self,
        step: StepIndex,
        task: &TaskStep,
        timeout: Option<Duration>,
    ) -> Result<(), Fault> {
        let payload = self.fill(&task.payload)?;
        let session = task.session.as_deref().map(|text| self.fill_text(text)).transpose()?;
        let definition = self.plan.step(step);
        let order = TaskOrder {
            step,
            round: self.cell(step).round,
            key: self.key(step),
            title: definition.name.clone().unwrap_or_else(|| definition.id.clone()),
            pool: task.pool.clone(),
            // The lower tier is the more urgent one.
            priority: self.priority.map_or(task.priority, |least| least.min(task.priority)),
            requires: task.requires.clone(),
            agent: task.agent.clone(),
            session,
            payload,
            timeout,
            retry: task.retry,
        };
        self.enter(step, StepState::Running);
        self.turn.effects.push(Effect::EnqueueTask(Box::new(order)));
        Ok(())
    }

    fn begin_child(
        &mut self,
        step: StepIndex,
        child: &WorkflowStep,
        timeout: Option<Duration>,
    ) -> Result<(), Fault> {
        let depth = self.depth + 1;
        if depth > NESTING_MAX {
            let message = format!("workflows would be nested more than {NESTING_MAX} levels deep");
            return Err(Fault::new("too_deep", message));
        }
        let order = ChildOrder {
            step,
            round: self.cell(step).round,
            key: self.key(step),
            workflow: child.workflow.clone(),
            inputs: self.fill(&child.inputs)?,
            depth,
            timeout,
            priority: self.priority,
        };
        self.enter(step, StepState::Running);
        self.turn.effects.push(Effect::StartChild(Box::new(order)));
        Ok(())
    }

    fn ask(
        &mut self,
        step: StepIndex,
        gate: &ApprovalStep,
        timeout: Option<Duration>,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let message = gate.message.as_deref().map(|text| self.fill_text(text)).transpose()?;
        let until = timeout.map(|timeout| later(now, timeout));
        let round = self.cell(step).round;
        self.cell_mut(step).due_at = until;
        self.enter(step, StepState::Waiting);
        let by = gate.by.clone();
        self.turn.effects.push(Effect::AskApproval { step, round, by, message, until });
        if let Some(at) = until {
            self.turn.effects.push(Effect::SetTimer { step, round, at });
        }
        Ok(())
    }

    fn set_timer(
        &mut self,
        step: StepIndex,
        timer: &TimerStep,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let at = match timer {
            TimerStep::For(duration) => later(now, *duration),
            TimerStep::Until(text) => {
                let text = self.fill_text(text)?;
                text.parse::<Timestamp>().map_err(|_| {
                    Fault::new("timer_failed", format!("`{text}` is not a time to wait for"))
                })?
            }
        };
        let round = self.cell(step).round;
        self.cell_mut(step).due_at = Some(at);
        self.enter(step, StepState::Waiting);
        self.turn.effects.push(Effect::SetTimer { step, round, at });
        Ok(())
    }

    fn fill(&self, entries: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
        let filled: Map<String, Value> = entries
            .iter()
            .map(|(key, value)| Ok((key.clone(), render(value, self)?)))
            .collect::<Result<_, String>>()
            .map_err(template_fault)?;
        if bytes_of(&filled) > PAYLOAD_MAX_BYTES {
            let message = format!("what the step is given has more than {PAYLOAD_MAX_BYTES} bytes");
            return Err(Fault::new("payload_too_large", message));
        }
        Ok(filled)
    }

    fn fill_text(&self, text: &str) -> Result<String, Fault> {
        match render(&Value::String(text.to_owned()), self).map_err(template_fault)? {
            Value::String(text) => Ok(text),
            other => Ok(other.to_string()),
        }
    }

    fn key(&self, step: StepIndex) -> String {
        format!("{}/{}/{}", self.id, self.plan.step(step).id, self.cell(step).round)
    }

    /// Notes that a step failed.
    pub(super) fn fail(&mut self, step: StepIndex, fault: Fault, now: Timestamp) {
        self.cell_mut(step).fault = Some(Box::new(fault));
        self.give_up(step, StepState::Failed, now);
    }

    /// Ends a step badly, unless that does not count.
    pub(super) fn give_up(&mut self, step: StepIndex, state: StepState, now: Timestamp) {
        let tolerated = self.plan.step(step).on_error == OnError::Continue;
        self.cell_mut(step).tolerated = tolerated;
        self.counts.tolerated += u32::from(tolerated);
        self.close(step, state, now);
    }

    /// Ends a step.
    pub(super) fn close(&mut self, step: StepIndex, state: StepState, now: Timestamp) {
        self.enter(step, state);
        let cell = self.cell_mut(step);
        cell.finished_at = Some(now);
        cell.due_at = None;
        self.turn.ended.push(step);
    }

    /// Ends the run, since all its steps have ended.
    fn end(&mut self, now: Timestamp) {
        let bad = self.counts.failed + self.counts.cancelled - self.counts.tolerated;
        if bad > 0 {
            let message = format!("{bad} of {} steps did not succeed", self.cells.len());
            return self.finish(RunState::Failed, Some(Fault::new("steps_failed", message)), now);
        }
        let outputs: Map<String, Value> =
            self.plan.definition().outputs.clone().into_iter().collect();
        match self.fill(&outputs) {
            Ok(outputs) => {
                self.outputs = Some(outputs);
                self.finish(RunState::Completed, None, now);
            }
            Err(fault) => {
                let fault = Fault::new("outputs_failed", fault.message);
                self.finish(RunState::Failed, Some(fault), now);
            }
        }
    }

    /// Notes that the run has ended.
    pub(super) fn finish(&mut self, state: RunState, fault: Option<Fault>, now: Timestamp) {
        self.state = state;
        self.fault = fault;
        self.finished_at = Some(now);
        self.turn.run_changed = true;
        self.turn.finished = true;
    }
}

fn template_fault(why: String) -> Fault {
    Fault::new("template_failed", format!("a template could not be filled in: {why}"))
}

/// A time after another; the end of time if there is none.
pub(super) fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}
