//! What can go wrong with agents.

use godel_model::{Code, Invalid, Report, code};

/// The result of what is done with agents.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with agents.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value from outside does not fit.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// There is no such agent.
    #[error("there is no agent {0}")]
    NoAgent(String),
    /// There is no such conversation.
    #[error("there is no session {0}")]
    NoSession(String),
    /// There is no such notice, or it is answered.
    #[error("there is no notice {0} that waits for an answer")]
    NoNotice(String),
    /// There is no such snapshot.
    #[error("there is no snapshot {0}")]
    NoSnapshot(String),
    /// There is no such role.
    #[error("there is no role \"{0}\"")]
    NoRole(String),
    /// A bead is not in the merge queue.
    #[error("{0} is not in the merge queue")]
    NotQueued(String),
    /// There are no such attempts.
    #[error("there is no attempt {0}")]
    NoAttempt(String),
    /// There is no such view.
    #[error("there is no view {0} of yours")]
    NoView(String),
    /// A use case failed.
    #[error(transparent)]
    App(#[from] godel_app::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] godel_store::Error),
    /// Something is wrong with a worktree.
    #[error(transparent)]
    Git(#[from] godel_git::Error),
    /// Something is wrong with a forge.
    #[error(transparent)]
    Forge(#[from] godel_forge::Error),
    /// Something is wrong with a sandbox.
    #[error(transparent)]
    Runtime(#[from] godel_runtime::Error),
    /// Something is wrong with a session.
    #[error(transparent)]
    Agent(#[from] godel_agents::Error),
    /// Something cannot be done with a conversation.
    #[error(transparent)]
    Tree(#[from] godel_agents::tree::TreeError),
    /// Another server changed the same at the same time, again and again.
    #[error("this {0} is changed by too many at once")]
    Raced(&'static str),
    /// A document cannot be kept.
    #[error("{0}")]
    Paper(String),
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::NoAgent(_) => code::AGENT_NOT_FOUND,
            Self::NoSession(_) => code::SESSION_NOT_FOUND,
            Self::NoNotice(_) => code::NOTICE_NOT_FOUND,
            Self::NoSnapshot(_) => code::SNAPSHOT_NOT_FOUND,
            Self::NoRole(_) => code::ROLE_NOT_FOUND,
            Self::NotQueued(_) => code::LANDING_NOT_FOUND,
            Self::NoAttempt(_) => code::ATTEMPT_NOT_FOUND,
            Self::NoView(_) => code::VIEW_NOT_FOUND,
            Self::App(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Git(error) => error.code(),
            Self::Forge(error) => error.code(),
            Self::Runtime(error) => error.code(),
            Self::Agent(error) => error.code(),
            Self::Tree(error) => error.code(),
            Self::Raced(_) => code::DATABASE_UNAVAILABLE,
            Self::Paper(_) => code::INTERNAL_ERROR,
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Invalid(invalid) => invalid.field(),
            Self::App(error) => error.field(),
            Self::NoRole(_) => Some("role"),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid(invalid) => invalid.hint(),
            Self::NoAgent(_) => Some("`godel agent list` shows all of them".to_owned()),
            Self::NoSession(_) => Some("`godel session list` shows all of them".to_owned()),
            Self::NoNotice(_) => Some("`godel inbox` shows what waits".to_owned()),
            Self::NoSnapshot(_) => Some("`godel agent snapshot AGENT` makes one".to_owned()),
            Self::NoRole(_) => Some("`godel role list` shows all of them".to_owned()),
            Self::NotQueued(_) => Some("`godel land status` shows what is in it".to_owned()),
            Self::NoAttempt(_) => Some("`godel attempt list` shows all of them".to_owned()),
            Self::NoView(_) => Some("`godel view list` shows all of them".to_owned()),
            Self::App(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Forge(error) => error.hint(),
            Self::Runtime(error) => error.hint(),
            Self::Agent(error) => error.hint(),
            Self::Tree(error) => error.hint(),
            Self::Raced(_) => Some("try again".to_owned()),
            Self::Paper(_) => None,
        }
    }
}

impl Error {
    /// Refuses something in a sentence.
    pub fn refused(code: Code, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid(Invalid::new(code, why).with_hint(hint))
    }

    /// Names the field of the caller's input that it is about.
    #[must_use]
    pub fn at(self, field: &'static str) -> Self {
        match self {
            Self::Invalid(invalid) => Self::Invalid(invalid.with_field(field)),
            other => other,
        }
    }
}
