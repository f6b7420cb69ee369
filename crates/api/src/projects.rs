//! Projects on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Something that a tenant works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The id.
    pub id: Uuid,
    /// The name, unique in its tenant.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// What its work may use.
    pub limits: ProjectLimits,
    /// The folder of its git repository on the server, in which its beads live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Counts the changes; also the entity tag.
    pub version: i64,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: jiff::Timestamp,
}

impl From<godel_model::Project> for Project {
    fn from(project: godel_model::Project) -> Self {
        Self {
            id: project.id.uuid(),
            name: project.name.into(),
            description: project.description,
            limits: project.limits.into(),
            repository: project.repository,
            version: project.version,
            created_at: project.created_at,
            updated_at: project.updated_at,
        }
    }
}

/// A project to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    /// The name: 1 to 100 characters, unique in the tenant.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// What it is about.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: Option<String>,
    /// What its work may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<ProjectLimits>,
    /// The absolute path of its git repository on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4096)]
    pub repository: Option<String>,
}

/// A repository that is to be cloned or begun on the server's machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeRepository {
    /// What to clone: an https, http, ssh, git or file URL, one like `git@host:owner/name.git`, or an absolute path.
    /// It must not hold a credential. Without it a new repository begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2048)]
    pub clone: Option<String>,
    /// The absolute path of the folder, which may be there if it is empty. A clone goes into one with the name of the
    /// repository, in the home of the user that the server runs as, unless this says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4096)]
    pub folder: Option<String>,
}

/// How a repository comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepositoryKind {
    /// It is cloned from another one.
    Clone,
    /// It is new.
    New,
}

/// How far a repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepositoryState {
    /// Git works on it, or it waits for others.
    Working,
    /// It is there.
    Ready,
    /// It could not be made.
    Failed,
}

/// A repository that is made on the server's machine, or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryJob {
    /// The id of the job.
    pub id: Uuid,
    /// How it comes about.
    pub kind: RepositoryKind,
    /// What is cloned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The absolute path of its folder.
    pub folder: String,
    /// How far it is.
    pub state: RepositoryState,
    /// The last line that git printed; empty if there is none.
    pub progress: String,
    /// Why it failed, and what to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it was asked for.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: jiff::Timestamp,
    /// When it was ready, or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<jiff::Timestamp>,
}

/// What the work of a project may use; what is left out has no limit of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ProjectLimits {
    /// How many agents run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_agents: Option<u32>,
    /// Processor time of all agents together, in thousandths of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub cpu_millis: Option<u32>,
    /// Memory of all agents together, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub memory_bytes: Option<u64>,
    /// How many model requests may be made in a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub requests_per_minute: Option<u32>,
    /// What may be spent in a month, in micro-dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub monthly_budget_micros: Option<u64>,
    /// Which models may be used, as patterns with `*`; none means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50)]
    pub models: Vec<String>,
}

impl From<godel_model::Limits> for ProjectLimits {
    fn from(limits: godel_model::Limits) -> Self {
        Self {
            max_agents: limits.max_agents,
            cpu_millis: limits.cpu_millis,
            memory_bytes: limits.memory_bytes,
            requests_per_minute: limits.requests_per_minute,
            monthly_budget_micros: limits.monthly_budget_micros,
            models: limits.models,
        }
    }
}

impl From<ProjectLimits> for godel_model::Limits {
    fn from(limits: ProjectLimits) -> Self {
        Self {
            max_agents: limits.max_agents,
            cpu_millis: limits.cpu_millis,
            memory_bytes: limits.memory_bytes,
            requests_per_minute: limits.requests_per_minute,
            monthly_budget_micros: limits.monthly_budget_micros,
            models: limits.models,
        }
    }
}

/// What is to be changed of a project; a field that is left out stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectPatch {
    /// The new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100)]
    pub name: Option<String>,
    /// The new description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub description: Option<String>,
    /// The new limits, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<ProjectLimits>,
    /// The new repository; an empty text means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4096)]
    pub repository: Option<String>,
}
