//! What can go wrong with a forge, so that somebody can do something about it.

use std::time::Duration;

use godel_model::{Code, Report, code};

/// The result of a request to a forge.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with a forge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nobody answers, or not as a forge does.
    #[error("{host} does not answer: {why}")]
    Away {
        /// The forge.
        host: String,
        /// Why.
        why: String,
        /// When it may be asked again, if it said so.
        after: Option<Duration>,
    },
    /// It was asked too often.
    #[error("{host} wants to be asked less often")]
    Limited {
        /// The forge.
        host: String,
        /// When it may be asked again, if it said so.
        after: Option<Duration>,
    },
    /// The token is not known, or not any more.
    #[error("{host} does not accept the token in the secret \"{secret}\"")]
    Unauthorized {
        /// The forge.
        host: String,
        /// The secret that holds the token.
        secret: String,
    },
    /// The token is known, and may not do this.
    #[error("{host} does not let the token in the secret \"{secret}\" do this: {said}")]
    Forbidden {
        /// The forge.
        host: String,
        /// The secret that holds the token.
        secret: String,
        /// What the forge said.
        said: String,
    },
    /// There is no such repository or pull request, or none that the token may see.
    #[error("{host} knows no {what} that the token in the secret \"{secret}\" may see")]
    Missing {
        /// The forge.
        host: String,
        /// The repository, and what of it.
        what: String,
        /// The secret that holds the token.
        secret: String,
    },
    /// The repository is elsewhere now.
    #[error("{host} says that {what} has moved to {to}")]
    Moved {
        /// The forge.
        host: String,
        /// The repository.
        what: String,
        /// Where it is now.
        to: String,
    },
    /// The forge understood, and says no.
    #[error("{host} refuses it: {said}")]
    Refused {
        /// The forge.
        host: String,
        /// What the forge said.
        said: String,
    },
    /// The answer cannot be understood.
    #[error("the answer of {host} is not understood: {why}")]
    Garbled {
        /// The forge.
        host: String,
        /// What is wrong with it.
        why: String,
    },
    /// What the project says about its forge cannot be.
    #[error("{0}")]
    Unclear(String),
}

impl Error {
    /// Tells whether the same may work later although nobody does anything.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Away { .. } | Self::Limited { .. } | Self::Garbled { .. })
    }

    /// Returns when the forge wants to be asked again.
    pub const fn after(&self) -> Option<Duration> {
        match self {
            Self::Away { after, .. } | Self::Limited { after, .. } => *after,
            _ => None,
        }
    }
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Away { .. } | Self::Limited { .. } | Self::Garbled { .. } => {
                code::FORGE_UNAVAILABLE
            }
            Self::Unclear(_) => code::INVALID_CONFIG,
            _ => code::FORGE_REFUSED,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Away { .. } | Self::Limited { .. } => "it is asked again by itself".to_owned(),
            Self::Garbled { .. } => {
                "is it the forge that `[landing] forge` in godel.toml says?".to_owned()
            }
            Self::Unauthorized { secret, .. } => {
                format!("make a new token on the forge, then: godel secret set {secret}")
            }
            Self::Forbidden { secret, .. } | Self::Missing { secret, .. } => format!(
                "it needs to read and write pull requests and contents of this repository; \
                 then: godel secret set {secret}"
            ),
            Self::Moved { .. } => "tell git: git remote set-url REMOTE ADDRESS".to_owned(),
            Self::Refused { .. } => "look at the pull request on the forge".to_owned(),
            Self::Unclear(_) => "see docs/how-to/landing.md, \"Pull requests\"".to_owned(),
        })
    }
}
