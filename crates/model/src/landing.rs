//! How finished work becomes part of a branch.

use serde::{Deserialize, Serialize};

/// How work becomes part of a branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JoinBy {
    /// By a merge commit; the commits of the work stay as they are.
    #[default]
    Merge,
    /// As one commit.
    Squash,
    /// Commit by commit on top of the branch; what cannot be laid so becomes one commit.
    Rebase,
}

impl JoinBy {
    /// Returns it as in `godel.toml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }
}

/// A forge: where people look at work and merge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForgeKind {
    /// GitHub, or GitHub Enterprise.
    GitHub,
    /// GitLab, wherever it runs.
    GitLab,
}

impl ForgeKind {
    /// Returns it as in `godel.toml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
        }
    }
}
