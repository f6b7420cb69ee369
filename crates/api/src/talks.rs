//! Conversations, mail, roles, and what needs a person, on the wire.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Talk {
    /// The id.
    pub id: Uuid,
    /// Whose it is.
    pub agent_id: Uuid,
    /// What the agent is called.
    pub agent: String,
    /// For whom the agent works; none if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// The bead.
    pub bead: String,
    /// active, paused, ended or archived.
    pub status: String,
    /// The branch that is chosen.
    pub branch: String,
    /// The branches, and the last node of each.
    #[schema(value_type = Object)]
    pub branches: std::collections::BTreeMap<String, Option<u32>>,
    /// Save points by name.
    #[schema(value_type = Object)]
    pub saves: std::collections::BTreeMap<String, u32>,
    /// How many nodes there are.
    pub nodes: u32,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// One node of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalkNode {
    /// Its number.
    pub number: u32,
    /// The node before it.
    pub parent: Option<u32>,
    /// user, model, thinking, call, result, summary or kept.
    pub kind: String,
    /// What was said, cut if it is long.
    pub text: String,
    /// When it was kept; none for what was said before that was noted, or in the conversation of another agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: Option<Timestamp>,
    /// What it cost, in millionths of a dollar, at the node that the model began with; none if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<i64>,
}

/// The nodes of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TalkNodes {
    /// The nodes, in the order in which they were added.
    pub items: Vec<TalkNode>,
    /// The number to go on with, if there are more.
    pub next: Option<u32>,
}

/// One of two ends of a conversation that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TalkEnd {
    /// The node.
    pub node: u32,
    /// The node that the files are of: this one, or the nearest before it that has a snapshot. None if no files were
    /// kept.
    pub files_of: Option<u32>,
    /// Whether the files are those of the worktree as it is now.
    pub live: bool,
    /// The commit that the branch was at.
    pub commit: Option<String>,
}

/// What the files of two ends of a conversation differ in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TalkCompared {
    /// The one end.
    pub left: TalkEnd,
    /// The other end.
    pub right: TalkEnd,
    /// How many files differ.
    pub files: u64,
    /// How many lines only the right end has.
    pub added: u64,
    /// How many lines only the left end has.
    pub removed: u64,
    /// The lines, as git writes them; empty if one end has no files. What git ignores is not in it, and files that
    /// are too large are named like binary ones.
    pub patch: String,
    /// Whether something is left out because it is too much.
    pub cut: bool,
}

/// What is to be done with a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TalkChange {
    /// The name of a branch or save point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub name: Option<String>,
    /// The node to begin at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// What stands for what was left out; found by rule unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 20000)]
    pub summary: Option<String>,
}

/// A letter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Letter {
    /// The id.
    pub id: Uuid,
    /// Who wrote it.
    pub from: String,
    /// To whom: the label of an agent, or a user.
    pub to: String,
    /// What it says.
    pub text: String,
    /// When it was sent.
    #[schema(value_type = String, format = DateTime)]
    pub sent_at: Timestamp,
    /// Whether it was read.
    pub read: bool,
}

/// A letter to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLetter {
    /// To whom: the label or id of an agent, or the name of a user.
    #[schema(max_length = 100)]
    pub to: String,
    /// What it says.
    #[schema(max_length = 20000)]
    pub text: String,
}

/// Something that needs a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The id.
    pub id: Uuid,
    /// question, stuck, budget, review, approval or dead_letters.
    pub kind: String,
    /// open or closed.
    pub state: String,
    /// Whose it is.
    pub agent_id: Option<Uuid>,
    /// What the agent is called.
    pub agent: Option<String>,
    /// For whom the agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// The bead.
    pub bead: Option<String>,
    /// The run of a workflow that waits for an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Uuid>,
    /// The name of that workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The step that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Who may answer it, by name or as `role:NAME`; empty stands for everybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// The scope of a budget that is used up, or nearly, such as `tenant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The id of that budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_id: Option<Uuid>,
    /// The pool that has too many dead letters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// What is wanted.
    pub text: String,
    /// What can be chosen.
    pub choices: Vec<String>,
    /// What was answered.
    pub answer: Option<String>,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// How much needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoticeCount {
    /// How many notices are open.
    pub open: u64,
}

/// What a person answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerNotice {
    /// The answer; none lets the agent decide by itself, or puts aside what needs no answer. An approval needs
    /// `Approve` or `Reject`; behind a colon can be said why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 20000)]
    pub answer: Option<String>,
}

/// A role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRole {
    /// The name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether it comes with Godel.
    pub built_in: bool,
    /// What an agent of it is told first.
    pub prompt: String,
    /// Which agent it is, unless asked otherwise.
    pub harness: Option<String>,
    /// The model, unless asked otherwise.
    pub model: Option<String>,
    /// The walls, unless asked otherwise.
    pub sandbox: Option<String>,
}

/// The text of a role of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleSource {
    /// YAML.
    #[schema(max_length = 65536)]
    pub source: String,
}
