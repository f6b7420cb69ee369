//! What can go wrong with a session.

use godel_model::{Code, Report, code};

/// The result of what is done with sessions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be done with a session.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The agent is at work and takes nothing more now.
    #[error("the agent is in the middle of a turn")]
    Busy,
    /// The session is over.
    #[error("the session of the agent has ended")]
    Over,
    /// Nobody asked that.
    #[error("there is no open question {0}")]
    NoQuestion(String),
    /// What the agent is told is too long.
    #[error("the prompt has {bytes} bytes, and {max} are allowed")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// The agent cannot do that.
    #[error("{harness} cannot {what}")]
    Cannot {
        /// Which agent.
        harness: &'static str,
        /// What it was to do.
        what: &'static str,
    },
    /// A setting is wrong.
    #[error("{0}")]
    Setting(String),
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Busy => code::AGENT_BUSY,
            Self::Over => code::SESSION_OVER,
            Self::NoQuestion(_) => code::QUESTION_NOT_FOUND,
            Self::TooLong { .. } => code::BODY_TOO_LARGE,
            Self::Cannot { .. } => code::INVALID_REQUEST,
            Self::Setting(_) => code::INVALID_CONFIG,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Busy => "wait for the end of the turn, or stop it",
            Self::Over => "resume the session, or start a new one",
            Self::NoQuestion(_) => "it was answered already, or its turn is over",
            Self::TooLong { .. } => "put the rest into a file of the workspace and name it",
            Self::Cannot { .. } => "choose another agent",
            Self::Setting(_) => "see the settings of the agent",
        };
        Some(hint.to_owned())
    }
}
