//! Whose rows a transaction may touch.

use godel_model::TenantId;

/// Whose rows a transaction may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The rows of one tenant.
    Tenant(TenantId),
    /// The rows of all tenants: for the server itself (who owns this key?), never for a request.
    System,
}
