//! API keys and secrets on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// An API key, without the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// The id.
    pub id: Uuid,
    /// Whose key it is.
    pub user_id: Uuid,
    /// The name.
    pub name: String,
    /// The beginning of the key.
    pub prefix: String,
    /// What it is narrowed to; empty means all that its user may do.
    pub scopes: Vec<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<jiff::Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<jiff::Timestamp>,
    /// When it was last used, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub used_at: Option<jiff::Timestamp>,
}

/// A key to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKey {
    /// The name: 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// Whose key it is; the caller's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// What it is narrowed to, such as `event:read:team`; none means all that its user may do.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub scopes: Vec<String>,
    /// When it ends; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<jiff::Timestamp>,
}

/// A new key.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyMade {
    /// What is known of it from now on.
    #[serde(flatten)]
    pub info: Key,
    /// The key itself. It is shown now and never again, so a repeated request gets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl std::fmt::Debug for KeyMade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyMade").field("info", &self.info).finish_non_exhaustive()
    }
}

/// How a key takes over from another.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRotation {
    /// For how many seconds the old key goes on; a day if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2592000)]
    pub grace_seconds: Option<u32>,
}

/// A secret, without its value, which nobody gets to see again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Secret {
    /// The name.
    pub name: String,
    /// Counts the values that it had.
    pub version: i64,
    /// The last four characters of the value, if it is long enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_four: Option<String>,
    /// When it was first set.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// When its value was last set.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: jiff::Timestamp,
    /// When its value was last used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub used_at: Option<jiff::Timestamp>,
}

/// A list of secrets.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SecretList {
    /// The secrets by name.
    pub items: Vec<Secret>,
}

/// The new value of a secret.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretValue {
    /// The value.
    #[schema(min_length = 1, max_length = 65536)]
    pub value: String,
}

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretValue(..)")
    }
}
