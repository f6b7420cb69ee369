//! One way through a conversation, on its own: what a model saw at a node, and nothing of other branches.

use std::collections::BTreeMap;

use super::{Entry, MAIN, NODES_MAX, Node, NodeNumber, Tree, TreeError};

impl Tree {
    /// Returns the way to a node as nodes of their own: from 0 on, each behind the one before.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn line(&self, to: Option<NodeNumber>) -> Result<Vec<Node>, TreeError> {
        if let Some(to) = to {
            self.node(to)?;
        }
        let way = self.way(to);
        // The numbers rise along a way.
        let anew = |old: NodeNumber| way.binary_search(&old).ok().map(number);
        let nodes = way.iter().enumerate().map(|(at, old)| {
            let mut entry = self.node(*old)?.entry.clone();
            if let Entry::Summary { keep_from, .. } = &mut entry {
                *keep_from = keep_from.and_then(anew);
            }
            Ok(Node { parent: at.checked_sub(1).map(number), entry })
        });
        nodes.collect()
    }

    /// Makes a conversation of nodes as [`Tree::line`] gives them; anybody may have written them.
    ///
    /// # Errors
    /// If they are not one behind the other, or too many.
    pub fn of_line(nodes: Vec<Node>) -> Result<Self, TreeError> {
        if nodes.len() > NODES_MAX {
            return Err(TreeError::Full("nodes"));
        }
        for (at, node) in nodes.iter().enumerate() {
            if node.parent != at.checked_sub(1).map(number) {
                return Err(TreeError::Damaged(format!("node {at} is not behind the one before")));
            }
            if let Entry::Summary { keep_from: Some(keep), .. } = &node.entry
                && keep.0 as usize >= at
            {
                return Err(TreeError::Damaged(format!("node {at} keeps what is not before it")));
            }
        }
        let head = nodes.len().checked_sub(1).map(number);
        let branches = BTreeMap::from([(MAIN.to_owned(), head)]);
        Ok(Self { nodes, branches, current: MAIN.to_owned(), saves: BTreeMap::new() })
    }
}

fn number(at: usize) -> NodeNumber {
    NodeNumber(u32::try_from(at).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use godel_llm::translate::talk::Item;

    use super::*;

    fn said(text: &str) -> Entry {
        Entry::Said { item: Item::User { text: text.to_owned() } }
    }

    #[test]
    fn a_line_shows_the_model_what_the_tree_showed_it() {
        let mut tree = Tree::new();
        for text in ["a", "b", "c"] {
            tree.append(said(text)).unwrap();
        }
        tree.fork("other", Some(NodeNumber(1))).unwrap();
        tree.append(said("not on the way")).unwrap();
        tree.switch("other").unwrap();
        tree.append(said("d")).unwrap();
        tree.compact("short", Some(NodeNumber(1))).unwrap();
        tree.append(said("e")).unwrap();
        let line = Tree::of_line(tree.line(tree.head()).unwrap()).unwrap();
        assert_eq!(line.context(), tree.context());
        assert_eq!(line.len(), 5);
        let stored = serde_json::to_value(&line).unwrap();
        assert_eq!(serde_json::from_value::<Tree>(stored).unwrap(), line);
        assert_eq!(Tree::of_line(tree.line(None).unwrap()).unwrap(), Tree::new());
        assert!(tree.line(Some(NodeNumber(99))).is_err());
    }

    #[test]
    fn nonsense_is_no_line() {
        let node = |parent: Option<u32>, entry| Node { parent: parent.map(NodeNumber), entry };
        let keeps =
            |keep| Entry::Summary { text: String::new(), keep_from: Some(NodeNumber(keep)) };
        let bad = [
            vec![node(Some(0), said("its own parent"))],
            vec![node(None, said("a")), node(None, said("a second root"))],
            vec![node(None, said("a")), node(Some(7), said("a parent to come"))],
            vec![node(None, keeps(0))],
            vec![node(None, said("a")), node(Some(0), keeps(u32::MAX))],
        ];
        for nodes in bad {
            assert!(matches!(Tree::of_line(nodes), Err(TreeError::Damaged(_))));
        }
    }

    #[test]
    fn a_long_line_of_summaries_is_read_in_a_moment() {
        let entry = |at| Entry::Summary {
            text: String::new(),
            keep_from: (at > 0).then_some(NodeNumber(0)),
        };
        let nodes = (0..100_000_usize)
            .map(|at| Node { parent: at.checked_sub(1).map(number), entry: entry(at) });
        let line = Tree::of_line(nodes.collect()).unwrap();
        // As it is read from disk: to walk to the root for each would take minutes.
        let stored = serde_json::to_vec(&line).unwrap();
        assert_eq!(serde_json::from_slice::<Tree>(&stored).unwrap(), line);
    }
}
