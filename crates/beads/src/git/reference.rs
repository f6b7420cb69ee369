//! The branch `godel/state`: read it, and move it only from where it is believed to be.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::ObjectId;

use super::disk::{Disk, fault};
use super::place::Place;
use crate::{Error, Result};

/// The full name of the branch.
pub(crate) const NAME: &str = "refs/heads/godel/state";

/// How long somebody else's lock must be unchanged to be taken for left over.
///
/// git holds it for the time of a rename.
const STALE: Duration = Duration::from_secs(10);

/// The branch that holds the shelf.
#[derive(Debug)]
pub(crate) struct Reference {
    path: PathBuf,
    staged: PathBuf,
}

impl Reference {
    pub(crate) fn of(place: &Place) -> Self {
        Self { path: place.common.join(NAME), staged: place.inner().join("ref-new") }
    }

    /// Returns the commit that the branch points to.
    pub(crate) fn read(repository: &gix::Repository, name: &str) -> Result<Option<ObjectId>> {
        let failed = |cause: gix::Error| Error::git("read", cause);
        let found = repository.try_find_reference(name).map_err(failed)?;
        Ok(found.and_then(|found| found.try_id().map(gix::Id::detach)))
    }

    /// Writes where the branch will point to; the caller holds the lock of the shelf, and makes
    /// the file safe before it calls [`Reference::swap`].
    pub(crate) fn stage(&self, new: ObjectId, disk: &Disk) -> Result<(PathBuf, File)> {
        let failed = |cause| Error::write(&self.path, cause);
        let folder = self.path.parent().unwrap_or(&self.path);
        if folder.is_file() {
            return Err(Error::BranchInTheWay);
        }
        disk.make_dir(folder).map_err(failed)?;
        self.heal(&self.path.with_extension("lock"), disk).map_err(failed)?;
        // Never written in place: after a crash the branch itself may be this very file.
        disk.remove(&self.staged).map_err(failed)?;
        let file = disk.write(&self.staged, format!("{new}\n").as_bytes()).map_err(failed)?;
        fault("ref-staged");
        Ok((self.staged.clone(), file))
    }

    /// Moves the branch without a pack before it.
    pub(crate) fn swap_alone(
        &self,
        repository: &gix::Repository,
        expected: Option<ObjectId>,
        new: ObjectId,
        disk: &Disk,
    ) -> Result<bool> {
        let (path, file) = self.stage(new, disk)?;
        disk.sync(&[(&path, &file)]).map_err(|cause| Error::write(&path, cause))?;
        self.swap(repository, expected, disk)
    }

    /// Moves the branch to what was staged, durably; the caller holds the lock of the shelf.
    ///
    /// Returns `false`, and changes nothing, if the branch is not where it should be.
    pub(crate) fn swap(
        &self,
        repository: &gix::Repository,
        expected: Option<ObjectId>,
        disk: &Disk,
    ) -> Result<bool> {
        let failed = |cause| Error::write(&self.path, cause);
        let folder = self.path.parent().unwrap_or(&self.path);
        let lock = self.path.with_extension("lock");
        self.lock(&lock, disk)?;
        fault("ref-locked");
        if Self::read(repository, NAME)? != expected {
            disk.remove(&lock).map_err(failed)?;
            return Ok(false);
        }
        disk.rename(&lock, &self.path).map_err(failed)?;
        fault("ref-moved");
        disk.sync_dir(folder).map_err(failed)?;
        fault("ref-synced");
        disk.remove(&self.staged).map_err(failed)?;
        Ok(true)
    }

    /// Takes git's own lock of the branch.
    fn lock(&self, lock: &Path, disk: &Disk) -> Result<()> {
        loop {
            match disk.link(&self.staged, lock) {
                Ok(()) => return Ok(()),
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                    if age(lock).is_some_and(|age| age > STALE) {
                        disk.remove(lock).map_err(|cause| Error::write(lock, cause))?;
                    } else {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
                Err(cause) => return Err(Error::write(lock, cause)),
            }
        }
    }

    /// Removes a lock that one of us left when it was killed: it is the very file that was staged.
    fn heal(&self, lock: &Path, disk: &Disk) -> io::Result<()> {
        let file = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
        match (file(lock), file(&self.staged)) {
            (Some(lock_file), Some(staged)) if lock_file == staged => disk.remove(lock),
            _ => Ok(()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "compares with times that the file system wrote")]
fn age(path: &Path) -> Option<Duration> {
    let changed = path.metadata().ok()?.modified().ok()?;
    std::time::SystemTime::now().duration_since(changed).ok()
}
