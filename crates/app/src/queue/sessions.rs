//! Which worker had the last task of a session.
//!
//! A server keeps it in memory. Each time that it changes there is an event, from which a server that
//! has just started, and others that share the database, learn it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use godel_model::{EventFilter, Payload, Seq, WorkerId};
use godel_store::{Direction, Result, Tx};
use serde::{Deserialize, Serialize};

use super::desk::Desk;
use super::tell::Teller;
use crate::{App, Crew};

/// The event that tells it.
const MOVED: &str = "session:moved";
/// How many sessions are learnt from the log.
const RECALLED_MAX: usize = 1_000;
/// The pause before the log is followed again.
const AGAIN: Duration = Duration::from_secs(1);

/// What the event tells.
#[derive(Serialize, Deserialize)]
struct Moved {
    session: String,
    worker: WorkerId,
}

impl Moved {
    fn read(payload: &Payload) -> Option<(String, WorkerId)> {
        let Self { session, worker } = serde_json::from_str(payload.as_str()).ok()?;
        Some((session, worker))
    }
}

fn filter() -> Option<EventFilter> {
    EventFilter::new(vec![MOVED.parse().ok()?], BTreeMap::new()).ok()
}

/// Tells that a session is with a worker now.
pub(super) fn tell(
    tx: &mut Tx<'_>,
    teller: Teller<'_>,
    (session, worker): (&str, WorkerId),
) -> Result<()> {
    let moved = Moved { session: session.to_owned(), worker };
    tx.record(teller.event(MOVED, &moved, ("workerId", worker)))
}

/// Reads in the newest part of the log who had which session last.
pub(super) fn recall(tx: &mut Tx<'_>) -> Result<HashMap<String, WorkerId>> {
    let mut known = HashMap::new();
    let Some(filter) = filter() else { return Ok(known) };
    let newest = Seq(i64::MAX);
    let page = tx.events().page(&filter, Direction::Backward, newest, RECALLED_MAX)?;
    for (session, worker) in page.events.iter().filter_map(|event| Moved::read(&event.payload)) {
        // The newest comes first.
        known.entry(session).or_insert(worker);
    }
    Ok(known)
}

/// Learns from the log what other servers give out.
pub(super) fn follow(app: &App, crew: &Crew, desk: &Arc<Desk>) {
    let (app, desk, stopping) = (app.clone(), Arc::clone(desk), crew.stopping());
    crew.spawn(async move {
        tokio::select! {
            () = learn(&app, &desk) => {}
            () = stopping.cancelled() => {}
        }
    });
}

async fn learn(app: &App, desk: &Desk) {
    let Some(filter) = filter() else { return };
    loop {
        if let Ok(mut tail) = app.store.tail(desk.tenant(), None, filter.clone()).await {
            // What was told before is looked up once more: nothing comes in between.
            desk.forget_sessions();
            while let Ok(batch) = tail.next(RECALLED_MAX).await {
                let events = batch.events.iter();
                desk.learn(events.filter_map(|logged| Moved::read(&logged.event.payload)));
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}
