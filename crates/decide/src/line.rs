//! The order of a line: one that waits gets another place, and nobody has to count.

use jiff::{SignedDuration, Timestamp};

/// Where somebody in a line goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whither {
    /// Before all others that wait.
    First,
    /// Before this one.
    Before(String),
    /// Behind all others that wait.
    Last,
}

/// One of a line: its id, its name, and the moment that is its place.
pub type Waiting<Id> = (Id, String, Timestamp);

/// Says who of a line gets which place, if one of it is moved. The places are those that there are, so that whoever
/// comes later stays behind; two that came in the same moment are kept apart.
///
/// # Errors
/// Names the one that is not in the line.
pub fn reorder<Id: Copy>(
    line: &[Waiting<Id>],
    name: &str,
    to: &Whither,
) -> Result<Vec<(Id, Timestamp)>, String> {
    let at = |wanted: &str| {
        let found = line.iter().position(|(_, one, _)| one == wanted);
        found.ok_or_else(|| wanted.to_owned())
    };
    let from = at(name)?;
    let mut order: Vec<usize> = (0..line.len()).filter(|one| *one != from).collect();
    let to = match to {
        Whither::First => 0,
        Whither::Last => order.len(),
        Whither::Before(other) if other == name => return Ok(Vec::new()),
        Whither::Before(other) => {
            let other = at(other)?;
            order.iter().position(|one| *one == other).unwrap_or(order.len())
        }
    };
    order.insert(to, from);
    let mut last: Option<Timestamp> = None;
    let mut changed = Vec::new();
    for (slot, one) in order.into_iter().enumerate() {
        let least = last.map(|last| last + SignedDuration::from_micros(1));
        let when = least.map_or(line[slot].2, |least| least.max(line[slot].2));
        last = Some(when);
        if when != line[one].2 {
            changed.push((line[one].0, when));
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(times: &[i64]) -> Vec<Waiting<usize>> {
        let mut line: Vec<_> = times
            .iter()
            .enumerate()
            .map(|(at, time)| {
                let id = at;
                (id, format!("b{at}"), Timestamp::from_microsecond(*time).unwrap())
            })
            .collect();
        line.sort_by_key(|(id, _, at)| (*at, *id));
        line
    }

    fn order(line: &[Waiting<usize>], changed: &[(usize, Timestamp)]) -> Vec<String> {
        let mut now = line.to_vec();
        for (id, at) in changed {
            now.iter_mut().find(|one| one.0 == *id).unwrap().2 = *at;
        }
        now.sort_by_key(|(id, _, at)| (*at, *id));
        now.into_iter().map(|one| one.1).collect()
    }

    proptest! {
        #[test]
        fn one_moves_and_the_others_stay_in_their_order(
            times in proptest::collection::vec(0_i64..6, 1..12),
            pick in any::<proptest::sample::Index>(),
            other in any::<proptest::sample::Index>(),
            kind in 0..3,
        ) {
            let line = line(&times);
            let bead = line[pick.index(line.len())].1.clone();
            let before = line[other.index(line.len())].1.clone();
            let to = match kind {
                0 => Whither::First,
                1 => Whither::Last,
                _ => Whither::Before(before.clone()),
            };
            let now = order(&line, &reorder(&line, &bead, &to).unwrap());
            let rest = |all: &[String]| -> Vec<String> {
                all.iter().filter(|one| **one != bead).cloned().collect()
            };
            let was: Vec<String> = line.iter().map(|one| one.1.clone()).collect();
            prop_assert_eq!(rest(&now), rest(&was));
            match kind {
                0 => prop_assert_eq!(&now[0], &bead),
                1 => prop_assert_eq!(now.last(), Some(&bead)),
                _ if before == bead => prop_assert_eq!(now, was),
                _ => {
                    let at = now.iter().position(|one| *one == bead).unwrap();
                    prop_assert_eq!(&now[at + 1], &before);
                }
            }
        }
    }

    #[test]
    fn what_does_not_wait_has_no_place() {
        let line = line(&[1, 2]);
        assert!(reorder(&line, "b9", &Whither::First).is_err());
        assert!(reorder(&line, "b0", &Whither::Before("b9".to_owned())).is_err());
    }
}
