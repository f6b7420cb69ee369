//! The fold: what the log says has become of a task.

use crate::record::{Event, Place};

/// A step in the life of a task, as its event names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Queued,
    Delayed,
    Ready,
    Started,
    Progress,
    Succeeded,
    Failed,
    Lost,
    Released,
    Dead,
    Cancelled,
    Replayed,
}

impl Step {
    /// Reads the kind of an event; other kinds are no steps.
    pub(crate) fn of(kind: &str) -> Option<Self> {
        Some(match kind.strip_prefix("task:")? {
            "queued" => Self::Queued,
            "delayed" => Self::Delayed,
            "ready" => Self::Ready,
            "started" => Self::Started,
            "progress" => Self::Progress,
            "succeeded" => Self::Succeeded,
            "failed" => Self::Failed,
            "lost" => Self::Lost,
            "released" => Self::Released,
            "dead" => Self::Dead,
            "cancelled" => Self::Cancelled,
            "replayed" => Self::Replayed,
            _ => return None,
        })
    }
}

/// What the log has told of a task so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    /// Where it is; none before it was queued.
    pub(crate) place: Option<Place>,
    /// The highest attempt that has started.
    pub(crate) attempt: u32,
    /// How often it was replayed.
    pub(crate) epoch: u32,
    /// How many attempts do not count: those of earlier epochs, and those that were not begun.
    pub(crate) uncounted: u32,
    /// How often it was promoted before its time.
    pub(crate) hurried: u32,
    /// The time before which it must not run.
    pub(crate) due: Option<i64>,
    /// When its last lease ended.
    pub(crate) free_since: Option<i64>,
    /// Whether it has not been promoted since it was queued or replayed.
    pub(crate) fresh: bool,
    /// The line of the last step.
    pub(crate) line: u64,
    /// The line of the last start.
    pub(crate) started: u64,
}

impl Life {
    /// The attempt that holds the lease.
    pub(crate) fn live(&self) -> Option<u32> {
        (self.place == Some(Place::Leased)).then_some(self.attempt)
    }

    /// Whether a promotion now would be before its time.
    pub(crate) fn is_early(&self, at: i64) -> bool {
        self.due.is_some_and(|due| at < due)
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.place.is_some_and(Place::is_terminal)
    }

    /// Follows a step wherever it leads, lawful or not, so that one error is told once.
    ///
    /// `waits` says whether parents have not succeeded yet, and until when it must wait.
    pub(crate) fn follow(&mut self, step: Step, event: &Event, line: u64, waits: Waits) {
        let due = waits.due.filter(|due| *due > event.at);
        if self.place == Some(Place::Leased) && step != Step::Progress {
            self.free_since = Some(event.at);
        }
        match step {
            Step::Progress => return,
            Step::Delayed => self.place = Some(Place::Delayed),
            Step::Ready => {
                self.hurried += u32::from(self.is_early(event.at));
                self.place = Some(Place::Ready);
                (self.due, self.fresh) = (None, false);
            }
            Step::Started => {
                self.place = Some(Place::Leased);
                self.attempt = event.attempt.unwrap_or_default();
                (self.due, self.fresh, self.started) = (None, false, line);
            }
            Step::Succeeded => self.place = Some(Place::Done),
            Step::Dead => self.place = Some(Place::Dead),
            Step::Cancelled => self.place = Some(Place::Cancelled),
            Step::Queued | Step::Failed | Step::Lost | Step::Released | Step::Replayed => {
                self.due = due;
                self.place = Some(match (waits.parents, due) {
                    (true, _) => Place::Blocked,
                    (false, Some(_)) => Place::Delayed,
                    (false, None) => Place::Ready,
                });
                self.fresh = matches!(step, Step::Queued | Step::Replayed);
            }
        }
        match step {
            Step::Released => self.uncounted += 1,
            Step::Replayed => {
                self.epoch += 1;
                self.uncounted = self.attempt;
            }
            _ => {}
        }
        self.line = line;
    }
}

/// What a task waits for after a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    pub(crate) parents: bool,
    /// The time that it waits for, if that is to come.
    pub(crate) due: Option<i64>,
}
