//! Gives files to the user that an agent runs as, where Godel is root.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::error::at;
use crate::{Error, Result, SandboxId};

/// The first of the users that agents run as: a range that no system gives to accounts.
const FIRST: u32 = 1_879_048_192;
/// How many there are.
const COUNT: u32 = 1 << 27;
/// The user of all containers: a copy of a running agent keeps its user, and kernels of their own keep
/// them apart.
const CONTAINED: u32 = FIRST - 1;
/// The user of the first process of a container, which agents cannot touch.
const CARETAKER: u32 = FIRST - 2;

/// Returns the user of a sandbox: each has its own, so that no agent can touch what is another's.
pub(super) fn user_of(id: SandboxId, contained: bool) -> u32 {
    if contained {
        return CONTAINED;
    }

    let digest = blake3::hash(id.agent().uuid().as_bytes());
    let [a, b, c, d, ..] = *digest.as_bytes();
    FIRST + u32::from_be_bytes([a, b, c, d]) % COUNT
}

/// Returns who serves the ways out of a sandbox: the agent itself, or the first process of its container.
pub(super) const fn server_of(user: u32) -> u32 {
    if user == CONTAINED { CARETAKER } else { user }
}

/// Gives everything in a directory to a user, but nothing that is mounted in it.
///
/// The directory itself stays its owner's, and the user may write in it: git refuses to work in a
/// directory that belongs to somebody else.
pub(super) fn give_contents(dir: &Path, user: u32) -> Result<()> {
    let mount = mount_of(dir)?;
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).map_err(at(&folder, "read"))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if folder == dir && entry.file_name() == ".git" {
                continue;
            }
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && mount_of(&path)? != mount {
                continue;
            }
            lchown(&path, Some(user), Some(user)).map_err(at(&path, "given to the agent"))?;
            if is_dir {
                open.push(path);
            }
        }
    }
    let mode = fs::metadata(dir).map_err(at(dir, "read"))?.mode() | 0o070;
    chown(dir, None, Some(user)).map_err(at(dir, "given to the agent"))?;
    fs::set_permissions(dir, fs::Permissions::from_mode(mode & 0o7777))
        .map_err(at(dir, "opened to the agent"))
}

/// Gives a directory with everything in it to a user.
pub(super) fn give(dir: &Path, user: u32) -> Result<()> {
    give_contents(dir, user)?;
    lchown(dir, Some(user), Some(user)).map_err(at(dir, "given to the agent"))
}

fn mount_of(path: &Path) -> Result<u64> {
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID);
    found.map(|stat| stat.stx_mnt_id).map_err(|error| Error::file(path, "looked at", error.into()))
}

/// Removes a directory with everything in it, also what its owner has closed: tools keep their caches
/// in directories that cannot be written to.
pub(crate) fn remove_all(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_all(dir)?;
            fs::remove_dir_all(dir)
        }
        removed => removed,
    }
}

fn open_all(dir: &Path) -> io::Result<()> {
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        // A link is not followed: what it names is not ours to open.
        let found = fs::symlink_metadata(&folder)?;
        if !found.is_dir() {
            continue;
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(found.mode() | 0o700))?;
        for entry in fs::read_dir(&folder)?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Makes a directory that only its owner can enter.
pub(super) fn private_dir(path: &Path) -> Result<PathBuf> {
    match fs::create_dir_all(path) {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::file(path, "made", cause));
        }
        _ => {}
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(at(path, "closed"))?;
    Ok(path.to_owned())
}
