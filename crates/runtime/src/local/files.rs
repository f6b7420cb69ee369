//! Reads and writes files of a workspace without ever leaving it: agents can make links.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use bytes::Bytes;
use godel_model::{Mint, code};
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Uid, fchmod, fchown, fstat, mkdirat,
    open, openat2, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::error::at;
use crate::{Error, Result, SandboxPath};

/// How large a file may be that is read or written as a whole.
const FILE_MAX_BYTES: u64 = 64 << 20;
/// How often the kernel is asked again if somebody renames directories meanwhile.
const TRIES_MAX: usize = 32;

/// Reads a file below a directory.
pub(super) fn read(root: &Path, path: &SandboxPath) -> Result<Bytes> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let top = top(root)?;
    let file =
        below(&top, path.as_path(), flags, Mode::empty()).map_err(told(root, path, "read"))?;
    let stat = fstat(&file).map_err(told(root, path, "read"))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(refused(path, "is no plain file"));
    }
    let mut bytes = Vec::new();
    let read = File::from(file).take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes);
    let full = root.join(path.as_path());
    if read.map_err(at(&full, "read"))? as u64 > FILE_MAX_BYTES {
        return Err(refused(path, "is larger than 64 MiB"));
    }
    Ok(bytes.into())
}

/// Writes a file below a directory: all of it or nothing, and in place of a link, not through it.
pub(super) fn write(
    root: &Path,
    path: &SandboxPath,
    bytes: &[u8],
    owner: Option<u32>,
) -> Result<()> {
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(refused(path, "would be larger than 64 MiB"));
    }
    let tell = || told(root, path, "written");
    let folder = folder_of(root, path, owner)?;
    let Some(name) = path.as_path().file_name() else {
        return Err(refused(path, "names no file"));
    };
    // A program stays a program.
    let mode = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Mode::from_raw_mode(stat.st_mode & 0o777),
            FileType::Symlink => Mode::from_raw_mode(0o644),
            _ => return Err(refused(path, "is no plain file")),
        },
        Err(Errno::NOENT) => Mode::from_raw_mode(0o644),
        Err(error) => return Err(tell()(error)),
    };
    let scratch = format!(".godel-{}", Mint::system().secret());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = below(&folder, Path::new(&scratch), flags, mode).map_err(tell())?;
    let finish = || -> io::Result<()> {
        if let Some(owner) = owner {
            let (user, group) = (Uid::from_raw(owner), Gid::from_raw(owner));
            fchown(&file, Some(user), Some(group))?;
        }
        fchmod(&file, mode)?;
        let mut file = File::from(file);
        file.write_all(bytes)?;
        renameat(&folder, &scratch, &folder, name)?;
        Ok(())
    };
    let finished = finish();
    if finished.is_err() {
        let _ = unlinkat(&folder, &scratch, AtFlags::empty());
    }
    let full = root.join(path.as_path());
    finished.map_err(at(&full, "written"))
}

/// Opens the directory that a file is in, and makes what is missing.
fn folder_of(root: &Path, path: &SandboxPath, owner: Option<u32>) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = top(root)?;
    let tell = || told(root, path, "written");
    let mut folder = below(&top, Path::new("."), flags, Mode::empty()).map_err(tell())?;
    let mut walked = std::path::PathBuf::new();
    for part in path.as_path().parent().into_iter().flat_map(Path::components) {
        walked.push(part);
        folder = match below(&top, &walked, flags, Mode::empty()) {
            Err(Errno::NOENT) => {
                let name = part.as_os_str();
                match mkdirat(&folder, name, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(tell()(error)),
                }
                let made = below(&top, &walked, flags, Mode::empty()).map_err(tell())?;
                if let Some(owner) = owner {
                    let (user, group) = (Uid::from_raw(owner), Gid::from_raw(owner));
                    fchown(&made, Some(user), Some(group)).map_err(tell())?;
                }
                made
            }
            opened => opened.map_err(tell())?,
        };
    }
    Ok(folder)
}

fn top(root: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, root, flags, Mode::empty());
    opened.map_err(|error| Error::file(root, "entered", error.into()))
}

/// Opens something that is below a directory also after all links have been followed.
fn below(
    top: &OwnedFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> std::result::Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut tried = 0;
    loop {
        match openat2(top.as_fd(), path, flags, mode, resolve) {
            Err(Errno::AGAIN) if tried < TRIES_MAX => tried += 1,
            other => return other,
        }
    }
}

fn told<'a>(
    root: &'a Path,
    path: &'a SandboxPath,
    done: &'static str,
) -> impl FnOnce(Errno) -> Error + 'a {
    move |error| match error {
        Errno::XDEV | Errno::LOOP => refused(path, "leads out of the workspace"),
        other => Error::file(&root.join(path.as_path()), done, other.into()),
    }
}

fn refused(path: &SandboxPath, why: &str) -> Error {
    Error::refused(
        code::PATH_REFUSED,
        format!("{path} {why}"),
        "give the path of a plain file in the workspace",
    )
}

/// Opens the directory of a path without following a link at its end.
pub(super) fn plain_directory(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    open(path, flags, Mode::empty()).map_err(|error| Error::file(path, "entered", error.into()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use godel_model::Report as _;

    use super::*;

    fn path(text: &str) -> SandboxPath {
        SandboxPath::new(text).unwrap()
    }

    #[test]
    fn what_is_written_is_read_and_programs_stay_programs() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &path("a/b/c.txt"), b"one", None).unwrap();
        assert_eq!(read(root.path(), &path("a/b/c.txt")).unwrap(), "one");
        let file = root.path().join("run");
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        write(root.path(), &path("run"), b"new", None).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o755);
        let names = std::fs::read_dir(root.path()).unwrap().count();
        assert_eq!(names, 2, "no scratch file is left");
    }

    #[test]
    fn no_link_leads_out() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "secret").unwrap();
        symlink(outside.path(), root.path().join("dir")).unwrap();
        symlink(&secret, root.path().join("file")).unwrap();
        symlink("../../../../../../etc", root.path().join("up")).unwrap();
        symlink("/proc/self/root", root.path().join("magic")).unwrap();
        for bad in ["dir/secret", "file", "up/passwd", "magic/etc/passwd"] {
            let error = read(root.path(), &path(bad)).unwrap_err();
            assert_eq!(error.code(), code::PATH_REFUSED, "{bad}: {error}");
        }
        for bad in ["dir/new", "dir/sub/new", "up/new"] {
            let error = write(root.path(), &path(bad), b"x", None).unwrap_err();
            assert_eq!(error.code(), code::PATH_REFUSED, "{bad}: {error}");
        }
        // The link itself is replaced; what it named is as it was.
        write(root.path(), &path("file"), b"mine", None).unwrap();
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_pipe_or_a_directory_is_no_file() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("d")).unwrap();
        rustix::fs::mknodat(CWD, root.path().join("p"), FileType::Fifo, 0o600.into(), 0).unwrap();
        for bad in ["d", "p"] {
            assert!(read(root.path(), &path(bad)).is_err(), "{bad}");
            assert!(write(root.path(), &path(bad), b"x", None).is_err(), "{bad}");
        }
    }
}
