//! Looking things up.

use super::{Shelf, diff, of_path, path_of};
use crate::doc::{Class, Document};
use crate::git::Tree;
use crate::index::{Filter, Index, Page, Row, Table, Waiting};
use crate::view::{Bead, Convoy, Memory};
use crate::{Error, Result};

/// The shortest beginning of an id that is looked up.
const PREFIX_MAX_CHARS: usize = 200;

impl Index {
    /// Returns the one id that a name stands for: an id, an alias, or the beginning of either.
    pub(crate) fn resolve(&self, table: Table, name: &str) -> Result<String> {
        let what = if table == Table::Convoys { "convoy" } else { "bead" };
        let missing = || Error::NotFound { what, name: name.chars().take(80).collect() };
        if name.is_empty() || name.len() > PREFIX_MAX_CHARS || name.chars().any(char::is_control) {
            return Err(missing());
        }
        let mut found = self.beginning(table, name)?;
        if table == Table::Beads {
            if found.is_empty() && !name.starts_with("godel-") {
                found = self.beginning(table, &format!("godel-{name}"))?;
            }
            // A whole alias means that bead, even if another's begins so.
            for table in [Table::Alias, Table::Aliases] {
                if found.is_empty() {
                    found = self.beginning(table, name)?;
                }
            }
        }
        if table == Table::Convoys && found.is_empty() {
            found = self.beginning(table, &format!("convoy-{name}"))?;
        }
        match found.len() {
            0 => Err(missing()),
            1 => Ok(found.remove(0)),
            _ if found.iter().any(|id| id == name) => Ok(name.to_owned()),
            _ => Err(Error::Ambiguous { prefix: name.to_owned(), candidates: found }),
        }
    }
}

impl Shelf {
    /// Returns the one bead that a name stands for.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn bead_id(&mut self, name: &str) -> Result<String> {
        // A whole id needs no index.
        if self.find(Class::Bead, name)?.is_some() {
            return Ok(name.to_owned());
        }
        self.index()?.resolve(Table::Beads, name)
    }

    /// Returns the one convoy that a name stands for.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn convoy_id(&mut self, name: &str) -> Result<String> {
        self.index()?.resolve(Table::Convoys, name)
    }

    /// Returns a document by its whole id.
    ///
    /// # Errors
    /// If it is damaged, or the repository cannot be read.
    pub fn find(&mut self, class: Class, id: &str) -> Result<Option<Document>> {
        if id.is_empty() || id.contains('/') || id.chars().any(char::is_control) {
            return Ok(None);
        }
        if self.tip_is_foreign_merge()? {
            self.index()?;
        }
        match self.find_at_tip(class, id) {
            // What plain git left behind may have been healed by now.
            Err(Error::Damaged { .. }) => {
                self.index()?;
                self.find_at_tip(class, id)
            }
            found => found,
        }
    }

    fn find_at_tip(&mut self, class: Class, id: &str) -> Result<Option<Document>> {
        let Some(tip) = self.tip()? else { return Ok(None) };
        let mut trees = self.trees(Some(tip))?;
        let path = path_of(class, id);
        let blob = trees.get(&self.repository, &path);
        self.known = Some((tip.commit, trees));
        blob?.map(|blob| self.document(class, &path, blob)).transpose()
    }

    /// Returns a bead by its id or the beginning of it; a deleted one too.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn bead(&mut self, name: &str) -> Result<Document> {
        let id = self.bead_id(name)?;
        let missing = || Error::NotFound { what: "bead", name: name.to_owned() };
        self.find(Class::Bead, &id)?.ok_or_else(missing)
    }

    /// Returns a convoy by its id or the beginning of it.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn convoy(&mut self, name: &str) -> Result<Document> {
        let id = self.convoy_id(name)?;
        let found = self.find(Class::Convoy, &id)?.filter(|convoy| convoy.deleted().is_none());
        found.ok_or_else(|| Error::NotFound { what: "convoy", name: name.to_owned() })
    }

    /// Lists beads, a page at a time.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn list(&mut self, filter: &Filter, page: &Page) -> Result<Vec<Row>> {
        self.index()?.list(filter, page)
    }

    /// Counts beads.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn count(&mut self, filter: &Filter) -> Result<u64> {
        self.index()?.count(filter)
    }

    /// Returns a line of a list.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn row(&mut self, id: &str) -> Result<Option<Row>> {
        self.index()?.row(id)
    }

    /// Lists what can be begun now: by priority, then age.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn ready(&mut self, limit: usize) -> Result<Vec<Row>> {
        let now = self.now();
        self.index()?.ready(now, limit)
    }

    /// Lists what cannot be begun now, with what keeps each.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn waiting(&mut self, limit: usize) -> Result<Vec<Waiting>> {
        let now = self.now();
        self.index()?.waiting(now, limit)
    }

    /// Returns the whole bead of a line of a list.
    ///
    /// # Errors
    /// If it is damaged, or the repository cannot be read.
    pub fn whole(&self, row: &Row) -> Result<Bead> {
        let missing = || Error::NotFound { what: "bead", name: row.id.clone() };
        let blob = row.blob.ok_or_else(missing)?;
        let path = path_of(Class::Bead, &row.id);
        Ok(Bead::of(&self.document(Class::Bead, &path, blob)?))
    }

    /// Lists the convoys, the newest first.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn convoys(&mut self) -> Result<Vec<Convoy>> {
        let mut convoys = Vec::new();
        for id in self.index()?.convoys()? {
            convoys.extend(self.find(Class::Convoy, &id)?.as_ref().map(Convoy::of));
        }
        Ok(convoys)
    }

    /// Returns the convoys that hold a bead.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn convoys_of(&mut self, bead: &str) -> Result<Vec<String>> {
        self.index()?.convoys_of(bead)
    }

    /// Lists what is remembered.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn memories(&mut self) -> Result<Vec<Memory>> {
        let Some(tip) = self.tip()? else { return Ok(Vec::new()) };
        let root = Tree::read(&self.repository, tip.tree)?;
        let folder = root.get(Class::Memory.folder());
        let mut memories = Vec::new();
        for change in diff(&self.repository, None, folder)? {
            let path = format!("{}/{}", Class::Memory.folder(), change.path);
            if let (Some(blob), Some(_)) = (change.new, of_path(&path))
                && let Ok(document) = self.document(Class::Memory, &path, blob)
            {
                memories.extend(Memory::of(&document));
            }
        }
        Ok(memories)
    }

    /// Lists the documents that cannot be read, and why.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn damaged(&mut self) -> Result<Vec<(String, String)>> {
        self.index()?.damaged()
    }
}
