//! A run from its rows, and its rows from the run.

use std::sync::Arc;
use std::time::Duration;

use super::super::plan::{Plan, StepIndex};
use super::answer::bytes_of;
use super::{Cell, Run, RunRow, StepRow, StepState};

/// The rows do not belong to this plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is a row for step {step}, but the workflow has {steps} steps")]
pub struct Mismatch {
    /// The step that is not there.
    pub step: StepIndex,
    /// How many steps there are.
    pub steps: usize,
}

impl Run {
    /// Builds a run from its rows, exactly as it was when they were written. A step without a row
    /// has not begun.
    ///
    /// # Errors
    /// If a row is for a step that the plan does not have.
    pub fn restore(
        plan: Arc<Plan>,
        row: RunRow,
        steps: impl IntoIterator<Item = (StepIndex, StepRow)>,
    ) -> Result<Self, Mismatch> {
        let mut run = Self::blank(plan, row.id, row.inputs, row.max_concurrency);
        run.depth = row.depth;
        run.time_limit = row.time_limit_ms.map(Duration::from_millis);
        run.priority = row.priority;
        run.state = row.state;
        run.outputs = row.outputs;
        run.fault = row.fault;
        run.started_at = row.started_at;
        run.finished_at = row.finished_at;
        run.deadline = row.deadline;
        for (step, row) in steps {
            if step.at() >= run.cells.len() {
                return Err(Mismatch { step, steps: run.cells.len() });
            }
            run.put(step, row);
        }
        run.derive();
        Ok(run)
    }

    /// Returns the row of the run.
    pub fn row(&self) -> RunRow {
        RunRow {
            id: self.id,
            state: self.state,
            inputs: self.inputs.as_ref().clone(),
            max_concurrency: self.max_concurrency,
            depth: self.depth,
            time_limit_ms: self
                .time_limit
                .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            priority: self.priority,
            outputs: self.outputs.clone(),
            fault: self.fault.clone(),
            started_at: self.started_at,
            finished_at: self.finished_at,
            deadline: self.deadline,
        }
    }

    /// Returns the row of a step; none if there is no such step.
    pub fn step_row(&self, step: StepIndex) -> Option<StepRow> {
        let cell = self.cells.get(step.at())?;
        Some(StepRow {
            state: cell.state,
            round: cell.round,
            failures: cell.failures,
            tolerated: cell.tolerated,
            output: cell.output.as_deref().cloned(),
            fault: cell.fault.as_deref().cloned(),
            started_at: cell.started_at,
            finished_at: cell.finished_at,
            due_at: cell.due_at,
        })
    }

    fn put(&mut self, step: StepIndex, row: StepRow) {
        let output_bytes = row.output.as_ref().map_or(0, bytes_of);
        let cell = self.cell_mut(step);
        let before = cell.state;
        *cell = Cell {
            // Whether it is ready follows from the others.
            state: if row.state == StepState::Ready { StepState::Pending } else { row.state },
            round: row.round,
            failures: row.failures,
            left: cell.left,
            tolerated: row.tolerated,
            changed: false,
            output: row.output.map(Box::new),
            output_bytes: output_bytes as u32,
            fault: row.fault.map(Box::new),
            started_at: row.started_at,
            finished_at: row.finished_at,
            due_at: row.due_at,
        };
        let now = cell.state;
        self.output_bytes += output_bytes;
        self.counts.tolerated += u32::from(row.tolerated);
        *self.counts.of_mut(before) -= 1;
        *self.counts.of_mut(now) += 1;
    }

    /// Finds for each step that has not begun how many it waits for, and lines up those that wait
    /// for none: their conditions held, or they would have been skipped.
    fn derive(&mut self) {
        let begun = !self.state.is_final() && self.started_at.is_some();
        for index in 0..self.cells.len() as u32 {
            let step = StepIndex(index);
            if self.cell(step).state != StepState::Pending {
                continue;
            }
            let waits =
                self.plan.dependencies(step).filter(|other| !self.cell(*other).ended_well());
            let left = waits.count() as u32;
            self.cell_mut(step).left = left;
            if begun && left == 0 {
                self.counts.pending -= 1;
                self.counts.ready += 1;
                self.cell_mut(step).state = StepState::Ready;
                self.line_up(step);
            }
        }
    }
}
