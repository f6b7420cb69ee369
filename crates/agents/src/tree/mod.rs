//! The conversation of a session as a tree: nothing that was said is ever lost, and one can go on
//! from any point of it.
//!
//! Nodes are only ever added. A branch is a name for a node; what the model sees is the way from the
//! root to the branch that is chosen, from the last summary on.

mod line;
mod prime;
mod record;

use std::collections::BTreeMap;

use godel_llm::translate::talk::Item;
use godel_model::{Code, Report, code};
use serde::{Deserialize, Serialize};

pub use prime::{Handoff, Prime, handoff_note, prime};
pub(crate) use prime::{calls, last};
pub use record::Recorder;

use crate::harness::Harness;

/// The most nodes of one tree.
pub const NODES_MAX: usize = 200_000;
/// The most branches, and the most save points.
pub const NAMES_MAX: usize = 1000;
/// The longest name of a branch or save point.
pub const NAME_MAX_BYTES: usize = 100;
/// The branch that every tree begins with.
pub const MAIN: &str = "main";

/// How a summary is told to the model.
const SUMMARY: &str = "The earlier part of this conversation was left out. This is its summary:";

/// A place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeNumber(pub u32);

impl std::fmt::Display for NodeNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Something that was said or done, behind what came before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What came before; nothing for the first.
    pub parent: Option<NodeNumber>,
    /// What it is.
    pub entry: Entry,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Entry {
    /// Something of the conversation.
    Said {
        /// What.
        item: Item,
    },
    /// What came before is told as a summary from here on.
    Summary {
        /// The summary.
        text: String,
        /// The first node before this one that is still told as it was.
        keep_from: Option<NodeNumber>,
    },
    /// An agent program keeps the conversation up to here under an id of its own.
    Kept {
        /// Which program.
        harness: Harness,
        /// Its id.
        id: String,
    },
}

/// A conversation with all its branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Tree {
    nodes: Vec<Node>,
    /// Where each branch stands; nothing before its first node.
    branches: BTreeMap<String, Option<NodeNumber>>,
    current: String,
    saves: BTreeMap<String, NodeNumber>,
}

/// A tree as it is stored; only a sound one becomes a [`Tree`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    nodes: Vec<Node>,
    branches: BTreeMap<String, Option<NodeNumber>>,
    current: String,
    #[serde(default)]
    saves: BTreeMap<String, NodeNumber>,
}

/// Why a tree cannot be changed, or is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// There is no such node.
    #[error("there is no node {0} in this conversation")]
    NoNode(NodeNumber),
    /// There is no such branch.
    #[error("there is no branch {0:?} in this conversation")]
    NoBranch(String),
    /// There is no such save point.
    #[error("there is no save point {0:?} in this conversation")]
    NoSave(String),
    /// The name is taken.
    #[error("there is already something called {0:?} in this conversation")]
    Taken(String),
    /// The name cannot be used.
    #[error("{0:?} cannot be a name: 1 to {NAME_MAX_BYTES} visible characters without spaces")]
    BadName(String),
    /// It is full.
    #[error("the conversation has too many {0}")]
    Full(&'static str),
    /// What was stored is damaged.
    #[error("the stored conversation is damaged: {0}")]
    Damaged(String),
}

