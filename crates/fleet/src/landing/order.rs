//! The order of the line: whoever may hold it up may also say who is tried next.

use godel_app::{Call, beads};
use godel_model::{ProjectId, Reach, code};
use godel_store::Tx;
use jiff::{SignedDuration, Timestamp};
use tracing::instrument;
use uuid::Uuid;

use super::entry::{Entry, Stage};
use super::queue;
use crate::{Error, Fleet, Result, paper};

/// Where an entry goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whither {
    /// Before all others that wait.
    First,
    /// Before this bead.
    Before(String),
    /// Behind all others that wait.
    Last,
}

/// Gives a bead that waits in the line another place among those that wait.
///
/// # Errors
/// If the caller may not, or one of the beads does not wait in the line.
#[instrument(level = "debug", name = "fleet.landing.reorder", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn reorder(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
    whither: Whither,
) -> Result<Entry> {
    call.may("review", "update", Reach::Team)?;
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let (project, bead) = (found.project, found.value.0.id);
    let whither = match whither {
        // People say only as much of an id as is needed.
        Whither::Before(other) => {
            let other = beads::get(fleet.app(), call, Some(project), &other).await?;
            Whither::Before(other.value.0.id)
        }
        end => end,
    };
    let (app, call_) = (fleet.app().clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let mut waiting =
            paper::in_state::<Entry>(tx, Stage::Waiting.as_str(), None, queue::LOOK_MAX)?;
        waiting.retain(|entry| entry.project == project);
        waiting.sort_by_key(Entry::place);
        let line: Vec<(Uuid, String, Timestamp)> =
            waiting.iter().map(|one| (one.id, one.bead.clone(), one.place().0)).collect();
        for (id, at) in places(&line, &bead, &whither)? {
            let change = move |_: &mut Tx<'_>, entry: &mut Entry| {
                entry.placed_at = Some(at);
                Ok(())
            };
            paper::change_in::<Entry, ()>(tx, id, change)?;
        }
        let name = Entry::name_of(project, &bead);
        let entry = paper::by_label::<Entry>(tx, &name)?;
        let entry = entry.ok_or_else(|| Error::NotQueued(bead.clone()))?;
        queue::tell(&app, &call_, tx, "landing:moved", &entry)?;
        Ok(entry)
    };
    let entry = paper::write(fleet.app(), call.actor.tenant, work).await?;
    fleet.own.moved.notify_waiters();
    Ok(entry)
}

/// Says which entries of a line get which place. The places are those that there are, so that whoever comes later
/// stays behind; two that came in the same moment are kept apart.
fn places(
    line: &[(Uuid, String, Timestamp)],
    bead: &str,
    to: &Whither,
) -> Result<Vec<(Uuid, Timestamp)>> {
    let at = |wanted: &str| {
        let found = line.iter().position(|(_, one, _)| one == wanted);
        found.ok_or_else(|| {
            Error::refused(
                code::LANDING_REFUSED,
                format!("{wanted} does not wait in the line"),
                "only what waits can get another place: see `godel land status`",
            )
        })
    };
    let from = at(bead)?;
    let mut order: Vec<usize> = (0..line.len()).filter(|one| *one != from).collect();
    let to = match to {
        Whither::First => 0,
        Whither::Last => order.len(),
        Whither::Before(other) if other == bead => return Ok(Vec::new()),
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

    fn line(times: &[i64]) -> Vec<(Uuid, String, Timestamp)> {
        let mut line: Vec<_> = times
            .iter()
            .enumerate()
            .map(|(at, time)| {
                let id = Uuid::from_u128(at as u128);
                (id, format!("b{at}"), Timestamp::from_microsecond(*time).unwrap())
            })
            .collect();
        line.sort_by_key(|(id, _, at)| (*at, *id));
        line
    }

    fn order(line: &[(Uuid, String, Timestamp)], changed: &[(Uuid, Timestamp)]) -> Vec<String> {
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
            let now = order(&line, &places(&line, &bead, &to).unwrap());
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
        assert!(places(&line, "b9", &Whither::First).is_err());
        assert!(places(&line, "b0", &Whither::Before("b9".to_owned())).is_err());
    }
}
