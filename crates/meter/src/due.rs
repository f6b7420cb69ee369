//! What is owed for a time.

use godel_fleet::Agent;
use godel_model::{Life, QUARTER_MICROS, micros};

/// So many microseconds are an hour.
const HOUR_MICROS: i128 = 3_600_000_000;
/// So many seconds are a month of 30 days.
const MONTH_SECONDS: u128 = 30 * 24 * 3_600;
/// So many bytes are a gigabyte.
const GB_BYTES: u128 = 1_000_000_000;

/// A time, in microseconds since 1970; the end does not belong to it.
pub(crate) type Span = (i64, i64);

/// Splits a time where quarters of an hour end; tells each quarter and the part of the time in it.
pub(crate) fn quarters((from, to): Span) -> impl Iterator<Item = (i64, Span)> {
    let first = from.div_euclid(QUARTER_MICROS);
    let last = (to - 1).div_euclid(QUARTER_MICROS);
    (first..=last).map(move |quarter| {
        let begin = quarter * QUARTER_MICROS;
        (quarter, (from.max(begin), to.min(begin + QUARTER_MICROS)))
    })
}

/// Tells since when an agent was in which state.
pub(crate) fn story(agent: &Agent) -> Vec<(i64, Life)> {
    agent.history.iter().map(|step| (micros(step.at), step.life)).collect()
}

/// Returns for how many microseconds of a time somebody was at work.
fn at_work(story: &[(i64, Life)], (from, to): Span) -> i64 {
    let ends = story.iter().skip(1).map(|(at, _)| *at).chain([i64::MAX]);
    // Who waits for a turn has no place yet.
    let has_place = |life: Life| life.is_running() && life != Life::Initializing;
    let parts = story.iter().zip(ends).filter(|((_, life), _)| has_place(*life));
    parts.map(|((since, _), end)| (end.min(to) - (*since).max(from)).max(0)).sum()
}

/// Returns what somebody owes for a part of a quarter of an hour. The parts of a quarter owe together what all
/// of it owes: nothing is lost because each is rounded.
pub(crate) fn for_work(story: &[(i64, Life)], hourly: i64, (from, to): Span) -> i64 {
    let begin = from.div_euclid(QUARTER_MICROS) * QUARTER_MICROS;
    let owed = |until| {
        let worked = i128::from(at_work(story, (begin, until)));
        worked * i128::from(hourly) / HOUR_MICROS
    };
    i64::try_from(owed(to) - owed(from)).unwrap_or(i64::MAX)
}

/// Returns what is owed for files that were kept for so many bytes and seconds, one multiplied by the other. All
/// files of the place are `all` bytes large, and take `disk` bytes, less where several are the same.
pub(crate) fn for_room(monthly: i64, byte_seconds: u128, (all, disk): (u64, u64)) -> i64 {
    if all == 0 {
        return 0;
    }
    // What nobody needs any more is nobody's, until it is swept.
    let room_seconds = byte_seconds * u128::from(disk.min(all)) / u128::from(all);
    let monthly = u128::try_from(monthly).unwrap_or(0);
    i64::try_from(room_seconds * monthly / (GB_BYTES * MONTH_SECONDS)).unwrap_or(i64::MAX)
}

/// Splits what is owed for a time among its quarters of an hour, to the last part of it.
pub(crate) fn split(owed: i64, (from, to): Span) -> impl Iterator<Item = (i64, i64)> {
    let whole = i128::from((to - from).max(1));
    let up_to = move |at: i64| i128::from(owed) * i128::from(at - from) / whole;
    quarters((from, to)).map(move |(quarter, (begin, end))| {
        (quarter, i64::try_from(up_to(end) - up_to(begin)).unwrap_or(i64::MAX))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: i64 = 60_000_000;
    const HOUR: i64 = 60 * MINUTE;

    #[test]
    fn an_hour_at_work_costs_the_rate_and_a_pause_costs_nothing() {
        let story = [
            (-30 * MINUTE, Life::Initializing),
            (0, Life::Spawning),
            (10 * MINUTE, Life::Executing),
            (40 * MINUTE, Life::Paused),
            (70 * MINUTE, Life::Executing),
            (90 * MINUTE, Life::Completed),
        ];
        let sum = |to| -> i64 {
            quarters((0, to)).map(|(_, part)| for_work(&story, 120_000, part)).sum()
        };
        assert_eq!(sum(30 * MINUTE), 60_000);
        assert_eq!(sum(HOUR), 80_000, "it stood still since the fortieth minute");
        assert_eq!(sum(9 * HOUR), 120_000);
    }

    #[test]
    fn a_gigabyte_for_a_month_costs_the_rate_of_what_it_takes_on_disk() {
        let month = 30 * 24 * 3_600;
        let kept = 1_000_000_000 * month;
        assert_eq!(for_room(100_000, kept, (1_000_000_000, 1_000_000_000)), 100_000);
        // Two that hold the same take the room of one.
        assert_eq!(for_room(100_000, kept, (2_000_000_000, 1_000_000_000)), 50_000);
        // What others have forgotten is not paid by who stayed.
        assert_eq!(for_room(100_000, kept, (1_000_000_000, 99_000_000_000)), 100_000);
        assert_eq!(for_room(100_000, 0, (0, 0)), 0);
    }

    fn life() -> impl Strategy<Value = Life> {
        prop::sample::select(Life::ALL.to_vec())
    }

    proptest! {
        /// However often it is looked, all of it is paid, and once.
        #[test]
        fn the_parts_of_a_time_owe_what_all_of_it_owes(
            steps in prop::collection::vec((0..3 * HOUR, life()), 1..12),
            cuts in prop::collection::vec(0..4 * HOUR, 0..40),
            hourly in 0_i64..10_000_000,
        ) {
            let mut story = steps;
            story.sort_by_key(|(at, _)| *at);
            let owed = |from: i64, to: i64| -> i64 {
                quarters((from, to)).map(|(_, part)| for_work(&story, hourly, part)).sum()
            };
            let mut edges = cuts;
            edges.extend([0, 4 * HOUR]);
            edges.sort_unstable();
            let parts: i64 = edges.windows(2).map(|pair| owed(pair[0], pair[1])).sum();
            prop_assert_eq!(parts, owed(0, 4 * HOUR));
            // At most a millionth is rounded away in each quarter of an hour.
            let worked = at_work(&story, (0, 4 * HOUR));
            let exact = i128::from(worked) * i128::from(hourly) / HOUR_MICROS;
            prop_assert!((i128::from(parts) - exact).abs() <= 16, "{} {}", parts, exact);
        }

        /// What is split among quarters is as much as before.
        #[test]
        fn what_is_split_adds_up(owed in 0_i64..1_000_000_000, from in 0..HOUR, long in 1..40 * HOUR) {
            let parts: Vec<_> = split(owed, (from, from + long)).collect();
            prop_assert_eq!(parts.iter().map(|(_, part)| part).sum::<i64>(), owed);
            prop_assert!(parts.iter().all(|(_, part)| *part >= 0));
        }
    }
}
