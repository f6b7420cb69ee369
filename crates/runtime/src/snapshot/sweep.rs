//! Removes contents that no snapshot needs any more.
//!
//! Whatever is interrupted, every content that is needed is in a pack with a list: what is worth keeping
//! is on disk elsewhere before a list goes, and the list goes before its pack.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::manifest::Chunk;
use super::packs::Packs;
use crate::Result;
use crate::error::at;

/// A pack of which less than this part is needed is written anew.
const NEEDED_SHARE: u64 = 2;

/// Removes packs that are not needed, and writes anew those that are needed in a small part only.
/// Returns how many bytes were freed.
pub(super) fn sweep(packs: &mut Packs, needed: &HashSet<Chunk>) -> Result<u64> {
    packs.refresh()?;
    let before = size(&packs.dir)?;
    let live = live(packs, needed);
    let mut doomed: Vec<PathBuf> = Vec::new();
    let mut worn: Vec<(PathBuf, Vec<Chunk>)> = Vec::new();
    for (pack, chunks) in packs.files.clone().into_iter().zip(live) {
        let length = fs::metadata(&pack).map_or(0, |found| found.len());
        let bytes: u64 = chunks.iter().map(|chunk| packs.length(*chunk)).sum();
        if chunks.is_empty() {
            doomed.push(pack);
        } else if bytes < length / NEEDED_SHARE {
            worn.push((pack, chunks));
        }
    }
    if !worn.is_empty() && gather(packs, &worn)? {
        doomed.extend(worn.into_iter().map(|(pack, _)| pack));
    }
    remove(&packs.dir, &doomed)?;
    *packs = Packs::open(&packs.dir)?;
    Ok(before.saturating_sub(size(&packs.dir)?))
}

/// What is needed of each pack.
fn live(packs: &Packs, needed: &HashSet<Chunk>) -> Vec<Vec<Chunk>> {
    let mut live = vec![Vec::new(); packs.files.len()];
    for (chunk, pack) in packs.all() {
        if needed.contains(&chunk) {
            live[pack].push(chunk);
        }
    }
    live
}

/// Copies what is needed of worn packs into a new one; false if it cannot be read, so that they stay.
fn gather(packs: &mut Packs, worn: &[(PathBuf, Vec<Chunk>)]) -> Result<bool> {
    let mut adding = packs.add()?;
    for chunk in worn.iter().flat_map(|(_, chunks)| chunks) {
        if adding.copy(*chunk).is_err() {
            adding.give_up();
            return Ok(false);
        }
    }
    adding.finish()?;
    Ok(true)
}

/// Removes packs, and what was left behind by somebody who was interrupted.
fn remove(dir: &Path, doomed: &[PathBuf]) -> Result<()> {
    for pack in doomed {
        let list = pack.with_extension("list");
        fs::remove_file(&list).map_err(at(&list, "removed"))?;
    }
    // A list that comes back after a power cut would name contents that are gone.
    File::open(dir).and_then(|opened| opened.sync_all()).map_err(at(dir, "synced"))?;
    for entry in fs::read_dir(dir).map_err(at(dir, "read"))?.flatten() {
        let path = entry.path();
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        let stray = match kind {
            "pack" => !path.with_extension("list").exists(),
            "new" => true,
            _ => false,
        };
        if stray {
            fs::remove_file(&path).map_err(at(&path, "removed"))?;
        }
    }
    Ok(())
}

/// Returns how much room the files of a directory take.
pub(super) fn size(dir: &Path) -> Result<u64> {
    let entries = fs::read_dir(dir).map_err(at(dir, "read"))?.flatten();
    Ok(entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum())
}
