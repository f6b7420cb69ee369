//! What a team is asked to do, and how.

use std::collections::BTreeSet;

use godel_model::{Capability, PoolName, RetryPolicy, TaskPriority};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::Wanted;
use crate::workflow::limits::{CONCURRENCY_MAX, NAME_MAX_CHARS};
use crate::workflow::{Illegal, Input};

/// Items of one team.
pub const ITEMS_MAX: usize = 10_000;
/// Agents of one team.
pub const SIZE_MAX: u32 = CONCURRENCY_MAX;
/// Roles of one team.
const ROLES_MAX: usize = 32;
const ROLE_MAX_CHARS: usize = 40;
const COPIES_MAX: u32 = 50;
const FAN_OUT_MAX: u32 = 64;

/// How the agents of a team share the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// All work independently.
    #[default]
    Parallel,
    /// The work is split, and the results are joined.
    MapReduce,
    /// Each role works on what the one before gave.
    Pipeline,
    /// One leads, many work, and results are joined level by level.
    Tree,
}

impl Strategy {
    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::MapReduce => "map-reduce",
            Self::Pipeline => "pipeline",
            Self::Tree => "tree",
        }
    }
}

/// What comes of independent results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregate {
    /// The list, in the order of the items; null where nothing came and that was tolerated.
    #[default]
    List,
    /// Lists and texts joined to one.
    Concat,
    /// The first that comes; the others are called off.
    First,
    /// The one that `quorum` of them agree on; the others are called off.
    Quorum,
}

/// What one kind of member does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Role {
    /// The name, such as `reviewer`.
    pub name: String,
    /// Where its tasks wait, if not where the team's do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolName>,
    /// What its agents must be able to do, besides what the team asks for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub requires: BTreeSet<Capability>,
    /// What its agents are told besides the work itself: JSON with templates over `inputs.goal`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub with: Map<String, Value>,
    /// The role of the agent that does it; with this or a `harness` it is done by agents, not by workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Which agent does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The command line of an agent that has no own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The model of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The walls of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// What each agent may spend, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<i64>,
}

impl Role {
    /// Returns the agent that does its work, which is still to be told what that is; none if workers do it.
    pub(super) fn wanted(&self) -> Option<Wanted> {
        (self.role.is_some() || self.harness.is_some()).then(|| Wanted {
            role: self.role.clone(),
            harness: self.harness.clone(),
            command: self.command.clone(),
            model: self.model.clone(),
            sandbox: self.sandbox.clone(),
            budget_micros: self.budget_micros,
            ..Wanted::default()
        })
    }

    /// Returns all that is wrong with it.
    fn faults(&self) -> Vec<String> {
        let Self { name, .. } = self;
        let mut wrong = Vec::new();
        if !is_role(name) {
            wrong.push(format!("`{name}` cannot be the name of a role"));
        }
        match self.wanted() {
            Some(wanted) => {
                wrong.extend(wanted.faults().iter().map(|why| format!("role `{name}`: {why}")));
                if self.pool.is_some() || !self.requires.is_empty() {
                    let why = "is done by agents, so it has neither `pool` nor `requires`";
                    wrong.push(format!("role `{name}` {why}"));
                }
            }
            None => {
                let own = self.model.is_some() || self.sandbox.is_some();
                if own || self.budget_micros.is_some() || !self.command.is_empty() {
                    let why = "says something of an agent, but names no `role` or `harness`";
                    wrong.push(format!("role `{name}` {why}"));
                }
            }
        }
        wrong
    }
}

/// What a team is asked to do, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamSpec {
    /// The name.
    pub name: String,
    /// How the work is shared.
    #[serde(default)]
    pub strategy: Strategy,
    /// What it is all for; each member is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The pieces of work; none stands for one piece, the goal itself.
    #[serde(default)]
    pub items: Vec<Value>,
    /// Who works. In a pipeline the stages in order.
    pub roles: Vec<Role>,
    /// Who plans before the others work (tree).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Role>,
    /// Who joins results (map-reduce, tree); the first role if nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Role>,
    /// How many agents work at once.
    pub size: u32,
    /// How many agents do the same piece independently (parallel).
    #[serde(default = "one")]
    pub copies: u32,
    /// How many results are joined at once (map-reduce, tree).
    #[serde(default = "usual_fan_out")]
    pub fan_out: u32,
    /// What comes of independent results (parallel).
    #[serde(default)]
    pub aggregate: Aggregate,
    /// How many must agree, if that is how it is decided.
    #[serde(default = "one")]
    pub quorum: u32,
    /// How many pieces may fail.
    #[serde(default)]
    pub tolerate: u32,
    /// What may be spent, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<i64>,
    /// When it must be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// How often a piece is tried.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// How many seconds one attempt may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// The project in which agents work, by its id or name; the only one if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Where tasks wait.
    #[serde(default)]
    pub pool: PoolName,
    /// How urgent tasks are.
    #[serde(default)]
    pub priority: TaskPriority,
    /// What all agents must be able to do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub requires: BTreeSet<Capability>,
    /// Whether a simpler strategy is tried if this one fails.
    #[serde(default = "yes")]
    pub fall_back: bool,
}

