//! What cannot be done with workflows, runs and teams.

use godel_decide::workflow::{Illegal, Problems};
use godel_model::{Code, Report, RunId, TeamId, code};

/// What cannot be done with workflows, runs and teams.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// There is no such workflow.
    #[error("there is no workflow \"{0}\"")]
    NoWorkflow(String),
    /// Another workflow has this name.
    #[error("another workflow is called \"{0}\"")]
    NameTaken(String),
    /// Somebody else changed it in between.
    #[error("workflow \"{0}\" was changed by somebody else at this moment")]
    Changed(String),
    /// The text is no workflow.
    #[error("{0}")]
    Problems(Problems),
    /// What the run is given does not fit.
    #[error("the inputs do not fit: {}", .0.join("; "))]
    Inputs(Vec<String>),
    /// There is no such run.
    #[error("there is no run {0}")]
    NoRun(RunId),
    /// There is no such step.
    #[error("the run has no step `{0}`")]
    NoStep(String),
    /// The run is not in a state in which this can be done.
    #[error("{0}")]
    Illegal(Illegal),
    /// There is no such team.
    #[error("there is no team {0}")]
    NoTeam(TeamId),
    /// What a team is to be makes no sense.
    #[error("the team makes no sense: {}", .0.join("; "))]
    Team(Vec<String>),
    /// The team is not in a state in which this can be done.
    #[error("{0}")]
    TeamState(String),
}

impl Report for WorkflowError {
    fn code(&self) -> Code {
        match self {
            Self::NoWorkflow(_) => code::WORKFLOW_NOT_FOUND,
            Self::NameTaken(_) => code::WORKFLOW_NAME_TAKEN,
            Self::Changed(_) => code::VERSION_MISMATCH,
            Self::Problems(_) => code::INVALID_WORKFLOW,
            Self::Inputs(_) | Self::Team(_) => code::INVALID_FIELD,
            Self::NoRun(_) | Self::NoStep(_) => code::RUN_NOT_FOUND,
            Self::Illegal(Illegal::NotAllowed { .. }) => code::FORBIDDEN,
            Self::Illegal(_) | Self::TeamState(_) => code::RUN_STATE,
            Self::NoTeam(_) => code::TEAM_NOT_FOUND,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoWorkflow(_) => "godel workflow list shows them",
            Self::NameTaken(_) => "choose another name, or update that one",
            Self::Changed(_) => "read it again and repeat the change",
            Self::Problems(_) => "godel workflow validate FILE shows each place in the text",
            Self::NoRun(_) => "godel workflow runs lists them",
            Self::NoStep(_) | Self::Illegal(_) => "godel workflow status RUN shows where it is",
            Self::NoTeam(_) => "godel team list shows them",
            Self::Inputs(_) | Self::Team(_) | Self::TeamState(_) => return None,
        };
        Some(hint.to_owned())
    }
}
