//! What an agent is there for.

use godel_model::{AgentId, TaskId};

use crate::part::Part;

/// What an agent is there for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Aim {
    /// To bring a bead to a commit.
    #[default]
    Work,
    /// The same, because a task of the queue waits for it; the agent has this id.
    Errand(AgentId, TaskId),
    /// To judge a commit of a bead.
    Judge(String),
    /// To try a bead, as one of several; the agent has this id.
    Attempt(AgentId, Part),
}

/// What an aim comes to.
pub(crate) struct Aimed {
    pub(crate) id: AgentId,
    pub(crate) errand: Option<TaskId>,
    pub(crate) judges: Option<String>,
    pub(crate) trial: Option<Part>,
}

impl Aim {
    /// Returns the id of the agent, who waits for it, what it judges, and what it is one of.
    pub(crate) fn taken_apart(self, mint: impl FnOnce() -> AgentId) -> Aimed {
        let (errand, judges, trial) = (None, None, None);
        match self {
            Self::Work => Aimed { id: mint(), errand, judges, trial },
            Self::Errand(id, task) => Aimed { id, errand: Some(task), judges, trial },
            Self::Judge(commit) => Aimed { id: mint(), errand, judges: Some(commit), trial },
            Self::Attempt(id, part) => Aimed { id, errand, judges, trial: Some(part) },
        }
    }
}
