//! An event and all that was known before it, as the rules look at it.

use crate::life::Step;
use crate::record::Event;
use crate::verdict::Finding;
use crate::world::{Task, TaskNo, World};

/// One event of a task, not yet followed.
#[derive(Clone, Copy)]
pub(crate) struct Moment<'a> {
    pub(crate) world: &'a World,
    pub(crate) no: TaskNo,
    pub(crate) step: Step,
    pub(crate) event: &'a Event,
    pub(crate) line: u64,
}

impl<'a> Moment<'a> {
    pub(crate) fn task(&self) -> &'a Task {
        &self.world[self.no]
    }

    pub(crate) fn attempt(&self) -> u32 {
        self.event.attempt.unwrap_or_default()
    }

    /// A finding that shows the event and the last step before it.
    pub(crate) fn finding(&self, message: impl Into<String>) -> Finding {
        let task = self.task();
        Finding::of(&task.id, &[task.life.line, self.line], message)
    }
}
