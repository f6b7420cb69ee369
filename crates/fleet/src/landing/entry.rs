//! What is kept of the merge queue: an entry for each bead that is to land, and who leads each line.

use godel_agents::gates::GateResult;
use godel_git::Merge;
use godel_model::{ProjectId, UserId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Error;
use crate::doc::Agent;
use crate::paper::Filed;

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It waits for its turn.
    Waiting,
    /// It is merged and judged, or the branch is being moved.
    Checking,
    /// An agent repairs its conflicts.
    Mending,
    /// A pull request for it waits on the forge, or is being opened.
    Proposed,
    /// The branch has it, and is still to be pushed.
    Pushing,
    /// The branch has it.
    Landed,
    /// It cannot land as it is.
    Failed,
    /// Somebody took it out.
    Removed,
    /// It landed and was taken back.
    Reverted,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 9] = [
        Self::Waiting,
        Self::Checking,
        Self::Mending,
        Self::Proposed,
        Self::Pushing,
        Self::Landed,
        Self::Failed,
        Self::Removed,
        Self::Reverted,
    ];
    /// Those in which something is still to happen.
    pub const OPEN: [Self; 5] =
        [Self::Waiting, Self::Checking, Self::Mending, Self::Proposed, Self::Pushing];

    /// Returns the stage as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Checking => "checking",
            Self::Mending => "mending",
            Self::Proposed => "proposed",
            Self::Pushing => "pushing",
            Self::Landed => "landed",
            Self::Failed => "failed",
            Self::Removed => "removed",
            Self::Reverted => "reverted",
        }
    }

    /// Tells whether nothing more happens by itself.
    pub fn is_over(self) -> bool {
        !Self::OPEN.contains(&self)
    }
}

/// Why work does not land.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// It changes the same as what is in the branch.
    Conflict,
    /// A gate fails on it together with the branch.
    Gate,
    /// It is not what was allowed to land, or not in review any more.
    Changed,
    /// What must pass after the landing did not; it was taken back.
    After,
    /// Its pull request was closed without being merged.
    Closed,
    /// Git refuses it.
    Git,
}

impl Trouble {
    /// Returns the trouble as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Gate => "gate",
            Self::Changed => "changed",
            Self::After => "after",
            Self::Closed => "closed",
            Self::Git => "git",
        }
    }
}

/// Who asked for a landing, which decides what happens if it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A person: who decides what comes next.
    Person,
    /// A convoy of a project where gates are enough: another agent mends the work.
    Convoy,
    /// An agent that approved it: the hearing goes on.
    Review,
}

impl Asked {
    /// Returns it as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Convoy => "convoy",
            Self::Review => "review",
        }
    }
}

/// What a gate said about what is to land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The gate.
    pub gate: String,
    /// Whether it passed.
    pub passed: bool,
    /// How long it took.
    pub took_ms: u64,
    /// Whether it was known from before.
    pub cached: bool,
}

impl Verdict {
    pub(crate) fn of(result: &GateResult) -> Self {
        Self {
            gate: result.name.clone(),
            passed: result.passed,
            took_ms: u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX),
            cached: result.cached,
        }
    }
}

/// A move of the branch that is about to be made, for whoever comes after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moving {
    /// What the branch is moved to.
    pub merge: Merge,
    /// What this bead's part of it lies on.
    pub from: String,
    /// The commit that brings this bead's part.
    pub to: String,
}

/// What is known of the pull request of a bead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PullRequest {
    /// Its number, once it is known that there is one.
    pub number: Option<u64>,
    /// Where people look at it.
    pub url: Option<String>,
    /// What became of it: `open`, `merged` or `closed`.
    pub state: Option<String>,
    /// What the forge's checks say: `none`, `pending`, `passed` or `failed`.
    pub checks: Option<String>,
    /// What people say on the forge: `none`, `approved` or `changes_requested`.
    pub review: Option<String>,
    /// The commit that Godel pushed last to its branch on the forge.
    pub(crate) pushed: Option<String>,
    /// The commit of the target branch together with which the gates passed.
    pub(crate) judged_on: Option<String>,
    /// How often it was looked at since something about it changed.
    pub(crate) looks: u32,
}

