//! Looking into snapshots, and into folders in the same way: what differs is known before it is read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use rustix::io::Errno;

use super::manifest::{Chunk, What};
use super::packs::CHUNK_BYTES;
use super::vault::Vault;
use crate::error::at;
use crate::{Error, Result, SnapshotId};

/// The part of a snapshot that holds the work.
pub(crate) const WORKSPACE: &str = "workspace";
/// How much of a folder is read to tell its files from others; one beyond it counts as different.
const READ_MAX_BYTES: u64 = 4 << 30;
/// How often the kernel is asked again if somebody renames folders meanwhile.
const TRIES_MAX: usize = 32;
/// Who may run a file.
const PROGRAM_BITS: u32 = 0o111;

/// Files and links, by path; folders are not named, as git names none.
pub type Listing = BTreeMap<PathBuf, Held>;

/// A file or a link, told from others by what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// A file.
    File {
        /// Whether it can be run.
        program: bool,
        /// What is in it.
        content: Content,
    },
    /// A link, and where it leads; it is never followed.
    Link(PathBuf),
}

/// What is in a file, by its digests; those of a file that is too large to be read are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(Option<Vec<Chunk>>);

impl Content {
    /// Returns a name that the same content always has.
    pub fn name(&self) -> String {
        let mut all = blake3::Hasher::new();
        for chunk in self.0.iter().flatten() {
            all.update(&chunk.0);
        }
        match self.0 {
            Some(_) => all.finalize().to_hex().to_string(),
            None => "unread".to_owned(),
        }
    }
}

impl Vault {
    /// Lists the files of a workspace that a snapshot holds.
    pub(crate) fn look(&self, id: &SnapshotId) -> Result<Listing> {
        let (_, manifest) = self.open_list(id)?;
        let work = manifest.parts.into_iter().filter(|part| part.name == WORKSPACE);
        let held = work.flat_map(|part| part.entries).filter_map(|entry| match entry.what {
            What::Directory { .. } => None,
            What::File { mode, chunks } => {
                let program = mode & PROGRAM_BITS != 0;
                Some((entry.path, Held::File { program, content: Content(Some(chunks)) }))
            }
            What::Link { target } => Some((entry.path, Held::Link(target))),
        });
        Ok(held.collect())
    }

    /// Reads contents of at most so many bytes; nothing for one that is larger.
    pub(crate) fn contents(&self, wanted: &[Content], most: u64) -> Result<Vec<Option<Vec<u8>>>> {
        wanted.iter().map(|content| self.content(content, most)).collect()
    }

    fn content(&self, Content(chunks): &Content, most: u64) -> Result<Option<Vec<u8>>> {
        // All but the last one are whole.
        let at_least = |chunks: &&Vec<Chunk>| chunks.len().saturating_sub(1) * CHUNK_BYTES;
        let small = chunks.as_ref().filter(|chunks| at_least(chunks) as u64 <= most);
        let Some(chunks) = small else { return Ok(None) };
        let mut bytes = Vec::new();
        for chunk in chunks {
            // Nobody waits for longer than one content takes.
            let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.extend(packs.read(*chunk)?);
        }
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }
}

/// Lists some files of a folder as they are now; those that are gone, or are no files, are left out.
///
/// # Errors
/// If the folder cannot be entered, or a file cannot be read.
pub fn look_at(folder: &Path, paths: &[PathBuf]) -> Result<Listing> {
    let top = top(folder)?;
    let mut budget = READ_MAX_BYTES;
    let mut listing = Listing::new();
    for path in paths {
        let found = held(&top, path, &mut budget).map_err(at(&folder.join(path), "read"))?;
        listing.extend(found.map(|held| (path.clone(), held)));
    }
    Ok(listing)
}

