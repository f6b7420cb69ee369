//! A conversation as lines of text: what follows stays below, and branches go to the right.

use std::collections::BTreeMap;

use godel_api::TalkNode;

/// How many nodes of a stretch are shown at each of its ends.
const ENDS: usize = 2;
/// How far to the right branches go at most; beyond that they stay in the same column.
const GUIDE_MAX: usize = 120;

/// A line of the drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    /// A node, by its place in the list.
    Node {
        /// What is drawn before it.
        guide: String,
        /// Which.
        at: usize,
    },
    /// Nodes that are left out.
    Gap {
        /// What is drawn before it.
        guide: String,
        /// How many.
        count: usize,
    },
}

/// What is to be drawn.
pub(super) struct Strand<'a> {
    /// The nodes, in the order in which they were added.
    pub(super) nodes: &'a [TalkNode],
    /// Whether a node has a name; such a one is never left out.
    pub(super) is_named: &'a dyn Fn(u32) -> bool,
    /// Whether nothing is left out.
    pub(super) all: bool,
}

/// A stretch that is still to be drawn.
struct Stretch {
    start: usize,
    /// What is drawn before its first node.
    first: String,
    /// What is drawn before all others.
    rest: String,
}

impl Strand<'_> {
    /// Draws it: each node once, a parent before its children.
    pub(super) fn rows(&self) -> Vec<Row> {
        let children = children(self.nodes);
        let none = Vec::new();
        let below = |at: Option<usize>| children.get(&at).unwrap_or(&none);
        let (mut rows, mut ahead) = (Vec::new(), Vec::new());
        fan_out(below(None), "", &mut ahead);
        while let Some(Stretch { start, first, rest }) = ahead.pop() {
            let mut run = vec![start];
            let mut end = start;
            while let [next] = below(Some(end)).as_slice() {
                run.push(*next);
                end = *next;
            }
            self.stretch(&run, (&first, &rest), &mut rows);
            fan_out(below(Some(end)), &rest, &mut ahead);
        }
        rows
    }

    /// Draws nodes that follow each other; of a long stretch only what matters.
    fn stretch(&self, run: &[usize], (first, rest): (&str, &str), rows: &mut Vec<Row>) {
        let matters = |place: usize| {
            let node = &self.nodes[run[place]];
            self.all
                || place < ENDS
                || place + ENDS >= run.len()
                || matches!(node.kind.as_str(), "user" | "summary")
                || (self.is_named)(node.number)
        };
        let mut place = 0;
        while place < run.len() {
            let guide = if place == 0 { first } else { rest }.to_owned();
            let end = (place..run.len()).find(|at| matters(*at)).unwrap_or(run.len());
            // A line that says that one is missing is no shorter.
            if end - place > 1 {
                rows.push(Row::Gap { guide, count: end - place });
                place = end;
            } else {
                rows.push(Row::Node { guide, at: run[place] });
                place += 1;
            }
        }
    }
}

/// Finds what follows each node; one whose parent is not before it begins anew.
fn children(nodes: &[TalkNode]) -> BTreeMap<Option<usize>, Vec<usize>> {
    let places: BTreeMap<u32, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.number, at)).collect();
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let parent = node.parent.and_then(|parent| places.get(&parent).copied());
        children.entry(parent.filter(|parent| *parent < at)).or_default().push(at);
    }
    children
}

/// Lets the branches of a place be drawn next, each a little to the right.
fn fan_out(starts: &[usize], guide: &str, ahead: &mut Vec<Stretch>) {
    let narrow = starts.len() < 2 || guide.chars().count() >= GUIDE_MAX;
    for (place, start) in starts.iter().enumerate().rev() {
        let last = place + 1 == starts.len();
        let (first, rest) = match (narrow, last) {
            (true, _) => ("", ""),
            (false, true) => ("└─ ", "   "),
            (false, false) => ("├─ ", "│  "),
        };
        let (first, rest) = (format!("{guide}{first}"), format!("{guide}{rest}"));
        ahead.push(Stretch { start: *start, first, rest });
    }
}

