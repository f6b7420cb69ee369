//! Why a worker ends before it was asked to.

use std::io;

use godel_api::ClientError;
use godel_model::{Code, Report, code};

/// Why a worker ends before it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refuses it, or cannot be asked.
    #[error(transparent)]
    Client(#[from] Box<ClientError>),
    /// The command could not be started.
    #[error("{program} could not be started")]
    NotStarted {
        /// The command.
        program: String,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// An attempt ended in a way that nobody expected.
    #[error("an attempt could not be finished")]
    Attempt(#[source] tokio::task::JoinError),
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        Self::Client(Box::new(error))
    }
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Client(error) => error.code(),
            Self::NotStarted { .. } | Self::Attempt(_) => code::FILE_FAILED,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Client(error) => error.hint(),
            Self::NotStarted { .. } => {
                Some("check that it exists and that you may use it".to_owned())
            }
            Self::Attempt(_) => None,
        }
    }
}
