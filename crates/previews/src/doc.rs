//! What is known of a preview.

use godel_model::{AgentId, ProjectId};
use jiff::Timestamp;
use uuid::Uuid;

/// How far a preview is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its command runs, and nobody answers yet.
    Starting,
    /// It answers.
    Ready,
    /// It is over.
    Ended,
}

impl State {
    /// Returns it as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Ended => "ended",
        }
    }
}

/// An app that runs so that people can look at it.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The id.
    pub id: Uuid,
    /// The project.
    pub project: ProjectId,
    /// The bead whose work it is.
    pub bead: String,
    /// The agent whose work it is, and its name.
    pub agent: Option<(AgentId, String)>,
    /// The command that runs it.
    pub command: String,
    /// How far it is.
    pub state: State,
    /// The port on the loopback of this machine.
    pub port: u16,
    /// The commit whose files it has; none if it has the files of an agent at work.
    pub commit: Option<String>,
    /// When it was started.
    pub started_at: Timestamp,
    /// By whom.
    pub started_by: String,
    /// When it ends by itself.
    pub ends_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The exit code of its command, if that ended by itself.
    pub exit_code: Option<i32>,
    /// Why it is not ready yet, or why it ended.
    pub why: Option<String>,
    /// What its command wrote last.
    pub output: String,
}

impl Preview {
    /// Tells whether it shows the files of an agent at work.
    pub fn is_live(&self) -> bool {
        self.commit.is_none()
    }

    /// Returns where it is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Tells whether it shows the same as another.
    pub(crate) fn shows(&self, other: &Self) -> bool {
        let agent = |one: &Self| one.agent.as_ref().map(|(id, _)| *id);
        (self.project, &self.bead, agent(self), &self.commit, &self.command)
            == (other.project, &other.bead, agent(other), &other.commit, &other.command)
    }
}
