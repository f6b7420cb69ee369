//! Looking at agents: what they cost, how many there are.

use std::collections::HashMap;

use godel_app::Call;
use godel_model::{AgentId, Reach, TenantId};
use godel_store::{Scope, Tx};
use tracing::instrument;

use crate::doc::Agent;
use crate::{Error, Fleet, Result, paper};

/// Counts agents by their states, and what needs a person.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.look.metrics", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn metrics(fleet: &Fleet, call: &Call) -> Result<(Vec<(String, i64)>, i64)> {
    call.may("agent", "read", Reach::Team)?;
    let read = move |tx: &mut Tx<'_>| {
        let states = tx.papers(<Agent as paper::Filed>::KIND).count()?;
        let notices = tx.papers(<crate::Notice as paper::Filed>::KIND).count()?;
        let open = notices.into_iter().find(|(state, _)| state == "open");
        Ok::<_, Error>((states, open.map_or(0, |(_, count)| count)))
    };
    fleet.app().store.read(Scope::Tenant(call.actor.tenant), read).await
}

/// Tells what agents have spent, in millionths of a dollar; none where a price is not known.
///
/// # Errors
/// If the database fails.
pub async fn spent(
    fleet: &Fleet,
    tenant: TenantId,
    of: &[Agent],
) -> Result<HashMap<AgentId, Option<i64>>> {
    let ids: Vec<AgentId> = of.iter().map(|agent| agent.id).collect();
    let read = fleet.app().store.read(Scope::Tenant(tenant), move |tx: &mut Tx<'_>| {
        let mut spent = HashMap::with_capacity(ids.len());
        for id in &ids {
            let (cost, unpriced) = tx.usage().of_agent(&id.to_string())?;
            spent.insert(*id, (unpriced == 0).then_some(cost));
        }
        Ok::<_, Error>(spent)
    });
    read.await
}
