//! Looking at agents: what they said, what they cost, how many there are.

use std::collections::HashMap;
use std::time::Duration;

use godel_app::{Call, events};
use godel_model::{AgentId, Event, EventFilter, Reach, Seq, TenantId};
use godel_store::{Direction, Scope, Tx};
use tracing::instrument;

use crate::doc::Agent;
use crate::{Error, Fleet, Result, agents, inbox, paper};

/// Reads what an agent said and did behind a position; waits for it if asked to.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "fleet.look.logs", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn logs(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    (after, limit, wait): (Option<i64>, usize, Duration),
) -> Result<(Vec<Event>, i64)> {
    call.may("agent", "read", Reach::Team)?;
    let agent = agents::find(fleet, call, name).await?;
    let fields = [("agentId".to_owned(), agent.id.to_string())].into();
    let filter = EventFilter::new(Vec::new(), fields)?;
    let from = Seq(after.unwrap_or(agent.log_from).max(agent.log_from));
    let app = fleet.app();
    let window =
        events::Window { filter: filter.clone(), direction: Direction::Forward, from, limit };
    let page = events::list(app, call, window).await?;
    if !page.events.is_empty() || page.more || wait.is_zero() {
        return Ok(read_page(page, from));
    }
    let mut tail = events::follow(app, call, Some(Seq(page.reached.0.max(from.0))), filter).await?;
    let batch = tokio::time::timeout(wait.min(inbox::WAIT_MAX), tail.next(limit)).await;
    let Ok(batch) = batch else { return Ok((Vec::new(), tail.cursor().0.max(from.0))) };
    let batch = batch?;
    let next = tail.cursor().0;
    Ok((batch.events.iter().map(|one| one.event.clone()).collect(), next))
}

/// Reads what an agent said and did before a position, the oldest first; and the position before which there may
/// be more.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "fleet.look.logs_before", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn logs_before(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    (before, limit): (i64, usize),
) -> Result<(Vec<Event>, Option<i64>)> {
    call.may("agent", "read", Reach::Team)?;
    let agent = agents::find(fleet, call, name).await?;
    let fields = [("agentId".to_owned(), agent.id.to_string())].into();
    let filter = EventFilter::new(Vec::new(), fields)?;
    let (direction, from) = (Direction::Backward, Seq(before));
    let window = events::Window { filter, direction, from, limit };
    let page = events::list(fleet.app(), call, window).await?;
    let first = agent.log_from;
    let mut lines = page.events;
    lines.retain(|event| event.seq.0 > first);
    lines.reverse();
    Ok((lines, (page.more && page.reached.0 > first + 1).then_some(page.reached.0)))
}

fn read_page(page: godel_store::Page, from: Seq) -> (Vec<Event>, i64) {
    let next = page.reached.0.max(from.0);
    (page.events, next)
}

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
