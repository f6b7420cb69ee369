//! Intents on the wire: what somebody wants in words, and the plan for it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

/// What somebody wants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewIntent {
    /// In words.
    #[schema(min_length = 1, max_length = 32768)]
    pub text: String,
    /// The project; may be left out if only one has a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Uuid>,
    /// How many agents may work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 200)]
    pub agents: Option<u32>,
    /// What planning and work may cost together, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub budget_micros: Option<i64>,
    /// Which agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub harness: Option<String>,
    /// The model that plans and works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub model: Option<String>,
    /// Whether the plan is made by rules, and no model is asked for it.
    #[serde(default)]
    pub rules: bool,
}

/// The answer to the question of an intent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerIntent {
    /// The value of a choice, or other words if the question takes them.
    #[schema(min_length = 1, max_length = 2000)]
    pub answer: String,
}

/// How an intent is started; what is left out stays as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartIntent {
    /// How many agents work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 200)]
    pub agents: Option<u32>,
    /// What it may cost, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub budget_micros: Option<i64>,
    /// Which agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub harness: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub model: Option<String>,
    /// In how many ways the one bead of the plan is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 2, maximum = 8)]
    pub attempts: Option<u32>,
    /// The models by which it is tried, in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 8)]
    pub models: Vec<String>,
    /// Whether all of it lands as one, as with a convoy; as the project says if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<bool>,
}

/// What somebody wants, what was understood, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// The id.
    pub id: Uuid,
    /// The project.
    pub project_id: Uuid,
    /// Who wants it.
    pub user_id: Uuid,
    /// asking, planned, starting, started, answered or cancelled.
    pub state: String,
    /// What was said.
    pub text: String,
    /// spawn_agent, create_team, execute_workflow, query_status, stop_task, scale_team or custom.
    #[serde(rename = "type")]
    pub kind: String,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// What the text names.
    pub entities: Vec<IntentEntity>,
    /// What the text names, by name.
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// What has to be known first.
    pub question: Option<IntentQuestion>,
    /// What was seen of the repository.
    pub repository: IntentRepository,
    /// How hard it is.
    pub complexity: Option<IntentComplexity>,
    /// The plan.
    pub plan: Option<IntentPlan>,
    /// Who should work on it.
    pub team: Option<IntentTeam>,
    /// What it will cost.
    pub estimate: Option<IntentEstimate>,
    /// What is worth knowing before saying yes, the answer to a question, or what was done.
    pub words: Vec<String>,
    /// The same for programs, where it is an answer.
    #[schema(value_type = Option<Object>)]
    pub data: Option<Value>,
    /// What may be spent, in millionths of a dollar.
    pub budget_micros: Option<i64>,
    /// The convoy that runs it, once it is started.
    pub convoy: Option<String>,
    /// When it was said.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was started.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
}

/// Something that a text names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IntentEntity {
    /// What it is for.
    pub name: String,
    /// What it is.
    pub value: String,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Where it begins and ends in the text, in bytes.
    pub position: Vec<usize>,
}

/// The one thing that has to be known first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentQuestion {
    /// target, workflow, part, object or action.
    pub about: String,
    /// The question.
    pub ask: String,
    /// What can be answered.
    pub choices: Vec<IntentChoice>,
    /// Whether anything else can be answered too.
    pub free: bool,
}

/// One answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentChoice {
    /// What is sent back.
    pub value: String,
    /// What a person reads.
    pub label: String,
}

/// What was seen of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntentRepository {
    /// The commit that was looked at.
    pub commit: Option<String>,
    /// How many files there are.
    pub files: u64,
    /// About how many lines.
    pub lines: u64,
    /// The largest languages.
    pub languages: Vec<IntentLanguage>,
    /// The command that runs the tests, if it can be told.
    pub test_command: Option<String>,
    /// How many files are tests.
    pub test_files: u64,
    /// How many of the latest commits were looked at.
    pub commits: u64,
    /// How many people made them.
    pub authors: u64,
}

/// One language of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentLanguage {
    /// Its name.
    pub name: String,
    /// How many files are written in it.
    pub files: u64,
    /// About how many lines they have.
    pub lines: u64,
}

/// How hard something is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IntentComplexity {
    /// From 1 to 10.
    pub score: f64,
    /// simple, moderate, complex or very-complex.
    pub category: String,
    /// What it follows from: codeComplexity, domainComplexity, uncertainty, dependencies and scopeSize.
    pub factors: BTreeMap<String, IntentFactor>,
    /// What could go wrong.
    pub risks: Vec<String>,
    /// How sure this is, from 0 to 1.
    pub confidence: f64,
}

/// One factor of how hard something is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IntentFactor {
    /// From 1 to 10.
    pub score: f64,
    /// How much it counts.
    pub weight: f64,
    /// Why it is as it is.
    pub reason: String,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentPlan {
    /// What it is called.
    pub title: String,
    /// rules or model.
    pub by: String,
    /// The model that was asked.
    pub model: Option<String>,
    /// How often it was asked.
    pub tries: u32,
    /// Why the rules were used.
    pub why: Option<String>,
    /// Its beads.
    pub beads: Vec<IntentBead>,
    /// The keys of beads that can be worked on at the same time, one wave after the other.
    pub waves: Vec<Vec<String>>,
}

/// One bead of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentBead {
    /// What it is called in the plan.
    pub key: String,
    /// The id that its bead has or will have.
    pub bead: String,
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done, and how one sees that it is done.
    pub description: String,
    /// The type: task, bug, feature, refactor, chore, research, decision or epic.
    #[serde(rename = "type")]
    pub kind: String,
    /// The priority: critical, high, medium or low.
    pub priority: String,
    /// The beads that must be done first, by their keys.
    pub needs: Vec<String>,
    /// Who does it.
    pub role: String,
    /// small, medium or large.
    pub size: String,
    /// Where the work is, as far as it can be told.
    pub files: Vec<String>,
}

/// Who should work on a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentTeam {
    /// How many agents work at the same time.
    pub size: u32,
    /// parallel, pipeline, map-reduce or tree.
    pub strategy: String,
    /// Its members.
    pub members: Vec<IntentMember>,
    /// Why it is so.
    pub reason: String,
}

/// Some members of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentMember {
    /// Their role.
    pub role: String,
    /// How many.
    pub count: u32,
    /// Their model; none is that of the project.
    pub model: Option<String>,
    /// What they do.
    pub does: String,
}

/// What a plan will cost, and how sure that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntentEstimate {
    /// In millionths of a dollar.
    pub cost: IntentRange,
    /// In seconds from the start to the end.
    pub seconds: IntentRange,
    /// The share of such plans that should fall into each interval.
    pub stated: f64,
    /// How many runs it is made from.
    pub runs: usize,
    /// guess, rough or measured.
    pub sureness: String,
    /// How often runs that were held out fell into the interval for them.
    pub held: Option<IntentCoverage>,
    /// All of that as a sentence.
    pub words: String,
}

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IntentRange {
    /// A tenth is below.
    pub low: u64,
    /// Half is below.
    pub middle: u64,
    /// A tenth is above.
    pub high: u64,
}

/// How often runs that were held out fell into the interval that the others made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IntentCoverage {
    /// How many runs were held out, each once.
    pub of: usize,
    /// The share whose cost was in the interval.
    pub cost: f64,
    /// The share whose time was.
    pub seconds: f64,
}
