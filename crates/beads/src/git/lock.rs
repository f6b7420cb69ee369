//! The lock that orders everybody who writes to one shelf.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// How long a writer waits for its turn.
const PATIENCE: Duration = Duration::from_secs(60);

/// The turn to write; it ends when this is dropped, or with the process.
#[derive(Debug)]
pub(crate) struct Lock(
    #[expect(dead_code, reason = "the lock lasts as long as the file is open")] File,
);

impl Lock {
    /// Waits for the turn to write.
    pub(crate) fn take(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let file = file.map_err(|cause| Error::write(path, cause))?;
        let begun = Instant::now();
        let mut pause = Duration::from_micros(100);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => return Err(Error::Busy { lock: path.into() }),
                Err(TryLockError::Error(cause)) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(cause)) => return Err(Error::write(path, cause)),
            }
        }
    }
}
