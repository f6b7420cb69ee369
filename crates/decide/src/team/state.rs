//! The states of a team, and which follow from which.

use std::fmt;
use std::str::FromStr;

use godel_model::{Invalid, code};
use serde::{Deserialize, Serialize};

/// The state of a team.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum TeamState {
    /// It was made and not started.
    #[default]
    Created,
    /// It works.
    Running,
    /// What has begun goes on, and nothing new begins.
    Paused,
    /// It has done its job.
    Completed,
    /// It could not do its job.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

/// What happens to a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TeamAction {
    /// It begins.
    Start,
    /// Nothing new is to begin.
    Pause,
    /// It may go on.
    Resume,
    /// Its job is done, or said to be.
    Complete,
    /// Its job cannot be done.
    Fail,
    /// It is to end now.
    Cancel,
}

/// A team cannot do this in its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a team that is {state} cannot be {}", .action.past())]
pub struct IllegalTeam {
    /// The state that it is in.
    pub state: TeamState,
    /// What was wanted.
    pub action: TeamAction,
}

impl TeamAction {
    /// All that can happen.
    pub const ALL: [Self; 6] =
        [Self::Start, Self::Pause, Self::Resume, Self::Complete, Self::Fail, Self::Cancel];

    const fn past(self) -> &'static str {
        match self {
            Self::Start => "started",
            Self::Pause => "paused",
            Self::Resume => "resumed",
            Self::Complete => "completed",
            Self::Fail => "failed",
            Self::Cancel => "cancelled",
        }
    }
}

impl TeamState {
    /// All states.
    pub const ALL: [Self; 6] = [
        Self::Created,
        Self::Running,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Tells whether nothing more happens to it.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Returns the state after something happened.
    ///
    /// # Errors
    /// If that cannot happen in this state.
    pub const fn after(self, action: TeamAction) -> Result<Self, IllegalTeam> {
        match (self, action) {
            (Self::Created, TeamAction::Start) | (Self::Paused, TeamAction::Resume) => {
                Ok(Self::Running)
            }
            (Self::Running, TeamAction::Pause) => Ok(Self::Paused),
            (Self::Running | Self::Paused, TeamAction::Complete) => Ok(Self::Completed),
            (Self::Running | Self::Paused, TeamAction::Fail) => Ok(Self::Failed),
            (Self::Created | Self::Running | Self::Paused, TeamAction::Cancel) => {
                Ok(Self::Cancelled)
            }
            (state, action) => Err(IllegalTeam { state, action }),
        }
    }
}

impl fmt::Display for TeamState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TeamState {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|one| one.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such state of a team")
                .with_hint("states are created, running, paused, completed, failed and cancelled")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_stays_as_it_is_and_the_rest_can_end() {
        for state in TeamState::ALL {
            for action in TeamAction::ALL {
                let after = state.after(action);
                assert!(!(state.is_final() && after.is_ok()), "{state} {action:?}");
                assert_ne!(after, Ok(TeamState::Created));
                assert_ne!(after, Ok(state), "nothing happens by itself");
            }
            assert_eq!(state.after(TeamAction::Cancel).is_ok(), !state.is_final());
            assert_eq!(state.as_str().parse::<TeamState>(), Ok(state));
        }
        assert!(TeamState::Created.after(TeamAction::Pause).is_err());
        let refused = TeamState::Completed.after(TeamAction::Start).unwrap_err();
        assert_eq!(refused.to_string(), "a team that is completed cannot be started");
    }
}
