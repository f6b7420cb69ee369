//! Who is acting.

use std::sync::Arc;

use uuid::Uuid;

use crate::{KeyId, Need, Permission, ProjectId, Role, SessionId, TenantId, UserId};

/// The known caller of a use case, inside one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The tenant in which the actor acts.
    pub tenant: TenantId,
    /// Whether that is the tenant whose admins look after the whole server.
    pub home: bool,
    /// The user.
    pub user: UserId,
    /// The name that events carry, such as `user:owner`.
    pub name: String,
    /// What the user is in the tenant.
    pub role: Role,
    /// What the credential is narrowed to; empty means all that the role may do.
    pub scopes: Arc<[Permission]>,
    /// The projects that the user works in; empty means all.
    pub projects: Arc<[ProjectId]>,
    /// The API key by which the actor is known, if it is one.
    pub key: Option<KeyId>,
    /// The login by which the actor is known, if it is one.
    pub session: Option<SessionId>,
}

impl Actor {
    /// Tells whether the actor may do something: both its role and its credential must allow it.
    pub fn may(&self, need: &Need) -> bool {
        // What concerns all tenants is the business of the server's own admins only.
        let at_home = !matches!(need.resource, "tenant" | "backup") || self.home;
        at_home
            && self.role.may(need)
            && (self.scopes.is_empty() || self.scopes.iter().any(|scope| scope.covers(need)))
    }

    /// Returns the id of the credential, by which limits are counted.
    pub fn credential(&self) -> Uuid {
        let login = self.session.map(SessionId::uuid);
        self.key.map(KeyId::uuid).or(login).unwrap_or(self.user.uuid())
    }

    /// Tells whether the actor works in a project.
    pub fn works_in(&self, project: ProjectId) -> bool {
        self.projects.is_empty() || self.projects.contains(&project)
    }
}
