//! Doing anew what failed, or whatever somebody wants once more.

use std::collections::HashSet;

use jiff::Timestamp;

use super::super::plan::StepIndex;
use super::{Cell, Illegal, Run, RunState, StepState};

impl Run {
    /// Sends steps that are over, and all that depends on them, back to the beginning.
    pub(super) fn retry_from(
        &mut self,
        wanted: &[StepIndex],
        now: Timestamp,
    ) -> Result<(), Illegal> {
        if self.state == RunState::Pending {
            return Err(self.illegal("retried"));
        }
        let roots = self.roots(wanted)?;
        let again = self.affected(&roots);
        if let Some(blocked) = wanted.iter().find(|step| !again.contains(step)) {
            return Err(self.blocked(*blocked, &again));
        }
        if again.is_empty() {
            return Err(Illegal::NothingToRetry);
        }
        for step in &again {
            self.reset(*step);
        }
        if self.state.is_final() {
            self.outputs = None;
            self.fault = None;
            self.finished_at = None;
            self.go_on(now);
        }
        for step in &again {
            let left =
                self.plan.dependencies(*step).filter(|other| !self.cell(*other).ended_well());
            let left = left.count() as u32;
            self.cell_mut(*step).left = left;
        }
        for step in again {
            if self.cell(step).left == 0 {
                self.consider(step, now);
            }
        }
        Ok(())
    }

    /// The steps to begin with: those that are named, if they are over, or all that did not succeed.
    fn roots(&self, wanted: &[StepIndex]) -> Result<Vec<StepIndex>, Illegal> {
        let failed = |state| matches!(state, StepState::Failed | StepState::Cancelled);
        if wanted.is_empty() {
            let all = (0..self.cells.len() as u32).map(StepIndex);
            return Ok(all.filter(|step| failed(self.cell(*step).state)).collect());
        }
        for step in wanted {
            let definition = self.plan.get(*step).ok_or(Illegal::UnknownStep(*step))?;
            let state = self.cell(*step).state;
            if !state.is_final() {
                return Err(Illegal::NotRetryable { id: definition.id.clone(), state });
            }
        }
        let mut roots = wanted.to_vec();
        if self.state.is_final() {
            // What the end of the run cut off would keep it from ever completing.
            let all = (0..self.cells.len() as u32).map(StepIndex);
            roots.extend(all.filter(|step| self.cell(*step).was_cut_off()));
        }
        Ok(roots)
    }

    /// The roots and what depends on them, each after those it depends on; without what would still
    /// depend on another step that failed.
    fn affected(&mut self, roots: &[StepIndex]) -> Vec<StepIndex> {
        let mut seen: HashSet<StepIndex> = roots.iter().copied().collect();
        let mut todo: Vec<StepIndex> = seen.iter().copied().collect();
        while let Some(step) = todo.pop() {
            for after in self.plan.dependants(step) {
                self.touched += 1;
                if seen.insert(after) {
                    todo.push(after);
                }
            }
        }
        let mut steps: Vec<StepIndex> = seen.into_iter().collect();
        steps.sort_unstable_by_key(|step| self.plan.graph().place(step.0));
        let mut again: HashSet<StepIndex> = HashSet::new();
        steps.retain(|step| {
            let stuck =
                |other: StepIndex| !again.contains(&other) && self.cells[other.at()].ended_badly();
            let free = !self.plan.dependencies(*step).any(stuck);
            free && again.insert(*step)
        });
        steps
    }

    fn blocked(&self, step: StepIndex, again: &[StepIndex]) -> Illegal {
        let on = self
            .plan
            .dependencies(step)
            .find(|other| !again.contains(other) && self.cell(*other).ended_badly());
        Illegal::Blocked {
            id: self.plan.step(step).id.clone(),
            on: on.map(|other| self.plan.step(other).id.clone()).unwrap_or_default(),
        }
    }

    /// Makes a step as if it had never begun, a round later.
    fn reset(&mut self, step: StepIndex) {
        self.call_off(step);
        self.ready_gates.remove(&step);
        self.ready_work.retain_step(step);
        self.enter(step, StepState::Pending);
        let cell = self.cell_mut(step);
        let (bytes, tolerated) = (cell.output_bytes as usize, cell.tolerated);
        *cell = Cell { round: cell.round + 1, changed: cell.changed, ..Cell::default() };
        self.output_bytes -= bytes;
        self.counts.tolerated -= u32::from(tolerated);
    }
}

/// Taking a step out of a set that is ordered by priority first.
trait Retain {
    fn retain_step(&mut self, step: StepIndex);
}

impl Retain for std::collections::BTreeSet<(i64, StepIndex)> {
    fn retain_step(&mut self, step: StepIndex) {
        for priority in godel_model::TaskPriority::ALL {
            self.remove(&(priority.tier(), step));
        }
    }
}
