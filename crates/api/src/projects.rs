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
