//! What can go wrong around a sandbox.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use godel_model::{Code, Invalid, Report, code};

/// The result of what a runtime does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong around a sandbox; [`Report`] gives the code, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is refused, and the reason says why.
    #[error(transparent)]
    Refused(#[from] Invalid),
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
    /// A program could not be started.
    #[error("{program} could not be started")]
    Start {
        /// Which.
        program: String,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
    /// Git failed.
    #[error("`git {command}` failed: {said}")]
    Git {
        /// The subcommand.
        command: String,
        /// What git wrote.
        said: String,
    },
}

impl Error {
    /// Refuses with a sentence and what to do about it.
    pub fn refused(code: Code, message: impl Display, hint: impl Into<String>) -> Self {
        Self::Refused(Invalid::new(code, message.to_string()).with_hint(hint))
    }

    /// Tells whether the same call may succeed later without anybody doing something.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Refused(_) => self.code() != code::SANDBOX_UNAVAILABLE && self.kind().retryable(),
            Self::File { .. } | Self::Start { .. } | Self::Git { .. } => self.kind().retryable(),
        }
    }

    /// Says that a file could not be used.
    pub(crate) fn file(path: &Path, done: &'static str, cause: io::Error) -> Self {
        Self::File { path: path.to_owned(), done, cause }
    }
}

/// Lets `map_err` name the file that failed.
pub(crate) fn at<'a>(path: &'a Path, done: &'static str) -> impl FnOnce(io::Error) -> Error + 'a {
    move |cause| Error::file(path, done, cause)
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Refused(invalid) => invalid.code(),
            Self::File { cause, .. } if cause.kind() == io::ErrorKind::StorageFull => {
                code::DISK_FULL
            }
            Self::File { .. } => code::FILE_FAILED,
            Self::Start { .. } => code::SANDBOX_UNAVAILABLE,
            Self::Git { said, .. } if said.contains("No space left on device") => code::DISK_FULL,
            Self::Git { .. } => code::GIT_FAILED,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(invalid) => invalid.hint(),
            Self::File { .. } => Some("check that it is there and that you may use it".to_owned()),
            Self::Start { program, .. } => {
                Some(format!("see that {program} is installed and may be run by this user"))
            }
            Self::Git { .. } => Some("nothing was lost; repeat it afterwards".to_owned()),
        }
    }
}