impl Report for TreeError {
    fn code(&self) -> Code {
        match self {
            Self::NoNode(_) | Self::NoBranch(_) | Self::NoSave(_) => code::NODE_NOT_FOUND,
            Self::Taken(_) => code::BRANCH_NAME_TAKEN,
            Self::BadName(_) => code::INVALID_NAME,
            Self::Full(_) => code::CONVERSATION_FULL,
            Self::Damaged(_) => code::CONVERSATION_DAMAGED,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoNode(_) | Self::NoBranch(_) | Self::NoSave(_) => "show the tree of the session",
            Self::Taken(_) | Self::BadName(_) => "choose another name",
            Self::Full(_) => "archive the session and start a new one",
            Self::Damaged(_) => "restore a backup, or start a new session; the work is in git",
        };
        Some(hint.to_owned())
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// Begins a conversation.
    pub fn new() -> Self {
        let branches = BTreeMap::from([(MAIN.to_owned(), None)]);
        Self { nodes: Vec::new(), branches, current: MAIN.to_owned(), saves: BTreeMap::new() }
    }

    /// Puts a tree together again from what was stored of it: nodes in the order of their numbers, from
    /// 0 on without a gap.
    ///
    /// # Errors
    /// If the parts do not fit together.
    pub fn from_parts(
        nodes: Vec<Node>,
        branches: BTreeMap<String, Option<NodeNumber>>,
        saves: BTreeMap<String, NodeNumber>,
        current: String,
    ) -> Result<Self, TreeError> {
        Stored { nodes, branches, current, saves }.try_into()
    }

    /// Puts something behind the current branch.
    ///
    /// # Errors
    /// If the tree is full, or a summary keeps what is not before it.
    pub fn append(&mut self, entry: Entry) -> Result<NodeNumber, TreeError> {
        if self.nodes.len() >= NODES_MAX {
            return Err(TreeError::Full("nodes"));
        }
        let parent = self.head();
        if let Entry::Summary { keep_from: Some(keep), .. } = &entry
            && !self.way(parent).contains(keep)
        {
            return Err(TreeError::NoNode(*keep));
        }
        let number = NodeNumber(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { parent, entry });
        self.branches.insert(self.current.clone(), Some(number));
        Ok(number)
    }

    /// Puts something of the conversation behind the current branch.
    ///
    /// # Errors
    /// If the tree is full.
    pub fn say(&mut self, item: Item) -> Result<NodeNumber, TreeError> {
        self.append(Entry::Said { item })
    }

    /// Begins a branch at a node, or at the very beginning; the current branch stays chosen.
    ///
    /// # Errors
    /// If there is no such node, or the name is taken or none.
    pub fn fork(&mut self, name: &str, at: Option<NodeNumber>) -> Result<(), TreeError> {
        check_name(name)?;
        if let Some(at) = at {
            self.node(at)?;
        }
        if self.branches.contains_key(name) {
            return Err(TreeError::Taken(name.to_owned()));
        }
        if self.branches.len() >= NAMES_MAX {
            return Err(TreeError::Full("branches"));
        }
        self.branches.insert(name.to_owned(), at);
        Ok(())
    }

    /// Chooses the branch to go on with.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn switch(&mut self, name: &str) -> Result<(), TreeError> {
        if !self.branches.contains_key(name) {
            return Err(TreeError::NoBranch(name.to_owned()));
        }
        name.clone_into(&mut self.current);
        Ok(())
    }

    /// Lets a summary stand for what came before `keep_from` (all, if nothing is kept).
    ///
    /// # Errors
    /// As [`Tree::append`].
    pub fn compact(
        &mut self,
        summary: &str,
        keep_from: Option<NodeNumber>,
    ) -> Result<NodeNumber, TreeError> {
        self.append(Entry::Summary { text: summary.to_owned(), keep_from })
    }

    /// Gives the end of the current branch a name, to come back to by [`Tree::fork`].
    ///
    /// # Errors
    /// If nothing was said yet, or the name is taken or none.
    pub fn save(&mut self, name: &str) -> Result<NodeNumber, TreeError> {
        check_name(name)?;
        let at = self.head().ok_or(TreeError::NoNode(NodeNumber(0)))?;
        if self.saves.contains_key(name) {
            return Err(TreeError::Taken(name.to_owned()));
        }
        if self.saves.len() >= NAMES_MAX {
            return Err(TreeError::Full("save points"));
        }
        self.saves.insert(name.to_owned(), at);
        Ok(at)
    }

    /// Returns a node.
    ///
    /// # Errors
    /// If there is none of that number.
    pub fn node(&self, number: NodeNumber) -> Result<&Node, TreeError> {
        self.nodes.get(number.0 as usize).ok_or(TreeError::NoNode(number))
    }

