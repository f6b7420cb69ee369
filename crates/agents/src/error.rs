//! What can go wrong with a session.

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
