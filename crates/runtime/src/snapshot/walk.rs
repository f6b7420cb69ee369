//! Reads a directory into a snapshot, and lays one out again.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::manifest::{Entry, Kept, What, is_plain};
use super::packs::{Adding, CHUNK_BYTES, Packs, damaged};
use super::vault::Part;
use crate::error::at;
use crate::{Error, Result};

/// How many files a snapshot may hold.
pub(super) const ENTRIES_MAX: usize = 2_000_000;
/// What is kept of a mode; no file of a snapshot gives its user another's rights.
const MODE_BITS: u32 = 0o1777;

/// Reads a directory.
pub(super) fn read(part: &Part, into: &mut Adding<'_>) -> Result<Kept> {
    let mut kept = Kept { name: part.name.clone(), entries: Vec::new(), left_out: 0 };
    let mut budget = part.budget;
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let full = part.dir.join(&folder);
        let entries = match fs::read_dir(&full) {
            Ok(entries) => entries,
            Err(cause) if folder.as_os_str().is_empty() => {
                return Err(Error::file(&full, "read", cause));
            }
            Err(_) => {
                kept.left_out += 1;
                continue;
            }
        };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let path = folder.join(name);
            if part.skip.contains(&path) {
                continue;
            }
            if kept.entries.len() >= ENTRIES_MAX {
                kept.left_out += 1;
                continue;
            }
            match entry(part, &path, &mut budget, into)? {
                Some(what) => {
                    if matches!(what, What::Directory { .. }) {
                        open.push(path.clone());
                    }
                    kept.entries.push(Entry { path, what });
                }
                None => kept.left_out += 1,
            }
        }
    }
    kept.entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(kept)
}

/// Reads one file; nothing if it is left out.
fn entry(
    part: &Part,
    path: &Path,
    budget: &mut u64,
    into: &mut Adding<'_>,
) -> Result<Option<What>> {
    let full = part.dir.join(path);
    let Ok(found) = fs::symlink_metadata(&full) else { return Ok(None) };
    let mode = found.mode() & MODE_BITS;
    if found.is_symlink() {
        return Ok(fs::read_link(&full).ok().map(|target| What::Link { target }));
    }
    if found.is_dir() {
        return Ok(Some(What::Directory { mode }));
    }
    if !found.is_file() {
        return Ok(None);
    }
    if part.bounded.iter().any(|bounded| path.starts_with(bounded)) {
        if found.len() > *budget {
            return Ok(None);
        }
        *budget -= found.len();
    }
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let Ok(mut file) = File::options().read(true).custom_flags(flags).open(&full) else {
        return Ok(None);
    };
    let mut chunks = Vec::new();
    let mut buffer = Vec::with_capacity(CHUNK_BYTES.min(found.len() as usize + 1));
    loop {
        buffer.clear();
        let read = (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut buffer);
        if read.map_err(at(&full, "read"))? == 0 {
            return Ok(Some(What::File { mode, chunks }));
        }
        chunks.push(into.put(&buffer)?);
    }
}

/// Makes a directory hold what a snapshot holds, and nothing else but what is skipped.
pub(super) fn write(kept: &Kept, part: &Part, packs: &mut Packs) -> Result<()> {
    fs::create_dir_all(&part.dir).map_err(at(&part.dir, "made"))?;
    clear(part, Path::new(""))?;
    let skipped = |path: &Path| part.skip.iter().any(|skip| path.starts_with(skip));
    let entries: Vec<&Entry> = kept.entries.iter().filter(|entry| !skipped(&entry.path)).collect();
    if entries.iter().any(|entry| !is_plain(&entry.path)) {
        return Err(damaged("a path in it leads elsewhere"));
    }
    // Links come after everything else: nothing is written through one.
    for Entry { path, what } in &entries {
        let full = part.dir.join(path);
        match what {
            What::Directory { .. } => make_dir(&full)?,
            What::File { mode, chunks } => {
                let options = File::options().write(true).create_new(true).mode(0o600).open(&full);
                let mut file = options.map_err(at(&full, "made"))?;
                for chunk in chunks {
                    file.write_all(&packs.read(*chunk)?).map_err(at(&full, "written"))?;
                }
                let mode = fs::Permissions::from_mode(mode & MODE_BITS);
                file.set_permissions(mode).map_err(at(&full, "written"))?;
            }
            What::Link { .. } => {}
        }
    }
    for Entry { path, what } in &entries {
        if let What::Link { target } = what {
            let full = part.dir.join(path);
            symlink(target, &full).map_err(at(&full, "made"))?;
        }
    }
    // From the deepest up: a directory may be one that cannot be written to.
    for Entry { path, what } in entries.iter().rev() {
        if let What::Directory { mode } = what {
            let full = part.dir.join(path);
            let mode = fs::Permissions::from_mode(mode & MODE_BITS);
            fs::set_permissions(&full, mode).map_err(at(&full, "closed"))?;
        }
    }
    Ok(())
}

fn make_dir(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(at(path, "made")),
    }
}

/// Removes everything but what is skipped, and the directories that lead there.
fn clear(part: &Part, folder: &Path) -> Result<()> {
    let full = part.dir.join(folder);
    for entry in fs::read_dir(&full).map_err(at(&full, "read"))?.flatten() {
        let path = folder.join(entry.file_name());
        if part.skip.contains(&path) {
            continue;
        }
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_dir && part.skip.iter().any(|skip| skip.starts_with(&path)) {
            clear(part, &path)?;
            continue;
        }
        let removed = if is_dir {
            crate::local::remove_all(&entry.path())
        } else {
            fs::remove_file(entry.path())
        };
        removed.map_err(at(&entry.path(), "removed"))?;
    }
    Ok(())
}