    /// Returns all nodes, each with its number, in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeNumber, &Node)> {
        (0..).map(NodeNumber).zip(&self.nodes)
    }

    /// Returns the nodes from a number on, for whoever has stored those before it.
    pub fn nodes_from(&self, first: NodeNumber) -> impl Iterator<Item = (NodeNumber, &Node)> {
        self.nodes().skip(first.0 as usize)
    }

    /// Returns how many nodes there are; the next one gets this number.
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Tells whether nothing was said yet.
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the node of a save point.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn saved(&self, name: &str) -> Result<NodeNumber, TreeError> {
        self.saves.get(name).copied().ok_or_else(|| TreeError::NoSave(name.to_owned()))
    }

    /// Returns the branches, and where each stands.
    pub const fn branches(&self) -> &BTreeMap<String, Option<NodeNumber>> {
        &self.branches
    }

    /// Returns the save points.
    pub const fn saves(&self) -> &BTreeMap<String, NodeNumber> {
        &self.saves
    }

    /// Returns the name of the branch that is chosen.
    pub fn current(&self) -> &str {
        &self.current
    }

    /// Returns where the current branch stands.
    pub fn head(&self) -> Option<NodeNumber> {
        self.branches.get(&self.current).copied().flatten()
    }

    /// Returns the nodes from the root to the end of the current branch.
    pub fn path(&self) -> Vec<NodeNumber> {
        self.way(self.head())
    }

    /// Returns what the model sees: the current branch, from its last summary on.
    pub fn context(&self) -> Vec<Item> {
        self.context_numbered().into_iter().map(|(_, item)| item).collect()
    }

    /// Returns what the model sees, with the node of each thing.
    pub fn context_numbered(&self) -> Vec<(NodeNumber, Item)> {
        let path = self.path();
        let summary = path.iter().rev().find_map(|at| match self.entry(*at) {
            Some(Entry::Summary { text, keep_from }) => Some((*at, text, *keep_from)),
            _ => None,
        });
        let said = |at: &NodeNumber| match self.entry(*at) {
            Some(Entry::Said { item }) => Some((*at, item.clone())),
            _ => None,
        };
        let Some((at, text, keep_from)) = summary else {
            return path.iter().filter_map(said).collect();
        };
        let from = keep_from.unwrap_or(at);
        let told = Item::User { text: format!("{SUMMARY}\n\n{text}") };
        // The numbers rise along a path.
        let rest = path.iter().filter(|node| **node >= from).filter_map(said);
        std::iter::once((at, told)).chain(rest).collect()
    }

    /// Returns the id under which a program keeps the current branch, if nothing was said since
    /// that it does not know.
    pub fn kept_by(&self, harness: Harness) -> Option<&str> {
        for at in self.path().into_iter().rev() {
            match self.entry(at)? {
                Entry::Kept { harness: by, id } if *by == harness => return Some(id.as_str()),
                Entry::Kept { .. } => {}
                Entry::Said { .. } | Entry::Summary { .. } => return None,
            }
        }
        None
    }

    fn entry(&self, at: NodeNumber) -> Option<&Entry> {
        self.nodes.get(at.0 as usize).map(|node| &node.entry)
    }

    fn way(&self, to: Option<NodeNumber>) -> Vec<NodeNumber> {
        let mut path = Vec::new();
        let mut next = to;
        // A parent has always a lower number, so this ends.
        while let Some(at) = next {
            path.push(at);
            next = self.nodes.get(at.0 as usize).and_then(|node| node.parent);
        }
        path.reverse();
        path
    }
}

fn check_name(name: &str) -> Result<(), TreeError> {
    let visible = |each: char| !each.is_control() && !each.is_whitespace();
    if name.is_empty() || name.len() > NAME_MAX_BYTES || !name.chars().all(visible) {
        return Err(TreeError::BadName(name.chars().take(NAME_MAX_BYTES).collect()));
    }
    Ok(())
}

impl From<Tree> for Stored {
    fn from(tree: Tree) -> Self {
        let Tree { nodes, branches, current, saves } = tree;
        Self { nodes, branches, current, saves }
    }
}

impl TryFrom<Stored> for Tree {
    type Error = TreeError;

    fn try_from(stored: Stored) -> Result<Self, TreeError> {
        let Stored { nodes, branches, current, saves } = stored;
        let damaged = |what: String| Err(TreeError::Damaged(what));
        if nodes.len() > NODES_MAX || branches.len() > NAMES_MAX || saves.len() > NAMES_MAX {
            return Err(TreeError::Full("nodes or names"));
        }
        for (at, node) in nodes.iter().enumerate() {
            let before = |other: &NodeNumber| (other.0 as usize) < at;
            if !node.parent.as_ref().is_none_or(before) {
                return damaged(format!("node {at} comes before its parent"));
            }
        }
        let known = |at: &NodeNumber| (at.0 as usize) < nodes.len();
        if !branches.values().flatten().all(known) || !saves.values().all(known) {
            return damaged("a name leads nowhere".to_owned());
        }
        for name in branches.keys().chain(saves.keys()) {
            check_name(name)?;
        }
        if !branches.contains_key(&current) {
            return damaged("the chosen branch is not there".to_owned());
        }
        // As long as each is behind the one before, all lower numbers are before it.
        let lone = |(at, node): &(usize, &Node)| {
            node.parent.map(|parent| parent.0 as usize) == at.checked_sub(1)
        };
        let straight = nodes.iter().enumerate().take_while(lone).count();
        let tree = Self { nodes, branches, current, saves };
        for (at, node) in tree.nodes() {
            let before = |keep: &NodeNumber| match (at.0 as usize) < straight {
                true => *keep < at,
                false => tree.way(node.parent).contains(keep),
            };
            if let Entry::Summary { keep_from: Some(keep), .. } = &node.entry
                && !before(keep)
            {
                return damaged(format!("node {at} keeps what is not before it"));
            }
        }
        Ok(tree)
    }
}
