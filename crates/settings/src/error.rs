//! What can be wrong with settings.

use std::fmt::Display;
use std::io;

use godel_model::{Code, Invalid, Report, code};

/// The result of reading settings.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can be wrong with settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting does not fit.
    #[error(transparent)]
    Invalid(Invalid),
    /// The address of the database is not understood.
    #[error(transparent)]
    Database(Box<godel_store::Error>),
    /// A file could not be used.
    #[error("{what} could not be read")]
    File {
        /// The file, or what stands for it.
        what: String,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
}

impl Error {
    /// Says that a file could not be read.
    pub(crate) fn file(what: &(impl Display + ?Sized), cause: io::Error) -> Self {
        Self::File { what: what.to_string(), cause }
    }

    /// Says that a setting is wrong.
    pub(crate) fn config(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid(Invalid::new(code::INVALID_CONFIG, message).with_hint(hint))
    }
}

impl From<godel_store::Error> for Error {
    fn from(error: godel_store::Error) -> Self {
        Self::Database(Box::new(error))
    }
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(error) => error.code(),
            Self::Database(error) => error.code(),
            Self::File { .. } => code::FILE_FAILED,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid(error) => error.hint(),
            Self::Database(error) => error.hint(),
            Self::File { .. } => Some("check that it exists and that you may use it".to_owned()),
        }
    }
}
