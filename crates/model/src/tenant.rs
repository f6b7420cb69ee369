//! Tenants: the walls between organisations.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{TenantId, TenantName};

/// An organisation whose data no other one can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The id.
    pub id: TenantId,
    /// The name, unique on this server.
    pub name: TenantName,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when nobody of it can call; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<Timestamp>,
}
