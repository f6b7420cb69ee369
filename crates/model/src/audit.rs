//! The record of who did what.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::UserId;

/// How an act ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditResult {
    /// It was done.
    Ok,
    /// It was refused.
    Denied,
}

impl AuditResult {
    /// Returns the name of the result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Denied => "denied",
        }
    }

    /// Reads the name of a result.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Ok, Self::Denied].into_iter().find(|result| result.as_str() == name)
    }
}

/// What tells who somebody is. It goes when the person is erased; a digest stays in the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Personal {
    /// The name, such as `user:ann`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The network address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The program, as it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// An act that is about to be recorded: all but its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// When it happened.
    pub at: Timestamp,
    /// Who acted, if it is known.
    pub user: Option<UserId>,
    /// What was done, such as `project:create`.
    pub action: String,
    /// To what, such as `project/<id>`.
    pub resource: String,
    /// How it ended.
    pub result: AuditResult,
    /// The W3C trace id of the request.
    pub trace_id: Option<String>,
    /// More about it, as a JSON object without anything personal or secret.
    pub detail: String,
    /// What tells who it was; `None` after an erasure.
    pub personal: Option<Personal>,
}

/// One row of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place in the tenant's chain, from 1.
    pub seq: i64,
    /// What happened.
    pub entry: AuditEntry,
    /// The keyed hash of `personal`.
    pub digest: [u8; 32],
    /// The keyed hash that binds this row to the one before it.
    pub mac: [u8; 32],
}
