//! What a provider can do, and how a sandbox is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use godel_model::{AgentId, Invalid, code};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Profile, Result};

/// What a provider can do; levels, since yes and no would promise too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// What stands between an agent and the machine.
    pub isolation: Isolation,
    /// What a snapshot holds.
    pub snapshot: SnapshotLevel,
    /// How an agent is paused.
    pub pause: Pause,
    /// Whether an agent can be copied together with what it has done.
    pub fork: bool,
    /// Whether a command can have a terminal.
    pub pty: bool,
    /// Whether ports of a sandbox can be reached from outside.
    pub ports: bool,
    /// How the network is limited.
    pub network: NetworkPolicy,
}

/// What stands between an agent and the machine, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Nothing.
    None,
    /// Namespaces and filters of the one kernel.
    Process,
    /// A container.
    Container,
    /// A kernel in user space.
    UserspaceKernel,
    /// A machine of its own.
    Microvm,
}

/// What a snapshot holds, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotLevel {
    /// There are none.
    None,
    /// Files; processes are lost.
    Workspace,
    /// A disk.
    Volume,
    /// Files and running processes.
    Memory,
}

/// How an agent is paused, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// It cannot be.
    None,
    /// Its processes stand still and keep their memory.
    Freeze,
    /// Its processes end; its files stay.
    Cold,
    /// Its processes go to disk and come back.
    Memory,
}

/// How the network of a sandbox is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkPolicy {
    /// It is not.
    None,
    /// By address.
    Address,
    /// By the name of the host, through a proxy of Godel.
    Domain,
}

/// Names one sandbox; an agent has at most one, and it has the agent's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SandboxId(AgentId);

impl SandboxId {
    /// Returns the id of an agent's sandbox.
    pub const fn of(agent: AgentId) -> Self {
        Self(agent)
    }

    /// Returns whose sandbox it is.
    pub const fn agent(self) -> AgentId {
        self.0
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SandboxId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.parse().map(Self)
    }
}

/// Names one snapshot by what is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SnapshotId(String);

impl SnapshotId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SnapshotId {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let good =
            text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if good {
            Ok(Self(text))
        } else {
            Err(Invalid::new(code::INVALID_ID, "a snapshot is named by 64 hexadecimal digits"))
        }
    }
}

impl From<SnapshotId> for String {
    fn from(id: SnapshotId) -> Self {
        id.0
    }
}

impl FromStr for SnapshotId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::try_from(text.to_owned())
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A place where an agent works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Its id.
    pub id: SandboxId,
    /// The walls around it.
    pub profile: Profile,
    /// What stands between the agent and the machine.
    pub isolation: Isolation,
    /// Where commands find the workspace.
    pub workspace: PathBuf,
    /// Where commands find their home.
    pub home: PathBuf,
    /// Where commands reach Godel, if they may.
    pub api: Option<String>,
    /// What could not be had and is done in a weaker way, in words.
    pub notes: Vec<String>,
}

impl Sandbox {
    /// Where commands behind walls find the helper, under the name that people know it by.
    pub const PROGRAM: &str = "/run/godel/bin/godel";

    /// Where commands find the helper, which is elsewhere on the machine.
    pub fn program(&self, outside: &Path) -> PathBuf {
        match self.profile {
            Profile::None => outside.to_owned(),
            Profile::ReadOnly | Profile::Workspace | Profile::WorkspaceNet => {
                PathBuf::from(Self::PROGRAM)
            }
        }
    }
}

/// How a sandbox is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxStatus {
    /// The sandbox.
    pub sandbox: Sandbox,
    /// Who is answerable for it.
    pub owner: String,
    /// What it does.
    pub phase: Phase,
    /// How many commands run in it.
    pub processes: usize,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub ends_at: Option<Timestamp>,
}

/// What a sandbox does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No command runs in it.
    Idle,
    /// Commands run in it.
    Running,
    /// Its processes stand still.
    Paused,
}

/// What was taken over from a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    /// The commit that the branch is at now.
    pub commit: String,
    /// The commit that it was at.
    pub before: String,
    /// How many commits are new.
    pub commits: u64,
    /// Whether files are changed that are in no commit.
    pub dirty: bool,
}

/// One copy of a sandbox, or why there is none.
pub type Fork = Result<Sandbox>;
