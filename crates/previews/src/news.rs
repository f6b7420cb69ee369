//! What is told of previews.

use godel_app::App;
use godel_model::{EventType, Metadata, NewEvent, Payload, Source, TenantId};
use godel_store::Scope;
use serde_json::json;

use crate::doc::Preview;

/// Makes an event about a preview.
pub(crate) fn event(app: &App, kind: &'static str, preview: &Preview) -> NewEvent {
    let mut about = Metadata::default().about("projectId", preview.project);
    about.refs.insert("beadId".into(), preview.bead.clone());
    let mut told = json!({
        "id": preview.id,
        "bead": preview.bead,
        "state": preview.state.as_str(),
    });
    if let Some((id, name)) = &preview.agent {
        about.refs.insert("agentId".into(), id.to_string());
        told["agentId"] = json!(id);
        told["agent"] = json!(name);
    }
    NewEvent {
        id: app.mint.id(),
        kind: EventType::known(kind),
        at: app.clock.now(),
        source: Source::component("previews"),
        payload: Payload::of(&told),
        metadata: about,
    }
}

/// Tells of a preview that nobody asked for just now.
pub(crate) async fn tell(app: &App, tenant: TenantId, kind: &'static str, preview: &Preview) {
    let event = event(app, kind, preview);
    let work = move |tx: &mut godel_store::Tx<'_>| tx.record(event.clone());
    if let Err(error) = app.store.write(Scope::Tenant(tenant), work).await {
        tracing::warn!(preview = %preview.id, %error, "it was not told how a preview is");
    }
}
