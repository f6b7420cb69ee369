//! Bringing the index and the readable view to where the branch is.

use std::path::Path;

use gix::ObjectId;
use godel_model::{BeadId, ConvoyId};

use super::{Change, Shelf, Tip, diff, of_path};
use crate::Result;
use crate::doc::{Class, Document};
use crate::index::Index;

/// The most documents whose view is written while somebody waits.
const VIEW_AT_ONCE: usize = 2_000;

impl Shelf {
    /// Returns the index, up to date with the branch.
    pub(crate) fn index(&mut self) -> Result<&Index> {
        self.open_index()?;
        let built = self.opened()?.built()?.commit;
        if self.needs_healing(built)? {
            // Who may not write reads what is there; damaged documents are told apart.
            let healed = self.lock().and_then(|_lock| self.heal_merge());
            if healed.is_err() {
                self.forget_attempt();
            }
        }
        let tip = self.tip()?;
        if let (Some(tip), Some(index)) = (tip, &self.index)
            && index.built()?.commit != Some(tip.commit)
        {
            index.begin()?;
            let done = self.catch_up(tip).and_then(|()| self.opened()?.commit());
            if done.is_err() {
                self.opened()?.rollback();
            }
            done?;
        }
        if tip.is_some() {
            self.restore_view()?;
        }
        self.opened()
    }

    /// Writes the readable view again if somebody threw it away.
    fn restore_view(&mut self) -> Result<()> {
        let folder = self.place.home.join(Class::Bead.folder());
        let index = self.opened()?;
        if index.fleeting || folder.exists() || std::fs::create_dir_all(&folder).is_err() {
            return Ok(());
        }
        if index.size()? > VIEW_AT_ONCE as u64 {
            return index.set_view_behind(true);
        }
        self.repair_view()
    }

    pub(super) fn open_index(&mut self) -> Result<()> {
        if self.index.is_none() {
            self.index = Some(Index::open(&self.place.inner())?);
            if self.index.as_ref().is_some_and(|index| !index.fleeting) {
                self.place.exclude().ok();
            }
        }
        Ok(())
    }

    /// Returns the index as it is.
    pub(super) fn opened(&self) -> Result<&Index> {
        // It was opened by whoever calls this.
        self.index.as_ref().ok_or(crate::Error::Lost("the index is not open"))
    }

    /// Takes into the index what changed up to a commit; the caller began the change.
    pub(super) fn catch_up(&self, tip: Tip) -> Result<()> {
        let index = self.opened()?;
        let built = index.built()?.commit;
        if built == Some(tip.commit) {
            return Ok(());
        }
        let from = built.and_then(|commit| self.tip_at(commit).ok());
        let changes = match from {
            Some(from) => diff(&self.repository, Some(from.tree), Some(tip.tree))?,
            None => {
                index.empty()?;
                diff(&self.repository, None, Some(tip.tree))?
            }
        };
        let whole = from.is_none();
        for change in &changes {
            self.take(index, change, !whole)?;
        }
        if whole {
            index.settle_all()?;
        }
        if changes.len() <= VIEW_AT_ONCE {
            changes.iter().for_each(|change| self.show_change(change));
        } else {
            index.set_view_behind(true)?;
        }
        index.set_built(tip.commit)
    }

    fn take(&self, index: &Index, change: &Change, settle: bool) -> Result<()> {
        let Some((class, id)) = of_path(&change.path) else { return Ok(()) };
        let Some(blob) = change.new else { return index.forget(class, id) };
        match self.document(class, &change.path, blob) {
            Ok(document) => {
                index.apply(&document, blob, settle)?;
                index.set_damaged(&change.path, None)
            }
            Err(crate::Error::Damaged { path, why }) => {
                index.set_damaged(&path, Some(&why))?;
                // Nobody knows what it says, so it is not ready and what needs it waits.
                if class == Class::Bead { index.hold_place(id, blob, settle) } else { Ok(()) }
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the document at a path.
    pub(crate) fn document(&self, class: Class, path: &str, blob: ObjectId) -> Result<Document> {
        let bytes = self.blob(blob)?;
        let read = Document::parse(class, &bytes).and_then(|document| {
            if of_path(path).is_some_and(|(_, id)| id == document.id()) {
                Ok(document)
            } else {
                Err("its id is not that of its path".to_owned())
            }
        });
        read.map_err(|why| crate::Error::Damaged { path: path.to_owned(), why })
    }

    fn show_change(&self, change: &Change) {
        let Some((class, id)) = of_path(&change.path) else { return };
        let bytes = change.new.and_then(|blob| self.blob(blob).ok());
        let document = bytes.as_deref().and_then(|bytes| Document::parse(class, bytes).ok());
        self.show(class, id, document.as_ref());
    }

    /// Writes the readable copy of a document; nothing depends on it, so failing is no failure.
    pub(super) fn show(&self, class: Class, id: &str, document: Option<&Document>) {
        if class == Class::Memory || self.opened().is_ok_and(|index| index.fleeting) {
            return;
        }
        let folder = self.place.home.join(class.folder());
        // A repository can bring links along; nothing is written or removed through one.
        if folder.is_symlink() || !is_ours(class, id) {
            return;
        }
        let path = folder.join(format!("{id}.json"));
        match document.filter(|document| document.deleted().is_none()) {
            Some(document) => {
                let bytes = document.to_bytes();
                if write(&path, &bytes).is_err() && std::fs::create_dir_all(&folder).is_ok() {
                    write(&path, &bytes).ok();
                }
            }
            None => {
                std::fs::remove_file(&path).ok();
            }
        }
    }

    /// Tells whether the readable view must be written as a whole.
    pub(crate) fn index_is_behind_view(&self) -> bool {
        self.index.as_ref().is_some_and(|index| index.view_behind().unwrap_or(false))
    }

    /// Writes all readable copies anew and removes those that stand for nothing.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn repair_view(&mut self) -> Result<()> {
        self.index()?;
        let Some(tip) = self.tip()? else { return Ok(()) };
        let changes = diff(&self.repository, None, Some(tip.tree))?;
        let mut known = std::collections::HashSet::new();
        for change in &changes {
            self.show_change(change);
            if let Some((class, id)) = of_path(&change.path) {
                known.insert((class, format!("{id}.json")));
            }
        }
        for class in [Class::Bead, Class::Convoy] {
            let folder = self.place.home.join(class.folder());
            if folder.is_symlink() {
                continue;
            }
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let ours = name.strip_suffix(".json").is_some_and(|id| is_ours(class, id));
                if ours && !known.contains(&(class, name)) {
                    std::fs::remove_file(entry.path()).ok();
                }
            }
        }
        self.opened()?.set_view_behind(false)
    }
}

/// Tells whether a name is one that we give to documents.
fn is_ours(class: Class, id: &str) -> bool {
    match class {
        Class::Bead => id.parse::<BeadId>().is_ok(),
        Class::Convoy => id.parse::<ConvoyId>().is_ok(),
        Class::Memory => false,
    }
}

/// Replaces a file as a whole, so that nobody reads half of it.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let fresh = path.with_extension("json.new");
    std::fs::write(&fresh, bytes)?;
    std::fs::rename(&fresh, path)
}
