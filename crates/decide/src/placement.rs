//! Which of the workers that wait gets which task.

use std::cmp::Reverse;

use godel_model::Placement;

/// A task that could be handed out, in the order in which it must be.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The line in which it waits, as a number of the caller's own.
    pub lane: usize,
    /// The session to which it belongs.
    pub session: Option<&'a str>,
}

/// A worker that waits for tasks; those who have waited longest come first.
#[derive(Debug, Clone)]
pub struct Asker {
    /// Which lines are open to it, by their numbers.
    pub open: Vec<bool>,
    /// How many tasks it can take now.
    pub free: u32,
    /// How many it can have in all.
    pub capacity: u32,
}

impl Asker {
    /// Returns how much of it is in use, in thousandths.
    fn load(&self) -> u32 {
        let used = u64::from(self.capacity.saturating_sub(self.free)) * 1_000;
        u32::try_from(used / u64::from(self.capacity.max(1))).unwrap_or(u32::MAX)
    }

    fn takes(&self, offer: &Offer<'_>) -> bool {
        self.free > 0 && self.open.get(offer.lane).copied().unwrap_or_default()
    }
}

/// Gives each offer, in its order, to one of those who can take it; returns pairs of the numbers of
/// offer and asker.
///
/// No offer is left behind for one that comes later, unless nobody who waits can take it.
pub fn place<'a>(
    offers: &[Offer<'a>],
    askers: &mut [Asker],
    policy: Placement,
    last_of: impl Fn(&'a str) -> Option<usize>,
) -> Vec<(usize, usize)> {
    let mut placed = Vec::new();
    // Who was served last waits behind the others.
    let mut served = vec![0_usize; askers.len()];
    let mut room: u32 = askers.iter().map(|asker| asker.free).sum();
    for (number, offer) in offers.iter().enumerate() {
        if room == 0 {
            break;
        }
        let known = match (policy, offer.session) {
            (Placement::Affinity, Some(session)) => last_of(session),
            _ => None,
        };
        let known = known.filter(|asker| askers.get(*asker).is_some_and(|one| one.takes(offer)));
        let able = askers.iter().enumerate().filter(|(_, asker)| asker.takes(offer));
        let chosen = known.or_else(|| match policy {
            Placement::RoundRobin => able
                .min_by_key(|(place, _)| (served.get(*place).copied(), *place))
                .map(|(place, _)| place),
            Placement::LeastLoaded | Placement::Affinity => able
                .min_by_key(|(place, asker)| (asker.load(), Reverse(asker.free), *place))
                .map(|(place, _)| place),
        });
        let Some(chosen) = chosen else { continue };
        if let Some(asker) = askers.get_mut(chosen) {
            asker.free -= 1;
            room -= 1;
        }
        if let Some(served) = served.get_mut(chosen) {
            *served += 1;
        }
        placed.push((number, chosen));
    }
    placed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asker(free: u32, capacity: u32) -> Asker {
        Asker { open: vec![true], free, capacity }
    }

    fn chosen(offers: &[Offer<'_>], askers: &[Asker], policy: Placement) -> Vec<usize> {
        let placed = place(offers, &mut askers.to_vec(), policy, |_| Some(2));
        placed.into_iter().map(|(_, asker)| asker).collect()
    }

    const PLAIN: Offer<'static> = Offer { lane: 0, session: None };

    #[test]
    fn the_least_loaded_comes_first() {
        let askers = [asker(1, 4), asker(3, 4), asker(2, 2)];
        assert_eq!(chosen(&[PLAIN; 4], &askers, Placement::LeastLoaded), [2, 1, 1, 2]);
    }

    #[test]
    fn turns_are_taken() {
        let askers = [asker(2, 9), asker(2, 2), asker(1, 1)];
        assert_eq!(chosen(&[PLAIN; 6], &askers, Placement::RoundRobin), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_session_stays_with_its_worker_while_that_has_room() {
        let askers = [asker(1, 1), asker(1, 1), asker(1, 1)];
        let offer = Offer { lane: 0, session: Some("s") };
        assert_eq!(chosen(&[offer; 3], &askers, Placement::Affinity), [2, 0, 1]);
    }

    proptest! {
        #[test]
        fn nobody_gets_too_much_and_nothing_that_could_go_is_left(
            lanes in prop::collection::vec(0_usize..3, 0..20),
            askers in prop::collection::vec((prop::collection::vec(any::<bool>(), 3), 0_u32..4), 0..6),
            policy in prop::sample::select(Placement::ALL.to_vec()),
        ) {
            let offers: Vec<_> = lanes.iter().map(|lane| Offer { lane: *lane, session: Some("s") }).collect();
            let before: Vec<_> = askers
                .into_iter()
                .map(|(open, free)| Asker { open, free, capacity: 4 })
                .collect();
            let mut after = before.clone();
            let placed = place(&offers, &mut after, policy, |_| Some(0));
            for (place, asker) in before.iter().enumerate() {
                let got = placed.iter().filter(|(_, to)| *to == place).count();
                prop_assert_eq!(got, (asker.free - after[place].free) as usize);
            }
            prop_assert!(placed.is_sorted_by(|one, two| one.0 < two.0));
            for (number, to) in &placed {
                prop_assert!(before[*to].open[offers[*number].lane]);
            }
            for (number, offer) in offers.iter().enumerate() {
                let left = placed.iter().all(|(one, _)| *one != number);
                prop_assert!(!left || !after.iter().any(|asker| asker.takes(offer)));
            }
        }
    }
}
