//! Frames of the WebSocket `/events`, subprotocol `godel-events-v1`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The subprotocol of the event socket.
pub const EVENTS_PROTOCOL: &str = "godel-events-v1";

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameKind {
    /// Client: start a subscription.
    Subscribe,
    /// Client: end one.
    Unsubscribe,
    /// Client: do something.
    Command,
    /// Either side: are you there?
    Ping,
    /// Either side: yes.
    Pong,
    /// Server: the answer to a frame of the client.
    Response,
    /// Server: one event.
    Event,
    /// Server: several events at once, under load.
    Events,
    /// Server: something was skipped.
    Lagged,
    /// Server: a frame was not understood.
    Error,
}

/// A frame from a client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientFrame {
    /// Names the frame; the response refers to it.
    #[serde(default)]
    pub id: Option<String>,
    /// What the frame is.
    #[serde(rename = "type")]
    pub kind: FrameKind,
    /// When the client sent it; not used.
    #[serde(default)]
    pub timestamp: Option<serde_json::Value>,
    /// What depends on the kind.
    #[serde(default)]
    pub payload: Option<Box<RawValue>>,
    /// More about the frame; not used.
    #[serde(default)]
    pub metadata: Option<serde_json::Value>,
}

/// Asks for events.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subscribe {
    /// Types that are wanted, such as `agent:*`; none means all.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// What the events must belong to, such as `{"projectId": ".."}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filters: BTreeMap<String, String>,
    /// Send what comes after this position first; absent means from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// What to do when the client is slow.
    #[serde(default)]
    pub policy: Policy,
    /// How many events may wait for the client before the policy applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_size: Option<usize>,
}

/// What a subscription does when its client is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Wait for the client; skip nothing.
    #[default]
    Block,
    /// Keep the oldest events that wait, skip newer ones.
    Drop,
    /// Keep the newest events, skip older ones.
    Sliding,
}

/// Ends a subscription.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unsubscribe {
    /// The subscription, as the response to `subscribe` named it.
    pub subscription_id: String,
}

/// Does something over the socket.
#[derive(Debug, Clone, Deserialize)]
pub struct Command {
    /// What to do.
    pub command: String,
}

/// Something was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lagged {
    /// The first position that is skipped.
    pub from_sequence: i64,
    /// The last position that is skipped.
    pub to_sequence: i64,
    /// Why.
    pub reason: LaggedReason,
}

/// Why something was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LaggedReason {
    /// The client was too slow for its policy.
    Slow,
    /// The events were too old and had been removed.
    Retention,
}

/// A frame from the server, as a client reads it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerFrame {
    /// Names the frame.
    pub id: String,
    /// What the frame is.
    #[serde(rename = "type")]
    pub kind: FrameKind,
    /// When it was sent.
    pub timestamp: jiff::Timestamp,
    /// What depends on the kind.
    pub payload: serde_json::Value,
    /// The frame or subscription that it belongs to.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub metadata: serde_json::Value,
}
