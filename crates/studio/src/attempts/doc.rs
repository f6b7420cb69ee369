//! What is kept of attempts: a trial for each time that a bead is tried several ways.

use godel_fleet::Agent;
use godel_fleet::paper::Filed;
use godel_fleet::part::tree_of;
use godel_git::Name;
use godel_model::{AgentId, ProjectId, UserId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Error, Result};

/// Where a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Agents are at it, or the choice is a person's.
    Running,
    /// One was picked: it becomes the work of the bead, and all are put away.
    Picking,
    /// None was picked: all are put away.
    Dropping,
    /// One was picked.
    Picked,
    /// None was picked.
    Dropped,
}

impl Stage {
    /// Those in which something is still to happen.
    pub const OPEN: [Self; 3] = [Self::Running, Self::Picking, Self::Dropping];
    /// Those in which all is done.
    pub const OVER: [Self; 2] = [Self::Picked, Self::Dropped];

    /// Returns the stage as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Picking => "picking",
            Self::Dropping => "dropping",
            Self::Picked => "picked",
            Self::Dropped => "dropped",
        }
    }

    /// Tells whether nothing more happens.
    pub fn is_over(self) -> bool {
        Self::OVER.contains(&self)
    }
}

/// One attempt at a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Its number; those of a bead are never given twice.
    pub number: u32,
    /// Its agent.
    pub agent: AgentId,
    /// What the agent is called.
    pub label: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// Whether its agent was asked for.
    pub begun: bool,
    /// Its last commit, once it is put away.
    pub commit: Option<String>,
    /// The reference that keeps its commits then.
    pub archived: Option<String>,
    /// References that keep what it had not committed.
    pub rescued: Vec<String>,
}

/// What was picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pick {
    /// The number of the attempt.
    pub number: u32,
    /// Its commit.
    pub commit: String,
    /// Where the branch of the bead was.
    pub before: Option<String>,
    /// Whether it was picked although nobody vouches for it.
    pub forced: bool,
    /// Who picked it.
    pub by: String,
    /// Whether the bead has come to review with it.
    pub in_review: bool,
}

/// What may be spent on all attempts together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cap {
    /// In millionths of a dollar.
    pub micros: i64,
    /// The limit that the bead had before.
    pub before: Option<i64>,
}

/// Several attempts at one bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// The id.
    pub id: Uuid,
    /// The name that no other has: its bead and the number of its first attempt.
    pub name: String,
    /// The project.
    pub project: ProjectId,
    /// The bead.
    pub bead: String,
    /// The convoy that it belongs to.
    pub convoy: Option<String>,
    /// Who asked for it.
    pub user: UserId,
    /// The kind of agent that was asked for.
    pub harness: Option<String>,
    /// The commit that all begin from.
    pub base: String,
    /// Where it stands.
    pub stage: Stage,
    /// The attempts.
    pub attempts: Vec<Attempt>,
    /// What proves that it holds the bead.
    pub claim: Option<String>,
    /// What may be spent.
    pub cap: Option<Cap>,
    /// What was picked.
    pub pick: Option<Pick>,
    /// Whether a person was told that the choice is theirs.
    pub told: bool,
    /// What keeps it from going on.
    pub note: Option<String>,
    /// Since when.
    pub created_at: Timestamp,
    /// When it was over.
    pub ended_at: Option<Timestamp>,
}

impl Trial {
    /// Returns the name under which it holds its bead.
    pub(crate) fn holder(&self) -> String {
        format!("attempts-{}", self.bead)
    }

    /// Finds one of its attempts.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn attempt(&self, number: u32) -> Result<&Attempt> {
        let found = self.attempts.iter().find(|one| one.number == number);
        found.ok_or_else(|| Error::NoAttempt(format!("{number} at {}", self.bead)))
    }

    /// Returns the worktree of an attempt, whose branch has its name.
    pub(crate) fn tree(&self, number: u32) -> Result<Name> {
        Ok(tree_of(&self.bead, number).parse()?)
    }
}

impl Filed for Trial {
    const KIND: &'static str = "trial";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn label(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn owner(&self) -> String {
        Agent::owner_of(self.project, &self.bead)
    }

    fn state(&self) -> &str {
        self.stage.as_str()
    }

    fn missing(what: String) -> Error {
        Error::NoAttempt(what)
    }
}
