//! What waits to be written.

use std::collections::VecDeque;

use godel_model::{NewEvent, Quota, TenantId};
use tokio::time::Instant;

use super::{Answer, BATCH_MAX, Closing, OpenRow, Opening};

/// For how long what has ended may wait for company, because nobody waits for it.
const ENDED_WAIT: std::time::Duration = std::time::Duration::from_millis(20);
/// How many calls that have ended are company enough.
const ENDED_MANY: usize = 128;

/// What waits to be written.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) openings: Vec<(Opening, Answer)>,
    pub(super) closings: Vec<Closing>,
    /// When the first of those that have ended came.
    ended_since: Option<Instant>,
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

    /// Takes a call that has ended; `true` if the writer must hear of it.
    pub(super) fn end(&mut self, closing: Closing) -> bool {
        self.closings.push(closing);
        self.ended_since.get_or_insert_with(Instant::now);
        // Others that ended before have woken the writer already.
        matches!(self.closings.len(), 1 | ENDED_MANY)
    }

    /// Lets a call for which there is no room be looked at once more, together with what has ended
    /// meanwhile and may make room; gives who waits back if nothing has.
    pub(super) fn look_again(&mut self, opening: &Opening, answer: Answer) -> Option<Answer> {
        if opening.looked_again || self.closings.is_empty() {
            return Some(answer);
        }
        self.hurry = true;
        // What it came after is settled.
        let opening = Opening { after: None, looked_again: true, ..opening.clone() };
        self.openings.push((opening, answer));
        None
    }

    /// Until when what has ended may wait: the more of it one transaction writes, the less each of
    /// them costs, and the shorter are those that somebody waits for.
    fn ended_wait(&self) -> Option<Instant> {
        let few = self.closings.len() < ENDED_MANY && !self.hurry && !self.closed;
        self.ended_since.filter(|_| few).map(|since| since + ENDED_WAIT)
    }

    /// Until when there is nothing to do, because all there is has ended and may wait.
    pub(super) fn may_rest(&self) -> Option<Instant> {
        let only_ended = self.openings.is_empty()
            && self.events.is_empty()
            && self.quotas.is_empty()
            && self.again.is_empty();
        self.ended_wait().filter(|_| only_ended)
    }

    /// Takes what one transaction writes.
    pub(super) fn take(&mut self) -> Self {
        let rests = self.ended_wait().is_some_and(|until| until > Instant::now());
        let fresh = !(self.openings.is_empty()
            && (self.closings.is_empty() || rests)
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
        self.hurry = false;
        let some = |length: usize| length.min(BATCH_MAX);
        let open = some(self.openings.len());
        let close = if rests { 0 } else { some(self.closings.len()) };
        let closings = self.closings.drain(..close).collect();
        if self.closings.is_empty() {
            self.ended_since = None;
        }
        Self {
            openings: self.openings.drain(..open).collect(),
            closings,
            events: std::mem::take(&mut self.events),
            quotas: std::mem::take(&mut self.quotas),
            closed: self.closed,
            ..Self::default()
        }
    }
}
