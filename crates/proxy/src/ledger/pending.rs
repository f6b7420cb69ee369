//! What waits to be written.

use std::collections::VecDeque;

use godel_model::{NewEvent, Quota, TenantId};

use super::{Answer, BATCH_MAX, Closing, OpenRow, Opening};

/// What waits to be written.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) openings: Vec<(Opening, Answer)>,
    pub(super) closings: Vec<Closing>,
    pub(super) events: Vec<(TenantId, NewEvent, u32)>,
    /// What providers said of quotas; what is lost of it is said again.
    pub(super) quotas: Vec<(TenantId, Quota)>,
    /// What could not be written with others is written alone, so that it stops nobody else.
    pub(super) again: VecDeque<Closing>,
    /// Whether such a one is next.
    pub(super) again_next: bool,
    /// Rows that may have been written although the database said that it failed.
    pub(super) unsure: Vec<OpenRow>,
    /// Whether somebody waits for what has ended.
    pub(super) hurry: bool,
    pub(super) closed: bool,
}

impl Pending {
    /// Tells whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.openings.is_empty()
            && self.closings.is_empty()
            && self.events.is_empty()
            && self.quotas.is_empty()
            && self.again.is_empty()
    }

    /// Tells whether there is nothing but a little that has ended, which nobody waits for.
    pub(super) fn may_wait(&self) -> bool {
        let only_ended =
            self.openings.is_empty() && self.events.is_empty() && self.again.is_empty();
        let few = !self.closings.is_empty() && self.closings.len() < BATCH_MAX;
        only_ended && few && !self.hurry && !self.closed
    }

    /// Takes what one transaction writes.
    pub(super) fn take(&mut self) -> Self {
        self.hurry = false;
        let fresh = !(self.openings.is_empty()
            && self.closings.is_empty()
            && self.events.is_empty()
            && self.quotas.is_empty());
        let alone = !self.again.is_empty() && (self.again_next || !fresh);
        self.again_next = fresh && !alone;
        if alone {
            let again = self.again.pop_front();
            return Self {
                again: again.into_iter().collect(),
                closed: self.closed,
                ..Self::default()
            };
        }
        let some = |length: usize| length.min(BATCH_MAX);
        let (open, close) = (some(self.openings.len()), some(self.closings.len()));
        Self {
            openings: self.openings.drain(..open).collect(),
            closings: self.closings.drain(..close).collect(),
            events: std::mem::take(&mut self.events),
            quotas: std::mem::take(&mut self.quotas),
            closed: self.closed,
            ..Self::default()
        }
    }
}
