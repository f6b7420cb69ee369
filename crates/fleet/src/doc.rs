//! What is kept of agents and their conversations.

use std::collections::BTreeMap;

use godel_agents::tree::NodeNumber;
use godel_agents::{Harness, Todo, TodoState};
use godel_decide::agent::Attempt;
use godel_model::{AgentId, Life, LifeMove, ProjectId, Short, TaskId, UserId};
use godel_runtime::{Profile, SnapshotId};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::paper::Filed;
use crate::part::{Fate, Part, tree_of};
use crate::{Error, Result};

/// How many steps of a life are remembered.
const HISTORY_MAX: usize = 100;

/// A step in the life of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// When.
    pub at: Timestamp,
    /// The state since then.
    pub life: Life,
    /// Why.
    pub why: String,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The id.
    pub id: AgentId,
    /// What people call it.
    pub label: String,
    /// Where it is in its life.
    pub life: Life,
    /// What happened to it.
    pub history: Vec<Step>,
    /// What it does or why it stands still.
    pub note: Option<String>,
    /// Who asked for it.
    pub user: UserId,
    /// The project.
    pub project: ProjectId,
    /// The bead.
    pub bead: String,
    /// The convoy that it works for.
    pub convoy: Option<String>,
    /// The team that it works for.
    pub team: Option<Uuid>,
    /// What is to be done.
    pub task: String,
    /// Which agent it is.
    pub harness: Harness,
    /// The command line of one that has no own.
    #[serde(default)]
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
    #[serde(default)]
    pub allow: Vec<String>,
    /// What it may spend, in millionths of a dollar.
    pub budget: Option<i64>,
    /// After how many seconds of work it ends.
    pub timeout: Option<u64>,
    /// Since when that time runs: when it first got to work after a person had a hand in it.
    #[serde(default)]
    pub began_at: Option<Timestamp>,
    /// Its conversation.
    pub talk: Uuid,
    /// How often it was handed to the queue.
    pub run: u32,
    /// The task of the queue by which it runs.
    pub queued: Option<TaskId>,
    /// How attempts ended that did not succeed, since a person last had a hand in it.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// How often a run could not go on for a reason that is not its own, one after the other.
    #[serde(default)]
    pub stumbles: u32,
    /// The model that it was asked for with.
    #[serde(default)]
    pub first_model: Option<String>,
    /// Whether it was told to find out why the sessions before it failed.
    #[serde(default)]
    pub debugging: bool,
    /// How often it was begun anew after trouble, in all.
    #[serde(default)]
    pub retries: u32,
    /// How often it said that it was done and was not.
    #[serde(default)]
    pub sent_back: u32,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// Its list of things to do.
    #[serde(default)]
    pub todos: Vec<Todo>,
    /// Its worktree.
    pub worktree: Option<String>,
    /// The commit that the work is to begin from, if not where the target is.
    #[serde(default)]
    pub begin_at: Option<String>,
    /// The snapshot that its files are to be restored from, until they are.
    #[serde(default)]
    pub files: Option<SnapshotId>,
    /// The commit that the work began from.
    pub base: Option<String>,
    /// The last commit of its branch that was checked.
    pub commit: Option<String>,
    /// What proves that it holds the bead.
    #[serde(default)]
    pub claim: Option<String>,
    /// What it said at its end.
    #[serde(default)]
    pub summary: Option<String>,
    /// A note for whoever goes on.
    #[serde(default)]
    pub handoff: Option<String>,
    /// Whether its bead was made for it alone, and is not a person's.
    #[serde(default)]
    pub own_bead: bool,
    /// How many beads and convoys it has made.
    #[serde(default)]
    pub made: u32,
    /// Whether it was paused together with everybody else.
    #[serde(default)]
    pub stopped: bool,
    /// The budget because of which it stands still; when there is more in it, it goes on.
    #[serde(default)]
    pub broke: Option<Short>,
    /// Whether it stands still because its team has become smaller.
    #[serde(default)]
    pub benched: bool,
    /// The task of the queue that waits for its work: a step of a workflow, or a piece of a team's.
    #[serde(default)]
    pub errand: Option<TaskId>,
    /// The commit that it judges, if it is there to judge and not to work.
    #[serde(default)]
    pub judges: Option<String>,
    /// Whether that commit may land, as it found.
    #[serde(default)]
    pub approves: Option<bool>,
    /// Which attempt at its bead it is, if it is one of several.
    #[serde(default)]
    pub trial: Option<Part>,
    /// Where the log of events stood when it was asked for.
    #[serde(default)]
    pub log_from: i64,
    /// When it was asked for.
    pub spawned_at: Timestamp,
    /// When something last happened.
    pub updated_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
}

