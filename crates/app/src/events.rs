//! The event log.

use std::sync::Arc;

use godel_model::{
    Event, EventFilter, EventId, EventType, Metadata, NewEvent, Payload, Reach, Seq, Source,
};
use godel_store::{Direction, Logged, Page, Tail, Tx};

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

/// Records an event of a caller.
///
/// # Errors
/// If its type is Godel's own, or its metadata too large.
pub async fn publish(app: &App, call: &Call, publication: Publication) -> Result<Event> {
    call.may("event", "create", Reach::Team)?;
    let Publication { kind, payload, metadata, instance } = publication;
    metadata.check()?;
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
    let outcome = once(app, call, move |tx| {
        tx.record(event.clone())?;
        Ok(event.id)
    });
    match outcome.await? {
        Outcome::Fresh(written) => {
            let logged = written.events.first().ok_or(Error::NoEvent(written.value))?;
            Ok(logged.event.clone())
        }
        Outcome::Known(id) => get(app, call, id).await,
    }
}

/// Finds an event.
///
/// # Errors
/// If there is none with this id in the tenant's log.
pub async fn get(app: &App, call: &Call, id: EventId) -> Result<Event> {
    call.may("event", "read", Reach::Team)?;
    let found = app.store.read(call.scope(), move |tx| tx.events().by_id(id)).await;
    found.map_err(Error::Store)?.ok_or(Error::NoEvent(id))
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
pub async fn list(app: &App, call: &Call, window: Window) -> Result<Page> {
    call.may("event", "read", Reach::Team)?;
    let Window { filter, direction, from, limit } = window;
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
pub async fn newest(app: &App, call: &Call, limit: usize) -> Result<Option<Vec<Arc<Logged>>>> {
    call.may("event", "read", Reach::Team)?;
    Ok(app.store.newest(call.actor.tenant, limit).await?)
}

/// Follows the log from behind a position, or from its end.
///
/// # Errors
/// If the store fails.
pub async fn follow(
    app: &App,
    call: &Call,
    after: Option<Seq>,
    filter: EventFilter,
) -> Result<Tail> {
    call.may("event", "read", Reach::Team)?;
    Ok(app.store.tail(call.actor.tenant, after, filter).await?)
}

/// Returns the newest position of the log, and the newest one that retention took away.
///
/// # Errors
/// If the store fails.
pub async fn bounds(app: &App, call: &Call) -> Result<(Seq, Seq)> {
    call.may("event", "read", Reach::Team)?;
    app.store.read(call.scope(), |tx| Ok(tx.events().bounds()?)).await
}
