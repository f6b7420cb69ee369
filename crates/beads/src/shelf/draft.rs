//! A change under way: nothing of it is seen by others until all of it is durable.

use std::collections::BTreeMap;

use gix::ObjectId;
use godel_model::{BeadId, ConvoyId, Mint, NodeId};
use jiff::Timestamp;

use super::{Shelf, path_of};
use crate::doc::{Class, Document, Edit};
use crate::git::Trees;
use crate::index::{Index, Table};
use crate::view::{Bead, Convoy, tag};
use crate::{Error, Result};

/// One thing that was done, as the diary tells it and as an event names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The event, such as `bead:created`.
    pub event: String,
    /// The document it was done to.
    pub id: String,
    /// Who did it.
    pub by: String,
    /// What was done, for people.
    pub line: String,
}

/// A change under way.
#[derive(Debug)]
pub struct Draft<'a> {
    pub(super) shelf: &'a Shelf,
    pub(super) trees: &'a mut Trees,
    pub(super) node: NodeId,
    /// Who makes the change.
    pub(super) by: String,
    /// Documents that earlier jobs of the same batch have changed.
    pub(super) earlier: &'a BTreeMap<(Class, String), (Document, ObjectId)>,
    /// Documents of commits of the same batch, which are not on disk yet.
    pub(super) sealed: &'a BTreeMap<(Class, String), Document>,
    /// Documents that this job has changed.
    pub(super) own: BTreeMap<(Class, String), (Document, ObjectId)>,
    pub(super) acts: Vec<Act>,
    pub(super) hash: gix::hash::Kind,
}

impl Draft<'_> {
    /// Returns the present moment.
    pub fn now(&self) -> Timestamp {
        self.shelf.now()
    }

    /// Returns who makes the change.
    pub fn by(&self) -> &str {
        &self.by
    }

    pub(crate) fn index(&self) -> Result<&Index> {
        self.shelf.opened()
    }

    pub(crate) fn mint(&self) -> Mint {
        self.shelf.options.mint
    }

    /// Returns a document as it is at this point of the change.
    pub(crate) fn find(&mut self, class: Class, id: &str) -> Result<Option<Document>> {
        let key = (class, id.to_owned());
        if let Some((document, _)) = self.own.get(&key).or_else(|| self.earlier.get(&key)) {
            return Ok(Some(document.clone()));
        }
        if let Some(document) = self.sealed.get(&key) {
            return Ok(Some(document.clone()));
        }
        let path = path_of(class, id);
        let Some(blob) = self.trees.get(&self.shelf.repository, &path)? else { return Ok(None) };
        self.shelf.document(class, &path, blob).map(Some)
    }

    /// Returns a bead that is not deleted, by its id or the beginning of it.
    pub(crate) fn bead(&mut self, name: &str) -> Result<Document> {
        let id = self.index()?.resolve(Table::Beads, name)?;
        let found = self.find(Class::Bead, &id)?.filter(|bead| bead.deleted().is_none());
        found.ok_or_else(|| Error::NotFound { what: "bead", name: name.to_owned() })
    }

    /// Returns a bead as it is at this point of the change.
    ///
    /// # Errors
    /// If there is none.
    pub fn look(&mut self, name: &str) -> Result<Bead> {
        self.bead(name).map(|document| Bead::of(&document))
    }

    /// Tells whether a token proves the claim that holds a bead now.
    pub fn holds(&self, bead: &Bead, token: &str) -> bool {
        crate::ops::holds(bead, token, self.now())
    }

    /// Returns the entity tag of a bead or convoy as it is at this point of the change.
    ///
    /// # Errors
    /// If there is none.
    pub fn tag(&mut self, id: &str) -> Result<String> {
        let bead = self.find(Class::Bead, id)?;
        let found = match bead {
            Some(bead) => Some(bead),
            None => self.find(Class::Convoy, id)?,
        };
        let missing = || Error::NotFound { what: "bead", name: id.to_owned() };
        found.map(|document| tag(&document)).ok_or_else(missing)
    }

    /// Returns who made a convoy.
    ///
    /// # Errors
    /// If there is none.
    pub fn look_convoy(&mut self, name: &str) -> Result<Convoy> {
        self.convoy(name).map(|document| Convoy::of(&document))
    }

    /// Returns a convoy that is not deleted, by its id or the beginning of it.
    pub(crate) fn convoy(&mut self, name: &str) -> Result<Document> {
        let id = self.index()?.resolve(Table::Convoys, name)?;
        let found = self.find(Class::Convoy, &id)?.filter(|convoy| convoy.deleted().is_none());
        found.ok_or_else(|| Error::NotFound { what: "convoy", name: name.to_owned() })
    }

    /// Makes what tells a new document apart from another with the same id, made in another clone.
    pub(crate) fn birth(&self) -> String {
        format!("{:016x}", u64::from_be_bytes(self.mint().bytes::<8>()))
    }

    /// Begins a new document.
    pub(crate) fn fresh(&self, class: Class, id: &str, birth: &str) -> Document {
        Document::new(class, id, birth, self.now(), self.node)
    }

    /// Begins a change of a document.
    pub(crate) fn edit<'d>(&self, document: &'d mut Document) -> Edit<'d> {
        document.edit(self.now(), self.node)
    }

    /// Puts a document on the shelf and writes in the diary what was done.
    pub(crate) fn put(&mut self, document: Document, event: &str, line: String) -> Result<()> {
        let (by, id) = (self.by.clone(), document.id().to_owned());
        // A line of the diary is one line, whatever somebody wrote as a reason.
        let line = line.replace(char::is_control, " ");
        self.acts.push(Act { event: event.to_owned(), id, by, line });
        self.put_silently(document)
    }

    /// Puts a document on the shelf as a part of something that the diary tells otherwise.
    pub(crate) fn put_silently(&mut self, document: Document) -> Result<()> {
        let blob = crate::git::blob_id(self.hash, &document.to_bytes())?;
        self.index()?.apply(&document, blob, true)?;
        self.own.insert((document.class, document.id().to_owned()), (document, blob));
        Ok(())
    }

    /// Makes a bead's id that nobody has.
    pub(crate) fn bead_id(&mut self) -> Result<BeadId> {
        let count = self.index()?.size()?;
        for more in 0..40 {
            // Bad luck is met with longer ids.
            let id = BeadId::mint(self.mint(), count << more);
            if self.find(Class::Bead, id.as_str())?.is_none() {
                return Ok(id);
            }
        }
        Err(Error::Lost("no id is free"))
    }

    /// Makes a convoy's id that nobody has.
    pub(crate) fn convoy_id(&mut self) -> Result<ConvoyId> {
        let day = self.now().to_zoned(jiff::tz::TimeZone::UTC).date();
        for more in 0..40 {
            let id = ConvoyId::mint(self.mint(), day, 3 + more / 8);
            if self.find(Class::Convoy, id.as_str())?.is_none() {
                return Ok(id);
            }
        }
        Err(Error::Lost("no id is free"))
    }
}
