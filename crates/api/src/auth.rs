//! Logging in on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// How somebody logs in: with the one-time token of a login link, with an API key, or with name and
/// password.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
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
    /// The name of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub name: Option<String>,
    /// The password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1024)]
    pub password: Option<String>,
    /// The name of the tenant, if it is not the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub tenant: Option<String>,
    /// What the login leaves: a cookie for a browser (unless given), or tokens for a program.
    #[serde(default)]
    pub wants: LoginWants,
}

/// What a login leaves with the caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoginWants {
    /// An `HttpOnly` cookie.
    #[default]
    Cookie,
    /// An access token and a refresh token.
    Tokens,
}

/// Asks for the next pair of tokens.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefreshRequest {
    /// The refresh token; it works once.
    #[schema(max_length = 200)]
    pub refresh_token: String,
}

/// Sets the password of the caller's own account.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PasswordRequest {
    /// The new password: 12 characters or more.
    #[schema(min_length = 12, max_length = 1024)]
    pub password: String,
    /// The current password, if the account has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1024)]
    pub current_password: Option<String>,
}

macro_rules! hidden {
    ($($name:ident),+) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )+};
}
hidden!(
    LoginRequest,
    RefreshRequest,
    PasswordRequest,
    Tokens,
    Ticket,
    DeviceStart,
    DeviceAsk,
    DeviceAnswer
);

/// Who is logged in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The tenant in which the caller acts.
    pub tenant: TenantRef,
    /// The name that events carry, such as `user:owner`.
    pub actor: String,
    /// The id of the user.
    pub user_id: Uuid,
    /// What the user is: `admin`, `operator`, `developer` or `viewer`.
    pub role: String,
    /// What the role may do, as `resource:action:reach`; `*` stands for any resource or action, and a reach has what is
    /// nearer: `own`, `team`, `all`.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// What the credential is narrowed to; empty means all that the role may do.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The id of the key that was shown, or by which the login was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<Uuid>,
    /// When the login ends; absent for a key that does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<jiff::Timestamp>,
    /// What a browser sends as `X-Godel-Csrf` with each change; absent without a cookie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
    /// The tokens, if those were wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// An access token, and the token that gets the next one.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Sent as `Authorization: Bearer ..`.
    pub access_token: String,
    /// For how many seconds the access token works.
    pub expires_in: i64,
    /// Gets the next pair at `/auth/refresh`, once.
    pub refresh_token: String,
}

/// A ticket that opens one WebSocket as `/events?ticket=..`.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// The ticket.
    pub ticket: String,
    /// Until when it works.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: jiff::Timestamp,
}

/// A program that wants to be let in by a person.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceRequest {
    /// What the program calls itself; its key gets this name.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
}

/// How a person lets the program in.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceStart {
    /// The secret by which the program asks again.
    pub device_code: String,
    /// What the person enters.
    pub user_code: String,
    /// The page on which it is entered.
    pub verification_path: String,
    /// How many seconds to wait between two questions.
    pub interval: u32,
    /// Until when the program waits.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: jiff::Timestamp,
}

/// Asks whether a person has let the program in.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceAsk {
    /// The secret of the program.
    #[schema(max_length = 200)]
    pub device_code: String,
}

/// What the program gets.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceAnswer {
    /// `waiting` or `approved`.
    pub status: String,
    /// The key of the program, handed out once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A person's answer to a program.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeviceDecision {
    /// The code that the program shows.
    #[schema(max_length = 40)]
    pub user_code: String,
    /// Whether it is let in; without it the answer tells only who waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<bool>,
}

/// The program that a code belongs to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Device {
    /// What the program calls itself.
    pub name: String,
    /// `waiting`, `approved` or `refused`.
    pub status: String,
}

/// A tenant by id and name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantRef {
    /// The id.
    pub id: Uuid,
    /// The name.
    pub name: String,
}
