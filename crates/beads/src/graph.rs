//! What a convoy looks like: its waves, how far it is, and whether it is stuck.

use std::collections::{BTreeMap, BTreeSet};

use godel_model::BeadStatus;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::Result;
use crate::index::Row;
use crate::shelf::Shelf;
use crate::view::Convoy;

/// After how long without any change a convoy counts as stalled.
const STALLED_AFTER_HOURS: i64 = 24;

/// A convoy with the state of its beads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConvoyState {
    /// The convoy.
    #[serde(flatten)]
    pub convoy: Convoy,
    /// Its beads in the order in which they can be worked on: all of a wave at the same time.
    pub waves: Vec<Vec<Row>>,
    /// Beads that wait for each other, and so are in no wave.
    pub tangled: Vec<Row>,
    /// Beads that are named but not here.
    pub missing: Vec<String>,
    /// How far it is.
    pub progress: Progress,
    /// Why nothing moves, if nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled: Option<String>,
}

/// How far a convoy is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// How many beads there are.
    pub total: usize,
    /// How many nobody works on.
    pub open: usize,
    /// How many are being worked on.
    pub in_progress: usize,
    /// How many wait to be judged.
    pub review: usize,
    /// How many are done.
    pub done: usize,
    /// How many of the open ones something holds up.
    pub blocked: usize,
    /// How many of a hundred are done.
    pub percent: usize,
}

impl Progress {
    fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut progress = Self::default();
        for row in rows {
            progress.total += 1;
            match row.status {
                BeadStatus::Open => progress.open += 1,
                BeadStatus::InProgress => progress.in_progress += 1,
                BeadStatus::Review => progress.review += 1,
                BeadStatus::Done => progress.done += 1,
            }
            progress.blocked += usize::from(row.blocked && row.status == BeadStatus::Open);
        }
        progress.percent = (progress.done * 100).checked_div(progress.total).unwrap_or(0);
        progress
    }
}

/// Puts things in waves: each thing comes after all that it needs; what is left is a tangle.
pub(crate) fn waves(needs: &BTreeMap<String, BTreeSet<String>>) -> (Vec<Vec<String>>, Vec<String>) {
    let mut left: BTreeMap<&String, BTreeSet<&String>> = needs
        .iter()
        .map(|(one, needs)| (one, needs.iter().filter(|other| *other != one).collect()))
        .collect();
    let known: BTreeSet<&String> = left.keys().copied().collect();
    left.values_mut().for_each(|needs| needs.retain(|other| known.contains(other)));
    let mut waves = Vec::new();
    loop {
        let free: Vec<&String> =
            left.iter().filter(|(_, needs)| needs.is_empty()).map(|(one, _)| *one).collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|one| drop(left.remove(one)));
        left.values_mut().for_each(|needs| needs.retain(|other| !free.contains(other)));
        waves.push(free.into_iter().cloned().collect());
    }
    (waves, left.into_keys().cloned().collect())
}

impl Shelf {
    /// Returns a convoy with the state of its beads.
    ///
    /// # Errors
    /// If there is no such convoy.
    pub fn convoy_state(&mut self, name: &str) -> Result<ConvoyState> {
        let convoy = Convoy::of(&self.convoy(name)?);
        let now = self.now();
        let index = self.index()?;
        let (mut rows, mut missing) = (BTreeMap::new(), Vec::new());
        for id in &convoy.beads {
            match index.row(id)?.filter(|row| !row.deleted) {
                Some(row) => drop(rows.insert(id.clone(), row)),
                None => missing.push(id.clone()),
            }
        }
        let mut needs = BTreeMap::new();
        for id in rows.keys() {
            needs.insert(id.clone(), index.links_to(id)?.into_iter().collect());
        }
        let ready: BTreeSet<String> = index.ready_among(now, &convoy.id)?.into_iter().collect();
        let (ordered, tangled) = waves(&needs);
        let progress = Progress::of(rows.values());
        let stalled = stalled(&convoy, &rows, &ready, now);
        let mut take = |ids: Vec<String>| {
            let mut wave: Vec<Row> = ids.iter().filter_map(|id| rows.remove(id)).collect();
            wave.sort_by_key(|row| (row.priority, row.created_at));
            wave
        };
        let waves = ordered.into_iter().map(&mut take).collect();
        let tangled = take(tangled);
        Ok(ConvoyState { convoy, waves, tangled, missing, progress, stalled })
    }
}

/// Says why nothing in a convoy moves, if nothing does.
fn stalled(
    convoy: &Convoy,
    rows: &BTreeMap<String, Row>,
    ready: &BTreeSet<String>,
    now: Timestamp,
) -> Option<String> {
    let open = |row: &&Row| row.status != BeadStatus::Done;
    if convoy.status != "active" || !rows.values().any(|row| open(&row)) {
        return None;
    }
    let moving = |row: &&Row| matches!(row.status, BeadStatus::InProgress | BeadStatus::Review);
    if ready.is_empty() && !rows.values().any(|row| moving(&row)) {
        return Some("every open bead is blocked, deferred or held".to_owned());
    }
    let last = rows.values().map(|row| row.updated_at).max()?;
    let quiet = now.duration_since(last);
    (quiet > SignedDuration::from_hours(STALLED_AFTER_HOURS))
        .then(|| format!("nothing has changed for {} hours", quiet.as_hours()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn needs(pairs: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        pairs.iter().map(|(one, needs)| ((*one).to_owned(), set(needs))).collect()
    }

    #[test]
    fn each_wave_needs_only_earlier_ones() {
        let graph = needs(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c", "x"])]);
        let (waves, tangled) = waves(&graph);
        assert_eq!(waves, [vec!["a"], vec!["b", "c"], vec!["d"]]);
        assert!(tangled.is_empty());
    }

    #[test]
    fn a_circle_is_a_tangle_and_hides_nothing() {
        let graph = needs(&[("a", &["b"]), ("b", &["a"]), ("c", &[]), ("d", &["a"])]);
        let (waves, tangled) = waves(&graph);
        assert_eq!(waves, [vec!["c"]]);
        assert_eq!(tangled, ["a", "b", "d"]);
    }

    proptest! {
        #[test]
        fn everything_is_in_one_wave_or_tangled(
            links in proptest::collection::vec((0_u8..12, 0_u8..12), 0..40)
        ) {
            let mut graph: BTreeMap<String, BTreeSet<String>> =
                (0..12).map(|n| (n.to_string(), BTreeSet::new())).collect();
            for (from, to) in links {
                graph.get_mut(&from.to_string()).unwrap().insert(to.to_string());
            }
            let (waves, tangled) = waves(&graph);
            let mut seen = BTreeSet::new();
            for wave in &waves {
                for one in wave {
                    let earlier = graph[one].iter().all(|need| need == one || seen.contains(need));
                    prop_assert!(earlier, "{one} came before what it needs");
                }
                seen.extend(wave.iter().cloned());
            }
            prop_assert_eq!(seen.len() + tangled.len(), 12);
        }
    }
}
