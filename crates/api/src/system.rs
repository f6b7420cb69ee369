//! Numbers about the server on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Numbers about the server process.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemMetrics {
    /// Memory of the process that is in RAM, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processor time that the process has used.
    pub cpu_seconds: f64,
    /// For how long the server runs.
    pub uptime_seconds: f64,
    /// Open file descriptors, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Open WebSockets.
    pub web_sockets: u64,
    /// The newest position of the tenant's event log.
    pub event_head: i64,
    /// The newest position that retention took away.
    pub event_trimmed: i64,
}
