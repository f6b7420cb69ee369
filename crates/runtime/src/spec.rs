//! How a sandbox shall be.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use godel_model::{AgentId, Invalid, code};
use serde::{Deserialize, Serialize};

/// How a sandbox shall be.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnSpec {
    /// Whose it is; asking again for the same agent gives the same sandbox.
    pub agent: AgentId,
    /// Who is answerable for it, such as a tenant and a project.
    pub owner: String,
    /// What is worked on.
    pub source: Source,
    /// The walls.
    pub profile: Profile,
    /// What it may use.
    pub limits: Limits,
    /// Variables for every command; nothing of Godel's own environment gets in but `pass_env`. They
    /// may hold a token, so they are never written down: after a restart of Godel spawn again.
    #[serde(skip)]
    pub env: BTreeMap<String, String>,
    /// Names of variables that are taken over from Godel's own environment, such as `LANG`.
    pub pass_env: Vec<String>,
    /// Directories that commands may read besides those of the system, such as that of an agent's
    /// program.
    pub readable: Vec<PathBuf>,
    /// Directories that come first on PATH.
    #[serde(default)]
    pub path: Vec<PathBuf>,
    /// Who commits; the repository's own user unless named.
    pub identity: Option<Identity>,
    /// Where connections may go.
    pub egress: Egress,
    /// After which time it ends by itself.
    pub ttl: Option<Duration>,
}

impl SpawnSpec {
    /// Returns a sandbox with the default walls and limits, and nothing let through.
    pub fn new(agent: AgentId, owner: impl Into<String>, source: Source) -> Self {
        Self {
            agent,
            owner: owner.into(),
            source,
            profile: Profile::default(),
            limits: Limits::default(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            readable: Vec::new(),
            path: Vec::new(),
            identity: None,
            egress: Egress::default(),
            ttl: None,
        }
    }
}

impl fmt::Debug for SpawnSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnSpec")
            .field("agent", &self.agent)
            .field("owner", &self.owner)
            .field("source", &self.source)
            .field("profile", &self.profile)
            .field("limits", &self.limits)
            .field("env", &self.env.keys())
            .finish_non_exhaustive()
    }
}

/// What is worked on in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// A worktree that the workbench (`godel-git`) has made, on the branch `bead/<bead>`.
    Worktree {
        /// Where the worktree is.
        tree: PathBuf,
        /// The git directory that it shares with the other worktrees.
        common_dir: PathBuf,
        /// The commit that the work begins from; what is collected must descend from it.
        base: String,
        /// The bead; what is collected goes to its branch.
        bead: String,
    },
    /// A plain directory.
    Folder {
        /// Where it is.
        path: PathBuf,
    },
}

impl Source {
    /// Returns the directory that is worked in.
    pub fn directory(&self) -> &PathBuf {
        match self {
            Self::Worktree { tree, .. } => tree,
            Self::Folder { path } => path,
        }
    }
}

/// The walls around a sandbox, the strongest first.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Profile {
    /// The workspace can be read; connections go to Godel only.
    #[serde(rename = "read-only")]
    ReadOnly,
    /// The workspace can be changed; connections go to Godel only.
    #[default]
    #[serde(rename = "workspace")]
    Workspace,
    /// The workspace can be changed; connections go to Godel and to hosts on the list.
    #[serde(rename = "workspace+net")]
    WorkspaceNet,
    /// No walls at all: for those who said so.
    #[serde(rename = "none")]
    None,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Workspace, Self::WorkspaceNet, Self::None];

    /// Returns the profile as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::WorkspaceNet => "workspace+net",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such sandbox profile")
                .with_hint("use read-only, workspace, workspace+net or none")
        })
    }
}

/// What a sandbox may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Memory of all its processes together.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// What workspace, home and temporary files may grow by, all together.
    pub disk_bytes: u64,
    /// Processor time, in hundredths of one processor.
    pub cpu_percent: u32,
    /// Files that one process may have open.
    pub open_files: u64,
    /// How long one command may run unless it says less.
    pub command_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 4 << 30,
            processes: 512,
            disk_bytes: 8 << 30,
            cpu_percent: 200,
            open_files: 8_192,
            command_time: Duration::from_secs(4 * 60 * 60),
        }
    }
}

/// Who commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// Where connections out of a sandbox may go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Egress {
    /// The base URL of Godel's own API and LLM proxy: the one way that is open with every profile.
    pub api: Option<String>,
    /// Hosts for the profile `workspace+net`: `crates.io`, `*.github.com`, `example.com:8443`; without
    /// a port 80 and 443 are meant.
    pub allow: Vec<String>,
}
