//! Users and tenants on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Somebody who has an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The id.
    pub id: Uuid,
    /// The name, unique in the tenant.
    pub name: String,
    /// `admin`, `operator`, `developer` or `viewer`.
    pub role: String,
    /// `invited`, `active`, `disabled` or `erased`.
    pub status: String,
    /// The projects the user works in; none means all.
    pub projects: Vec<Uuid>,
    /// When the account was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// When the user last logged in or called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub seen_at: Option<jiff::Timestamp>,
}

impl From<godel_model::User> for User {
    fn from(user: godel_model::User) -> Self {
        Self {
            id: user.id.uuid(),
            name: user.name.into(),
            role: user.role.to_string(),
            status: user.status.as_str().to_owned(),
            projects: user.projects.into_iter().map(godel_model::ProjectId::uuid).collect(),
            created_at: user.created_at,
            seen_at: user.seen_at,
        }
    }
}

/// Somebody to be invited.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// The name: 1 to 100 characters, unique in the tenant.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// `admin`, `operator`, `developer` or `viewer`.
    pub role: String,
    /// The projects the user works in; none means all.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub projects: Vec<Uuid>,
}

/// An invited user, and the link that opens the account.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// The user.
    pub user: User,
    /// The path of the one-time link, behind the address of the server. It is shown now and never
    /// again, so a repeated request gets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_path: Option<String>,
}

/// What is to be changed of a user; a field that is left out stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserPatch {
    /// The new role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Whether the account is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// The new projects, all of them; an empty list means all projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub projects: Option<Vec<Uuid>>,
}

/// What the server knows of a person.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserExport {
    /// The account.
    pub user: User,
    /// Its keys.
    pub keys: Vec<crate::Key>,
    /// What it did, newest first: up to 10,000 acts.
    pub acts: Vec<crate::AuditEntry>,
}

/// An organisation whose data no other one can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The id.
    pub id: Uuid,
    /// The name, unique on the server.
    pub name: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: jiff::Timestamp,
    /// Since when nobody of it can call; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub disabled_at: Option<jiff::Timestamp>,
}

impl From<godel_model::Tenant> for Tenant {
    fn from(tenant: godel_model::Tenant) -> Self {
        Self {
            id: tenant.id.uuid(),
            name: tenant.name.into(),
            created_at: tenant.created_at,
            disabled_at: tenant.disabled_at,
        }
    }
}

/// A tenant to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTenant {
    /// The name: 1 to 100 characters, unique on the server.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
}

/// A new tenant, and the link that opens its owner's account.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantInvitation {
    /// The tenant.
    pub tenant: Tenant,
    /// The path of the one-time link, behind the address of the server.
    pub link_path: String,
}

/// What is to be changed of a tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantPatch {
    /// Whether it is closed for all its users.
    pub disabled: bool,
}
