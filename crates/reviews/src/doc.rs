//! What is kept of a review.

use godel_fleet::paper::Filed;
use godel_fleet::{Agent, Fleet};
use godel_git::Decision;
use godel_model::{EventId, ProjectId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Error;

/// How many comments one review holds.
pub(crate) const COMMENTS_MAX: usize = 1_000;
/// How many decisions one review holds.
pub(crate) const DECISIONS_MAX: usize = 20_000;

/// The side of a change that a line is on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// As it was.
    Old,
    /// As it is.
    #[default]
    New,
}

/// The line that a comment is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct On {
    /// The file.
    pub path: String,
    /// The side.
    pub side: Side,
    /// The number of the line.
    pub line: u32,
    /// What the line says, to find it again after a push.
    pub quote: String,
}

/// What somebody said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// The id.
    pub id: Uuid,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// About which line; about all of it if none.
    pub on: Option<On>,
    /// The commit that was looked at.
    pub commit: String,
    /// What.
    pub text: String,
    /// The comment that it answers.
    pub reply_to: Option<Uuid>,
    /// The round in which the agent was told.
    pub sent: Option<u32>,
}

/// A decision, and who made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Made {
    /// What was decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Those that were made together are taken back together.
    pub batch: u32,
}

/// That a commit may land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The commit; another one needs another word.
    pub commit: String,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Why, in a sentence.
    pub note: Option<String>,
}

/// The review of a bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The id.
    pub id: Uuid,
    /// The project.
    pub project: ProjectId,
    /// The bead.
    pub bead: String,
    /// How often changes were asked for.
    pub rounds: u32,
    /// What was decided, the oldest first; a later one counts more.
    pub decisions: Vec<Made>,
    /// What was said, the oldest first.
    pub comments: Vec<Comment>,
    /// The last word that it may land.
    pub approval: Option<Approval>,
    /// Since when.
    pub created_at: Timestamp,
    /// The name under which there is one review of a bead.
    name: String,
}

impl Review {
    /// Begins the review of a bead.
    pub(crate) fn fresh(fleet: &Fleet, project: ProjectId, bead: &str) -> Self {
        Self {
            id: fleet.app().mint.id::<EventId>().uuid(),
            project,
            bead: bead.to_owned(),
            rounds: 0,
            decisions: Vec::new(),
            comments: Vec::new(),
            approval: None,
            created_at: fleet.app().clock.now(),
            name: Self::name_of(project, bead),
        }
    }

    /// Returns the name of the review of a bead.
    pub(crate) fn name_of(project: ProjectId, bead: &str) -> String {
        Agent::owner_of(project, bead)
    }

    /// Returns what was decided.
    pub(crate) fn decided(&self) -> Vec<Decision> {
        self.decisions.iter().map(|made| made.decision.clone()).collect()
    }

    /// Lists what was said since the agent was last told.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Comment> {
        self.comments.iter().filter(|comment| comment.sent.is_none())
    }

    /// Tells whether a commit was approved.
    pub(crate) fn approves(&self, commit: &str) -> Option<&Approval> {
        self.approval.as_ref().filter(|approval| approval.commit == commit)
    }
}

impl Filed for Review {
    const KIND: &'static str = "review";

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
        if self.approval.is_some() { "approved" } else { "open" }
    }

    fn missing(what: String) -> Error {
        Error::Paper(format!("there is no review {what}"))
    }
}
