//! What can go wrong in a command.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use godel_api::ClientError;
use godel_model::{Code, Invalid, Report, code};

/// The result of a command.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong in a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A call to a server failed.
    #[error(transparent)]
    Client(#[from] Box<ClientError>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Box<godel_store::Error>),
    /// A use case failed.
    #[error(transparent)]
    App(#[from] Box<godel_app::Error>),
    /// The server did not start or stop as it should.
    #[error(transparent)]
    Start(#[from] Box<godel_server::StartError>),
    /// The settings do not fit.
    #[error(transparent)]
    Settings(#[from] Box<godel_settings::Error>),
    /// Logging could not be set up.
    #[error(transparent)]
    Telemetry(#[from] Box<godel_telemetry::Error>),
    /// The beads of a repository could not be used.
    #[error(transparent)]
    Beads(#[from] Box<godel_beads::Error>),
    /// The workbench failed.
    #[error(transparent)]
    Git(#[from] Box<godel_git::Error>),
    /// A worker ended before it was asked to.
    #[error(transparent)]
    Worker(Box<godel_worker::Error>),
    /// A value from outside does not fit.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A file could not be used.
    #[error("{what} could not be {done}")]
    File {
        /// The file, or what stands for it.
        what: String,
        /// What was tried.
        done: &'static str,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
    /// No server runs on the data directory.
    #[error("no godel server runs on {}", data.display())]
    NotRunning {
        /// The data directory.
        data: PathBuf,
        /// What was found instead.
        found: Option<String>,
    },
    /// Whoever reads the output has had enough.
    #[error("the output was closed")]
    Closed,
}

impl Error {
    /// Says that a file could not be used.
    pub fn file(what: &(impl Display + ?Sized), done: &'static str, cause: io::Error) -> Self {
        Self::File { what: what.to_string(), done, cause }
    }

    /// Says that a setting is wrong.
    pub fn config(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid(Invalid::new(code::INVALID_CONFIG, message).with_hint(hint))
    }

    /// Says that a command was asked for in a wrong way.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid(Invalid::new(code::INVALID_REQUEST, message).with_hint(hint))
    }
}

/// Tells whether a file is not there; a directory on the way to it may be none.
pub fn is_absent(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the cause at the bottom of an error, unless its message has said it already.
pub fn root_cause(error: &dyn std::error::Error) -> Option<String> {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    let (text, shown) = (last.to_string(), error.to_string());
    (!text.is_empty() && !shown.contains(&text)).then_some(text)
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Client(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::App(error) => error.code(),
            Self::Start(error) => error.code(),
            Self::Settings(error) => error.code(),
            Self::Telemetry(error) => error.code(),
            Self::Beads(error) => error.code(),
            Self::Git(error) => error.code(),
            Self::Worker(error) => error.code(),
            Self::Invalid(error) => error.code(),
            Self::File { .. } | Self::Closed => code::FILE_FAILED,
            Self::NotRunning { .. } => code::SERVER_UNREACHABLE,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Client(error) if error.code() == code::UNAUTHORIZED => Some(
                "log in with `godel login URL`, set GODEL_KEY to a key of that server, or name its \
                 data directory with --data"
                    .to_owned(),
            ),
            Self::Client(error) if error.code() == code::RATE_LIMITED => Some(
                "try again in a few seconds; `rate.tier` of the server sets the limit".to_owned(),
            ),
            Self::Client(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::App(error) => error.hint(),
            Self::Start(error) => error.hint(),
            Self::Settings(error) => error.hint(),
            Self::Telemetry(error) => error.hint(),
            Self::Beads(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Worker(error) => error.hint(),
            Self::Invalid(error) => error.hint(),
            Self::File { .. } => Some("check that it exists and that you may use it".to_owned()),
            Self::NotRunning { found: None, .. } => Some("start it with `godel up`".to_owned()),
            Self::NotRunning { found: Some(found), .. } => {
                Some(format!("{found}; start it with `godel up`"))
            }
            Self::Closed => None,
        }
    }
}

macro_rules! boxed {
    ($($variant:ident($type:ty);)+) => {
        $(impl From<$type> for Error {
            fn from(error: $type) -> Self {
                Self::$variant(Box::new(error))
            }
        })+
    };
}

boxed! {
    Client(ClientError);
    Store(godel_store::Error);
    App(godel_app::Error);
    Start(godel_server::StartError);
    Settings(godel_settings::Error);
    Telemetry(godel_telemetry::Error);
    Beads(godel_beads::Error);
    Git(godel_git::Error);
}

impl From<godel_server::SafeError> for Error {
    fn from(error: godel_server::SafeError) -> Self {
        godel_server::StartError::from(error).into()
    }
}

impl From<godel_worker::Error> for Error {
    fn from(error: godel_worker::Error) -> Self {
        match error {
            godel_worker::Error::Client(error) => Self::Client(error),
            other => Self::Worker(Box::new(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_told_once() {
        let cause = io::Error::other("no luck");
        let error = Error::file("/tmp/x", "read", cause);
        assert_eq!(error.to_string(), "/tmp/x could not be read");
        assert_eq!(root_cause(&error).as_deref(), Some("no luck"));
        let plain = Error::usage("wrong", "right");
        assert_eq!(root_cause(&plain), None);
    }
}
