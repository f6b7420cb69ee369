//! Locks that git leaves behind when it is killed together with us, as in a power cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Landing;
use super::follow::Journal;
use crate::Name;
use crate::disk;
use crate::error::Result;

/// How long a git that outlived us may still hold a lock.
const WAIT_MAX: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl Landing<'_> {
    /// Removes the lock of a merge commit that is kept; nobody else ever takes it.
    pub(super) fn unlock_kept(&self, bead: &Name) -> Result<bool> {
        freed(&self.lock_of(&super::kept(bead)), |_| true)
    }

    /// Removes what a landing that was cut off may have locked.
    pub(super) fn unlock_cut_off(&self, journal: &Journal) -> Result<()> {
        let commit = journal.merge.commit.as_bytes();
        // Before git writes into such a lock it is empty, and so is that of HEAD all the time.
        let ours = |text: &[u8]| text.is_empty() || text == commit;
        freed(&self.lock_of(&journal.reference), ours)?;
        let checkout = journal.checkout.as_ref();
        let dir = checkout.map_or(&self.repo().common, |checkout| &checkout.dir);
        freed(&dir.join("HEAD.lock"), ours)?;
        Ok(())
    }

    fn lock_of(&self, reference: &str) -> PathBuf {
        self.repo().common.join(format!("{reference}.lock"))
    }
}

/// Waits for a lock to go, and removes it if it is ours; tells whether it is gone.
fn freed(path: &Path, ours: impl Fn(&[u8]) -> bool) -> Result<bool> {
    let start = Instant::now();
    while path.exists() && start.elapsed() < WAIT_MAX {
        std::thread::sleep(LOOK_EVERY);
    }
    match fs::read(path) {
        Ok(text) if ours(text.trim_ascii()) => disk::remove(path).map(|()| true),
        Ok(_) => Ok(false),
        Err(_) => Ok(!path.exists()),
    }
}
