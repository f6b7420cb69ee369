//! Files that are whole or not there, and locks that end with their owner.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use godel_model::code;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result, at};

/// How long one waits for another process that works on the same thing.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(10);
const LOCK_LOOK_EVERY: Duration = Duration::from_millis(20);
/// No record is larger.
const RECORD_MAX_BYTES: u64 = 16 << 20;

/// Makes a directory for the owner only, with those above it.
pub(crate) fn private_dir(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(at(path, "made"))
}

/// Makes a directory, with those above it.
pub(crate) fn dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(at(path, "made"))
}

/// Writes a file so that a crash leaves the old one or the new one, and never a part.
pub(crate) fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let draft = path.with_file_name(name);
    let save = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    save().map_err(at(path, "written"))?;
    sync_parent(path)
}

/// Writes a value as JSON, for the owner only.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let bytes = serde_json::to_vec_pretty(value);
    let mut bytes = bytes.map_err(|cause| Error::file(path, "written", cause.into()))?;
    bytes.push(b'\n');
    write(path, &bytes, 0o600)
}

/// Reads a value; nothing if there is no file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(text) = read(path, RECORD_MAX_BYTES)? else {
        return Ok(None);
    };
    let value = serde_json::from_str(&text);
    value.map(Some).map_err(|cause| Error::file(path, "understood", cause.into()))
}

/// Reads a text; nothing if there is no file.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<String>> {
    let missing = |cause: &std::io::Error| {
        matches!(cause.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
    };
    match fs::metadata(path) {
        Err(cause) if missing(&cause) => return Ok(None),
        Err(cause) => return Err(Error::file(path, "read", cause)),
        Ok(found) if found.len() > limit => {
            let cause = std::io::Error::from(std::io::ErrorKind::FileTooLarge);
            return Err(Error::file(path, "read", cause));
        }
        Ok(_) => {}
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(cause) if missing(&cause) => Ok(None),
        Err(cause) => Err(Error::file(path, "read", cause)),
    }
}

/// Removes a file for good; one that is not there is as good.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => sync_parent(path),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(Error::file(path, "removed", cause)),
    }
}

/// Makes what happened to the names in a file's directory last.
pub(crate) fn sync_parent(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(at(parent, "saved"))
}

/// Tells whether something is there, a dangling link included.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// A lock that other processes respect; it ends with this value, or with the process.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes a lock, and waits a while if another process has it.
    pub(crate) fn take(path: &Path, what: &str) -> Result<Self> {
        let start = Instant::now();
        loop {
            if let Some(lock) = Self::attempt(path)? {
                return Ok(lock);
            }
            if start.elapsed() > LOCK_WAIT_MAX {
                return Err(Error::refused(
                    code::WORKTREE_BUSY,
                    format!("another process works on {what} at the moment"),
                    "wait until it is done, then repeat the command",
                ));
            }
            std::thread::sleep(LOCK_LOOK_EVERY);
        }
    }

    /// Takes a lock unless another process has it.
    pub(crate) fn attempt(path: &Path) -> Result<Option<Self>> {
        let open =
            OpenOptions::new().create(true).truncate(false).write(true).read(true).open(path);
        let file = open.map_err(at(path, "opened"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(Error::file(path, "locked", cause)),
        }
        // Its last owner may have removed it in between; then it protects nothing.
        let own = file.metadata().map_err(at(path, "locked"))?.ino();
        let same = fs::metadata(path).is_ok_and(|there| there.ino() == own);
        Ok(same.then(|| Self { file, path: path.to_owned() }))
    }

    /// Returns the open file that carries the lock.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the lock up and removes its file.
    pub(crate) fn retire(self) -> Result<()> {
        remove(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_owner_and_survives_the_removal_of_its_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.lock");
        let first = Lock::attempt(&path).unwrap().unwrap();
        assert!(Lock::attempt(&path).unwrap().is_none());
        first.retire().unwrap();
        let second = Lock::attempt(&path).unwrap();
        assert!(second.is_some());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_stays_private() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("x.json");
        write_json(&path, &[1]).unwrap();
        write_json(&path, &[1, 2]).unwrap();
        assert_eq!(read_json::<Vec<u8>>(&path).unwrap(), Some(vec![1, 2]));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        assert_eq!(read_json::<u8>(&home.path().join("none")).unwrap(), None);
    }
}
