//! Health on the wire.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a part or the whole is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    /// All is well.
    Healthy,
    /// Works, but not as it should.
    Degraded,
    /// Cannot do its work.
    Unhealthy,
}

/// What one probe found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// How the part is doing.
    pub status: HealthStatus,
    /// How long the probe took, in milliseconds.
    pub latency_ms: f64,
    /// What is wrong, or worth knowing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Free space, for the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

/// How the server and what it needs are doing.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// The whole.
    pub status: HealthStatus,
    /// The version of the server.
    pub version: String,
    /// The parts, each probed just now.
    pub checks: BTreeMap<String, Check>,
    /// When it was probed.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: jiff::Timestamp,
}

/// Health with what only a known caller may see.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetailedHealth {
    /// What everybody sees.
    #[serde(flatten)]
    pub health: Health,
    /// The address of the database, without user and password.
    pub database: String,
    /// Whether a finished write survives a power cut.
    pub durable: bool,
    /// The version of the schema.
    pub schema_version: i64,
    /// The id of the server's process.
    pub pid: u32,
    /// Since when it runs.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: jiff::Timestamp,
    /// Open WebSockets.
    pub web_sockets: u64,
    /// What protects the way to it.
    #[serde(default)]
    pub protection: Protection,
}

/// What protects the way to a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Protection {
    /// Whether it speaks TLS.
    pub tls: bool,
    /// Whether other machines can reach it without TLS: somebody chose `--insecure`.
    pub insecure: bool,
    /// The SHA-256 of the certificate to trust: that of its own authority, or its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Until when its certificate is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<jiff::Timestamp>,
}

/// The process runs.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Live {
    /// Always `alive`.
    pub status: String,
}

/// Whether the server can take requests.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// `ready` or `not_ready`.
    pub status: String,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What this server can do.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// The product, always `godel`.
    pub product: String,
    /// The version of the server.
    pub version: String,
    /// The versions of the API that it speaks.
    pub api_versions: Vec<String>,
    /// The subprotocols of its WebSocket.
    pub event_protocols: Vec<String>,
    /// What else it offers, such as `events`, `projects` and `dashboard`.
    pub features: Vec<String>,
}
