//! Chooses whose files stand for an end.

use jiff::Timestamp;

/// Returns the nodes from the root to one of them.
pub(super) fn way(parents: &[Option<u32>], to: u32) -> Vec<u32> {
    let before = |node: &u32| {
        let parent = parents.get(*node as usize).copied().flatten();
        // Numbers rise along a way; what is damaged must not be walked for ever.
        parent.filter(|parent| parent < node)
    };
    let mut way: Vec<u32> = std::iter::successors(Some(to), before).collect();
    way.reverse();
    way
}

/// Finds the snapshot at the end of a way, or at the nearest node before it; the newest if there are several.
///
/// One that was taken before anything was said is at no node, and stands for none.
pub(super) fn nearest(way: &[u32], kept: &[(Option<u32>, Timestamp)]) -> Option<usize> {
    let at = |node: u32| {
        let here = kept.iter().enumerate().filter(move |(_, one)| one.0 == Some(node));
        here.max_by_key(|(_, one)| one.1).map(|(index, _)| index)
    };
    way.iter().rev().find_map(|node| at(*node))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_newest_at_the_nearest_node_of_the_own_branch_is_chosen() {
        // 0 - 1 - 2 - 3, and 1 - 4 - 5.
        let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(4)];
        assert_eq!(way(&parents, 5), [0, 1, 4, 5]);
        let kept =
            [(Some(1), second(9)), (Some(2), second(1)), (Some(2), second(5)), (None, second(99))];
        let of = |node| nearest(&way(&parents, node), &kept);
        assert_eq!(of(3), Some(2), "the newest of those at the nearest node");
        assert_eq!(of(2), Some(2));
        assert_eq!(of(5), Some(0), "what the other branch kept is not its own");
        assert_eq!(of(0), None, "what was kept later is not its own");
    }

    #[test]
    fn a_damaged_way_has_an_end() {
        assert_eq!(way(&[Some(1), Some(0)], 1), [0, 1]);
        assert_eq!(way(&[Some(0)], 0), [0]);
        assert_eq!(way(&[], 7), [7]);
    }

    proptest! {
        #[test]
        fn what_is_chosen_is_on_the_way_and_nothing_is_nearer_or_newer(
            picks in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
            kept in prop::collection::vec((any::<prop::sample::Index>(), 0_i64..20), 0..20),
            end in any::<prop::sample::Index>(),
        ) {
            let parent = |(at, pick): (usize, &prop::sample::Index)| {
                (at > 0).then(|| u32::try_from(pick.index(at)).unwrap())
            };
            let parents: Vec<Option<u32>> = picks.iter().enumerate().map(parent).collect();
            let node = |pick: &prop::sample::Index| u32::try_from(pick.index(parents.len())).unwrap();
            let kept: Vec<_> = kept.iter().map(|(at, when)| (Some(node(at)), second(*when))).collect();
            let way = way(&parents, node(&end));
            let place = |of: Option<u32>| way.iter().position(|step| Some(*step) == of);
            let best = kept.iter().filter_map(|one| Some((place(one.0)?, one.1))).max();
            let found = nearest(&way, &kept).map(|at| (place(kept[at].0).unwrap(), kept[at].1));
            prop_assert_eq!(found, best);
            prop_assert_eq!(way.first(), Some(&0));
            prop_assert_eq!(way.last(), Some(&node(&end)));
        }
    }
}
