//! The place for the key of the record of acts.

use std::sync::OnceLock;

use godel_model::chain::AuditKey;

use crate::{Error, Result};

/// Holds the key, once the master key has opened it.
#[derive(Debug, Default)]
pub(crate) struct Seal(OnceLock<AuditKey>);

impl Seal {
    pub(crate) fn set(&self, key: AuditKey) {
        // A second key would break the chain; the first one stays.
        drop(self.0.set(key));
    }

    pub(crate) fn key(&self) -> Result<&AuditKey> {
        self.0.get().ok_or(Error::NoAuditKey)
    }
}