impl Agent {
    /// Tells whether what it says is its work: it can change no file, is not there to judge, and has a bead
    /// of its own. The bead of a person is believed to be done only when git agrees.
    pub fn only_looks(&self) -> bool {
        self.sandbox == Profile::ReadOnly && self.judges.is_none() && self.own_bead
    }

    /// Lets something happen to it, and remembers that.
    ///
    /// # Errors
    /// If it cannot happen now.
    pub fn step(&mut self, happens: LifeMove, why: &str, now: Timestamp) -> Result<()> {
        let life = self.life.after(happens)?;
        self.updated_at = now;
        if life == self.life {
            return Ok(());
        }
        self.life = life;
        self.note = Some(why.to_owned());
        if life.is_over() {
            self.completed_at = Some(now);
        }
        self.history.push(Step { at: now, life, why: why.to_owned() });
        if self.history.len() > HISTORY_MAX {
            self.history.remove(0);
        }
        Ok(())
    }

    /// Forgets what it has tried and how long that took, since a person has had a hand in it.
    pub(crate) fn begin_anew(&mut self) {
        self.attempts.clear();
        self.stumbles = 0;
        self.sent_back = 0;
        self.debugging = false;
        self.summary = None;
        (self.began_at, self.broke) = (None, None);
    }

    /// Returns when its time is up.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let within = SignedDuration::from_secs(i64::try_from(self.timeout?).ok()?);
        self.began_at?.checked_add(within).ok()
    }

    /// Returns what is still to be done of its own list.
    pub fn open_todos(&self) -> impl Iterator<Item = &Todo> {
        self.todos.iter().filter(|todo| todo.state != TodoState::Completed)
    }

    /// Returns the name of its worktree: that of its bead, or one of its own for who only looks or is one
    /// of several.
    pub fn tree(&self) -> String {
        match (&self.judges, &self.trial) {
            (Some(commit), _) => {
                format!("review-{}-{}", self.bead, commit.get(..8).unwrap_or(commit))
            }
            (None, Some(part)) => tree_of(&self.bead, part.number),
            (None, None) => self.bead.clone(),
        }
    }

    /// Tells whether its work is that of its bead: it did not judge, and was not one of several that nobody
    /// picked.
    pub fn did_the_work(&self) -> bool {
        let picked = self.trial.as_ref().is_none_or(|part| part.fate == Fate::Picked);
        self.judges.is_none() && picked
    }

    /// Tells whether another one is an attempt at the same bead: neither learns of the other.
    pub(crate) fn is_rival_of(&self, other: &Self) -> bool {
        let same = |(one, two): (&Part, &Part)| one.trial == two.trial;
        self.id != other.id && self.trial.as_ref().zip(other.trial.as_ref()).is_some_and(same)
    }

    /// Returns the address under which papers of a bead are found.
    pub fn owner_of(project: ProjectId, bead: &str) -> String {
        format!("{project}/{bead}")
    }
}

impl Filed for Agent {
    const KIND: &'static str = "agent";

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }

    fn label(&self) -> Option<&str> {
        Some(&self.label)
    }

    fn owner(&self) -> String {
        Self::owner_of(self.project, &self.bead)
    }

    fn state(&self) -> &str {
        self.life.as_str()
    }

    fn missing(what: String) -> Error {
        Error::NoAgent(what)
    }
}

/// A conversation; its nodes are rows of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Talk {
    /// The id.
    pub id: Uuid,
    /// Whose it is.
    pub agent: AgentId,
    /// The project.
    pub project: ProjectId,
    /// Whether it is put away.
    pub archived: bool,
    /// Where each branch stands.
    pub branches: BTreeMap<String, Option<NodeNumber>>,
    /// Save points.
    pub saves: BTreeMap<String, NodeNumber>,
    /// The branch that is chosen.
    pub current: String,
    /// How many nodes there are.
    pub nodes: u32,
    /// When it began.
    pub created_at: Timestamp,
}

impl Filed for Talk {
    const KIND: &'static str = "talk";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        self.agent.to_string()
    }

    fn state(&self) -> &str {
        if self.archived { "archived" } else { "active" }
    }

    fn missing(what: String) -> Error {
        Error::NoSession(what)
    }
}
