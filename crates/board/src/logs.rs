//! What an agent said and did, read from the log of events.

use std::time::Duration;

use godel_app::{Call, events};
use godel_fleet::{Fleet, Result, agents, inbox};
use godel_model::{Event, EventFilter, Reach, Seq};
use godel_store::Direction;
use tracing::instrument;

/// Reads what an agent said and did behind a position; waits for it if asked to.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "board.logs.after", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn after(
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
#[instrument(level = "debug", name = "board.logs.before", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn before(
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
