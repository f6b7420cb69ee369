//! What a worker tells of its work.

use std::fmt;
use std::sync::Arc;

use godel_api::{GivenTask, Worker};
use uuid::Uuid;

use crate::attempt::Ended;

/// Something that happened.
#[derive(Debug)]
pub enum Note<'n> {
    /// The worker is there.
    Registered(&'n Worker),
    /// A task has begun.
    Began(&'n GivenTask),
    /// An attempt is over.
    Ended(&'n Ended),
    /// The worker has left.
    Left(Uuid),
    /// Something that people may want to know.
    Remark(&'n str),
}

/// Who is told. Cheap to clone.
#[derive(Clone)]
pub struct Notes(Arc<dyn Fn(Note<'_>) + Send + Sync>);

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notes")
    }
}

impl Notes {
    /// Tells everything to somebody.
    pub fn new(reader: impl Fn(Note<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(reader))
    }

    pub(crate) fn tell(&self, note: Note<'_>) {
        (self.0)(note);
    }

    pub(crate) fn remark(&self, text: impl fmt::Display) {
        self.tell(Note::Remark(&text.to_string()));
    }
}
