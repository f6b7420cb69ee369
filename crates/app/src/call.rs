//! One call of a use case.

use std::net::IpAddr;
use std::sync::Arc;

use godel_model::{
    Actor, AuditEntry, AuditResult, EventType, Metadata, Need, NewEvent, Payload, Personal, Reach,
    Source,
};
use godel_store::{Scope, Tx};
use serde::Serialize;

use crate::{App, Error, Result};

/// Who calls, and on behalf of which request.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who acts, in which tenant.
    pub actor: Arc<Actor>,
    /// The W3C trace id of the request.
    pub trace_id: Option<String>,
    /// If the request must be carried out once at most.
    pub once: Option<OnceKey>,
    /// Where the request came from.
    pub origin: Origin,
}

/// Where a request came from, for the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The network address.
    pub address: Option<IpAddr>,
    /// The program, as it calls itself.
    pub agent: Option<Arc<str>>,
}

/// Makes a request repeatable without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceKey {
    /// What the caller chose.
    pub key: String,
    /// Tells this request from another with the same key.
    pub fingerprint: [u8; 32],
}

impl Origin {
    pub(crate) fn personal(&self, name: Option<String>) -> Personal {
        Personal {
            name,
            address: self.address.map(|address| address.to_string()),
            agent: self.agent.as_deref().map(ToOwned::to_owned),
        }
    }
}

impl Call {
    /// Returns the scope of the actor's tenant.
    pub fn scope(&self) -> Scope {
        Scope::Tenant(self.actor.tenant)
    }

    /// Lets the call go on if its actor may do this; the first line of every use case.
    ///
    /// # Errors
    /// If the actor may not.
    pub fn may(&self, resource: &'static str, action: &'static str, reach: Reach) -> Result<()> {
        let need = Need { resource, action, reach };
        if self.actor.may(&need) { Ok(()) } else { Err(Error::Forbidden(need)) }
    }

    /// Refuses a key that is narrowed: what it could make here may do more than it may itself.
    ///
    /// # Errors
    /// If the credential has scopes.
    pub(crate) fn whole(&self) -> Result<()> {
        if self.actor.scopes.is_empty() { Ok(()) } else { Err(Error::NarrowKey) }
    }

    /// Makes an event that tells of a change by this call.
    pub fn event(
        &self,
        app: &App,
        kind: &'static str,
        payload: &impl Serialize,
        about: (&'static str, impl std::fmt::Display),
    ) -> NewEvent {
        NewEvent {
            id: app.mint.id(),
            kind: EventType::known(kind),
            at: app.clock.now(),
            source: Source::component("app"),
            payload: Payload::of(payload),
            metadata: Metadata {
                actor: Some(self.actor.name.clone()),
                trace_id: self.trace_id.clone(),
                ..Metadata::default()
            }
            .about(about.0, about.1),
        }
    }

    /// Makes an entry for the record of acts.
    pub fn act(
        &self,
        app: &App,
        action: impl Into<String>,
        resource: impl Into<String>,
        result: AuditResult,
    ) -> AuditEntry {
        #[derive(Serialize)]
        struct Via {
            #[serde(skip_serializing_if = "Option::is_none")]
            key: Option<godel_model::KeyId>,
            #[serde(skip_serializing_if = "Option::is_none")]
            session: Option<godel_model::SessionId>,
        }
        let via = Via { key: self.actor.key, session: self.actor.session };
        AuditEntry {
            at: app.clock.now(),
            user: Some(self.actor.user),
            action: action.into(),
            resource: resource.into(),
            result,
            trace_id: self.trace_id.clone(),
            detail: Payload::of(&via).as_str().to_owned(),
            personal: Some(self.origin.personal(Some(self.actor.name.clone()))),
        }
    }

    /// Records a change twice: as an event for those who follow, as an act for those who check.
    pub fn tell(&self, app: &App, tx: &mut Tx<'_>, event: NewEvent) -> Result<()> {
        let about = event.metadata.refs.iter().next();
        let resource = about.map_or_else(String::new, |(name, id)| {
            format!("{}/{id}", name.strip_suffix("Id").unwrap_or(name))
        });
        let act = self.act(app, event.kind.as_str(), resource, AuditResult::Ok);
        tx.record_act(self.actor.tenant, act)?;
        Ok(tx.record_for(self.actor.tenant, event)?)
    }
}
