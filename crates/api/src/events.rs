//! Events on the wire.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

/// Something that happened, at its position in the tenant's log.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// The id.
    pub id: Uuid,
    /// The position in the log: 1, 2, 3 and so on, without a gap, in commit order.
    pub sequence: i64,
    /// The type, such as `agent:start`.
    #[serde(rename = "type")]
    #[schema(example = "agent:start")]
    pub kind: String,
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: jiff::Timestamp,
    /// Who recorded it.
    pub source: EventSource,
    /// What happened in detail.
    #[schema(value_type = Object)]
    pub payload: serde_json::Value,
    /// What it belongs to.
    pub metadata: EventMetadata,
}

/// Who recorded an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventSource {
    /// The component.
    pub component: String,
    /// The instance of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The version of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What an event belongs to. Further names such as `projectId` refer to the things it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventMetadata {
    /// Joins all events of one piece of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The event that caused this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<Uuid>,
    /// Who acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The W3C trace id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Ids of the things that the event is about.
    #[serde(flatten)]
    pub refs: BTreeMap<String, String>,
}

/// An event to be recorded.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEvent {
    /// The type: 2 to 5 lower case words joined by colons.
    #[serde(rename = "type")]
    #[schema(
        example = "deploy:finished",
        pattern = "^[a-z][a-z0-9_-]*(:[a-z][a-z0-9_-]*){1,4}$",
        max_length = 100
    )]
    pub kind: String,
    /// What happened in detail: a JSON object of at most 64 KiB.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Box<RawValue>>,
    /// What it belongs to.
    #[serde(default)]
    pub metadata: Option<NewEventMetadata>,
    /// Which instance of your program recorded it.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub instance: Option<String>,
}

/// What a new event belongs to. Who acts and the trace id are added by the server.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEventMetadata {
    /// Joins all events of one piece of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub correlation_id: Option<String>,
    /// The event that caused this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<Uuid>,
    /// Ids of the things that the event is about, such as `projectId`; at most 16.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
}
