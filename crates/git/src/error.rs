//! What can go wrong on the workbench.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use godel_model::{Code, Invalid, Report, code};

use crate::Name;

/// The result of what the workbench does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong on the workbench.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The git program cannot be started.
    #[error("git could not be started")]
    Missing(#[source] io::Error),
    /// Git failed.
    #[error("`git {command}` failed: {said}")]
    Git {
        /// The subcommand.
        command: String,
        /// What git wrote.
        said: String,
    },
    /// A file or directory could not be used.
    #[error("{} could not be {done}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What was tried.
        done: &'static str,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
    /// The setup script did not do its work; the worktree is there for a look.
    #[error("the setup of worktree {name} {why}{}", tail(output))]
    Setup {
        /// The worktree.
        name: Name,
        /// How it ended.
        why: String,
        /// The end of what it wrote, without what was copied in confidence.
        output: String,
        /// The file with more of it.
        log: PathBuf,
    },
    /// It is refused, and the reason says why.
    #[error(transparent)]
    Refused(#[from] Invalid),
}

impl Error {
    /// Says that a file could not be used.
    pub(crate) fn file(path: &Path, done: &'static str, cause: io::Error) -> Self {
        Self::File { path: path.to_owned(), done, cause }
    }

    /// Refuses with a sentence and what to do about it.
    pub(crate) fn refused(code: Code, message: impl Display, hint: impl Into<String>) -> Self {
        Self::Refused(Invalid::new(code, message.to_string()).with_hint(hint))
    }

    /// Says that there is no such worktree.
    pub(crate) fn no_worktree(name: &Name) -> Self {
        Self::refused(
            code::WORKTREE_NOT_FOUND,
            format!("there is no worktree {name} in this repository"),
            "see which there are with `godel worktree list`",
        )
    }
}

/// Lets `map_err` name the file that failed.
pub(crate) fn at<'a>(path: &'a Path, done: &'static str) -> impl FnOnce(io::Error) -> Error + 'a {
    move |cause| Error::file(path, done, cause)
}

fn tail(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!("; it wrote:\n{}", output.trim_end()) }
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Missing(_) => code::GIT_UNAVAILABLE,
            Self::Git { said, .. } if said.contains("No space left on device") => code::DISK_FULL,
            Self::Git { .. } => code::GIT_FAILED,
            Self::File { cause, .. } if cause.kind() == io::ErrorKind::StorageFull => {
                code::DISK_FULL
            }
            Self::File { .. } => code::FILE_FAILED,
            Self::Setup { .. } => code::SETUP_FAILED,
            Self::Refused(invalid) => invalid.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing(_) => {
                Some("install git 2.36 or newer, and see that PATH leads to it".to_owned())
            }
            Self::Git { .. } => Some("nothing was lost; repeat the command afterwards".to_owned()),
            Self::File { done: "understood", .. } => Some(
                "move the file away; a worktree stays usable without its record, and `godel \
                 worktree remove` still saves its work"
                    .to_owned(),
            ),
            Self::File { cause, .. } => Some(match cause.kind() {
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                    "Godel keeps worktrees and their records in the repository: it must be \
                     writable for you"
                        .to_owned()
                }
                io::ErrorKind::StorageFull => {
                    "make room on the disk, then repeat the command".to_owned()
                }
                _ => "check that it is there and that you may use it".to_owned(),
            }),
            Self::Setup { name, log, .. } => Some(format!(
                "the worktree is there for a look, and {} has more of the output; `godel worktree \
                 create {name}` tries again, `godel worktree remove {name}` removes it",
                log.display()
            )),
            Self::Refused(invalid) => invalid.hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_such() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(Error::file(Path::new("/x"), "written", full).code(), code::DISK_FULL);
        let git = Error::Git {
            command: "add".to_owned(),
            said: "error: write: No space left on device".to_owned(),
        };
        assert_eq!(git.code(), code::DISK_FULL);
    }
}
