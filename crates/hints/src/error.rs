//! What can go wrong with Redis.

use godel_model::{Code, Report, code};

/// Why Redis was of no help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be reached.
    #[error("redis cannot be reached")]
    Redis(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It did not prove who it is, or does not speak TLS.
    #[error("the TLS connection to Redis failed: {0}")]
    Tls(String),
    /// The certificates to trust cannot be used.
    #[error(transparent)]
    Certificate(#[from] godel_tls::Error),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Says that Redis does not answer.
pub(crate) fn unreachable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Redis(cause.into())
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Redis(_) => code::REDIS_UNAVAILABLE,
            Self::Tls(_) => code::CERTIFICATE_UNTRUSTED,
            Self::Certificate(_) => code::CERTIFICATE_INVALID,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Redis(_) => "start Redis, or leave it out: a single server does not need it",
            Self::Tls(_) => {
                "name the authority that signed its certificate: rediss://host:6379?ca=/path/ca.pem"
            }
            Self::Certificate(_) => "name a PEM file that holds the authority's certificate",
        };
        Some(hint.to_owned())
    }
}
