//! Merging two copies of one document, field by field.
//!
//! The merge is the least upper bound of two states, so it does not matter in which order, how
//! often or where copies are merged.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Document, Register, canonical};

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
        self
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
