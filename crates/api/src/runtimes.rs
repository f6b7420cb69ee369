//! Places where agents work, on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The runtimes that Godel knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeList {
    /// The runtimes.
    pub items: Vec<RuntimeInfo>,
    /// What a gigabyte of snapshots costs in a month of 30 days, in millionths of a dollar; none if no rate is
    /// set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_gb_month_micros: Option<i64>,
}

/// A place where agents can work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeInfo {
    /// Its name, as `runtime` of an agent has it.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// Whether this server offers it.
    pub offered: bool,
    /// none, process, container, userspace_kernel or microvm; none if it is not offered.
    pub isolation: Option<String>,
    /// What a snapshot holds: none, workspace, volume or memory.
    pub snapshot: Option<String>,
    /// How an agent is paused: none, freeze, cold or memory.
    pub pause: Option<String>,
    /// How the network is limited: none, address or domain.
    pub network: Option<String>,
    /// What an hour of an agent at work in it costs, in millionths of a dollar; none if no rate is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour_micros: Option<i64>,
}

/// What the checks of a runtime found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RuntimeTest {
    /// The runtime.
    pub name: String,
    /// Whether nothing is broken.
    pub ok: bool,
    /// Each check, in the order of `godel doctor`.
    pub checks: Vec<DoctorCheck>,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DoctorCheck {
    /// What was checked.
    pub name: String,
    /// ok, skip, warn or fail.
    pub status: String,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}
