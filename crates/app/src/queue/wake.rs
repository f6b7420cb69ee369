//! Servers that share a database wake each other over Redis, where there is one; who is not woken
//! looks by itself.

use std::time::{Duration, Instant};

use godel_hints::Hints;
use godel_model::{EventId, TenantId};

use crate::{App, Crew};

/// How long is collected what is told together.
const COALESCE: Duration = Duration::from_millis(10);
/// The pause before Redis is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// Tells other servers what comes here, and hears from them; does nothing without Redis.
pub fn start(app: &App, crew: &Crew) {
    let Some(hints) = app.hints.clone() else { return };
    let own = app.mint.id::<EventId>().to_string();
    drop(app.desks.tally().take_rung());
    let (app_, hints_, own_) = (app.clone(), hints.clone(), own.clone());
    let stopping = crew.stopping();
    crew.spawn(async move {
        tokio::select! {
            () = call(&app_, &hints_, &own_) => {}
            () = stopping.cancelled() => {}
        }
    });
    let (app, stopping) = (app.clone(), crew.stopping());
    crew.spawn(async move {
        tokio::select! {
            () = listen(&app, &hints, &own) => {}
            () = stopping.cancelled() => {}
        }
    });
}

async fn call(app: &App, hints: &Hints, own: &str) {
    loop {
        app.desks.tally().rings().await;
        tokio::time::sleep(COALESCE).await;
        let tenants = app.desks.tally().take_rung();
        if let Err(error) = hints.ring(own, &tenants).await {
            tracing::debug!(%error, "other servers were not woken; they will look by themselves");
        }
    }
}

async fn listen(app: &App, hints: &Hints, own: &str) {
    loop {
        let begun = Instant::now();
        if let Err(error) = hints.heed(own, |tenant| wake(app, tenant)).await {
            tracing::debug!(%error, "other servers are not heard");
        }
        // One that hangs up at once is not called again at once.
        if begun.elapsed() < AGAIN {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Wakes the desk of a tenant if somebody waits there.
fn wake(app: &App, tenant: TenantId) {
    let desks = app.desks.all();
    let waiting = desks.iter().filter(|desk| desk.tenant() == tenant && desk.has_parked());
    for desk in waiting {
        desk.wake();
    }
}
