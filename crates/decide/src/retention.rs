//! Retention: how much of the log is kept.

use godel_model::{Event, Seq};
use jiff::{SignedDuration, Timestamp};

/// How much of a tenant's log is kept; what breaks either limit goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The oldest age.
    pub max_age: SignedDuration,
    /// The largest number of events.
    pub max_events: u64,
}

impl Default for Retention {
    /// 30 days, at 100,000 events a day.
    fn default() -> Self {
        Self { max_age: SignedDuration::from_hours(30 * 24), max_events: 3_000_000 }
    }
}

/// Returns the position up to which the oldest events can go, or `None` if all are kept.
///
/// Only a run at the beginning goes: an old event behind a young one (a clock was wrong) stays.
pub fn cut(retention: Retention, oldest: &[Event], head: Seq, now: Timestamp) -> Option<Seq> {
    let kept_by_count = head.0.saturating_sub_unsigned(retention.max_events);
    let kept_by_age = now.saturating_sub(retention.max_age).unwrap_or(Timestamp::MIN);
    oldest
        .iter()
        .take_while(|event| event.seq.0 <= kept_by_count || event.at < kept_by_age)
        .last()
        .map(|event| event.seq)
}

#[cfg(test)]
mod tests {
    use godel_model::{Metadata, Mint, Payload, Source};

    use super::*;

    fn log(ages_days: &[i64], now: Timestamp) -> Vec<Event> {
        let event = |(index, days): (usize, &i64)| Event {
            id: Mint::system().id(),
            seq: Seq(index as i64 + 1),
            kind: "test:thing".parse().unwrap(),
            at: now - SignedDuration::from_hours(24 * days),
            source: Source::component("test"),
            payload: Payload::of(&()),
            metadata: Metadata::default(),
        };
        ages_days.iter().enumerate().map(event).collect()
    }

    #[test]
    fn the_oldest_go_by_age_or_by_count() {
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        let keep = |days: i64, max_events| Retention {
            max_age: SignedDuration::from_hours(24 * days),
            max_events,
        };
        let log = log(&[40, 35, 20, 31, 1], now);
        let head = Seq(5);
        assert_eq!(cut(keep(30, 100), &log, head, now), Some(Seq(2)), "a young one stops the cut");
        assert_eq!(cut(keep(100, 1), &log, head, now), Some(Seq(4)));
        assert_eq!(cut(keep(100, 5), &log, head, now), None);
        assert_eq!(cut(keep(0, 100), &log, head, now), Some(Seq(5)));
        assert_eq!(cut(Retention::default(), &[], Seq(0), now), None);
    }
}
