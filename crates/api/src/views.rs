//! Views of the dashboard that people keep.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A view: an address of the dashboard with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Its id.
    pub id: Uuid,
    /// The page of the dashboard, such as `beads`.
    pub page: String,
    /// What it is called.
    pub name: String,
    /// The part of the address behind the `?`.
    pub query: String,
    /// Whether everybody has it.
    pub shared: bool,
    /// Whether it is the caller's own.
    pub is_own: bool,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: jiff::Timestamp,
}

/// All views of a caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ViewList {
    /// Its own and those that everybody has, by page and name.
    pub items: Vec<View>,
}

/// A view that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SaveView {
    /// The page of the dashboard, such as `beads`.
    #[schema(min_length = 1, max_length = 40, pattern = "^[a-z-]+$")]
    pub page: String,
    /// What it is called; no other view of the caller's on this page may be called so.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// The part of the address behind the `?`.
    #[schema(max_length = 4000)]
    pub query: String,
    /// Whether everybody has it.
    #[serde(default)]
    pub shared: bool,
}
