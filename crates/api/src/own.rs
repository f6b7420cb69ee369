//! What an agent asks for itself, on the wire.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::agents::AgentTodo;
use crate::talks::Letter;

/// What an agent is told of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnSelf {
    /// The agent.
    pub agent: OwnAgent,
    /// The bead.
    pub bead: Option<OwnBead>,
    /// What is to be done.
    pub task: String,
    /// Its list of things to do.
    pub todos: Vec<AgentTodo>,
    /// How many letters it has not read.
    pub unread: u32,
}

/// An agent as it sees itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnAgent {
    /// The id.
    pub id: Uuid,
    /// What people call it.
    pub name: String,
    /// Its role.
    pub role: String,
    /// Where it is in its life.
    pub state: String,
}

/// A bead as its agent sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnBead {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// What it says.
    pub description: String,
    /// Its status.
    pub status: String,
}

/// The whole list of an agent's things to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnTodos {
    /// The things.
    #[schema(max_items = 200)]
    pub todos: Vec<AgentTodo>,
}

/// The letters of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnMail {
    /// The letters that were not read before.
    pub mail: Vec<Letter>,
}

/// The id of what was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Made {
    /// The id.
    pub id: Uuid,
}

/// A question of an agent to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnQuestion {
    /// What it wants to know.
    #[schema(max_length = 20000)]
    pub text: String,
    /// What it offers to choose from.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub choices: Vec<String>,
}

/// How a question stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnAnswer {
    /// open, answered or declined.
    pub state: String,
    /// What was answered.
    pub answer: Option<String>,
}

/// What an agent says at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnDone {
    /// What was done, for people.
    #[schema(max_length = 20000)]
    pub summary: String,
}

/// Whether that is so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnVerdict {
    /// Whether the work is accepted.
    pub accepted: bool,
    /// What is missing.
    pub missing: Vec<String>,
}

/// The tools that the role of an agent gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OwnTools {
    /// The tools.
    pub tools: Vec<OwnTool>,
}

/// A tool that the role of an agent gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its input.
    #[schema(value_type = Object)]
    pub input_schema: Value,
}

/// What an agent gives to a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnUse {
    /// What the schema of the tool asks for.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub input: Value,
}

/// What a tool says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnSaid {
    /// For the agent to read.
    pub text: String,
}
