//! Retention: old events go, and what they added up to stays as a snapshot.

use std::time::Duration;

use godel_decide::{Retention, cut};
use godel_model::{EventFilter, Illegal, Report as _, Seq, TenantId};
use godel_store::{Direction, Error as StoreError, Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use tracing::instrument;

use crate::{App, Crew, Error, Result, audit};

/// How many events one transaction removes; other writes come in between.
const CHUNK_EVENTS: usize = 1_000;
/// How often old things are looked for.
const PERIOD: Duration = Duration::from_secs(600);
/// For how long the result of a request with an idempotency key is remembered.
const ONCE_HOURS: i64 = 24;

/// Removes the events of a tenant that are older or more than is kept; returns how many.
///
/// # Errors
/// If the store fails, or the log is damaged; then nothing of that part was removed.
#[instrument(level = "debug", name = "app.retention.trim", skip_all, fields(%tenant))]
pub async fn trim(app: &App, tenant: TenantId, retention: Retention) -> Result<u64> {
    let mut removed = 0;
    loop {
        let now = app.clock.now();
        let work = move |tx: &mut Tx<'_>| trim_chunk(tx, retention, now);
        let (gone, upto) = app.store.write(Scope::Tenant(tenant), work).await?.value;
        app.store.forget(tenant, upto);
        removed += gone;
        if gone == 0 {
            return Ok(removed);
        }
    }
}

/// Removes the oldest events; returns how many, and up to which position.
fn trim_chunk(tx: &mut Tx<'_>, retention: Retention, now: Timestamp) -> Result<(u64, Seq)> {
    let tenant = tx.tenant()?;
    // Locked first: another server on the same database may be trimming too.
    let (head, trimmed) = tx.events().lock_bounds()?;
    let oldest =
        tx.events().page(&EventFilter::all(), Direction::Forward, trimmed, CHUNK_EVENTS)?.events;
    let Some(upto) = cut(retention, &oldest, head, now) else {
        return Ok((0, trimmed));
    };
    let mut state = tx.snapshots().load()?;
    for event in oldest.iter().take_while(|event| event.seq <= upto) {
        let differ = |illegal: Illegal| Error::Disagreement { tenant, why: illegal.to_string() };
        state.apply(event).map_err(differ)?;
    }
    tx.snapshots().save(&state)?;
    Ok((tx.events().trim(upto)?, upto))
}

/// Looks after all tenants once: events, idempotency keys, logins that ended.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.retention.sweep", skip_all)]
pub async fn sweep(app: &App) -> Result<u64> {
    let now = app.clock.now();
    let tenants = app
        .store
        .write(Scope::System, move |tx| {
            tx.tokens().purge(now)?;
            tx.sessions().purge(now)?;
            tx.devices().purge(now)?;
            tx.tenants().list()
        })
        .await
        .map_err(Error::Store)?
        .value;
    let mut removed = 0;
    for tenant in tenants {
        removed += trim(app, tenant.id, app.config.retention).await?;
        removed += audit::trim(app, tenant.id, app.config.audit_keep).await?;
        let before = now.saturating_sub(SignedDuration::from_hours(ONCE_HOURS)).unwrap_or(now);
        let work = move |tx: &mut Tx<'_>| tx.idempotency().purge(before);
        let purged = app.store.write(Scope::Tenant(tenant.id), work).await;
        purged.map_err(Error::Store)?;
    }
    Ok(removed)
}

/// Looks after all tenants now and then, until the crew stops.
pub fn start(app: &App, crew: &Crew) {
    let (app, stopping) = (app.clone(), crew.stopping());
    crew.spawn(async move {
        loop {
            match sweep(&app).await {
                Ok(0) => {}
                Ok(removed) => tracing::info!(removed, "old events were removed"),
                Err(Error::Store(StoreError::Closed)) => return,
                Err(error) => {
                    tracing::warn!(%error, code = %error.code(), "old events could not be removed");
                }
            }
            tokio::select! {
                () = stopping.cancelled() => return,
                () = tokio::time::sleep(PERIOD) => {}
            }
        }
    });
}
