//! Folders of the tree, kept in memory between writes so that only what changes is written anew.

use std::collections::HashMap;

use gix::ObjectId;
use gix::object::Kind;
use gix::object::tree::EntryKind;

use super::pack::Pack;
use crate::{Error, Result};

/// One folder: names and what they stand for, sorted by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    entries: Vec<(String, EntryKind, ObjectId)>,
}

impl Tree {
    /// Reads a folder.
    pub(crate) fn read(repository: &gix::Repository, id: ObjectId) -> Result<Self> {
        let bytes = super::read_object(repository, id)?;
        let mut entries = Vec::new();
        for entry in gix::objs::TreeRefIter::from_bytes(&bytes, id.kind()) {
            let entry = entry.map_err(|cause| Error::git("read", cause))?;
            let name = String::from_utf8_lossy(entry.filename).into_owned();
            entries.push((name, entry.mode.kind(), entry.oid.to_owned()));
        }
        entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(Self { entries })
    }

    /// Returns what a name stands for.
    pub(crate) fn get(&self, name: &str) -> Option<ObjectId> {
        self.find(name).ok().map(|at| self.entries[at].2)
    }

    /// Returns what a name stands for, and whether that is a file or a folder.
    pub(crate) fn entry(&self, name: &str) -> Option<(EntryKind, ObjectId)> {
        self.find(name).ok().map(|at| (self.entries[at].1, self.entries[at].2))
    }

    /// Returns everything in it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, EntryKind, ObjectId)> {
        self.entries.iter().map(|(name, kind, id)| (name.as_str(), *kind, *id))
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.0.as_str().cmp(name))
    }

    fn set(&mut self, name: &str, kind: EntryKind, id: ObjectId) {
        match self.find(name) {
            Ok(at) => self.entries[at] = (name.to_owned(), kind, id),
            Err(at) => self.entries.insert(at, (name.to_owned(), kind, id)),
        }
    }

    fn remove(&mut self, name: &str) -> bool {
        let found = self.find(name).ok();
        found.map(|at| self.entries.remove(at)).is_some()
    }

    /// Returns the bytes that git stores, in git's order: a folder sorts as if it ended in `/`.
    fn bytes(&self) -> Vec<u8> {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        let key = |at: usize| {
            let (name, kind, _) = &self.entries[at];
            let end = if *kind == EntryKind::Tree { Some(b'/') } else { None };
            name.bytes().chain(end)
        };
        order.sort_by(|one, other| key(*one).cmp(key(*other)));
        let mut bytes = Vec::with_capacity(self.entries.len() * 48);
        for at in order {
            let (name, kind, id) = &self.entries[at];
            bytes.extend_from_slice(kind.as_octal_str().as_ref());
            bytes.push(b' ');
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(0);
            bytes.extend_from_slice(id.as_slice());
        }
        bytes
    }
}

/// The whole tree of a commit, read as far as it was needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trees {
    /// Folders by path; the root is the empty one.
    folders: HashMap<String, Tree>,
    changed: std::collections::BTreeSet<String>,
}

impl Trees {
    /// Begins with the root of a commit, or with nothing.
    pub(crate) fn load(repository: &gix::Repository, root: Option<ObjectId>) -> Result<Self> {
        let root = root.map_or_else(|| Ok(Tree::default()), |id| Tree::read(repository, id))?;
        Ok(Self { folders: HashMap::from([(String::new(), root)]), ..Self::default() })
    }

    /// Returns what is at a path.
    pub(crate) fn get(
        &mut self,
        repository: &gix::Repository,
        path: &str,
    ) -> Result<Option<ObjectId>> {
        let (folder, name) = split(path);
        Ok(self.folder(repository, folder)?.get(name))
    }

    /// Puts a file at a path.
    pub(crate) fn set(
        &mut self,
        repository: &gix::Repository,
        path: &str,
        id: ObjectId,
    ) -> Result<()> {
        let (folder, name) = split(path);
        self.folder(repository, folder)?.set(name, EntryKind::Blob, id);
        self.changed.insert(folder.to_owned());
        Ok(())
    }

    /// Takes away what is at a path.
    pub(crate) fn remove(&mut self, repository: &gix::Repository, path: &str) -> Result<()> {
        let (folder, name) = split(path);
        if self.folder(repository, folder)?.remove(name) {
            self.changed.insert(folder.to_owned());
        }
        Ok(())
    }

    fn folder(&mut self, repository: &gix::Repository, path: &str) -> Result<&mut Tree> {
        if !self.folders.contains_key(path) {
            let (above, name) = split(path);
            let id = self.folder(repository, above)?.get(name);
            let tree = id.map_or_else(|| Ok(Tree::default()), |id| Tree::read(repository, id))?;
            self.folders.insert(path.to_owned(), tree);
        }
        Ok(self.folders.entry(path.to_owned()).or_default())
    }

    /// Writes the folders that changed, the deepest first, and returns the root.
    pub(crate) fn write(
        &mut self,
        repository: &gix::Repository,
        pack: &mut Pack,
    ) -> Result<ObjectId> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.insert(String::new());
        while let Some(path) = changed.iter().max_by_key(|path| depth(path)).cloned() {
            changed.remove(&path);
            let bytes = self.folder(repository, &path)?.bytes();
            let id = pack.add(Kind::Tree, bytes)?;
            if path.is_empty() {
                return Ok(id);
            }
            let (above, name) = split(&path);
            self.folder(repository, above)?.set(name, EntryKind::Tree, id);
            changed.insert(above.to_owned());
        }
        Err(Error::Lost("a tree without a root"))
    }
}

fn depth(path: &str) -> usize {
    if path.is_empty() { 0 } else { 1 + path.matches('/').count() }
}

/// Splits a path into its folder and the last name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
