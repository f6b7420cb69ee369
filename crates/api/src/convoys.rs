//! Convoys on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::BeadRow;

/// Beads that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Convoy {
    /// The id, such as `convoy-20260206-abc`.
    pub id: String,
    /// The project in whose repository it is.
    pub project_id: Uuid,
    /// Its name.
    pub name: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The beads in it.
    pub beads: Vec<String>,
    /// `active`, `completed` or `archived`.
    pub status: String,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: jiff::Timestamp,
    /// When its last bead was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<jiff::Timestamp>,
}

/// A convoy with the state of its beads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConvoyDetail {
    /// The convoy.
    #[serde(flatten)]
    pub convoy: Convoy,
    /// How far it is.
    pub progress: ConvoyProgress,
    /// Why nothing moves, if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled: Option<String>,
}

/// How far a convoy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConvoyProgress {
    /// How many beads there are.
    pub total: usize,
    /// How many nobody works on.
    pub open: usize,
    /// How many are being worked on.
    pub in_progress: usize,
    /// How many wait to be judged.
    pub review: usize,
    /// How many are done.
    pub done: usize,
    /// How many of the open ones something holds up.
    pub blocked: usize,
    /// How many of a hundred are done.
    pub percent: usize,
}

/// The beads of a convoy in the order in which they can be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConvoyWaves {
    /// All beads of a wave can be worked on at the same time.
    pub waves: Vec<Vec<BeadRow>>,
    /// Beads that wait for each other, and so are in no wave.
    pub tangled: Vec<BeadRow>,
    /// Beads that are named but not there.
    pub missing: Vec<String>,
}

/// A convoy to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewConvoy {
    /// The project; may be left out if only one has a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Uuid>,
    /// Its name.
    #[schema(min_length = 1, max_length = 500)]
    pub name: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100_000)]
    pub description: Option<String>,
    /// The beads in it.
    #[serde(default)]
    #[schema(max_items = 10_000)]
    pub beads: Vec<String>,
}

/// What is to be changed of a convoy; what is left out stays.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvoyPatch {
    /// The new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 500)]
    pub name: Option<String>,
    /// The new description; an empty one removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100_000)]
    pub description: Option<String>,
    /// Whether it is put away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// Beads to put into a convoy and to take out of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvoyBeads {
    /// To put in.
    #[serde(default)]
    #[schema(max_items = 10_000)]
    pub add: Vec<String>,
    /// To take out.
    #[serde(default)]
    #[schema(max_items = 10_000)]
    pub remove: Vec<String>,
}
