//! Previews on the wire.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What somebody wants to look at: the work of an agent, or the work on a bead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPreview {
    /// The bead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub bead: Option<String>,
    /// The name or id of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub agent: Option<String>,
    /// The project of the bead, if an id alone is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Uuid>,
    /// The command for the shell, which serves the port `$PORT`; else that of the project (`preview` in
    /// `godel.toml`), or what the files of the repository tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 8192)]
    pub command: Option<String>,
}

/// An app that runs so that people can look at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The id.
    pub id: Uuid,
    /// The project.
    pub project: Uuid,
    /// The bead whose work it is.
    pub bead: String,
    /// The name of the agent whose work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id of that agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Uuid>,
    /// The command that runs it.
    pub command: String,
    /// How far it is: `starting`, `ready` or `ended`.
    pub state: String,
    /// Where it is, on the machine of the server.
    pub url: String,
    /// The port on the loopback of that machine.
    pub port: u16,
    /// Whether it has the files that an agent is working on right now; else it has those of `commit`.
    pub is_live: bool,
    /// The commit whose files it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// By whom.
    pub started_by: String,
    /// When it ends by itself.
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// The exit code of its command, if that ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Why it does not answer yet, or why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What its command wrote last; nothing in lists.
    pub output: String,
}

/// Previews of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewList {
    /// The newest first.
    pub items: Vec<Preview>,
}
