//! What can go wrong on the shelf.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use godel_model::{BeadStatus, Code, Invalid, Report, code};
use jiff::Timestamp;

/// The result of something that touches the shelf.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What can go wrong on the shelf.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There is no repository.
    #[error("{} is not inside a git repository", from.display())]
    NoRepository {
        /// Where the search began.
        from: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: Arc<io::Error>,
    },
    /// A file or folder cannot be written.
    #[error("{} cannot be written: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: Arc<io::Error>,
    },
    /// Something in the repository is not as git would have it.
    #[error("the repository could not be {what}: {cause}")]
    Git {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        cause: Arc<Cause>,
    },
    /// The git program failed.
    #[error("`git {command}` failed: {message}")]
    Command {
        /// What was run.
        command: String,
        /// What it said last.
        message: String,
    },
    /// The index, which can be thrown away, is in trouble.
    #[error("the index of beads cannot be used: {0}")]
    Index(#[source] Arc<rusqlite::Error>),
    /// Others kept writing for too long.
    #[error("others have been writing to the beads of this repository for a minute")]
    Busy {
        /// The lock that was waited for.
        lock: PathBuf,
    },
    /// More than fits into one write.
    #[error("this is too much for one write")]
    TooLarge,
    /// Something happened that cannot happen.
    #[error("Godel lost track of its own work: {0}")]
    Lost(&'static str),
    /// A branch `godel` leaves no room for `godel/state`.
    #[error("a branch named `godel` is in the way of the branch `godel/state`")]
    BranchInTheWay,
    /// A later version of Godel wrote this.
    #[error("the beads of this repository have format {found}, and this Godel knows {known}")]
    Newer {
        /// The format that was found.
        found: u32,
        /// The newest known one.
        known: u32,
    },
    /// A document was damaged.
    #[error("{path} cannot be read: {why}")]
    Damaged {
        /// The path in the state branch.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// There is no such bead, convoy or memory.
    #[error("there is no {what} \"{}\"", name.escape_debug())]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// Its name or the beginning of it.
        name: String,
    },
    /// A beginning of an id fits more than one.
    #[error("\"{}\" could be {}", prefix.escape_debug(), candidates.join(", "))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// Some of those that fit.
        candidates: Vec<String>,
    },
    /// Text from outside does not fit.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Somebody else holds the bead.
    #[error("bead {bead} is held by {holder} until {until:.0}")]
    Held {
        /// The bead.
        bead: String,
        /// Who holds it.
        holder: String,
        /// Until when, if it is not given back or extended.
        until: Timestamp,
    },
    /// A lease was lost: it ended, or another took its place.
    #[error("the claim on bead {bead} is over: {why}")]
    LeaseLost {
        /// The bead.
        bead: String,
        /// What became of it.
        why: String,
    },
    /// There is nothing to claim.
    #[error("no bead is ready")]
    NothingReady,
    /// The bead is blocked, deferred, or finished.
    #[error("bead {bead} cannot be claimed: {why}")]
    NotReady {
        /// The bead.
        bead: String,
        /// Why.
        why: String,
    },
    /// A link would close a circle.
    #[error("that would make a circle: {}", path.join(" -> "))]
    Cycle {
        /// The beads on the circle.
        path: Vec<String>,
    },
    /// A move that is not earned.
    #[error("bead {bead} cannot move to {to}: {}", missing.join("; "))]
    NotEarned {
        /// The bead.
        bead: String,
        /// Where it should go.
        to: BeadStatus,
        /// What is missing.
        missing: Vec<String>,
    },
    /// A remote cannot be reached, or refuses.
    #[error("{remote} cannot be synced with: {message}")]
    Remote {
        /// The remote.
        remote: String,
        /// What git said.
        message: String,
    },
    /// There is no remote to sync with.
    #[error("this repository has no remote to sync with")]
    NoRemote,
    /// The document changed since it was read.
    #[error("{id} was changed by somebody else")]
    Stale {
        /// The document.
        id: String,
    },
}

impl Error {
    pub(crate) fn read(path: &Path, cause: io::Error) -> Self {
        Self::Read { path: path.to_owned(), cause: Arc::new(cause) }
    }

    pub(crate) fn write(path: &Path, cause: io::Error) -> Self {
        Self::Write { path: path.to_owned(), cause: Arc::new(cause) }
    }

