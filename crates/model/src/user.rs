//! Users: people and services that have an account.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{ProjectId, Role, UserId, UserName};

/// Whether an account can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UserStatus {
    /// Was invited and has not come yet.
    Invited,
    /// Can log in.
    Active,
    /// Cannot log in until it is enabled again.
    Disabled,
    /// Is gone, and so is what told who it was.
    Erased,
}

impl UserStatus {
    /// Returns the name of the status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invited => "invited",
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Erased => "erased",
        }
    }

    /// Reads the name of a status.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Invited, Self::Active, Self::Disabled, Self::Erased];
        all.into_iter().find(|status| status.as_str() == name)
    }
}

/// Somebody who has an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The id.
    pub id: UserId,
    /// The name, unique in its tenant.
    pub name: UserName,
    /// What it may do.
    pub role: Role,
    /// Whether the account can be used.
    pub status: UserStatus,
    /// The projects it works in; none means all.
    pub projects: Vec<ProjectId>,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When it was last logged in or called.
    pub seen_at: Option<Timestamp>,
}
