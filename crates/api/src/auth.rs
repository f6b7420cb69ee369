//! Logging in on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// How a browser logs in: with the one-time token of a login link, or with an API key.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    /// The token of a login link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub token: Option<String>,
    /// An API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub key: Option<String>,
}

impl std::fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LoginRequest(..)")
    }
}

/// Who is logged in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The tenant in which the caller acts.
    pub tenant: TenantRef,
    /// The name that events carry, such as `key:owner`.
    pub actor: String,
    /// When the browser session ends; absent for an API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<jiff::Timestamp>,
}

/// A tenant by id and name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantRef {
    /// The id.
    pub id: Uuid,
    /// The name.
    pub name: String,
}
