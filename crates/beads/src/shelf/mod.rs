//! The shelf: all beads, convoys and memories of one repository.

mod batch;
mod catch_up;
mod diff;
mod draft;
mod heal;
pub(crate) mod history;
mod merge;
mod read;
mod write;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use gix::ObjectId;
use godel_model::{Clock, Mint, NodeId, SystemClock};
use jiff::Timestamp;

pub(crate) use diff::{Change, diff};
pub use draft::{Act, Draft};
pub use history::{Entry, Happening};
pub use merge::Merged;
pub use write::Job;

use crate::doc::Class;
use crate::git::{Disk, Place, Reference, STATE, Tree, Trees, read_object};
use crate::index::Index;
use crate::{Error, Result};

/// The newest format of the tree that this version writes.
pub const FORMAT: u32 = 1;

/// The format of a tree that does not say which it has.
const UNSAID_FORMAT: u32 = 1;

/// The file that says which format a tree has.
///
/// The first format need not be said: the root is written anew with each change, and each entry of it
/// costs its whole name in every one of them. Earlier versions said it, and may do so again.
const FORMAT_FILE: &str = "format";

/// The branch's name among those that were fetched with a clone.
const CLONED: &str = "refs/remotes/origin/godel/state";

/// What a shelf needs from outside.
#[derive(Clone)]
pub struct Options {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub mint: Mint,
    /// Writes files.
    pub disk: Disk,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Options")
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), mint: Mint::system(), disk: Disk::default() }
    }
}

/// All beads, convoys and memories of one repository.
///
/// Any number of shelves may be open on one repository, in one process or in many.
#[derive(Debug)]
pub struct Shelf {
    pub(crate) repository: gix::Repository,
    place: Place,
    options: Options,
    reference: Reference,
    node: Option<NodeId>,
    index: Option<Index>,
    /// The last known commit and its tree.
    known: Option<(ObjectId, Trees)>,
    /// The tip that was seen or written last: to find it again would mean to look at every pack.
    seen: Cell<Option<Tip>>,
}

/// A commit of the state branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tip {
    pub(crate) commit: ObjectId,
    pub(crate) tree: ObjectId,
}

impl Shelf {
    /// Opens the shelf of the repository that a folder belongs to.
    ///
    /// # Errors
    /// If there is no repository, or it cannot be read.
    pub fn open(from: &Path) -> Result<Self> {
        Self::open_with(from, Options::default())
    }

    /// Opens a shelf with another clock, mint or disk.
    ///
    /// # Errors
    /// If there is no repository, or it cannot be read.
    pub fn open_with(from: &Path, options: Options) -> Result<Self> {
        let (place, repository) = Place::find(from)?;
        let reference = Reference::of(&place);
        Ok(Self {
            repository,
            place,
            options,
            reference,
            node: None,
            index: None,
            known: None,
            seen: Cell::new(None),
        })
    }

    /// Returns where things are.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the present moment.
    pub fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// Returns the name of the commit that the shelf is at.
    ///
    /// # Errors
    /// If the repository cannot be read.
    pub fn commit(&self) -> Result<Option<String>> {
        Ok(self.tip()?.map(|tip| tip.commit.to_string()))
    }

    /// Returns the commit that the state branch points to; in a fresh clone the one it came with.
    pub(crate) fn tip(&self) -> Result<Option<Tip>> {
        let own = Reference::read(&self.repository, STATE)?;
        let commit = match own {
            Some(commit) => Some(commit),
            None => Reference::read(&self.repository, CLONED)?,
        };
        let tip = commit.map(|commit| self.tip_at(commit)).transpose()?;
        self.seen.set(tip);
        Ok(tip)
    }

    /// Returns a commit with its tree.
    pub(crate) fn tip_at(&self, commit: ObjectId) -> Result<Tip> {
        if let Some(seen) = self.seen.get().filter(|seen| seen.commit == commit) {
            return Ok(seen);
        }
        let bytes = read_object(&self.repository, commit)?;
        let tree = gix::objs::CommitRefIter::from_bytes(&bytes, commit.kind()).tree_id();
        let tree = tree.map_err(|cause| Error::git("read", cause))?;
        Ok(Tip { commit, tree })
    }

