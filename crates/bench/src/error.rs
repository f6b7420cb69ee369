//! The one error of the stopwatch: what failed, why, and what to do.

use std::fmt;

/// Something that could not be measured.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Error {
    what: String,
    hint: Option<String>,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Says what failed: lower case, no period.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None }
    }

    /// Adds what to do next.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns what to do next.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Gives an error of somebody else the words it lacks: what was tried.
pub(crate) trait Told<T> {
    /// Says what was tried, such as `read /proc/1/stat`.
    fn told(self, tried: impl fmt::Display) -> Result<T>;
}

impl<T, E: std::error::Error> Told<T> for std::result::Result<T, E> {
    fn told(self, tried: impl fmt::Display) -> Result<T> {
        self.map_err(|error| {
            let mut what = format!("could not {tried}: {error}");
            let mut cause = error.source();
            while let Some(inner) = cause {
                what.push_str(&format!(": {inner}"));
                cause = inner.source();
            }
            Error::new(what)
        })
    }
}
