//! The record of acts on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Who did what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Its place in the tenant's chain, from 1.
    pub seq: i64,
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub at: jiff::Timestamp,
    /// The id of the user who acted, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// The name of who acted; absent after an erasure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The network address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The program, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What was done, such as `project:create`.
    pub action: String,
    /// To what.
    pub resource: String,
    /// `ok` or `denied`.
    pub result: String,
    /// The W3C trace id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// More about it.
    pub detail: serde_json::Value,
    /// The keyed hash that binds this row to the one before it.
    pub mac: String,
}

impl From<godel_model::AuditRow> for AuditEntry {
    fn from(row: godel_model::AuditRow) -> Self {
        let entry = row.entry;
        let personal = entry.personal.unwrap_or_default();
        Self {
            seq: row.seq,
            at: entry.at,
            user_id: entry.user.map(godel_model::UserId::uuid),
            actor: personal.name,
            address: personal.address,
            agent: personal.agent,
            action: entry.action,
            resource: entry.resource,
            result: entry.result.as_str().to_owned(),
            trace_id: entry.trace_id,
            detail: serde_json::from_str(&entry.detail).unwrap_or_default(),
            mac: row.mac.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

/// What a check of the record found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerdict {
    /// Whether nothing was altered.
    pub whole: bool,
    /// How many rows were checked.
    pub rows: u64,
    /// The first place that is kept.
    pub from: i64,
    /// The newest place.
    pub upto: i64,
    /// The first place at which something is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_at: Option<i64>,
    /// What is wrong there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
