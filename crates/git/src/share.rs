//! Directories that a worktree gets from the main work tree: a copy, or a read-only bind.

use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use godel_model::code;
use rustix::fs::OFlags;

use crate::config::{make_inside, stays_inside};
use crate::disk;
use crate::error::{Error, Result, at};
use crate::record::{Mode, Share, ShareState};

/// More than this many entries are no dependencies, but a mistake.
const ENTRIES_MAX: usize = 5_000_000;

/// Who makes the read-only binds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Binds {
    /// The workbench does, now; refused where it cannot.
    #[default]
    Now,
    /// The sandbox that runs the worktree will do it; they are recorded as wanted.
    Later,
}

/// Gives a worktree its share of a directory.
pub(crate) fn provide(main: &Path, tree: &Path, share: &mut Share, binds: Binds) -> Result<()> {
    let (from, to) = (main.join(&share.path), tree.join(&share.path));
    if share.mode == Mode::None || share.state == ShareState::Done {
        return Ok(());
    }
    if !disk::exists(&from) {
        share.state = ShareState::Absent;
        return Ok(());
    }
    if !stays_inside(main, &from)? || !from.is_dir() || from.is_symlink() {
        return Err(refused(share, "is no directory inside the repository"));
    }
    let parent = to.parent().unwrap_or(tree);
    if !make_inside(tree, parent)? {
        return Err(refused(share, "would end up outside the worktree, behind a symbolic link"));
    }
    match share.mode {
        Mode::None => {}
        Mode::Copy => {
            if disk::exists(&to) {
                return Err(refused(share, "is in the worktree already"));
            }
            copy_whole(&from, &to)?;
            share.state = ShareState::Done;
        }
        Mode::ReadOnly if binds == Binds::Later => share.state = ShareState::Wanted,
        Mode::ReadOnly => {
            disk::dir(&to)?;
            if let Err(cause) = bind(&from, &to) {
                fs::remove_dir(&to).ok();
                let why = format!("cannot be bound read-only here ({cause})");
                return Err(refused(share, &why));
            }
            share.state = ShareState::Done;
        }
    }
    Ok(())
}

/// Refuses wishes that can be known to fail, before anything is made.
pub(crate) fn possible(wishes: &[(PathBuf, Mode)], binds: Binds) -> Result<()> {
    let bound = wishes.iter().find(|(_, mode)| *mode == Mode::ReadOnly);
    match bound {
        Some((path, mode)) if binds == Binds::Now && !rustix::process::geteuid().is_root() => {
            let share = Share { path: path.clone(), mode: *mode, state: ShareState::Wanted };
            Err(refused(&share, "cannot be bound read-only by a user who is not root"))
        }
        _ => Ok(()),
    }
}

fn refused(share: &Share, why: &str) -> Error {
    Error::refused(
        code::SHARE_REFUSED,
        format!("the shared directory {} {why}", share.path.display()),
        "a read-only bind needs root or a sandbox (--sandboxed); `copy` and `none` work \
         everywhere: set it under [worktree.share] in .godel/config.toml",
    )
}

/// Copies a directory under another name first, so that a crash leaves no half of it.
fn copy_whole(from: &Path, to: &Path) -> Result<()> {
    let mut name = std::ffi::OsString::from(".godel-partial-");
    name.push(to.file_name().unwrap_or_default());
    let draft = to.with_file_name(name);
    if disk::exists(&draft) {
        delete_tree(&draft)?;
    }
    copy_tree(from, &draft)?;
    fs::rename(&draft, to).map_err(at(to, "made"))
}

/// Copies a directory: links stay links, modes and times stay, blocks are shared where they can be.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut waiting = vec![PathBuf::new()];
    let mut made: Vec<(PathBuf, fs::Metadata)> = Vec::new();
    let mut clone = true;
    let mut entries = 0;
    while let Some(below) = waiting.pop() {
        let (source, target) = (from.join(&below), to.join(&below));
        let about = fs::symlink_metadata(&source).map_err(at(&source, "read"))?;
        fs::DirBuilder::new().mode(0o700).create(&target).map_err(at(&target, "made"))?;
        made.push((target, about));
        for entry in fs::read_dir(&source).map_err(at(&source, "read"))? {
            let entry = entry.map_err(at(&source, "read"))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(at(&source, "read"))?);
            entries += 1;
            if entries > ENTRIES_MAX {
                return Err(Error::file(from, "copied", io::ErrorKind::QuotaExceeded.into()));
            }
            let below = below.join(entry.file_name());
            let target = to.join(&below);
            if kind.is_dir() {
                waiting.push(below);
            } else if kind.is_symlink() {
                let leads = fs::read_link(&path).map_err(at(&path, "read"))?;
                symlink(leads, &target).map_err(at(&target, "made"))?;
            } else if kind.is_file() {
                copy_file(&path, &target, &mut clone).map_err(at(&path, "copied"))?;
            }
            // Sockets, pipes and devices mean nothing in a copy.
        }
    }
    // Last, and from the bottom: a directory that is filled gets a new time, and a read-only one
    // cannot be filled.
    for (target, about) in made.iter().rev() {
        let set = || {
            let times = FileTimes::new().set_modified(about.modified()?);
            File::open(target)?.set_times(times)?;
            fs::set_permissions(target, Permissions::from_mode(about.permissions().mode() & 0o7777))
        };
        set().map_err(at(target, "made"))?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, clone: &mut bool) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut source = OpenOptions::new().read(true).custom_flags(flags).open(from)?;
    let about = source.metadata()?;
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    *clone = *clone && reflink(&source, &target).is_ok();
    if !*clone {
        io::copy(&mut source, &mut target)?;
    }
    target.set_permissions(Permissions::from_mode(about.permissions().mode() & 0o7777))?;
    target.set_times(FileTimes::new().set_modified(about.modified()?))
}

