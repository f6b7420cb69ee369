//! What the edges read of an error: a stable code, its kind, and what to do next.

use serde::{Deserialize, Serialize};

use crate::Code;

/// The nine kinds of failure, each with one HTTP status and one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The request itself is wrong.
    InvalidRequest,
    /// The caller is not known.
    Unauthorized,
    /// The caller is known and may not do this.
    Forbidden,
    /// There is no such thing, or none that the caller may see.
    NotFound,
    /// The thing is in a state that does not allow this now.
    Conflict,
    /// Too many requests.
    RateLimited,
    /// Godel itself failed.
    InternalError,
    /// Something that Godel needs is not there at the moment.
    ServiceUnavailable,
    /// Something that Godel needs did not answer in time.
    GatewayTimeout,
}

impl Kind {
    /// Tells whether the same request may succeed later.
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::Conflict
                | Self::RateLimited
                | Self::InternalError
                | Self::ServiceUnavailable
                | Self::GatewayTimeout
        )
    }
}

/// An error as the edges (REST, WebSocket, CLI) show it.
///
/// The text of the error says what failed and on what; it is safe to show to the caller.
pub trait Report: std::error::Error {
    /// Returns the stable code.
    fn code(&self) -> Code;

    /// Returns what the reader can do next.
    fn hint(&self) -> Option<String> {
        None
    }

    /// Returns the field of the caller's input that it is about, such as `limits.maxAgents`.
    fn field(&self) -> Option<&str> {
        None
    }

    /// Returns the kind, which the code decides.
    fn kind(&self) -> Kind {
        self.code().kind()
    }
}

/// A value from outside that does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    code: Code,
    message: String,
    hint: Option<String>,
    field: Option<&'static str>,
}

impl Invalid {
    /// Says under which code and why a value is refused.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, field: None }
    }

    /// Adds what the caller can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the field that it is about, as the caller writes it.
    #[must_use]
    pub const fn with_field(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }
}

impl Report for Invalid {
    fn code(&self) -> Code {
        self.code
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }

    fn field(&self) -> Option<&str> {
        self.field
    }
}
