//! One call of a use case.

use godel_model::{Actor, EventType, Metadata, NewEvent, Payload, Source};
use godel_store::Scope;
use serde::Serialize;

use crate::App;

/// Who calls, and on behalf of which request.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who acts, in which tenant.
    pub actor: Actor,
    /// The W3C trace id of the request.
    pub trace_id: Option<String>,
    /// If the request must be carried out once at most.
    pub once: Option<OnceKey>,
}

/// Makes a request repeatable without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceKey {
    /// What the caller chose.
    pub key: String,
    /// Tells this request from another with the same key.
    pub fingerprint: [u8; 32],
}

impl Call {
    /// Returns the scope of the actor's tenant.
    pub fn scope(&self) -> Scope {
        Scope::Tenant(self.actor.tenant)
    }

    /// Makes an event that tells of a change by this call.
    pub(crate) fn event(
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
}
