//! One process per directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::{Error, Result};

/// A lock that is held until dropped; the operating system frees it when the process dies.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock file at a path, or says who holds it.
    ///
    /// # Errors
    /// If another process holds it, or the file cannot be used.
    pub fn take(path: &Path) -> Result<Self> {
        let fail = |cause| Error::File { path: path.to_owned(), cause };
        let mut options = OpenOptions::new();
        let options = options.create(true).read(true).write(true).truncate(false);
        let mut file = options.open(path).map_err(fail)?;
        match patiently(|| file.try_lock()) {
            Ok(()) => {
                file.set_len(0).map_err(fail)?;
                file.rewind().map_err(fail)?;
                write!(file, "pid {}", std::process::id()).map_err(fail)?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::Error(cause)) => Err(fail(cause)),
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Who holds it is a courtesy; without it the message is still true.
                if file.read_to_string(&mut holder).is_err() || holder.is_empty() {
                    "unknown pid".clone_into(&mut holder);
                }
                let dir = path.parent().unwrap_or(Path::new(".")).to_owned();
                Err(Error::Locked { dir, holder })
            }
        }
    }

    /// Tells whether a process holds the lock file at a path.
    pub fn is_held(path: &Path) -> bool {
        let file = File::open(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// Tries for a moment: somebody may just be looking whether the lock is held.
fn patiently(lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    for _ in 0..10 {
        match lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
    lock()
}
