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
}
