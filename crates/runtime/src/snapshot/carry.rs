//! Snapshots on their way to another vault: the list of files as it is, and each content once.
//!
//! What comes in is believed in nothing. In particular each content has to come along although it may be
//! here: who names the digest of a content does not thereby get to read it.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::PoisonError;

use godel_model::code;

use super::manifest::{Chunk, Entry, Manifest, VERSION, What, is_plain};
use super::packs::{Adding, CHUNK_BYTES, write_synced};
use super::vault::Vault;
use super::walk::ENTRIES_MAX;
use crate::{Error, Result, SnapshotId};

/// How large the list of files of a snapshot from elsewhere may be.
pub const LIST_MAX_BYTES: u64 = 256 << 20;
/// How much room the files of a snapshot from elsewhere may take; the same content in many files is
/// carried once, so the size of what is carried is no bound.
const LAID_MAX_BYTES: u64 = 64 << 30;
/// How many directories a snapshot has at most: workspace, home, memory, git.
const PARTS_MAX: usize = 16;
const NAME_MAX_BYTES: usize = 64;

/// Takes the pieces of a snapshot, one after the other; what it refuses ends the export.
pub type Sink = Box<dyn FnMut(Vec<u8>) -> io::Result<()> + Send>;
/// Gives the pieces of a snapshot: the list of files first, then each content once.
pub type Pieces = Box<dyn Iterator<Item = io::Result<Vec<u8>>> + Send>;

impl Vault {
    /// Hands over the list of files of a snapshot, and then each content once.
    pub(crate) fn export(&self, id: &SnapshotId, mut to: Sink) -> Result<()> {
        let (bytes, manifest) = self.open_list(id)?;
        let failed = |cause| Error::file(Path::new("the copy of the snapshot"), "written", cause);
        to(bytes).map_err(failed)?;
        let mut told = HashSet::new();
        for chunk in chunks(&manifest) {
            if told.insert(chunk) {
                // Nobody waits for longer than one content takes.
                let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = packs.read(chunk)?;
                drop(packs);
                to(bytes).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Keeps a snapshot from elsewhere; on disk when this returns, and not there if anything is wrong.
    pub(crate) fn import(&self, mut from: Pieces) -> Result<SnapshotId> {
        let bytes = next(&mut from)?.ok_or_else(|| refused("it has no list of files"))?;
        if bytes.len() as u64 > LIST_MAX_BYTES {
            return Err(refused("its list of files is too long"));
        }
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|_| refused("its list of files is none"))?;
        check(&manifest)?;
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut adding = packs.add()?;
        if let Err(error) = take_in(&manifest, &mut from, &mut adding) {
            adding.give_up();
            return Err(error);
        }
        adding.finish()?;
        // Last: contents that no list names are gone after the next sweep.
        let id = SnapshotId::try_from(blake3::hash(&bytes).to_hex().to_string())?;
        write_synced(&self.list_path(&id), &bytes)?;
        Ok(id)
    }
}

fn chunks(manifest: &Manifest) -> impl Iterator<Item = Chunk> {
    let entries = manifest.parts.iter().flat_map(|part| &part.entries);
    let files = entries.filter_map(|entry| match &entry.what {
        What::File { chunks, .. } => Some(chunks),
        What::Directory { .. } | What::Link { .. } => None,
    });
    files.flatten().copied()
}

/// Adds the contents; they have to be exactly those of the list.
fn take_in(manifest: &Manifest, from: &mut Pieces, adding: &mut Adding<'_>) -> Result<()> {
    let mut missing: HashSet<Chunk> = chunks(manifest).collect();
    let mut lengths = HashMap::with_capacity(missing.len());
    while let Some(bytes) = next(from)? {
        if bytes.is_empty() || bytes.len() > CHUNK_BYTES {
            return Err(refused("a content has a length that none has"));
        }
        let chunk = adding.put(&bytes)?;
        if !missing.remove(&chunk) {
            return Err(refused("a content is not what it was, or is of no file"));
        }
        lengths.insert(chunk, bytes.len() as u64);
    }
    if !missing.is_empty() {
        return Err(refused("a content is missing"));
    }
    let laid = chunks(manifest).filter_map(|chunk| lengths.get(&chunk)).sum::<u64>();
    if laid > LAID_MAX_BYTES {
        return Err(refused("its files would take more room than a snapshot may"));
    }
    Ok(())
}

fn next(from: &mut Pieces) -> Result<Option<Vec<u8>>> {
    let failed = |cause| Error::file(Path::new("the copy of the snapshot"), "read", cause);
    from.next().transpose().map_err(failed)
}

/// Looks at a list of files that somebody else made.
fn check(manifest: &Manifest) -> Result<()> {
    if manifest.version != VERSION {
        return Err(refused("it was made by another version of Godel"));
    }
    let mut names = HashSet::new();
    for part in &manifest.parts {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        let good = (1..=NAME_MAX_BYTES).contains(&part.name.len()) && part.name.bytes().all(plain);
        if !good || !names.insert(part.name.as_str()) || names.len() > PARTS_MAX {
            return Err(refused("a part of it has a name that none has"));
        }
        if part.entries.len() > ENTRIES_MAX {
            return Err(refused("it has too many files"));
        }
        check_paths(&part.entries)?;
    }
    Ok(())
}

/// Paths lead down, each is there once, and what is above a path is a directory.
fn check_paths(entries: &[Entry]) -> Result<()> {
    let mut folders: HashSet<&Path> = HashSet::from([Path::new("")]);
    let mut last: Option<&Path> = None;
    for Entry { path, what } in entries {
        if !is_plain(path) {
            return Err(refused("a path in it leads elsewhere"));
        }
        if last.is_some_and(|last| last >= path.as_path()) {
            return Err(refused("its paths are not in order"));
        }
        if path.parent().is_none_or(|above| !folders.contains(above)) {
            return Err(refused("a path in it has nothing above it"));
        }
        if matches!(what, What::Directory { .. }) {
            folders.insert(path);
        }
        last = Some(path);
    }
    Ok(())
}

fn refused(why: &str) -> Error {
    Error::refused(
        code::SNAPSHOT_FILE_INVALID,
        format!("this is no whole snapshot: {why}"),
        "export the snapshot again, and see that the file is copied whole",
    )
}

#[cfg(test)]
mod tests;
