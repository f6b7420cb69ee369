//! Whatever is done to a conversation, nothing that was said is lost.

use std::collections::BTreeMap;

use godel_agents::tree::{Entry, NodeNumber, Tree, TreeError};
use godel_llm::translate::talk::Item;
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Debug, Clone)]
enum Act {
    Say(String),
    Fork(u8, Option<Index>),
    Switch(u8),
    Compact(Option<Index>),
    Save(u8),
}

fn act() -> impl Strategy<Value = Act> {
    let place = || proptest::option::of(any::<Index>());
    prop_oneof![
        4 => "[a-z]{1,6}".prop_map(Act::Say),
        1 => (0_u8..4, place()).prop_map(|(name, at)| Act::Fork(name, at)),
        1 => (0_u8..4).prop_map(Act::Switch),
        1 => place().prop_map(Act::Compact),
        1 => (0_u8..4).prop_map(Act::Save),
    ]
}

fn user(text: &str) -> Item {
    Item::User { text: text.to_owned() }
}

/// What the tree must hold, kept in the plainest way: each branch as its own list.
#[derive(Default)]
struct Model {
    branches: BTreeMap<String, Vec<NodeNumber>>,
    current: String,
    /// The path to each node.
    paths: Vec<Vec<NodeNumber>>,
}

impl Model {
    fn added(&mut self, number: NodeNumber) {
        let path = self.branches.get_mut(&self.current).unwrap();
        path.push(number);
        assert_eq!(self.paths.len(), number.0 as usize);
        self.paths.push(path.clone());
    }
}

fn play(tree: &mut Tree, model: &mut Model, act: &Act) {
    let some_node = |at: &Option<Index>, count: usize| {
        at.filter(|_| count > 0).map(|at| NodeNumber(at.index(count) as u32))
    };
    match act {
        Act::Say(text) => model.added(tree.say(user(text)).unwrap()),
        Act::Fork(name, at) => {
            let (name, at) = (format!("b{name}"), some_node(at, model.paths.len()));
            if tree.fork(&name, at).is_ok() {
                let path = at.map(|at| model.paths[at.0 as usize].clone()).unwrap_or_default();
                assert!(model.branches.insert(name, path).is_none());
            } else {
                assert!(model.branches.contains_key(&name));
            }
        }
        Act::Switch(name) => {
            let name = format!("b{name}");
            assert_eq!(tree.switch(&name).is_ok(), model.branches.contains_key(&name));
            if model.branches.contains_key(&name) {
                model.current = name;
            }
        }
        Act::Compact(at) => {
            let path = model.branches[&model.current].clone();
            let keep = at.filter(|_| !path.is_empty()).map(|at| path[at.index(path.len())]);
            model.added(tree.compact("so far", keep).unwrap());
        }
        Act::Save(name) => {
            let free = !tree.saves().contains_key(&format!("s{name}"));
            let head = model.branches[&model.current].last().copied();
            let saved = tree.save(&format!("s{name}")).ok();
            assert_eq!(saved, head.filter(|_| free));
        }
    }
}

proptest! {
    #[test]
    fn branches_never_lose_or_mix_what_was_said(acts in proptest::collection::vec(act(), 0..60)) {
        let mut tree = Tree::new();
        let mut model = Model {
            branches: BTreeMap::from([("main".to_owned(), Vec::new())]),
            current: "main".to_owned(),
            paths: Vec::new(),
        };
        for act in &acts {
            play(&mut tree, &mut model, act);
            prop_assert_eq!(&tree.path(), &model.branches[&model.current]);
            prop_assert_eq!(tree.nodes().count(), model.paths.len());
        }
        for (name, path) in &model.branches {
            tree.switch(name).unwrap();
            prop_assert_eq!(&tree.path(), path);
        }
        let stored = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tree>(&stored).unwrap(), tree);
    }

    #[test]
    fn nodes_stored_as_rows_as_they_come_give_the_same_tree(
        acts in proptest::collection::vec(act(), 0..60),
    ) {
        let mut tree = Tree::new();
        let mut model = Model {
            branches: BTreeMap::from([("main".to_owned(), Vec::new())]),
            current: "main".to_owned(),
            paths: Vec::new(),
        };
        let mut rows: BTreeMap<u32, String> = BTreeMap::new();
        for act in &acts {
            play(&mut tree, &mut model, act);
            let next = NodeNumber(u32::try_from(rows.len()).unwrap());
            for (number, node) in tree.nodes_from(next) {
                rows.insert(number.0, serde_json::to_string(node).unwrap());
            }
            prop_assert_eq!(rows.len(), tree.len());
        }
        let nodes = rows.values().map(|row| serde_json::from_str(row).unwrap()).collect();
        let (branches, saves) = (tree.branches().clone(), tree.saves().clone());
        for (name, at) in &saves {
            prop_assert_eq!(tree.saved(name), Ok(*at));
        }
        let current = tree.current().to_owned();
        prop_assert_eq!(Tree::from_parts(nodes, branches, saves, current), Ok(tree));
    }

    #[test]
    fn what_is_stored_and_damaged_is_refused_or_sound(
        acts in proptest::collection::vec(act(), 1..30),
        number in 0_u32..40, field in any::<Index>(),
    ) {
        let mut tree = Tree::new();
        let mut model = Model {
            branches: BTreeMap::from([("main".to_owned(), Vec::new())]),
            current: "main".to_owned(),
            paths: Vec::new(),
        };
        acts.iter().for_each(|act| play(&mut tree, &mut model, act));
        let mut stored = serde_json::to_value(&tree).unwrap();
        if let Some(nodes) = stored["nodes"].as_array_mut().filter(|nodes| !nodes.is_empty()) {
            let at = field.index(nodes.len());
            nodes[at]["parent"] = number.into();
        }
        if let Ok(read) = serde_json::from_value::<Tree>(stored) {
            // A sound one can be walked and gone on with.
            let mut read: Tree = read;
            read.context();
            read.say(user("on")).unwrap();
        }
    }
}

#[test]
fn a_summary_stands_for_what_came_before_it() {
    let mut tree = Tree::new();
    tree.say(user("one")).unwrap();
    let two = tree.say(user("two")).unwrap();
    tree.fork("before", Some(two)).unwrap();
    tree.compact("one was said", Some(two)).unwrap();
    tree.say(user("three")).unwrap();
    let texts = |tree: &Tree| -> Vec<String> {
        let text = |item: Item| match item {
            Item::User { text } => text,
            other => panic!("{other:?}"),
        };
        tree.context().into_iter().map(text).collect()
    };
    let told = texts(&tree);
    assert!(told[0].ends_with("one was said"));
    assert_eq!(told[1..], ["two", "three"]);
    tree.switch("before").unwrap();
    assert_eq!(texts(&tree), ["one", "two"]);
}

#[test]
fn names_and_places_are_checked() {
    let mut tree = Tree::new();
    assert!(matches!(tree.fork("a b", None), Err(TreeError::BadName(_))));
    assert!(matches!(tree.fork("main", None), Err(TreeError::Taken(_))));
    assert!(matches!(tree.fork("x", Some(NodeNumber(0))), Err(TreeError::NoNode(_))));
    assert!(matches!(tree.switch("x"), Err(TreeError::NoBranch(_))));
    assert!(tree.save("empty").is_err());
    let entry = Entry::Summary { text: String::new(), keep_from: Some(NodeNumber(3)) };
    assert!(tree.append(entry).is_err());
}
