//! Every durable write of the shelf goes through here, so that a test can record and replay it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One step of a write, as a power cut sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskOp {
    /// A directory was made.
    MakeDir(PathBuf),
    /// A file was made with this content; neither its name nor its content is safe yet.
    Write(PathBuf, Vec<u8>),
    /// The content of a file is safe.
    Sync(PathBuf),
    /// A file got a second name.
    Link(PathBuf, PathBuf),
    /// A file got another name.
    Rename(PathBuf, PathBuf),
    /// A file was removed.
    Remove(PathBuf),
    /// The names in a directory are safe.
    SyncDir(PathBuf),
}

/// Writes files so that they survive a power cut; may write down what it did.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    trace: Option<Arc<Mutex<Vec<DiskOp>>>>,
}

impl Disk {
    /// Returns a disk that writes down each of its steps.
    pub fn recording() -> (Self, Arc<Mutex<Vec<DiskOp>>>) {
        let trace = Arc::default();
        (Self { trace: Some(Arc::clone(&trace)) }, trace)
    }

    fn note(&self, op: impl FnOnce() -> DiskOp) {
        if let Some(trace) = &self.trace
            && let Ok(mut trace) = trace.lock()
        {
            trace.push(op());
        }
    }

    /// Makes a directory and those above it, durably.
    pub(crate) fn make_dir(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            self.make_dir(parent)?;
        }
        match fs::create_dir(path) {
            Ok(()) => self.note(|| DiskOp::MakeDir(path.to_owned())),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
        path.parent().map_or(Ok(()), |parent| self.sync_dir(parent))
    }

    /// Writes a new file and makes its content safe; an older one of the same name is replaced.
    pub(crate) fn write_synced(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = self.write(path, bytes)?;
        self.sync(&[(path, &file)])
    }

    /// Writes a new file whose content is not safe yet; an older one of the same name is replaced.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<File> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        file.write_all(bytes)?;
        self.note(|| DiskOp::Write(path.to_owned(), bytes.to_vec()));
        Ok(file)
    }

    /// Makes the contents of files safe, all at the same time: the disk takes as long as for one.
    pub(crate) fn sync(&self, files: &[(&Path, &File)]) -> io::Result<()> {
        let Some(((_, first), others)) = files.split_first() else { return Ok(()) };
        std::thread::scope(|scope| {
            let others: Vec<_> = others
                .iter()
                .map(|(_, file)| {
                    let start = std::thread::Builder::new();
                    (file, start.spawn_scoped(scope, || file.sync_data()))
                })
                .collect();
            let done = first.sync_data();
            others.into_iter().fold(done, |done, (file, other)| {
                let other = match other {
                    // A thread that died has synced nothing, as far as anybody knows.
                    Ok(thread) => thread.join().unwrap_or_else(|_| file.sync_data()),
                    Err(_) => file.sync_data(),
                };
                done.and(other)
            })
        })?;
        files.iter().for_each(|(path, _)| self.note(|| DiskOp::Sync((*path).to_owned())));
        Ok(())
    }

    /// Gives a file another name.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        self.note(|| DiskOp::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Gives a file a second name, which must be free.
    pub(crate) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)?;
        self.note(|| DiskOp::Link(from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Removes a file; one that is not there is as good as removed.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
            _ => {
                self.note(|| DiskOp::Remove(path.to_owned()));
                Ok(())
            }
        }
    }

    /// Makes the names in a directory safe.
    pub(crate) fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()?;
        self.note(|| DiskOp::SyncDir(path.to_owned()));
        Ok(())
    }
}

/// Dies here as by `kill -9`, if a test asked for it by this name.
pub(crate) fn fault(name: &str) {
    #[cfg(debug_assertions)]
    if std::env::var_os("GODEL_FAULT").is_some_and(|wanted| wanted == name) {
        let me = rustix::process::getpid();
        rustix::process::kill_process(me, rustix::process::Signal::KILL).ok();
    }
    #[cfg(not(debug_assertions))]
    let _ = name;
}