/// Reads a file of a folder as it is now; nothing if it is none, or larger than so many bytes.
///
/// # Errors
/// If the folder cannot be entered, or the file cannot be read.
pub fn read_at(folder: &Path, path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let Some((file, _)) = open_file(&top(folder)?, path) else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(at(&folder.join(path), "read"))?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

fn held(top: &OwnedFd, path: &Path, budget: &mut u64) -> io::Result<Option<Held>> {
    let Some((mut file, about)) = open_file(top, path) else {
        return Ok(link(top, path).map(Held::Link));
    };
    let program = about.mode & PROGRAM_BITS != 0;
    if about.bytes > *budget {
        return Ok(Some(Held::File { program, content: Content(None) }));
    }
    *budget -= about.bytes;
    let (mut chunks, mut buffer) = (Vec::new(), Vec::new());
    // One that grows meanwhile is read as far as it was.
    let mut rest = (&mut file).take(about.bytes);
    loop {
        buffer.clear();
        if (&mut rest).take(CHUNK_BYTES as u64).read_to_end(&mut buffer)? == 0 {
            let content = Content(Some(chunks));
            return Ok(Some(Held::File { program, content }));
        }
        chunks.push(Chunk(*blake3::hash(&buffer).as_bytes()));
    }
}

/// What is known of a file that was opened.
struct About {
    mode: u32,
    bytes: u64,
}

fn open_file(top: &OwnedFd, path: &Path) -> Option<(File, About)> {
    let file = File::from(open(top, path, OFlags::RDONLY | OFlags::NONBLOCK).ok()?);
    let found = file.metadata().ok().filter(Metadata::is_file)?;
    Some((file, About { mode: found.mode(), bytes: found.len() }))
}

/// Reads where a link leads.
fn link(top: &OwnedFd, path: &Path) -> Option<PathBuf> {
    let found = open(top, path, OFlags::PATH).ok()?;
    // What is no link has no such text.
    let target = readlinkat(&found, "", Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

fn top(folder: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(CWD, folder, flags, Mode::empty());
    opened.map_err(|error| Error::file(folder, "entered", error.into()))
}

/// Opens something below a folder, through no link at all: agents can make them.
fn open(top: &OwnedFd, path: &Path, how: OFlags) -> std::result::Result<OwnedFd, Errno> {
    let flags = how | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mut tried = 0;
    loop {
        match openat2(top, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if tried < TRIES_MAX => tried += 1,
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::snapshot::Part;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_folder_and_its_snapshot_are_the_same_until_a_file_changes() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("work");
        fs::create_dir_all(dir.join("sub")).unwrap();
        fs::write(dir.join("a"), "one").unwrap();
        fs::write(dir.join("empty"), "").unwrap();
        fs::write(dir.join("sub/large"), vec![7; CHUNK_BYTES + 5]).unwrap();
        fs::write(dir.join("run"), "#!/bin/sh").unwrap();
        fs::set_permissions(dir.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("a", dir.join("link")).unwrap();
        let vault = Vault::open(&home.path().join("vault")).unwrap();
        let id = vault.keep(&[Part::new(WORKSPACE, &dir, &[])]).unwrap();
        let kept = vault.look(&id).unwrap();
        let all = paths(&["a", "empty", "sub/large", "run", "link", "gone", "sub"]);
        assert_eq!(kept, look_at(&dir, &all).unwrap());
        assert_eq!(kept.len(), 5, "neither folders nor what is gone");
        let Held::File { content, .. } = &kept[Path::new("sub/large")] else { panic!() };
        assert_eq!(vault.content(content, CHUNK_BYTES as u64).unwrap(), None, "too large");
        let read = vault.content(content, 2 * CHUNK_BYTES as u64).unwrap().unwrap();
        assert_eq!(read, vec![7; CHUNK_BYTES + 5]);
        fs::write(dir.join("a"), "two").unwrap();
        let now = look_at(&dir, &all).unwrap();
        let differ = kept.iter().filter(|(path, held)| now.get(*path) != Some(*held));
        assert_eq!(differ.map(|(path, _)| path.clone()).collect::<Vec<_>>(), paths(&["a"]));
    }

    #[test]
    fn no_link_is_followed() {
        let (home, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), "secret").unwrap();
        symlink(outside.path(), home.path().join("dir")).unwrap();
        symlink(outside.path().join("secret"), home.path().join("file")).unwrap();
        for bad in ["dir/secret", "file", "../secret", "/etc/passwd"] {
            assert_eq!(read_at(home.path(), Path::new(bad), 100).unwrap(), None, "{bad}");
        }
        let seen = look_at(home.path(), &paths(&["dir/secret", "file", "../secret"])).unwrap();
        let target = outside.path().join("secret");
        assert_eq!(seen, Listing::from([(PathBuf::from("file"), Held::Link(target))]));
    }
}
