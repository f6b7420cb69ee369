//! Making and changing documents: every change carries the moment at which it was made.

use std::collections::BTreeMap;

use godel_model::{BeadStatus, NodeId, Stamp};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Class, Deletion, Document, Hold, Progress, Register};

/// One change of a document, made at one moment.
#[derive(Debug)]
pub struct Edit<'a> {
    document: &'a mut Document,
    stamp: Stamp,
}

impl Document {
    /// Makes a document that was not there before.
    pub fn new(class: Class, id: &str, birth: &str, now: Timestamp, node: NodeId) -> Self {
        let born = Stamp::after(Stamp::ZERO, now, node);
        let mut document = Self {
            class,
            born,
            fields: BTreeMap::new(),
            sets: BTreeMap::new(),
            comments: BTreeMap::new(),
            progress: None,
            hold: None,
            deletion: None,
        };
        let mut edit = Edit { document: &mut document, stamp: born };
        edit.set("id", id.into());
        edit.set("birth", birth.into());
        edit.set("createdAt", born.time().to_string().into());
        if class == Class::Bead {
            let (status, resolution) = (BeadStatus::Open.as_str().to_owned(), None);
            let open = Progress { reopened: 0, back: 0, stamp: born, status, resolution };
            document.progress = Some(open);
        }
        document
    }

    /// Begins a change that is later than all that the document knows of.
    pub fn edit(&mut self, now: Timestamp, node: NodeId) -> Edit<'_> {
        let stamp = Stamp::after(self.touched(), now, node);
        Edit { document: self, stamp }
    }

    /// Goes on with the making of the document: what is set now is as old as the document.
    pub fn complete(&mut self) -> Edit<'_> {
        let stamp = self.born;
        Edit { document: self, stamp }
    }
}

impl Edit<'_> {
    /// Returns the moment of this change.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Sets a plain field.
    pub fn set(&mut self, field: &str, value: Value) {
        self.put(field, Some(value));
    }

    /// Sets a plain field, though it may be the same as before: that counts as an edit, too, and brings back
    /// what was deleted.
    pub fn set_anew(&mut self, field: &str, value: Value) {
        let register = Register { stamp: self.stamp, value: Some(value) };
        self.document.fields.insert(field.to_owned(), register);
    }

    /// Removes a plain field.
    pub fn clear(&mut self, field: &str) {
        if self.document.get(field).is_some() {
            self.put(field, None);
        }
    }

    fn put(&mut self, field: &str, value: Option<Value>) {
        if self.document.fields.get(field).is_some_and(|known| known.value == value) {
            return;
        }
        let register = Register { stamp: self.stamp, value };
        self.document.fields.insert(field.to_owned(), register);
    }

    /// Puts an element into a set, or changes it.
    pub fn add(&mut self, set: &str, key: &str, value: Value) {
        self.element(set, key, Some(value));
    }

    /// Takes an element out of a set; tells whether it was there.
    pub fn remove(&mut self, set: &str, key: &str) -> bool {
        let there = self.document.elements(set).any(|(known, _)| known == key);
        if there {
            self.element(set, key, None);
        }
        there
    }

    fn element(&mut self, set: &str, key: &str, value: Option<Value>) {
        let elements = self.document.sets.entry(set.to_owned()).or_default();
        if elements.get(key).is_some_and(|known| known.value == value) {
            return;
        }
        elements.insert(key.to_owned(), Register { stamp: self.stamp, value });
    }

    /// Adds a comment and returns its id.
    pub fn comment(&mut self, by: &str, text: &str) -> String {
        let id = self.stamp.to_string();
        let at = self.stamp.time().to_string();
        let comment = json!({ "id": id, "at": at, "by": by, "text": text });
        self.document.comments.insert(id.clone(), comment);
        id
    }

    /// Adds a comment that another system made, under its own id.
    pub fn foreign_comment(&mut self, id: &str, comment: Value) {
        self.document.comments.entry(id.to_owned()).or_insert(comment);
    }

    /// Moves the bead to a status.
    pub fn progress(&mut self, status: BeadStatus, resolution: Option<Value>) {
        let before = self.document.progress.take();
        let (mut reopened, mut back) = (0, 0);
        if let Some(before) = before {
            (reopened, back) = (before.reopened, before.back);
            let known = before.known().unwrap_or(BeadStatus::InProgress);
            if known == BeadStatus::Done && status != BeadStatus::Done {
                (reopened, back) = (reopened + 1, 0);
            } else if status < known {
                back += 1;
            }
        }
        let (stamp, status) = (self.stamp, status.as_str().to_owned());
        self.document.progress = Some(Progress { reopened, back, stamp, status, resolution });
    }

    /// Begins a new turn: the bead is held by an agent, with or without a lease.
    pub fn take(&mut self, agent: Option<String>, lease: Option<Value>) {
        let turn = self.document.hold.as_ref().map_or(0, |hold| hold.turn) + 1;
        let (since, stamp) = (self.stamp, self.stamp);
        self.document.hold = Some(Hold { turn, since, stamp, agent, lease });
    }

    /// Changes the turn that is under way.
    pub fn keep(&mut self, agent: Option<String>, lease: Option<Value>) {
        let stamp = self.stamp;
        if let Some(hold) = self.document.hold.as_mut() {
            *hold = Hold { turn: hold.turn, since: hold.since, stamp, agent, lease };
        }
    }

    /// Deletes the document.
    pub fn delete(&mut self, by: &str) {
        self.document.deletion = Some(Deletion { stamp: self.stamp, by: by.to_owned() });
    }
}
