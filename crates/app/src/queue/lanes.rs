//! How many lines there may be: whoever asks for ever new capabilities must not make a million.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use godel_model::{Lane, TenantId};
use godel_store::{Scope, Tx};

use super::QueueError;
use crate::{App, Result};

/// How many sets of capabilities the tasks of a pool can ask for at a time.
pub(crate) const LINES_MAX: usize = 200;
/// How many pools a tenant can have at a time.
pub(crate) const POOLS_MAX: u64 = 1_000;
/// How many more lines a pool can have because of who failed or was chosen.
const EXTRA_MAX: usize = 1_000;
/// How many lines of a tenant are known without asking the database.
const KNOWN_MAX: usize = 10_000;

/// The lines that were there a while ago.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    known: Mutex<HashMap<TenantId, HashSet<Lane>>>,
}

impl Lanes {
    pub(crate) fn knows(&self, tenant: TenantId, lane: &Lane) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&tenant).is_some_and(|lanes| lanes.contains(lane))
    }

    fn know(&self, tenant: TenantId, lanes: impl IntoIterator<Item = Lane>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let own = known.entry(tenant).or_default();
        own.extend(lanes);
        if own.len() > KNOWN_MAX {
            own.clear();
        }
    }

    /// Forgets the lines of a tenant: some are gone.
    pub(super) fn forget(&self, tenant: TenantId) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&tenant);
    }
}

/// Lets tasks in whose lines are there, or for which there is room.
///
/// # Errors
/// If a pool would have too many lines, or the tenant too many pools; then none is let in.
pub(crate) async fn admit<'l>(
    app: &App,
    tenant: TenantId,
    lanes: impl IntoIterator<Item = &'l Lane>,
) -> Result<()> {
    let new: HashSet<Lane> =
        lanes.into_iter().filter(|lane| !app.lanes.knows(tenant, lane)).cloned().collect();
    if new.is_empty() {
        return Ok(());
    }
    check(app, tenant, new.clone()).await?;
    app.lanes.know(tenant, new);
    Ok(())
}

/// Checks whether there is room for lines, all together.
pub(crate) async fn check(app: &App, tenant: TenantId, lanes: HashSet<Lane>) -> Result<()> {
    let mut pools: BTreeMap<String, HashSet<Lane>> = BTreeMap::new();
    for lane in lanes {
        pools.entry(lane.pool().to_owned()).or_default().insert(lane);
    }
    app.store.read(Scope::Tenant(tenant), move |tx| room(tx, &pools)).await
}

fn room(tx: &mut Tx<'_>, new: &BTreeMap<String, HashSet<Lane>>) -> Result<()> {
    let mut more_pools = 0;
    for (pool, lanes) in new {
        let there: HashSet<Lane> = tx.lanes().of_pool(pool)?.into_iter().collect();
        more_pools += u64::from(there.is_empty());
        let plain = there.iter().filter(|lane| lane.is_plain()).count();
        let more = lanes.difference(&there).count();
        if more > 0 && plain + more > LINES_MAX {
            return Err(QueueError::TooManyLines(pool.clone()).into());
        }
    }
    if more_pools > 0 && tx.lanes().pools()? + more_pools > POOLS_MAX {
        return Err(QueueError::TooManyPools.into());
    }
    Ok(())
}

/// Tells whether a pool can have one more line that is not for all who are able.
pub(super) fn has_room(tx: &mut Tx<'_>, lane: &Lane) -> godel_store::Result<bool> {
    let there = tx.lanes().of_pool(lane.pool())?;
    Ok(there.contains(lane) || there.len() < LINES_MAX + EXTRA_MAX)
}