    /// Returns the name of this clone, which stamps carry.
    fn node(&mut self) -> Result<NodeId> {
        if let Some(node) = self.node {
            return Ok(node);
        }
        let path = self.place.inner().join("node");
        let known = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        let node = match known {
            Some(node) => node,
            None => {
                let node = NodeId::mint(self.options.mint);
                let failed = |cause| Error::write(&path, cause);
                let fresh = path.with_extension("new");
                self.options.disk.make_dir(&self.place.inner()).map_err(failed)?;
                let text = format!("{node}\n");
                self.options.disk.write_synced(&fresh, text.as_bytes()).map_err(failed)?;
                self.options.disk.rename(&fresh, &path).map_err(failed)?;
                node
            }
        };
        self.node = Some(node);
        Ok(node)
    }

    /// Returns the trees of a commit, from memory if it is the one that was used last.
    fn trees(&mut self, tip: Option<Tip>) -> Result<Trees> {
        match (self.known.take(), tip) {
            (Some((commit, trees)), Some(tip)) if commit == tip.commit => Ok(trees),
            (_, tip) => Trees::load(&self.repository, tip.map(|tip| tip.tree)),
        }
    }

    /// Returns the format of the tree of a tip.
    fn format_at(&mut self, tip: Tip) -> Result<u32> {
        let mut trees = self.trees(Some(tip))?;
        let blob = trees.get(&self.repository, FORMAT_FILE);
        self.known = Some((tip.commit, trees));
        self.format_in(blob?)
    }

    /// Returns the format of a tree.
    pub(crate) fn format(&self, tree: ObjectId) -> Result<u32> {
        self.format_in(Tree::read(&self.repository, tree)?.get(FORMAT_FILE))
    }

    fn format_in(&self, blob: Option<ObjectId>) -> Result<u32> {
        let Some(blob) = blob else { return Ok(UNSAID_FORMAT) };
        let bytes = self.blob(blob)?;
        let text = String::from_utf8_lossy(&bytes);
        text.trim().parse().map_err(|_| Error::Damaged {
            path: FORMAT_FILE.to_owned(),
            why: "it is not a number".to_owned(),
        })
    }

    /// Takes away what an earlier version said about the format, if it goes without saying; whoever
    /// writes a tree does so, so that clones of any version end with the same bytes.
    fn leave_format_unsaid(&self, trees: &mut Trees) -> Result<()> {
        let said = trees.get(&self.repository, FORMAT_FILE)?;
        if said.is_some() && self.format_in(said)? == UNSAID_FORMAT {
            trees.remove(&self.repository, FORMAT_FILE)?;
        }
        Ok(())
    }

    /// Returns the bytes of a file.
    pub(crate) fn blob(&self, id: ObjectId) -> Result<Vec<u8>> {
        read_object(&self.repository, id)
    }
}

/// Returns where a document is in the tree.
pub(crate) fn path_of(class: Class, id: &str) -> String {
    match class {
        // Two characters that follow from the id: folders stay small, and so do writes.
        Class::Bead => format!("beads/{:02x}/{id}.json", crc32fast::hash(id.as_bytes()) & 0xff),
        Class::Convoy | Class::Memory => format!("{}/{id}.json", class.folder()),
    }
}

/// Returns what a path in the tree holds, if it is a document.
pub(crate) fn of_path(path: &str) -> Option<(Class, &str)> {
    let name = path.strip_suffix(".json")?;
    let class = [Class::Bead, Class::Convoy, Class::Memory];
    let class = class.into_iter().find(|class| {
        path.strip_prefix(class.folder()).is_some_and(|rest| rest.starts_with('/'))
    })?;
    Some((class, name.rsplit('/').next().unwrap_or(name)))
}