    pub(crate) fn git(what: &'static str, cause: impl Into<Cause>) -> Self {
        Self::Git { what, cause: Arc::new(cause.into()) }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Index(Arc::new(cause))
    }
}

fn is_full(cause: &rusqlite::Error) -> bool {
    cause.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::NoRepository { .. } => code::NO_REPOSITORY,
            Self::NoRemote => code::NO_REMOTE,
            Self::Remote { .. } => code::REMOTE_UNREACHABLE,
            Self::Index(cause) if is_full(cause) => code::REPOSITORY_UNWRITABLE,
            Self::Read { .. } | Self::Git { .. } | Self::Command { .. } | Self::Index(_) => {
                code::REPOSITORY_UNREADABLE
            }
            Self::Write { .. } | Self::BranchInTheWay => code::REPOSITORY_UNWRITABLE,
            Self::Busy { .. } => code::BEADS_BUSY,
            Self::TooLarge => code::BODY_TOO_LARGE,
            Self::Lost(_) => code::INTERNAL_ERROR,
            Self::Newer { .. } => code::BEADS_NEWER,
            Self::Damaged { .. } => code::BEAD_DAMAGED,
            Self::NotFound { what: "remote", .. } => code::NO_REMOTE,
            Self::NotFound { what: "commit", .. } => code::COMMIT_NOT_FOUND,
            Self::NotFound { what: "convoy", .. } => code::CONVOY_NOT_FOUND,
            Self::NotFound { what: "memory", .. } => code::MEMORY_NOT_FOUND,
            Self::NotFound { .. } => code::BEAD_NOT_FOUND,
            Self::Ambiguous { .. } => code::BEAD_AMBIGUOUS,
            Self::Invalid(invalid) => invalid.code(),
            Self::Held { .. } => code::BEAD_HELD,
            Self::LeaseLost { .. } => code::LEASE_LOST,
            Self::NothingReady | Self::NotReady { .. } => code::NOT_READY,
            Self::Cycle { .. } => code::LINK_CYCLE,
            Self::NotEarned { .. } => code::STATUS_NOT_EARNED,
            Self::Stale { .. } => code::VERSION_MISMATCH,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Remote { .. } => "try `git ls-remote` with it; nothing is lost, sync again later",
            Self::NoRemote => "add one with `git remote add origin URL`, or name a URL or a path",
            Self::NoRepository { .. } => "go into a repository, or make one with `git init`",
            Self::Write { cause, .. } => match cause.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free some space; nothing was changed"
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "beads are kept in the git folder: make it writable for this user"
                }
                _ => "nothing was changed; try again",
            },
            Self::Index(cause) if is_full(cause) => "free some space; nothing was changed",
            Self::Index(_) => {
                "it can be thrown away: remove `godel/index.db*` in the git folder and try again"
            }
            Self::Busy { .. } => "try again; if nothing else runs, look for a hung `godel` process",
            Self::BranchInTheWay => "rename it: git branch -m godel another-name",
            Self::Newer { .. } => "reading works; update Godel to write",
            Self::Damaged { .. } => {
                "see `godel bead fsck`, which can take the last good version from history"
            }
            Self::NotFound { what: "convoy", .. } => "see `godel convoy list`",
            Self::NotFound { what: "bead", .. } => "see `godel bead list --all`",
            Self::Ambiguous { .. } => "give more of the id",
            Self::Invalid(invalid) => return invalid.hint(),
            Self::Held { .. } => {
                "wait, take another with `godel bead ready --claim`, or use --force"
            }
            Self::LeaseLost { .. } => "claim it again before going on; your work tree is kept",
            Self::NothingReady => "see why with `godel bead ready --explain`",
            Self::NotReady { .. } => "see `godel bead ready --explain`",
            Self::Cycle { .. } => "remove one of these links first: godel bead dep remove",
            Self::NotEarned { .. } => "see to that, or use --force with --reason \"...\"",
            Self::Stale { .. } => "read it again and repeat the change",
            Self::Read { .. }
            | Self::Git { .. }
            | Self::Command { .. }
            | Self::TooLarge
            | Self::Lost(_) => {
                return None;
            }
            Self::NotFound { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
