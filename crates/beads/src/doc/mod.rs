//! Documents: what a bead, a convoy or a memory looks like on disk, and how two of them merge.

mod canonical;
mod edit;
mod merge;
mod parse;
mod render;

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use godel_model::{BeadStatus, Stamp};
use serde_json::{Value, json};

pub use canonical::canonical;
pub use edit::Edit;

/// What a document is about, which is also its folder in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A unit of work.
    Bead,
    /// A bundle of beads.
    Convoy,
    /// Something that is worth knowing later.
    Memory,
}

impl Class {
    /// Returns the folder in the tree.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Bead => "beads",
            Self::Convoy => "convoys",
            Self::Memory => "memory",
        }
    }
}

/// A value with the moment at which it was last set; `None` means removed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Register {
    pub(crate) stamp: Stamp,
    pub(crate) value: Option<Value>,
}

impl Register {
    /// Orders two values of one field; the greater one stays.
    fn order(&self, other: &Self) -> Ordering {
        let text = |register: &Self| register.value.as_ref().map(canonical);
        self.stamp.cmp(&other.stamp).then_with(|| text(self).cmp(&text(other)))
    }
}

/// How far a bead has come. Being done beats not being done; only a reopening beats that.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Progress {
    /// How often it was opened again after being done.
    pub(crate) reopened: u32,
    /// How often it was moved back since then.
    pub(crate) back: u32,
    pub(crate) stamp: Stamp,
    pub(crate) status: String,
    pub(crate) resolution: Option<Value>,
}

impl Progress {
    pub(crate) fn known(&self) -> Option<BeadStatus> {
        self.status.parse().ok()
    }

    fn order(&self, other: &Self) -> Ordering {
        let key = |one: &Self| {
            // A status of a later version counts as being worked on.
            let status = one.known().unwrap_or(BeadStatus::InProgress);
            (one.reopened, status == BeadStatus::Done, one.back, status, one.stamp)
        };
        let text = |one: &Self| (one.status.clone(), one.resolution.as_ref().map(canonical));
        key(self).cmp(&key(other)).then_with(|| text(self).cmp(&text(other)))
    }
}

/// Who holds a bead. Of two claims made apart the earlier one stays; a later turn beats both.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hold {
    /// Counts the claims and assignments of this bead.
    pub(crate) turn: u32,
    /// When this turn began.
    pub(crate) since: Stamp,
    pub(crate) stamp: Stamp,
    pub(crate) agent: Option<String>,
    pub(crate) lease: Option<Value>,
}

impl Hold {
    fn order(&self, other: &Self) -> Ordering {
        let key = |one: &Self| (one.turn, Reverse(one.since), one.stamp);
        let text = |one: &Self| (one.agent.clone(), one.lease.as_ref().map(canonical));
        key(self).cmp(&key(other)).then_with(|| text(self).cmp(&text(other)))
    }
}

/// That somebody deleted the document; it stays as long as nobody edits it later.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deletion {
    pub(crate) stamp: Stamp,
    pub(crate) by: String,
}

/// One document with everything that is needed to merge it with another copy of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub(crate) class: Class,
    /// The moment of its making; fields without a stamp of their own are as old.
    pub(crate) born: Stamp,
    /// Plain fields, those that this version does not know included.
    pub(crate) fields: BTreeMap<String, Register>,
    /// Fields that are sets or maps: name, then key of the element.
    pub(crate) sets: BTreeMap<String, BTreeMap<String, Register>>,
    /// Comments by id; they are only ever added.
    pub(crate) comments: BTreeMap<String, Value>,
    pub(crate) progress: Option<Progress>,
    pub(crate) hold: Option<Hold>,
    pub(crate) deletion: Option<Deletion>,
}

/// How the elements of a field are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One value.
    Plain,
    /// A set of texts.
    Texts,
    /// A set of objects, told apart by these members.
    Keyed(&'static [&'static str]),
    /// An object whose members are merged one by one.
    Members,
}

/// Returns the shape of a field by its name.
pub(crate) fn shape(field: &str) -> Shape {
    match field {
        "labels" | "commits" | "beads" | "aliases" => Shape::Texts,
        "links" => Shape::Keyed(&["type", "target"]),
        "verdicts" => Shape::Keyed(&["gate"]),
        "metadata" => Shape::Members,
        _ => Shape::Plain,
    }
}

/// What the id of a comment begins with that follows from the rest; no stamp begins so.
pub(crate) const REVIVED: &str = "revived-";

/// Fields that follow from others and are written for the reader only.
pub(crate) const DERIVED: [&str; 3] = ["updatedAt", "deletedAt", "parentBead"];

impl Document {
    /// Returns the last moment at which anything but its deletion was changed.
    pub(crate) fn edited(&self) -> Stamp {
        let fields = self.fields.values();
        let elements = self.sets.values().flat_map(BTreeMap::values);
        let stamps = fields.chain(elements).map(|register| register.stamp);
        let progress = self.progress.iter().map(|progress| progress.stamp);
        let hold = self.hold.iter().map(|hold| hold.stamp);
        let comments = self.comments.keys().filter_map(|id| id.parse().ok());
        stamps.chain(progress).chain(hold).chain(comments).fold(self.born, Stamp::max)
    }

    /// Returns the last moment at which anything was changed.
    pub(crate) fn touched(&self) -> Stamp {
        self.deletion.iter().map(|deletion| deletion.stamp).fold(self.edited(), Stamp::max)
    }

    /// Returns the deletion, unless somebody edited the document after it.
    pub(crate) fn deleted(&self) -> Option<&Deletion> {
        self.deletion.as_ref().filter(|deletion| deletion.stamp >= self.edited())
    }

    /// Returns what was said, and that the document came back after it was deleted, if it did.
    ///
    /// The latter follows from the rest, so every clone says the same.
    pub fn said(&self) -> Vec<Value> {
        let mut said: Vec<Value> = self.comments.values().cloned().collect();
        if let Some(deletion) = self.deletion.as_ref().filter(|_| self.deleted().is_none()) {
            let (by, at) = (&deletion.by, deletion.stamp.time().to_string());
            let text = format!(
                "{by} deleted this at {at}, and it was edited afterwards, here or in another \
                 clone: the edit keeps it."
            );
            let id = format!("{REVIVED}{}", deletion.stamp);
            said.push(json!({ "id": id, "at": at, "by": "godel", "text": text }));
        }
        said
    }

    /// Returns a plain field.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)?.value.as_ref()
    }

    /// Returns a plain field that is text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.get(field)?.as_str()
    }

    /// Returns the elements of a set that are there.
    pub fn elements(&self, field: &str) -> impl Iterator<Item = (&str, &Value)> {
        let elements = self.sets.get(field).into_iter().flatten();
        elements.filter_map(|(key, one)| Some((key.as_str(), one.value.as_ref()?)))
    }

    /// Returns what it is about.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        self.text("id").unwrap_or_default()
    }

    /// Returns what tells two different documents with one id apart.
    pub fn birth(&self) -> &str {
        self.text("birth").unwrap_or_default()
    }
}
