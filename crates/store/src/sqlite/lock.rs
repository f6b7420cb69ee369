//! One process per database file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::{Error, Result};

/// Holds the lock until dropped; the operating system frees it when the process dies.
#[derive(Debug)]
pub(crate) struct DirLock {
    _file: File,
}

impl DirLock {
    /// Takes the lock of a database file, or says who holds it.
    pub(crate) fn take(database: &Path) -> Result<Self> {
        let path = database.with_extension("lock");
        let fail = |cause| Error::File { path: path.clone(), cause };
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        match file.try_lock() {
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
                let dir = database.parent().unwrap_or(Path::new(".")).to_owned();
                Err(Error::Locked { dir, holder })
            }
        }
    }
}
