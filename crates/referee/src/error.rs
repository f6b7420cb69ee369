//! Why a history cannot be judged.

use std::io;

/// Why a history cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes cannot be had.
    #[error("line {line} could not be read")]
    Read {
        /// The line.
        line: u64,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line is not a record.
    #[error("line {line} is not a record: {message}")]
    Format {
        /// The line.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A record makes no sense where it is, so the fault is with who kept the history.
    #[error("line {line} makes no sense: {message}")]
    Story {
        /// The line.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
}

pub(crate) fn story(line: u64, message: impl Into<String>) -> Error {
    Error::Story { line, message: message.into() }
}
