//! Who is acting.

use crate::{KeyId, TenantId};

/// The known caller of a use case, inside one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The tenant in which the actor acts.
    pub tenant: TenantId,
    /// The key by which the actor is known.
    pub key: KeyId,
    /// The name that events carry, such as `key:owner`.
    pub name: String,
}