/// A bead that is to land, or has landed; one for each bead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The id.
    pub id: Uuid,
    /// The name under which no bead is in the line twice.
    pub(crate) name: String,
    /// The project.
    pub project: ProjectId,
    /// The bead.
    pub bead: String,
    /// What the bead is called.
    pub title: String,
    /// The commit that was allowed to land.
    pub source: String,
    /// Who allowed it.
    pub user: UserId,
    /// On whose wish it lands.
    pub asked: Asked,
    /// The convoy that it belongs to.
    pub convoy: Option<String>,
    /// Where it stands.
    pub stage: Stage,
    /// Why it failed.
    pub trouble: Option<Trouble>,
    /// What keeps it, in words.
    pub why: Option<String>,
    /// Files that conflict.
    pub files: Vec<String>,
    /// The bead in whose branch it lands, if it does not land in the target branch by itself.
    #[serde(default)]
    pub onto: Option<String>,
    /// The branch.
    pub target: Option<String>,
    /// The commit of the branch that has it.
    pub commit: Option<String>,
    /// A move of the branch that was begun.
    pub moving: Option<Moving>,
    /// What its part of the branch lies on, and the commit that brought it.
    pub part: Option<(String, String)>,
    /// The same of a landing that was taken back: git thinks that the branch has it, so it is laid anew.
    #[serde(default)]
    pub undone: Option<(String, String)>,
    /// Its pull request, if it lands by one.
    #[serde(default)]
    pub pull: Option<PullRequest>,
    /// What the gates said.
    pub verdicts: Vec<Verdict>,
    /// Those that were tried together have the same.
    pub batch: Option<Uuid>,
    /// Whether it is tried by itself, since it failed together with others.
    pub alone: bool,
    /// The agent that repairs it.
    pub mender: Option<String>,
    /// How often it was repaired.
    pub mends: u32,
    /// How often it was tried without getting an answer.
    pub tries: u32,
    /// Not tried before this time.
    pub not_before: Option<Timestamp>,
    /// When it was added, which is its place in the line unless somebody gave it another.
    pub added_at: Timestamp,
    /// The place that somebody gave it.
    #[serde(default)]
    pub(crate) placed_at: Option<Timestamp>,
    /// When it was first tried.
    pub began_at: Option<Timestamp>,
    /// When it was over.
    pub ended_at: Option<Timestamp>,
}

impl Entry {
    /// The name under which the entry of a bead is found.
    pub(crate) fn name_of(project: ProjectId, bead: &str) -> String {
        Agent::owner_of(project, bead)
    }

    /// Tells where it stands in the line, among others.
    pub(crate) fn place(&self) -> (Timestamp, Uuid) {
        (self.placed_at.unwrap_or(self.added_at), self.id)
    }

    /// Tells whether something may be done about it now.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.not_before.is_none_or(|at| at <= now)
    }

    /// Ends it.
    pub(crate) fn end(&mut self, stage: Stage, now: Timestamp) {
        self.stage = stage;
        (self.moving, self.not_before) = (None, None);
        self.ended_at = Some(now);
    }
}

impl Filed for Entry {
    const KIND: &'static str = "landing";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn label(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn owner(&self) -> String {
        Self::name_of(self.project, &self.bead)
    }

    fn state(&self) -> &str {
        self.stage.as_str()
    }

    fn missing(what: String) -> Error {
        Error::NotQueued(what)
    }
}

/// The line of a project: who leads it, and whether it stands still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line {
    pub(crate) id: Uuid,
    pub(crate) project: ProjectId,
    /// The name that no other line has.
    pub(crate) name: String,
    /// Whether it stands still, who said so, and why.
    pub(crate) paused: Option<Paused>,
    /// The server that leads it.
    pub(crate) leader: Option<Uuid>,
    /// Until when, unless it says so again.
    pub(crate) until: Timestamp,
}

/// That a line stands still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Who said so.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// Since when.
    pub at: Timestamp,
}

impl Line {
    pub(crate) fn name_of(project: ProjectId) -> String {
        project.to_string()
    }
}

impl Filed for Line {
    const KIND: &'static str = "landing-line";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn label(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn owner(&self) -> String {
        self.name.clone()
    }

    fn state(&self) -> &str {
        if self.paused.is_some() { "paused" } else { "open" }
    }

    fn missing(what: String) -> Error {
        Error::NotQueued(what)
    }
}
