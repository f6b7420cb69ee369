//! What is kept besides agents: letters, notices, marches, snapshots.

use godel_agents::tree::NodeNumber;
use godel_agents::{Harness, Todo};
use godel_model::{AgentId, ProjectId, UserId};
use godel_runtime::{Profile, SnapshotId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Error;
use crate::doc::Agent;
use crate::paper::Filed;

/// A letter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Letter {
    /// The id.
    pub id: Uuid,
    /// Who wrote it, in words.
    pub from: String,
    /// To whom, in words.
    pub to: String,
    /// The box it is in: `agent:ID` or `user:ID`.
    pub mailbox: String,
    /// What it says.
    pub text: String,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// Whether it was read.
    pub read: bool,
}

impl Filed for Letter {
    const KIND: &'static str = "letter";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        // What was read is found under another name, so that to look for news costs nothing.
        if self.read { format!("{}:read", self.mailbox) } else { self.mailbox.clone() }
    }

    fn state(&self) -> &str {
        if self.read { "read" } else { "new" }
    }

    fn missing(what: String) -> Error {
        Error::NoNotice(what)
    }
}

/// Why a person is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// An agent asks.
    Question,
    /// An agent cannot go on, and all that could be tried was.
    Stuck,
    /// What may be spent is spent.
    Budget,
    /// Work waits to be looked at.
    Review,
}

impl NoticeKind {
    /// Returns the kind as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Stuck => "stuck",
            Self::Budget => "budget",
            Self::Review => "review",
        }
    }
}

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The id.
    pub id: Uuid,
    /// Why.
    pub kind: NoticeKind,
    /// Whether it waits.
    pub open: bool,
    /// Whose it is.
    pub agent: Option<AgentId>,
    /// What the agent is called.
    pub label: Option<String>,
    /// The project.
    pub project: ProjectId,
    /// The bead.
    pub bead: Option<String>,
    /// What is wanted.
    pub text: String,
    /// What can be chosen.
    pub choices: Vec<String>,
    /// What was answered.
    pub answer: Option<String>,
    /// Since when.
    pub created_at: Timestamp,
}

impl Filed for Notice {
    const KIND: &'static str = "notice";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        self.agent.map_or_else(String::new, |agent| agent.to_string())
    }

    fn state(&self) -> &str {
        if self.open { "open" } else { "closed" }
    }

    fn missing(what: String) -> Error {
        Error::NoNotice(what)
    }
}

/// How a march stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarchState {
    /// It goes on.
    Running,
    /// Somebody stopped it.
    Stopped,
    /// All its beads are done.
    Done,
}

impl MarchState {
    /// Returns the state as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Done => "done",
        }
    }
}

/// A convoy that is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct March {
    /// The id.
    pub id: Uuid,
    /// The convoy.
    pub convoy: String,
    /// The project.
    pub project: ProjectId,
    /// Who asked for it.
    pub user: UserId,
    /// How it stands.
    pub state: MarchState,
    /// How many agents work at once.
    pub agents: u32,
    /// What all of them may spend.
    pub budget: Option<i64>,
    /// Which agent works.
    pub harness: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The role.
    pub role: Option<String>,
    /// Where they work.
    #[serde(default)]
    pub runtime: Option<String>,
    /// The walls.
    pub sandbox: Option<String>,
    /// The bead in whose branch the others land, if all of it lands as one.
    #[serde(default)]
    pub whole: Option<String>,
    /// Whether that bead had all the others once; from then on it is a bead like others.
    #[serde(default)]
    pub gathered: bool,
    /// What keeps it from going on.
    pub note: Option<String>,
    /// Since when.
    pub created_at: Timestamp,
}

impl Filed for March {
    const KIND: &'static str = "march";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        Agent::owner_of(self.project, &self.convoy)
    }

    fn state(&self) -> &str {
        self.state.as_str()
    }

    fn missing(what: String) -> Error {
        Error::NoAgent(what)
    }
}

/// What it takes to make an agent like another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Likeness {
    /// What is to be done.
    pub task: String,
    /// Which agent it is.
    pub harness: Harness,
    /// The command line of one that has no own.
    pub command: Vec<String>,
    /// The model.
    pub model: String,
    /// Its role.
    pub role: String,
    /// Where it works.
    pub runtime: String,
    /// Its walls.
    pub sandbox: Profile,
    /// Hosts that it may reach.
    pub allow: Vec<String>,
    /// What it may spend, in millionths of a dollar.
    pub budget: Option<i64>,
    /// After how many seconds of work it ends.
    pub timeout: Option<u64>,
    /// Its list of things to do.
    pub todos: Vec<Todo>,
}

impl Likeness {
    /// Tells what an agent is like now.
    pub(crate) fn of(agent: &Agent) -> Self {
        Self {
            task: agent.task.clone(),
            harness: agent.harness,
            command: agent.command.clone(),
            model: agent.model.clone(),
            role: agent.role.clone(),
            runtime: agent.runtime.clone(),
            sandbox: agent.sandbox,
            allow: agent.allow.clone(),
            budget: agent.budget,
            timeout: agent.timeout,
            todos: agent.todos.clone(),
        }
    }
}

/// What an agent was at a moment: its files, and where its conversation stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The id.
    pub id: Uuid,
    /// The files.
    pub files: SnapshotId,
    /// Whose they are; an id that nobody has if it came from another server.
    pub agent: AgentId,
    /// What the agent is called.
    pub label: String,
    /// Who asked for the agent, or brought the snapshot here; older ones do not say.
    #[serde(default)]
    pub user: Option<UserId>,
    /// What an agent is like that goes on from here; older ones do not say.
    #[serde(default)]
    pub like: Option<Likeness>,
    /// Whether it came from another server.
    #[serde(default)]
    pub imported: bool,
    /// The project.
    pub project: ProjectId,
    /// The bead.
    pub bead: String,
    /// The conversation.
    pub talk: Uuid,
    /// The last node of the conversation.
    pub node: Option<NodeNumber>,
    /// The commit that the branch was at.
    pub commit: Option<String>,
    /// When.
    pub taken_at: Timestamp,
}

impl Filed for Snapshot {
    const KIND: &'static str = "snapshot";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        self.agent.to_string()
    }

    fn state(&self) -> &str {
        "kept"
    }

    fn missing(what: String) -> Error {
        Error::NoSnapshot(what)
    }
}

/// That everything stands still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standstill {
    pub(crate) id: Uuid,
    pub(crate) on: bool,
    pub(crate) reason: Option<String>,
}

impl Filed for Standstill {
    const KIND: &'static str = "standstill";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn label(&self) -> Option<&str> {
        Some("standstill")
    }

    fn owner(&self) -> String {
        String::new()
    }

    fn state(&self) -> &str {
        if self.on { "on" } else { "off" }
    }

    fn missing(what: String) -> Error {
        Error::Paper(what)
    }
}
