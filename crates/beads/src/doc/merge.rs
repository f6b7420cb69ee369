//! Merging two copies of one document, field by field.
//!
//! The merge is the least upper bound of two states, so it does not matter in which order, how
//! often or where copies are merged.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::json;

use super::{Document, Register, canonical};

/// What ids of comments that a merge writes begin with; no stamp begins so.
const REVIVED: &str = "revived-";

impl Document {
    /// Merges another copy of the same document into this one.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        self.born = self.born.min(other.born);
        join(&mut self.fields, other.fields);
        for (field, elements) in other.sets {
            join(self.sets.entry(field).or_default(), elements);
        }
        for (id, comment) in other.comments {
            let mine = self.comments.entry(id).or_insert_with(|| comment.clone());
            if canonical(mine) < canonical(&comment) {
                *mine = comment;
            }
        }
        self.progress = greater(self.progress, other.progress, super::Progress::order);
        self.hold = greater(self.hold, other.hold, super::Hold::order);
        self.deletion = self.deletion.max(other.deletion);
        self.note_revival();
        self
    }

    /// Says in a comment that the document was deleted and came back, if it did.
    ///
    /// The comment follows from the deletion alone, so every clone writes the same.
    fn note_revival(&mut self) {
        let Some(deletion) = self.deletion.as_ref() else { return };
        if self.deleted().is_some() {
            return;
        }
        let at = deletion.stamp.time();
        let id = format!("{REVIVED}{}", deletion.stamp);
        let text = format!(
            "{} deleted this at {at}, and it was edited elsewhere afterwards: the edit keeps it.",
            deletion.by
        );
        let comment = json!({ "id": id, "at": at.to_string(), "by": "godel", "text": text });
        self.comments.insert(id, comment);
    }
}

fn join(mine: &mut BTreeMap<String, Register>, theirs: BTreeMap<String, Register>) {
    for (key, register) in theirs {
        match mine.get_mut(&key) {
            Some(known) if known.order(&register) == Ordering::Less => *known = register,
            Some(_) => {}
            None => {
                mine.insert(key, register);
            }
        }
    }
}

fn greater<T>(mine: Option<T>, theirs: Option<T>, order: fn(&T, &T) -> Ordering) -> Option<T> {
    match (mine, theirs) {
        (Some(mine), Some(theirs)) if order(&mine, &theirs) == Ordering::Less => Some(theirs),
        (Some(mine), _) => Some(mine),
        (None, theirs) => theirs,
    }
}