const fn one() -> u32 {
    1
}

const fn usual_fan_out() -> u32 {
    8
}

const fn yes() -> bool {
    true
}

impl TeamSpec {
    /// Makes a team of one role with all else as usual.
    pub fn new(name: impl Into<String>, strategy: Strategy, role: Role, size: u32) -> Self {
        Self {
            name: name.into(),
            strategy,
            goal: None,
            items: Vec::new(),
            roles: vec![role],
            lead: None,
            merge: None,
            size,
            copies: 1,
            fan_out: usual_fan_out(),
            aggregate: Aggregate::List,
            quorum: 1,
            tolerate: 0,
            budget_micros: None,
            deadline: None,
            retry: RetryPolicy::default(),
            timeout_seconds: None,
            project: None,
            pool: PoolName::default(),
            priority: TaskPriority::default(),
            requires: BTreeSet::new(),
            fall_back: true,
        }
    }

    /// Returns all that is wrong with it.
    pub fn faults(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut check = |holds: bool, why: String| {
            if !holds {
                wrong.push(why);
            }
        };
        let named = !self.name.trim().is_empty()
            && self.name.chars().count() <= NAME_MAX_CHARS
            && !self.name.chars().any(char::is_control);
        check(named, format!("a team has a name of at most {NAME_MAX_CHARS} characters"));
        let sized = (1..=SIZE_MAX).contains(&self.size);
        check(sized, format!("a team has 1 to {SIZE_MAX} agents, not {}", self.size));
        check(!self.roles.is_empty(), "a team has at least one role".to_owned());
        check(self.roles.len() <= ROLES_MAX, format!("a team has at most {ROLES_MAX} roles"));
        check(self.items.len() <= ITEMS_MAX, format!("a team has at most {ITEMS_MAX} items"));
        let copied = (1..=COPIES_MAX).contains(&self.copies);
        check(copied, format!("a piece is done by 1 to {COPIES_MAX} agents"));
        let fanned = (2..=FAN_OUT_MAX).contains(&self.fan_out);
        check(fanned, format!("2 to {FAN_OUT_MAX} results are joined at once"));
        check(self.budget_micros.is_none_or(|budget| budget > 0), "a budget is above 0".to_owned());
        check(self.timeout_seconds.is_none_or(|time| time > 0), "a timeout is above 0".to_owned());
        if let Err(why) = self.retry.check() {
            check(false, why.to_string());
        }
        let pieces =
            u64::from(self.copies) * self.roles.len() as u64 * self.items.len().max(1) as u64;
        if self.aggregate == Aggregate::Quorum {
            let fits = self.quorum >= 1 && u64::from(self.quorum) <= pieces;
            check(fits, format!("{} of {pieces} cannot agree", self.quorum));
        }
        let mut names = BTreeSet::new();
        for role in &self.roles {
            check(names.insert(&role.name), format!("there are two roles `{}`", role.name));
        }
        for role in self.roles.iter().chain(&self.lead).chain(&self.merge) {
            role.faults().into_iter().for_each(|why| check(false, why));
        }
        wrong
    }

    /// Changes how many agents work at once, and returns what the run is to be told.
    ///
    /// # Errors
    /// If no team can have that size; then nothing has changed.
    pub fn scale(&mut self, size: u32) -> Result<Input, Illegal> {
        if !(1..=SIZE_MAX).contains(&size) {
            return Err(Illegal::BadScale { wanted: size, max: SIZE_MAX });
        }
        self.size = size;
        Ok(Input::Scale { max_concurrency: size })
    }

    /// Returns who joins results.
    pub(super) fn merger(&self) -> Option<&Role> {
        self.merge.as_ref().or_else(|| self.roles.first())
    }
}

fn is_role(name: &str) -> bool {
    (1..=ROLE_MAX_CHARS).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
}
