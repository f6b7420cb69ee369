//! Pools: how they work, and how much waits in them.

use godel_model::{Placement, PoolName, PoolSettings, Reach};
use godel_store::{Depth, Tx};
use serde::Serialize;
use tracing::instrument;

use super::tally;
use crate::{App, Call, Error, Result};

/// What is to be different about a pool.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoolChange {
    /// Whether nothing is handed out for now.
    pub paused: Option<bool>,
    /// After how many seconds a task rises by a tier; `Some(None)` means never.
    pub ageing_seconds: Option<Option<u32>>,
    /// Which worker gets a task.
    pub placement: Option<Placement>,
    /// From how many dead letters on people are told; 0 means never.
    pub dead_alert: Option<u32>,
}

#[derive(Serialize)]
struct Told<'a> {
    pool: &'a PoolName,
    #[serde(flatten)]
    settings: PoolSettings,
}

/// Counts what is in the queue: what is really there, not what somebody kept count of.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.pools.depth", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn depth(app: &App, call: &Call) -> Result<Vec<Depth>> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read_long(call.scope(), |tx: &mut Tx<'_>| tx.tasks().depth());
    read.await.map_err(Error::Store)
}

/// Lists the pools that ever had a task or a setting, and how they work.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.pools.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(app: &App, call: &Call) -> Result<Vec<(PoolName, PoolSettings)>> {
    call.may("task", "read", Reach::Team)?;
    let read = app.store.read(call.scope(), |tx: &mut Tx<'_>| {
        let mut pools: std::collections::BTreeMap<_, _> =
            tx.pools().used()?.into_iter().map(|name| (name, PoolSettings::default())).collect();
        pools.extend(tx.pools().list()?.into_iter().map(|pool| (pool.name, pool.settings)));
        Ok::<_, Error>(pools.into_iter().collect())
    });
    read.await
}

/// Changes how a pool works.
///
/// # Errors
/// If the caller may not, or a number makes no sense.
#[instrument(level = "debug", name = "app.pools.change", skip_all, fields(tenant = %call.actor.tenant, pool = %name))]
pub async fn change(
    app: &App,
    call: &Call,
    name: PoolName,
    change: PoolChange,
) -> Result<PoolSettings> {
    call.may("task", "update", Reach::Team)?;
    if change.ageing_seconds == Some(Some(0)) {
        return Err(Error::invalid("a task rises after a second at the earliest"));
    }
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        // Whoever gives an alert comes before this or behind it.
        tx.tasks().lock_graph(true)?;
        let before = tx.pools().settings(&name)?;
        let settings = PoolSettings {
            paused: change.paused.unwrap_or(before.paused),
            ageing_seconds: change.ageing_seconds.unwrap_or(before.ageing_seconds),
            placement: change.placement.unwrap_or(before.placement),
            dead_alert: change.dead_alert.unwrap_or(before.dead_alert),
            alerted: before.alerted,
        };
        tx.pools().put(&name, &settings, now)?;
        let kind = match (before.paused, settings.paused) {
            (false, true) => "pool:paused",
            (true, false) => "pool:resumed",
            _ => "pool:changed",
        };
        let told = Told { pool: &name, settings };
        let event = call_.event(&app_, kind, &told, ("pool", &name));
        call_.tell(&app_, tx, event)?;
        Ok::<_, Error>(settings)
    };
    let tenant = call.actor.tenant;
    let settings = tally::write(app, tenant, work).await?;
    app.desks.tally().look_at(tenant);
    app.desks.of(tenant).wake();
    Ok(settings)
}
