//! The workbench: one repository with the worktrees that Godel has made in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use godel_model::{Clock, code};

use crate::Name;
use crate::config::{Settings, Wanted};
use crate::disk::{self, Lock};
use crate::error::{Error, Result};
use crate::files;
use crate::record::{Record, VERSION};
use crate::repo::Repo;
use crate::trust;

/// What the workbench needs of the machine and of its caller.
#[derive(Clone)]
pub struct Host {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The user's state directory of Godel, such as `~/.local/state/godel`.
    pub state: PathBuf,
    /// Set it to end a setup script early.
    pub stop: Arc<AtomicBool>,
    /// Is told each step before it is taken; tests let the process die there.
    pub step: fn(&'static str),
}

/// One repository with the worktrees that Godel has made in it.
///
/// All functions block; call them on a thread that may.
#[derive(Clone)]
pub struct Workbench {
    pub(crate) repo: Repo,
    pub(crate) host: Host,
}

impl Workbench {
    /// Finds the repository of a directory: its main work tree, a linked one, or a git directory.
    ///
    /// # Errors
    /// If there is none, or git cannot be run.
    pub fn open(directory: &Path, host: Host) -> Result<Self> {
        Ok(Self { repo: Repo::open(directory)?, host })
    }

    /// Returns the main work tree; a bare repository has none.
    pub fn main(&self) -> Option<&Path> {
        self.repo.main.as_deref()
    }

    /// Returns the git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.repo.common
    }

    /// Returns where the worktree of a name is, or would be.
    pub fn path(&self, name: &Name) -> PathBuf {
        self.repo.tree(name)
    }

    /// Agrees to what the committed `[worktree]` section wants, and returns it in words.
    ///
    /// # Errors
    /// If the section cannot be read or the consent cannot be kept.
    pub fn trust(&self) -> Result<Vec<String>> {
        let head = self.repo.commit("HEAD")?;
        let settings = Settings::load(&self.repo, head.as_deref())?;
        match settings.wanted {
            None => Ok(Vec::new()),
            Some(wanted) => {
                trust::agree(&self.host.state, &self.repo.common, &wanted)?;
                let Wanted { words, .. } = wanted;
                Ok(words)
            }
        }
    }

    /// Returns the values that were copied into a worktree and must be masked in all output.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn redactions(&self, name: &Name) -> Result<Vec<String>> {
        files::load(&files::redaction_path(&self.repo.state(), name))
    }

    pub(crate) fn step(&self, name: &'static str) {
        (self.host.step)(name);
    }

    /// Makes the directories of the records.
    pub(crate) fn prepare(&self) -> Result<()> {
        disk::dir(&self.repo.home)?;
        for folder in ["worktrees", "locks"] {
            disk::private_dir(&self.repo.state().join(folder))?;
        }
        self.repo.exclude_home()
    }

    /// Takes the lock of a worktree; its own directory must have been prepared.
    pub(crate) fn lock(&self, name: &Name) -> Result<Lock> {
        let path = self.repo.state().join("locks").join(format!("{name}.lock"));
        Lock::take(&path, &format!("worktree {name}"))
    }

    /// Returns where the record of a worktree is.
    pub(crate) fn record_path(&self, name: &Name) -> PathBuf {
        self.repo.state().join("worktrees").join(format!("{name}.json"))
    }

    /// Reads the record of a worktree.
    pub(crate) fn load(&self, name: &Name) -> Result<Option<Record>> {
        let path = self.record_path(name);
        let record: Option<Record> = disk::read_json(&path)?;
        match record {
            Some(record) if record.version > VERSION => Err(Error::refused(
                code::SCHEMA_MISMATCH,
                format!("{} was written by a newer Godel", path.display()),
                "use that version of Godel",
            )),
            Some(record) if record.id != *name || record.branch.starts_with('-') => {
                Err(Error::refused(
                    code::FILE_FAILED,
                    format!("{} is not the record of {name}", path.display()),
                    "move the file away; the worktree itself stays usable",
                ))
            }
            record => Ok(record),
        }
    }

    /// Writes the record of a worktree.
    pub(crate) fn save(&self, record: &Record) -> Result<()> {
        disk::write_json(&self.record_path(&record.id), record)
    }

    /// Returns the names that have a record.
    pub(crate) fn recorded(&self) -> Result<Vec<Name>> {
        let folder = self.repo.state().join("worktrees");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(Error::file(&folder, "read", cause)),
        };
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json")?.parse().ok()
        });
        Ok(names.collect())
    }
}