/// Returns the nodes on the way from the beginning to a node.
pub(super) fn way(nodes: &[TalkNode], end: Option<u32>) -> Vec<&TalkNode> {
    let places: BTreeMap<u32, &TalkNode> = nodes.iter().map(|node| (node.number, node)).collect();
    let mut way: Vec<&TalkNode> = Vec::new();
    let mut next = end;
    while let Some(node) = next.and_then(|number| places.get(&number)) {
        way.push(node);
        // Parents come first; what says otherwise would be a circle.
        next = node.parent.filter(|parent| *parent < node.number);
    }
    way.reverse();
    way
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn node(number: u32, parent: Option<u32>) -> TalkNode {
        TalkNode {
            number,
            parent,
            kind: "model".to_owned(),
            text: String::new(),
            at: None,
            cost_micros: None,
        }
    }

    /// Makes a tree in which each node follows one that came before it.
    fn trees() -> impl Strategy<Value = Vec<TalkNode>> {
        prop::collection::vec((any::<prop::sample::Index>(), 0_u8..4), 1..80).prop_map(|picks| {
            let parent = |number: usize, (index, how): &(prop::sample::Index, u8)| match number {
                0 => None,
                // Most follow the one before, as in real conversations.
                _ if *how > 0 => Some(number as u32 - 1),
                _ => Some(index.index(number) as u32),
            };
            let all = picks.iter().enumerate();
            all.map(|(number, pick)| node(number as u32, parent(number, pick))).collect()
        })
    }

    fn drawn(nodes: &[TalkNode], all: bool) -> Vec<Row> {
        Strand { nodes, is_named: &|number| number % 7 == 0, all }.rows()
    }

    #[test]
    fn a_long_stretch_shows_its_ends_and_what_has_a_name() {
        let nodes: Vec<TalkNode> =
            (0..20).map(|number| node(number, number.checked_sub(1))).collect();
        let rows = drawn(&nodes, false);
        let brief: Vec<String> = rows
            .iter()
            .map(|row| match row {
                Row::Node { at, .. } => at.to_string(),
                Row::Gap { count, .. } => format!("+{count}"),
            })
            .collect();
        assert_eq!(brief, ["0", "1", "+5", "7", "+6", "14", "+3", "18", "19"]);
    }

    #[test]
    fn a_conversation_that_was_never_sound_is_drawn_all_the_same() {
        let nodes = vec![node(0, Some(1)), node(1, Some(0)), node(2, Some(9)), node(3, Some(3))];
        assert_eq!(drawn(&nodes, true).len(), 4);
        assert_eq!(way(&nodes, Some(1)).len(), 2);
        assert!(way(&nodes, Some(8)).is_empty() && way(&[], None).is_empty());
    }

    proptest! {
        #[test]
        fn each_node_is_drawn_once_below_its_parent(nodes in trees()) {
            let rows = drawn(&nodes, true);
            let order: Vec<usize> = rows
                .iter()
                .filter_map(|row| if let Row::Node { at, .. } = row { Some(*at) } else { None })
                .collect();
            prop_assert_eq!(order.len(), nodes.len());
            let place = |number: usize| order.iter().position(|at| *at == number);
            for (at, node) in nodes.iter().enumerate() {
                let parent = node.parent.map(|parent| parent as usize);
                prop_assert!(parent.is_none_or(|parent| place(parent) < place(at)));
            }
        }

        #[test]
        fn what_is_left_out_is_counted_and_has_no_name(nodes in trees()) {
            let rows = drawn(&nodes, false);
            let mut named = 0;
            let counted: usize = rows.iter().map(|row| match row {
                Row::Node { at, .. } => { named += usize::from(at % 7 == 0); 1 }
                Row::Gap { count, .. } => *count,
            }).sum();
            prop_assert_eq!(counted, nodes.len());
            prop_assert_eq!(named, nodes.len().div_ceil(7));
        }

        #[test]
        fn a_way_leads_from_the_beginning_to_the_node(nodes in trees(), pick in any::<prop::sample::Index>()) {
            let end = pick.index(nodes.len()) as u32;
            let way = way(&nodes, Some(end));
            prop_assert_eq!(way[0].parent, None);
            prop_assert_eq!(way[way.len() - 1].number, end);
            prop_assert!(way.windows(2).all(|pair| pair[1].parent == Some(pair[0].number)));
        }
    }
}
