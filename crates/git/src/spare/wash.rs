//! Makes the files of a removed worktree fit to be used again.
//!
//! On some file systems (ext4) files that were deleted make new ones slow for minutes, so it is better
//! not to delete them. But somebody else wrote in there: everything that git does not know about a file
//! is set anew, and what git knows is compared by content.

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};

use crate::error::{Result, at};
use crate::git::Git;
use crate::share;

/// Room for the names of a file's attributes; what has more of them has too many.
const ATTRIBUTES_BYTES: usize = 1_024;

/// Sets owner, modes and attributes of everything in a directory anew. What could be more than it
/// seems is deleted.
pub(super) fn scrub(tree: &Path) -> Result<()> {
    let parent = tree.parent().unwrap_or(tree);
    let model = fs::metadata(parent).map_err(at(parent, "read"))?;
    let (owner, group, open) = (model.uid(), model.gid(), model.mode() & 0o777);
    let mut waiting = vec![tree.to_owned()];
    while let Some(dir) = waiting.pop() {
        own(&dir, owner, group)?;
        mode(&dir, open | 0o700)?;
        let entries = fs::read_dir(&dir).map_err(at(&dir, "read"))?;
        for entry in entries {
            let entry = entry.map_err(at(&dir, "read"))?;
            let path = entry.path();
            let found = fs::symlink_metadata(&path).map_err(at(&path, "read"))?;
            if is_strange(&path, &found) {
                discard(&path, &found)?;
            } else if found.is_dir() {
                waiting.push(path);
            } else {
                own(&path, owner, group)?;
                if found.is_file() {
                    // Git knows only whether it can be run.
                    let run = if found.mode() & 0o100 == 0 { 0o666 } else { 0o777 };
                    mode(&path, open & run)?;
                }
            }
        }
    }
    Ok(())
}

fn own(path: &Path, owner: u32, group: u32) -> Result<()> {
    let found = fs::symlink_metadata(path).map_err(at(path, "read"))?;
    if (found.uid(), found.gid()) == (owner, group) {
        return Ok(());
    }
    lchown(path, Some(owner), Some(group)).map_err(at(path, "taken back"))
}

fn mode(path: &Path, mode: u32) -> Result<()> {
    let found = fs::symlink_metadata(path).map_err(at(path, "read"))?;
    if found.mode() & 0o7777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(at(path, "taken back"))
}

/// A file with a second name, with attributes, or of an unusual kind.
fn is_strange(path: &Path, found: &Metadata) -> bool {
    let kind = found.file_type();
    let plain = kind.is_dir() || kind.is_file() || kind.is_symlink();
    let shared = !kind.is_dir() && found.nlink() > 1;
    !plain || shared || has_attributes(path)
}

fn has_attributes(path: &Path) -> bool {
    let mut names = [0_u8; ATTRIBUTES_BYTES];
    match rustix::fs::llistxattr(path, &mut names[..]) {
        Ok(0) | Err(rustix::io::Errno::OPNOTSUPP) => false,
        Ok(length) => {
            let names = names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
            // A label of the system is on every file.
            names.into_iter().any(|name| name != b"security.selinux")
        }
        Err(_) => true,
    }
}

fn discard(path: &Path, found: &Metadata) -> Result<()> {
    if found.is_dir() {
        return share::delete_tree(path);
    }
    fs::remove_file(path).map_err(at(path, "deleted"))
}

/// Makes the files those of a commit: each is compared by its content, and what is not of the commit
/// goes. The git directory is a new one, so it knows nothing of what was before.
pub(super) fn fill(admin: &Path, tree: &Path, commit: &str) -> Result<()> {
    let git = || Git::on_tree(admin, tree);
    git().args(["read-tree", commit]).run()?;
    // It says no if something differs, which the next steps put right.
    git().args(["update-index", "-q", "--really-refresh"]).output()?;
    git().args(["reset", "-q", "--hard", commit]).run()?;
    git().args(["clean", "-q", "-ffdx"]).run()
}

/// The newest change of anything in a directory, in nanoseconds; the directory itself does not count,
/// since to move it changes it.
pub(super) fn last_change(tree: &Path) -> std::io::Result<i64> {
    let mut newest = 0;
    let mut waiting: Vec<PathBuf> = vec![tree.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let found = entry.metadata()?;
            newest = newest.max(found.ctime() * 1_000_000_000 + found.ctime_nsec());
            if found.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok(newest)
}
