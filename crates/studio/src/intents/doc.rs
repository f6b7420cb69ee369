//! What is kept of an intent.

use std::collections::BTreeMap;

use godel_fleet::paper::Filed;
use godel_intent::complexity::Complexity;
use godel_intent::estimate::Estimate;
use godel_intent::parse::{Candidate, Intent, Question};
use godel_intent::plan::Plan;
use godel_intent::shape::Team;
use godel_model::{Invalid, Language, ProjectId, Survey, Tests, UserId, code};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::Error;

/// How many languages are told.
const LANGUAGES_TOLD: usize = 5;

/// How far an intent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Something has to be known first.
    Asking,
    /// It waits for a yes.
    Planned,
    /// It was told to start, and is being made.
    Starting,
    /// It runs, or was done.
    Started,
    /// It was a question, and is answered.
    Answered,
    /// It was put aside.
    Cancelled,
}

impl State {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asking => "asking",
            Self::Planned => "planned",
            Self::Starting => "starting",
            Self::Started => "started",
            Self::Answered => "answered",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What the caller allows and wants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Wanted {
    /// How many agents.
    pub agents: Option<u32>,
    /// What all of it may cost, in micro-dollars.
    pub budget: Option<i64>,
    /// Which agent works.
    pub harness: Option<String>,
    /// The model, for planning and for work.
    pub model: Option<String>,
    /// Whether no model is asked for the plan.
    pub rules: bool,
    /// In how many ways the one bead of the plan is tried.
    pub attempts: Option<u32>,
    /// The models by which it is tried, in turn.
    pub models: Vec<String>,
    /// Whether all of it lands as one.
    #[serde(default)]
    pub together: Option<bool>,
}

impl Wanted {
    /// Returns in how many ways the one bead is tried; nothing if it is done once, as usual.
    pub(super) fn ways(&self) -> Result<Option<u32>, Invalid> {
        if self.attempts.is_none() && self.models.is_empty() {
            return Ok(None);
        }
        let line = godel_decide::attempts::line_up(self.attempts, &self.models)?;
        Ok(u32::try_from(line.len()).ok())
    }
}

/// Who made a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedBy {
    /// The rules, or a model.
    pub by: Source,
    /// The model that was asked.
    pub model: Option<String>,
    /// How often it was asked.
    pub tries: u32,
    /// Why the rules were used.
    pub why: Option<String>,
}

/// What makes plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Godel's own rules.
    Rules,
    /// A model.
    Model,
}

/// What was seen of the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The commit that was looked at.
    pub commit: Option<String>,
    /// How many files there are.
    pub files: u64,
    /// About how many lines.
    pub lines: u64,
    /// The largest languages.
    pub languages: Vec<Language>,
    /// How it is tested.
    pub tests: Tests,
    /// How many of the latest commits were looked at.
    pub commits: u64,
    /// How many people made them.
    pub authors: u64,
}

impl Facts {
    /// Tells what a look at a repository showed.
    pub(super) fn of(survey: &Survey) -> Self {
        Self {
            commit: survey.commit.clone(),
            files: survey.files,
            lines: survey.lines,
            languages: survey.languages.iter().take(LANGUAGES_TOLD).cloned().collect(),
            tests: survey.tests.clone(),
            commits: survey.history.commits,
            authors: survey.history.authors,
        }
    }
}

/// What is done on a yes, if it is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Deed {
    /// Something that runs ends.
    Stop {
        /// What.
        targets: Vec<Candidate>,
        /// Whether all of it stands still.
        all: bool,
    },
    /// A convoy gets another number of agents.
    Scale {
        /// Which.
        convoy: String,
        /// How many.
        agents: u32,
    },
    /// A workflow runs.
    Run {
        /// Which.
        workflow: String,
    },
}

/// What somebody wants, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wish {
    /// The id.
    pub id: Uuid,
    /// Who wants it.
    pub user: UserId,
    /// In which project.
    pub project: ProjectId,
    /// How far it is.
    pub state: State,
    /// What was said.
    pub text: String,
    /// What is allowed.
    pub wanted: Wanted,
    /// What was understood.
    pub intent: Intent,
    /// What has to be known first.
    pub question: Option<Question>,
    /// What was seen of the repository.
    pub repository: Facts,
    /// How hard it is.
    pub complexity: Option<Complexity>,
    /// The plan.
    pub plan: Option<Plan>,
    /// Who made it.
    pub planned_by: Option<PlannedBy>,
    /// Who should work on it.
    pub team: Option<Team>,
    /// What it will cost.
    pub estimate: Option<Estimate>,
    /// What is done on a yes, if it is no plan.
    pub deed: Option<Deed>,
    /// What is worth knowing before saying yes, or the answer to a question.
    pub words: Vec<String>,
    /// What the words say, for programs.
    pub data: Option<Value>,
    /// The ids that its beads have or will have, by their keys.
    pub beads: BTreeMap<String, String>,
    /// The id that its convoy has or will have.
    pub convoy: Option<String>,
    /// When it was said.
    pub created_at: Timestamp,
    /// When it was started.
    pub started_at: Option<Timestamp>,
}

impl Filed for Wish {
    const KIND: &'static str = "intent";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        self.project.to_string()
    }

    fn state(&self) -> &str {
        self.state.as_str()
    }

    fn missing(what: String) -> Error {
        let shown: String = what.chars().take(60).collect();
        let why = format!("there is no intent \"{}\"", shown.escape_debug());
        Invalid::new(code::INTENT_NOT_FOUND, why)
            .with_hint("`godel do --list` shows all of them")
            .into()
    }
}
