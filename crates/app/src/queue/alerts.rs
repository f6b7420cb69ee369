//! Alerts: people are told when a pool has too many dead letters, once and not for each.

use std::collections::BTreeMap;

use godel_decide::{Alarm, alarm};
use godel_model::{EventId, Incident, PoolName, TenantId, Trouble};
use godel_store::{Error as StoreError, Scope, Tx};
use serde::Serialize;

use super::tally;
use super::tell::{Author, Teller};
use crate::{App, Result};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    pool: &'a PoolName,
    dead: u64,
    threshold: u32,
}

/// Has the dead letters of all tenants looked at: nobody knows what was told before.
pub(super) async fn look_at_all(app: &App) -> Result<()> {
    let tenants = app.store.read(Scope::System, |tx| tx.tenants().list());
    for tenant in tenants.await.map_err(crate::Error::Store)? {
        app.desks.tally().look_at(tenant.id);
    }
    Ok(())
}

/// Looks at the dead letters of those tenants for whom they have changed.
pub(super) async fn look(app: &App) -> Result<()> {
    for tenant in app.desks.tally().take() {
        if let Err(error) = look_at(app, tenant).await {
            app.desks.tally().look_at(tenant);
            return Err(error);
        }
    }
    Ok(())
}

async fn look_at(app: &App, tenant: TenantId) -> Result<()> {
    let read = app.store.read_long(Scope::Tenant(tenant), |tx| {
        let mut found: BTreeMap<PoolName, bool> = BTreeMap::new();
        let dead = dead(tx)?;
        let pools = tx.pools().list()?.into_iter().map(|pool| pool.name);
        for pool in pools.chain(dead.keys().cloned()) {
            let settings = tx.pools().settings(&pool)?;
            let count = dead.get(&pool).copied().unwrap_or(0);
            let changes = alarm(settings.alerted, count, settings.dead_alert).is_some();
            found.insert(pool, changes);
        }
        Ok::<_, StoreError>(found)
    });
    for (pool, changes) in read.await? {
        if changes {
            change(app, tenant, pool).await?;
        }
    }
    Ok(())
}

/// Counts the dead letters of each pool.
fn dead(tx: &mut Tx<'_>) -> std::result::Result<BTreeMap<PoolName, u64>, StoreError> {
    let mut sums: BTreeMap<PoolName, u64> = BTreeMap::new();
    for (lane, count) in tx.census().dead()? {
        *sums.entry(PoolName::from_stored(lane.pool().to_owned())).or_default() += count;
    }
    Ok(sums)
}

/// Tells people of a pool, if that is still to be done.
async fn change(app: &App, tenant: TenantId, pool: PoolName) -> Result<()> {
    let (mint, now) = (app.mint, app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let now = tx.clock(now)?;
        // Of several servers one tells it, and nobody changes the settings meanwhile.
        tx.tasks().lock_graph(true)?;
        let mut settings = tx.pools().settings(&pool)?;
        let (count, threshold) = (dead(tx)?.get(&pool).copied().unwrap_or(0), settings.dead_alert);
        let Some(alarm) = alarm(settings.alerted, count, threshold) else { return Ok(()) };
        settings.alerted = alarm == Alarm::Raise;
        tx.pools().put(&pool, &settings, now)?;
        let kind = match alarm {
            Alarm::Raise => {
                tracing::warn!(%tenant, %pool, dead = count, threshold, "dead letters pile up");
                let (id, trouble) =
                    (mint.id::<EventId>().uuid(), Trouble::DeadLetters { pool: pool.clone() });
                let incident = Incident { id, raised_at: now, answer: None, trouble };
                tx.incidents().raise(tenant, &incident)?;
                "pool:alert"
            }
            Alarm::Calm => {
                tx.incidents().close(&Trouble::DeadLetters { pool: pool.clone() }.owner(), None)?;
                "pool:calm"
            }
        };
        let author = Author::default();
        let teller = Teller { mint, now, author: &author };
        let told = Told { pool: &pool, dead: count, threshold };
        tx.record(teller.event(kind, &told, ("pool", &pool)))
    };
    tally::write(app, tenant, work).await?;
    Ok(())
}
