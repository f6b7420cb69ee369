//! Which beads get an agent now.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

/// A bead that could be worked on: nothing that it waits for is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The bead.
    pub bead: &'a str,
    /// The convoy that it is started for, if it is.
    pub convoy: Option<&'a str>,
    /// How many beads stand before it in its convoy, one after the other.
    pub wave: u32,
    /// How urgent it is; less is more urgent.
    pub priority: u8,
    /// Since when it is there.
    pub since: Timestamp,
}

/// A bead that has an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWork<'a> {
    /// The bead.
    pub bead: &'a str,
    /// The convoy that it was started for, if it was.
    pub convoy: Option<&'a str>,
}

/// How many agents may be at work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room<'a> {
    /// In all.
    pub total: u32,
    /// For each convoy that has a limit.
    pub convoys: BTreeMap<&'a str, u32>,
}

/// Chooses the candidates that get an agent now, by their numbers: earlier waves first, then by
/// priority and age.
pub fn start<'a>(
    candidates: &[Candidate<'a>],
    at_work: &[AtWork<'a>],
    room: &Room<'a>,
) -> Vec<usize> {
    let mut used = BTreeMap::<&str, u32>::new();
    for one in at_work {
        *used.entry(one.convoy.unwrap_or_default()).or_default() += 1;
    }
    let busy = u32::try_from(at_work.len()).unwrap_or(u32::MAX);
    let mut free = room.total.saturating_sub(busy);
    let mut taken: BTreeSet<&str> = at_work.iter().map(|one| one.bead).collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|at| {
        let one = &candidates[*at];
        (one.wave, one.priority, one.since, one.bead)
    });
    let mut chosen = Vec::new();
    for at in order {
        let one = &candidates[at];
        if free == 0 {
            break;
        }
        let convoy = one.convoy.unwrap_or_default();
        let most = one.convoy.and_then(|name| room.convoys.get(name));
        let full = most.is_some_and(|most| used.get(convoy).copied().unwrap_or(0) >= *most);
        if full || !taken.insert(one.bead) {
            continue;
        }
        *used.entry(convoy).or_default() += 1;
        free -= 1;
        chosen.push(at);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate<'a>(
        bead: &'a str,
        convoy: Option<&'static str>,
        wave: u32,
        priority: u8,
    ) -> Candidate<'a> {
        Candidate { bead, convoy, wave, priority, since: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn the_first_wave_and_the_most_urgent_go_first_within_their_limits() {
        let candidates = [
            candidate("late", Some("c"), 1, 0),
            candidate("calm", Some("c"), 0, 3),
            candidate("urgent", Some("c"), 0, 0),
            candidate("alone", None, 0, 4),
            candidate("busy", None, 0, 0),
        ];
        let at_work = [AtWork { bead: "busy", convoy: None }];
        let room = Room { total: 4, convoys: BTreeMap::from([("c", 1)]) };
        assert_eq!(start(&candidates, &at_work, &room), [2, 3]);
        let room = Room { total: 4, convoys: BTreeMap::new() };
        assert_eq!(start(&candidates, &at_work, &room), [2, 1, 3]);
        assert!(start(&candidates, &at_work, &Room { total: 1, ..Room::default() }).is_empty());
    }

    proptest! {
        #[test]
        fn limits_hold_no_bead_starts_twice_and_no_room_is_wasted(
            beads in proptest::collection::vec((0_u8..12, any::<bool>(), 0_u32..3, 0_u8..3), 0..20),
            busy in proptest::collection::vec((0_u8..12, any::<bool>()), 0..5),
            total in 0_u32..8, most in 0_u32..5,
        ) {
            let names: Vec<String> = (0..12).map(|at| format!("b{at}")).collect();
            let convoy = |is: bool| is.then_some("c");
            let candidates: Vec<Candidate<'_>> = beads
                .iter()
                .map(|(bead, is, wave, priority)| {
                    candidate(&names[usize::from(*bead)], convoy(*is), *wave, *priority)
                })
                .collect();
            let at_work: Vec<AtWork<'_>> = busy
                .iter()
                .map(|(bead, is)| AtWork { bead: &names[usize::from(*bead)], convoy: convoy(*is) })
                .collect();
            let room = Room { total, convoys: BTreeMap::from([("c", most)]) };
            let chosen = start(&candidates, &at_work, &room);
            let beads: Vec<&str> = chosen.iter().map(|at| candidates[*at].bead).collect();
            let unique: BTreeSet<&str> = beads.iter().copied().collect();
            prop_assert_eq!(unique.len(), beads.len());
            prop_assert!(at_work.iter().all(|one| !unique.contains(one.bead)));
            let working = u32::try_from(at_work.len() + chosen.len()).unwrap();
            prop_assert!(chosen.is_empty() || working <= total);
            let in_convoy = |is_new: bool| {
                let old = at_work.iter().filter(|one| one.convoy.is_some()).count();
                let new = chosen.iter().filter(|at| candidates[**at].convoy.is_some()).count();
                u32::try_from(if is_new { old + new } else { new }).unwrap()
            };
            prop_assert!(in_convoy(false) == 0 || in_convoy(true) <= most);
            // Whoever was left out had no room, or has an agent.
            for one in candidates.iter().filter(|one| !unique.contains(one.bead)) {
                let has = at_work.iter().any(|other| other.bead == one.bead);
                let full = working >= total || one.convoy.is_some() && in_convoy(true) >= most;
                prop_assert!(has || full, "{:?}", one);
            }
        }
    }
}
