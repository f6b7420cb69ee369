//! Backups by schedule: when one is due, when they are late, and which can go.

use jiff::{SignedDuration, Timestamp};

use crate::Health;

/// How many intervals may pass without a backup before something must be wrong.
const LATE_INTERVALS: i32 = 3;

/// Returns how long to wait for the next backup, which is due one interval after the last one began.
pub fn until_backup(
    every: SignedDuration,
    newest: Option<Timestamp>,
    now: Timestamp,
) -> SignedDuration {
    let Some(newest) = newest else { return SignedDuration::ZERO };
    // A clock that went back must not put the next backup off for longer than an interval.
    newest.duration_since(now).saturating_add(every).clamp(SignedDuration::ZERO, every)
}

/// Judges a schedule by the age of its newest backup; without one, by how long it has been running.
pub fn backup_health(every: SignedDuration, newest: Timestamp, now: Timestamp) -> Health {
    let allowed = every.saturating_mul(LATE_INTERVALS);
    if now.duration_since(newest) > allowed { Health::Degraded } else { Health::Healthy }
}

/// Returns those that can go so that the newest `keep` are left; the list is oldest first.
pub fn surplus<T>(oldest_first: &[T], keep: usize) -> &[T] {
    &oldest_first[..oldest_first.len().saturating_sub(keep.max(1))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    #[test]
    fn a_backup_is_due_an_interval_after_the_last_one() {
        let five = SignedDuration::from_mins(5);
        for (newest, now, minutes) in [
            (None, 0, 0),
            (Some(0), 0, 5),
            (Some(0), 4, 1),
            (Some(0), 5, 0),
            (Some(0), 500, 0),
            (Some(90), 0, 5),
        ] {
            let wait = until_backup(five, newest.map(at), at(now));
            assert_eq!(wait, SignedDuration::from_mins(minutes), "{newest:?} {now}");
        }
    }

    #[test]
    fn backups_are_late_after_three_intervals() {
        let five = SignedDuration::from_mins(5);
        assert_eq!(backup_health(five, at(0), at(15)), Health::Healthy);
        assert_eq!(backup_health(five, at(0), at(16)), Health::Degraded);
        assert_eq!(backup_health(five, at(90), at(0)), Health::Healthy);
        assert_eq!(backup_health(SignedDuration::MAX, at(0), at(99)), Health::Healthy);
    }

    #[test]
    fn the_newest_stay() {
        let list = [1, 2, 3, 4];
        assert_eq!(surplus(&list, 3), [1]);
        assert_eq!(surplus(&list, 4), [0; 0]);
        assert_eq!(surplus(&list, 9), [0; 0]);
        assert_eq!(surplus(&list, 0), [1, 2, 3], "one always stays");
    }
}