/// Lets two files share their blocks until one is changed.
#[cfg(target_os = "linux")]
fn reflink(from: &File, to: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

#[cfg(not(target_os = "linux"))]
fn reflink(_: &File, _: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Shows a directory in another place, for reading only.
#[cfg(target_os = "linux")]
fn bind(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::StatVfsMountFlags as Has;
    use rustix::mount::{MountFlags, mount_bind, mount_remount};
    if !rustix::process::geteuid().is_root() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not root"));
    }
    mount_bind(from, to)?;
    // In a user namespace what the mount forbids already must be said again.
    let has = rustix::fs::statvfs(to).map(|about| about.f_flag).unwrap_or(Has::empty());
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (one, other) in [
        (Has::NOSUID, MountFlags::NOSUID),
        (Has::NODEV, MountFlags::NODEV),
        (Has::NOEXEC, MountFlags::NOEXEC),
        (Has::NOATIME, MountFlags::NOATIME),
        (Has::NODIRATIME, MountFlags::NODIRATIME),
    ] {
        flags.set(other, has.contains(one));
    }
    mount_remount(to, flags, c"").map_err(|cause| {
        unbind(to).ok();
        cause.into()
    })
}

#[cfg(not(target_os = "linux"))]
fn bind(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux can"))
}

/// Ends a bind.
#[cfg(target_os = "linux")]
pub(crate) fn unbind(at: &Path) -> io::Result<()> {
    Ok(rustix::mount::unmount(at, rustix::mount::UnmountFlags::NOFOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn unbind(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Deletes a directory with all that is in it; links are deleted, never followed.
pub(crate) fn delete_tree(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Ok(()) => return Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {}
        Err(cause) => return Err(Error::file(path, "deleted", cause)),
    }
    // Some tools make their directories read-only; the owner may still open them.
    let mut waiting = vec![path.to_owned()];
    while let Some(dir) = waiting.pop() {
        fs::set_permissions(&dir, Permissions::from_mode(0o700)).ok();
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        waiting.extend(dirs.map(|entry| entry.path()));
    }
    fs::remove_dir_all(path).map_err(at(path, "deleted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_links_modes_and_times_and_follows_nothing() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        fs::create_dir_all(from.join("bin/deep")).unwrap();
        fs::write(from.join("bin/tool"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(from.join("bin/tool"), Permissions::from_mode(0o755)).unwrap();
        let secret = home.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        symlink(&secret, from.join("out")).unwrap();
        symlink("tool", from.join("bin/alias")).unwrap();
        symlink("..", from.join("bin/loop")).unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        let times = FileTimes::new().set_modified(old);
        File::open(from.join("bin/tool")).unwrap().set_times(times).unwrap();
        fs::set_permissions(from.join("bin"), Permissions::from_mode(0o555)).unwrap();
        copy_tree(&from, &to).unwrap();
        let tool = fs::metadata(to.join("bin/tool")).unwrap();
        assert_eq!(tool.permissions().mode() & 0o777, 0o755);
        assert_eq!(tool.modified().unwrap(), old);
        assert_eq!(fs::metadata(to.join("bin")).unwrap().permissions().mode() & 0o777, 0o555);
        assert_eq!(fs::read_link(to.join("out")).unwrap(), secret);
        assert_eq!(fs::read_link(to.join("bin/alias")).unwrap(), Path::new("tool"));
        assert!(to.join("bin/deep").is_dir());
        delete_tree(&to).unwrap();
        delete_tree(&from).unwrap();
        assert!(secret.exists() && !to.exists());
    }

    #[test]
    fn a_directory_that_is_a_link_is_not_shared() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for dir in ["main", "tree", "elsewhere"] {
            fs::create_dir(home.join(dir)).unwrap();
        }
        symlink(home.join("elsewhere"), home.join("main/deps")).unwrap();
        let mut share = Share { path: "deps".into(), mode: Mode::Copy, state: ShareState::Wanted };
        let (main, tree) = (home.join("main"), home.join("tree"));
        let error = provide(&main, &tree, &mut share, Binds::Now).unwrap_err();
        assert!(error.to_string().contains("no directory inside"), "{error}");
        share.path = "none".into();
        provide(&main, &tree, &mut share, Binds::Now).unwrap();
        assert_eq!(share.state, ShareState::Absent);
    }
}
