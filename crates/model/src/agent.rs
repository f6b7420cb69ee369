//! The life of an agent: its states, and which moves lead from one to another.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Invalid, code};

/// The names of all places in which agents can work.
pub const RUNTIMES: [&str; 2] = ["worktree", "gvisor"];

/// Where an agent is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// It is asked for; it may wait for its turn.
    Initializing,
    /// It has a worktree; sandbox and session are made.
    Spawning,
    /// It works.
    Executing,
    /// It waits for a person.
    Waiting,
    /// It was told to stand still.
    Paused,
    /// It says that it is done, and that is checked.
    Completing,
    /// It is done, and git agrees.
    Completed,
    /// It cannot go on by itself.
    Failed,
    /// It was ended.
    Killed,
}

/// What happens to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifeMove {
    /// Its worktree is there.
    WorktreeCreated,
    /// Its session has begun.
    SessionStarted,
    /// It needs a person.
    AwaitInput,
    /// A person answered.
    InputReceived,
    /// Somebody lets it stand still.
    Pause,
    /// Somebody lets it go on.
    Resume,
    /// It says that it is done.
    TaskComplete,
    /// What it says is not so: something is missing.
    SentBack,
    /// What it says is so, and everything is put away.
    CleanupDone,
    /// It cannot go on.
    Error,
    /// It is tried again.
    Retry,
    /// Its server was lost; it begins where it was.
    Lost,
    /// Somebody ends it.
    Kill,
}

impl Life {
    /// Every state.
    pub const ALL: [Self; 9] = [
        Self::Initializing,
        Self::Spawning,
        Self::Executing,
        Self::Waiting,
        Self::Paused,
        Self::Completing,
        Self::Completed,
        Self::Failed,
        Self::Killed,
    ];

    /// Returns the state as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Spawning => "spawning",
            Self::Executing => "executing",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completing => "completing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }

    /// Reads a state.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|life| life.as_str() == text)
    }

    /// Tells whether nothing can happen any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Killed)
    }

    /// Tells whether it has, or waits for, a run of its own.
    pub const fn is_running(self) -> bool {
        matches!(
            self,
            Self::Initializing
                | Self::Spawning
                | Self::Executing
                | Self::Waiting
                | Self::Completing
        )
    }

    /// Returns how people see it: idle, busy, waiting, paused, offline or error.
    pub const fn view(self) -> &'static str {
        match self {
            Self::Initializing => "idle",
            Self::Spawning | Self::Executing | Self::Completing => "busy",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed | Self::Killed => "offline",
            Self::Failed => "error",
        }
    }

    /// Returns the shorter word of the first API: pending, initializing, running, and so on.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Initializing => "pending",
            Self::Spawning => "initializing",
            Self::Executing | Self::Waiting | Self::Completing => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }

    /// Returns where a move leads.
    ///
    /// # Errors
    /// If it is not possible in this state.
    pub fn after(self, happens: LifeMove) -> Result<Self, Invalid> {
        use LifeMove as M;
        let next = match (self, happens) {
            (Self::Initializing, M::WorktreeCreated) => Self::Spawning,
            (Self::Spawning, M::SessionStarted) => Self::Executing,
            (Self::Executing, M::AwaitInput) => Self::Waiting,
            (Self::Waiting, M::InputReceived) => Self::Executing,
            (life, M::Pause) if life.is_running() => Self::Paused,
            (Self::Paused, M::Resume) | (Self::Failed, M::Retry) => Self::Initializing,
            (Self::Executing, M::TaskComplete) => Self::Completing,
            (Self::Completing, M::SentBack) => Self::Executing,
            (Self::Completing, M::CleanupDone) => Self::Completed,
            (life, M::Error) if life.is_running() => Self::Failed,
            (life, M::Lost | M::Retry) if life.is_running() => Self::Initializing,
            (life, M::Kill) if !life.is_over() => Self::Killed,
            _ => {
                let why = format!("an agent that is {self} cannot {happens}");
                return Err(Invalid::new(code::AGENT_STATE, why)
                    .with_hint("look at it with `godel agent show`"));
            }
        };
        Ok(next)
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for LifeMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WorktreeCreated => "get a worktree",
            Self::SessionStarted => "begin a session",
            Self::AwaitInput => "wait for a person",
            Self::InputReceived => "hear an answer",
            Self::Pause => "be paused",
            Self::Resume => "be resumed",
            Self::TaskComplete => "say that it is done",
            Self::SentBack => "be sent back to work",
            Self::CleanupDone => "be done",
            Self::Error => "fail",
            Self::Retry => "be tried again",
            Self::Lost => "be lost",
            Self::Kill => "be ended",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moves() -> impl Strategy<Value = LifeMove> {
        use LifeMove as M;
        prop::sample::select(vec![
            M::WorktreeCreated,
            M::SessionStarted,
            M::AwaitInput,
            M::InputReceived,
            M::Pause,
            M::Resume,
            M::TaskComplete,
            M::SentBack,
            M::CleanupDone,
            M::Error,
            M::Retry,
            M::Lost,
            M::Kill,
        ])
    }

    #[test]
    fn the_straight_way_leads_to_the_end() {
        use LifeMove as M;
        let way = [
            (M::WorktreeCreated, Life::Spawning),
            (M::SessionStarted, Life::Executing),
            (M::AwaitInput, Life::Waiting),
            (M::InputReceived, Life::Executing),
            (M::TaskComplete, Life::Completing),
            (M::SentBack, Life::Executing),
            (M::TaskComplete, Life::Completing),
            (M::CleanupDone, Life::Completed),
        ];
        let mut life = Life::Initializing;
        for (happens, then) in way {
            life = life.after(happens).unwrap();
            assert_eq!(life, then);
        }
    }

    proptest! {
        #[test]
        fn an_end_is_an_end_and_anybody_else_can_be_ended(all in prop::collection::vec(moves(), 0..40)) {
            let mut life = Life::Initializing;
            for happens in all {
                let next = life.after(happens);
                if life.is_over() {
                    prop_assert!(next.is_err());
                } else if happens == LifeMove::Kill {
                    prop_assert_eq!(next.clone().ok(), Some(Life::Killed));
                }
                life = next.unwrap_or(life);
            }
        }

        #[test]
        fn done_comes_only_after_it_was_said_and_checked(all in prop::collection::vec(moves(), 0..40)) {
            let mut life = Life::Initializing;
            for happens in all {
                let before = life;
                life = life.after(happens).unwrap_or(life);
                if life == Life::Completed && before != Life::Completed {
                    prop_assert_eq!(before, Life::Completing);
                }
            }
        }
    }
}
