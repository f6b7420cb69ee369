//! What is remembered of a worktree: `.godel/state/worktrees/<id>.json`.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Name;

/// The form of records that this version writes.
pub(crate) const VERSION: u32 = 1;

/// What is remembered of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The form of the record.
    pub version: u32,
    /// The name of the worktree: the id of its bead.
    pub id: Name,
    /// Its branch, such as `bead/godel-a1b2c`.
    pub branch: String,
    /// Whether the branch was made together with the worktree.
    pub branch_made: bool,
    /// What it was begun from.
    pub base: Base,
    /// When it was made.
    pub created_at: Timestamp,
    /// How far it has come.
    pub phase: Phase,
    /// When it may go.
    pub cleanup: Cleanup,
    /// How the work in it ended, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// The ports that nobody else of this user uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Ports>,
    /// The directories that it shares with the main work tree.
    #[serde(default)]
    pub shares: Vec<Share>,
    /// The files that were copied into it.
    #[serde(default)]
    pub copied: Vec<Copied>,
    /// Ignored files that count as work all the same.
    #[serde(default)]
    pub rescue: Vec<String>,
    /// What its removal has done so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removal: Option<Removal>,
}

/// What a worktree was begun from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Base {
    /// As it was asked for, such as `main`.
    pub revision: String,
    /// The branch or tag behind it, such as `refs/heads/main`, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The commit.
    pub commit: String,
}

/// How far a worktree has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It is being made, or its making was interrupted.
    Creating,
    /// Its setup script failed.
    SetupFailed,
    /// It can be worked in.
    Ready,
    /// It is being removed, or its removal was interrupted.
    Removing,
}

/// When a worktree may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cleanup {
    /// The rule.
    pub policy: Policy,
    /// How long a delayed one stays after its end.
    pub after_secs: i64,
}

impl Cleanup {
    /// Returns how long a delayed one stays after its end.
    pub fn after(&self) -> SignedDuration {
        SignedDuration::from_secs(self.after_secs)
    }
}

/// The rules of when a worktree may go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// As soon as its work has ended, well or not.
    Immediate,
    /// When its work ended well.
    OnSuccess,
    /// Some time after its work ended.
    Delayed,
    /// When a person says so.
    #[default]
    Manual,
}

/// How and when the work in a worktree ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// Well or not.
    pub outcome: Outcome,
    /// When.
    pub at: Timestamp,
}

/// Whether work ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did.
    Success,
    /// It did not.
    Failure,
}

/// A block of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ports {
    /// The first.
    pub first: u16,
    /// How many.
    pub count: u16,
}

/// A directory that a worktree has in common with the main work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// The directory, from the top of the repository.
    pub path: PathBuf,
    /// How it is shared.
    pub mode: Mode,
    /// What came of it.
    pub state: ShareState,
}

/// How a directory is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The same directory, for reading only.
    ReadOnly,
    /// A copy of its own; file systems that can share the blocks until one side changes.
    Copy,
    /// Not at all.
    None,
}

/// What came of the wish to share a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShareState {
    /// It is left to the sandbox that runs the worktree.
    Wanted,
    /// It is there.
    Done,
    /// There was nothing to share.
    Absent,
}

/// A file that was copied into a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Copied {
    /// The file, from the top of the repository.
    pub path: PathBuf,
    /// What was in it: a SHA-256, to know whether it was changed.
    pub sha256: String,
}

/// What a removal has decided and done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    /// The commit of the branch, if the branch goes too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_at: Option<String>,
    /// The references that keep the work.
    #[serde(default)]
    pub rescued: Vec<String>,
}
