//! The file of a backup while it is being written: whole under its name, or not there.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Contents, open, verify_blocking};
use crate::{Error, Result};

/// A backup on its way to disk, as `FILE.part`, readable by its user only.
///
/// It gets its name when it is whole, on disk and checked. Dropped before that, it goes away.
#[derive(Debug)]
pub struct BackupFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
    force: bool,
    kept: bool,
}

impl BackupFile {
    /// Begins a file; unless forced, one that is there already is refused.
    ///
    /// # Errors
    /// If the file is there already, or cannot be made.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        if !force && path.symlink_metadata().is_ok() {
            return Err(Error::FileExists(path.to_owned()));
        }
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        let fail = |cause| Error::File { path: part.clone(), cause };
        // Made anew, never opened: a left-over may have another mode, or be a link to elsewhere.
        match std::fs::remove_file(&part) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(fail(cause)),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&part).map_err(fail)?;
        Ok(Self { path: path.to_owned(), part, file, force, kept: false })
    }

    /// Waits for the disk, reads the backup back and checks it, and gives it its name.
    ///
    /// # Errors
    /// If it is damaged, or the disk does not take it; then there is no file.
    pub fn finish(mut self) -> Result<Contents> {
        let fail = |cause| Error::File { path: self.part.clone(), cause };
        self.file.sync_all().map_err(fail)?;
        let contents = verify_blocking(open(&self.part)?)?;
        if self.force {
            std::fs::rename(&self.part, &self.path).map_err(fail)?;
        } else {
            self.name_once()?;
        }
        self.kept = true;
        sync_parent(&self.path)?;
        Ok(contents)
    }

    /// Names the file, unless somebody else has made one of that name in the meantime.
    fn name_once(&self) -> Result<()> {
        let fail = |cause| Error::File { path: self.path.clone(), cause };
        match std::fs::hard_link(&self.part, &self.path) {
            Ok(()) => std::fs::remove_file(&self.part).map_err(fail),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::FileExists(self.path.clone()))
            }
            // Some file systems have no links.
            Err(_) => std::fs::rename(&self.part, &self.path).map_err(fail),
        }
    }
}

impl Write for BackupFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for BackupFile {
    fn drop(&mut self) {
        if !self.kept {
            // What is left over is replaced by the next backup of that name.
            std::fs::remove_file(&self.part).ok();
        }
    }
}

/// Waits until the names in a file's directory are on disk.
pub(super) fn sync_parent(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let synced = File::open(parent).and_then(|directory| directory.sync_all());
    synced.map_err(|cause| Error::File { path: parent.to_owned(), cause })
}
