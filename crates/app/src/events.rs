//! The event log.

use std::sync::Arc;

use godel_model::{
    Event, EventFilter, EventId, EventType, Metadata, NewEvent, Payload, ProjectId, Reach, Seq,
    Source,
};
use godel_store::{Direction, Logged, Page, Receipt, Tail, Tx};
use serde::{Deserialize, Serialize};
use tracing::instrument;

use crate::once::{Outcome, once};
use crate::{App, Call, Error, Result};

/// An event that a caller publishes.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The type; not one of Godel's own.
    pub kind: EventType,
    /// What happened in detail.
    pub payload: Payload,
    /// What it belongs to; who acts and the trace are filled in.
    pub metadata: Metadata,
    /// The instance of the caller's program.
    pub instance: Option<String>,
}

/// What is remembered of a publication that must be carried out once.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Recorded {
    /// All that a repeated request needs; the store puts it there when the position is known.
    Receipt(Receipt),
    /// The id of the event: until the position is known, and in rows of earlier versions.
    Id(EventId),
}

/// Records an event of a caller.
///
/// # Errors
/// If its type is Godel's own, or its metadata too large.
#[instrument(level = "debug", name = "app.events.publish", skip_all, fields(tenant = %call.actor.tenant, kind = publication.kind.as_str()))]
pub async fn publish(app: &App, call: &Call, publication: Publication) -> Result<Event> {
    call.may("event", "create", Reach::Team)?;
    let Publication { kind, payload, metadata, instance } = publication;
    metadata.check()?;
    if !may_see(call, &metadata) {
        return Err(Error::invalid("`projectId` is not a project that this caller works in"));
    }
    let event = NewEvent {
        id: app.mint.id(),
        kind: kind.from_outside()?,
        at: app.clock.now(),
        source: Source { component: "api".to_owned(), instance, version: None },
        payload,
        metadata: Metadata {
            actor: Some(call.actor.name.clone()),
            trace_id: call.trace_id.clone(),
            ..metadata
        },
    };
    let (key, again) = (call.once.as_ref().map(|once| once.key.clone()), event.clone());
    let outcome = once(app, call, move |tx| {
        match &key {
            Some(key) => tx.record_with_receipt(event.clone(), key)?,
            None => tx.record(event.clone())?,
        }
        Ok(Recorded::Id(event.id))
    });
    match outcome.await? {
        Outcome::Fresh(written) => {
            let logged = written.events.first().ok_or(Error::NoEvent(again.id))?;
            Ok(logged.event.clone())
        }
        Outcome::Known(Recorded::Receipt(receipt)) => Ok(repeat(again, receipt)),
        Outcome::Known(Recorded::Id(id)) => get(app, call, id).await,
    }
}

/// Tells an event again: the request is the same, so only what it did not say is remembered.
fn repeat(event: NewEvent, receipt: Receipt) -> Event {
    let Receipt { id, seq, at, actor, trace_id } = receipt;
    let metadata = Metadata { actor, trace_id, ..event.metadata };
    NewEvent { id, at, metadata, ..event }.at_seq(seq)
}

/// Finds an event.
///
/// # Errors
/// If there is none with this id in the tenant's log.
#[instrument(level = "debug", name = "app.events.get", skip_all, fields(tenant = %call.actor.tenant, event = %id))]
pub async fn get(app: &App, call: &Call, id: EventId) -> Result<Event> {
    call.may("event", "read", Reach::Team)?;
    let found = app.store.read(call.scope(), move |tx| tx.events().by_id(id)).await;
    let found = found.map_err(Error::Store)?.filter(|event| may_see(call, &event.metadata));
    found.ok_or(Error::NoEvent(id))
}

/// Tells whether what an event is about is of a project in which the caller works, or of none.
fn may_see(call: &Call, metadata: &Metadata) -> bool {
    let project = metadata.refs.get("projectId").map(|id| id.parse::<ProjectId>());
    match project {
        None => true,
        Some(Ok(project)) => call.actor.works_in(project),
        Some(Err(_)) => call.actor.projects.is_empty(),
    }
}

/// Which part of the log is wanted.
#[derive(Debug, Clone)]
pub struct Window {
    /// Which events.
    pub filter: EventFilter,
    /// In which order.
    pub direction: Direction,
    /// From behind (or, backward, before) which position.
    pub from: Seq,
    /// How many at most.
    pub limit: usize,
}

/// Reads a page of the log.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.events.list", skip_all, fields(tenant = %call.actor.tenant, limit = window.limit))]
pub async fn list(app: &App, call: &Call, window: Window) -> Result<Page> {
    call.may("event", "read", Reach::Team)?;
    let Window { filter, direction, from, limit } = window;
    let filter = filter.within(&call.actor.projects);
    let short = filter.is_all();
    let work = move |tx: &mut Tx<'_>| Ok(tx.events().page(&filter, direction, from, limit)?);
    if short {
        app.store.read(call.scope(), work).await
    } else {
        // A filter may have to look at thousands of events for a few that match.
        app.store.read_long(call.scope(), work).await
    }
}

/// Returns the newest events, newest first, if they are in memory and there are more of them.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.events.newest", skip_all, fields(tenant = %call.actor.tenant, limit))]
pub async fn newest(app: &App, call: &Call, limit: usize) -> Result<Option<Vec<Arc<Logged>>>> {
    call.may("event", "read", Reach::Team)?;
    if !call.actor.projects.is_empty() {
        return Ok(None);
    }
    Ok(app.store.newest(call.actor.tenant, limit).await?)
}

/// Follows the log from behind a position, or from its end.
///
/// # Errors
/// If the log ends before the position, or the store fails.
#[instrument(level = "debug", name = "app.events.follow", skip_all, fields(tenant = %call.actor.tenant, after = after.map(|seq| seq.0)))]
pub async fn follow(
    app: &App,
    call: &Call,
    after: Option<Seq>,
    filter: EventFilter,
) -> Result<Tail> {
    call.may("event", "read", Reach::Team)?;
    let filter = filter.within(&call.actor.projects);
    let tail = app.store.tail(call.actor.tenant, after, filter).await?;
    match after {
        // A position of another log: to wait for it would be to skip what happens until then.
        Some(after) if after > tail.log_end() => {
            Err(Error::BeyondLog { after, end: tail.log_end() })
        }
        _ => Ok(tail),
    }
}

/// Returns the newest position of the log, and the newest one that retention took away.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.events.bounds", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn bounds(app: &App, call: &Call) -> Result<(Seq, Seq)> {
    call.may("event", "read", Reach::Team)?;
    app.store.read(call.scope(), |tx| Ok(tx.events().bounds()?)).await
}
