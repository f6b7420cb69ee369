//! Settings as one document, on the wire.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ProjectLimits;

/// What `format` of a document of settings says.
pub const SETTINGS_FORMAT: &str = "godel-settings/1";

/// The settings of a tenant, without secrets and without ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SettingsDocument {
    /// `godel-settings/1`.
    #[schema(example = "godel-settings/1")]
    pub format: String,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub exported_at: Option<Timestamp>,
    /// The projects, by name.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub projects: Vec<PortableProject>,
    /// What may be spent.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub budgets: Vec<PortableBudget>,
}

/// What is set for a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PortableProject {
    /// Its name, by which it is known.
    pub name: String,
    /// What it is about.
    #[serde(default)]
    pub description: String,
    /// Its limits.
    #[serde(default)]
    pub limits: ProjectLimits,
}

/// What may be spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PortableBudget {
    /// `tenant`, `project:NAME` or `user:NAME`.
    #[schema(example = "project:web")]
    pub scope: String,
    /// daily, monthly or total.
    pub period: String,
    /// The limit, in millionths of a dollar.
    pub cap_micros: i64,
    /// From how many percent on it warns; 80 unless given.
    #[serde(default = "warn_percent")]
    pub warn_percent: u32,
    /// Whether requests are refused when it is used up; as it is, or yes, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_stop: Option<bool>,
    /// By how many percent it may be passed before; as it is, or 0, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub grace_percent: Option<u32>,
}

const fn warn_percent() -> u32 {
    80
}

/// A document of settings that is to count here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportSettings {
    /// The document.
    pub settings: SettingsDocument,
    /// Only tell what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// What a document changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsChanges {
    /// Whether the changes are made; not after a dry run.
    pub applied: bool,
    /// What is different; what is not named stays as it is.
    pub changes: Vec<SettingsChange>,
}

/// One thing that is different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsChange {
    /// project or budget.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// Whether it is not there before.
    pub is_new: bool,
    /// Its fields that are different.
    pub fields: Vec<SettingsField>,
}

/// A field before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingsField {
    /// Its name.
    pub name: String,
    /// Its value before.
    pub before: Option<String>,
    /// Its value after.
    pub after: Option<String>,
}
