//! What happens at the walls of sandboxes, told where those who follow an agent look.

use godel_agents::clip;
use godel_runtime::{Event, Happening};
use godel_store::{Scope, Tx};
use serde_json::json;
use tokio::sync::mpsc;

use crate::doc::Agent;
use crate::{Error, Fleet, Result, paper};

/// How much of a reason is told.
const WHY_MAX_BYTES: usize = 1_000;

impl Fleet {
    /// Tells what happens in sandboxes as events, until the server stops.
    pub fn hear(&self, mut heard: mpsc::Receiver<Event>) {
        let (fleet, stopping) = (self.clone(), self.own.crew.stopping());
        self.own.crew.spawn(async move {
            loop {
                let event = tokio::select! {
                    () = stopping.cancelled() => return,
                    event = heard.recv() => event,
                };
                let Some(event) = event else { return };
                if let Err(error) = fleet.tell_of(event).await {
                    tracing::warn!(%error, "an event of a sandbox was not told");
                }
            }
        });
    }

    async fn tell_of(&self, event: Event) -> Result<()> {
        let id = event.sandbox.agent();
        let Some(tenant) = self.own.tenant_of(id) else { return Ok(()) };
        let (kind, payload) = match event.what {
            Happening::Spawned { profile } => {
                ("agent:sandbox:spawn", json!({ "profile": profile.as_str() }))
            }
            Happening::EgressDenied { host, port, reason } => {
                let (host, reason) = (clip(&host, WHY_MAX_BYTES), clip(&reason, WHY_MAX_BYTES));
                ("agent:sandbox:egress", json!({ "host": host, "port": port, "reason": reason }))
            }
            Happening::CallDenied { call } => ("agent:sandbox:call", json!({ "call": call })),
            Happening::LimitReached { limit, detail } => (
                "agent:sandbox:limit",
                json!({ "limit": limit, "detail": clip(&detail, WHY_MAX_BYTES) }),
            ),
            Happening::Collected { commit } => ("agent:commit", json!({ "commit": commit })),
            Happening::CommitRefused { reason } => {
                ("agent:commit:refused", json!({ "reason": clip(&reason, WHY_MAX_BYTES) }))
            }
            Happening::Terminated => ("agent:sandbox:end", json!({})),
        };
        let fleet = self.clone();
        let work = move |tx: &mut Tx<'_>| {
            if let Some(agent) = paper::by_id::<Agent>(tx, id.uuid())? {
                fleet.record(tx, &agent, kind, &payload)?;
            }
            Ok::<_, Error>(())
        };
        self.app().store.write(Scope::Tenant(tenant), work).await?;
        Ok(())
    }
}
