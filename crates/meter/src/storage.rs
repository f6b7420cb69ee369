//! Snapshots, by the room that they take.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use godel_fleet::{Fleet, Result, Snapshot, paper};
use godel_model::{SpendKind, TenantId, UsageKey, UsageSum, UserId, micros};
use godel_proxy::Rates;
use godel_runtime::Stored;
use godel_store::Tx;
use uuid::Uuid;

use crate::due;
use crate::mark;

/// How many are read at once.
const PAGE: usize = 500;

/// Whose snapshots are: the project, and the user for whom the agent worked.
type Owner = (String, String);

/// Pays for the snapshots that this server keeps.
pub(crate) async fn pay(fleet: &Fleet, tenants: &[TenantId], rates: &Rates) -> Result<()> {
    let Some(monthly) = rates.storage_gb_month else {
        // Nothing is measured that nobody pays for.
        for tenant in tenants.iter().copied() {
            let end = move |tx: &mut Tx<'_>| mark::end_room(tx, tenant);
            paper::write(fleet.app(), tenant, end).await?;
        }
        return Ok(());
    };
    let mut done = Ok(());
    for (name, _) in fleet.runtimes() {
        let stored = match fleet.runtime(name)?.stored().await {
            Ok(stored) => Arc::new(stored),
            Err(error) => {
                done = done.and(Err(error.into()));
                continue;
            }
        };
        // One without a place of its own keeps nothing here.
        for tenant in tenants.iter().filter(|_| !stored.vault.is_nil()) {
            let paid = settle(fleet, *tenant, (name, &stored), (rates, monthly)).await;
            done = done.and(paid);
        }
    }
    done
}

/// Pays for what a tenant has in one place.
async fn settle(
    fleet: &Fleet,
    tenant: TenantId,
    (runtime, stored): (&str, &Arc<Stored>),
    (rates, monthly): (&Rates, i64),
) -> Result<()> {
    let (app, now) = (fleet.app(), fleet.app().clock.now());
    // Each place is paid for by itself, so that each server pays for what it keeps.
    let id = Uuid::from_u128(tenant.uuid().as_u128() ^ stored.vault.as_u128());
    let begin = move |tx: &mut Tx<'_>| mark::due(tx, id, (now, true));
    let from = paper::write(app, tenant, begin).await?;
    let from = from.filter(|from| crate::is_time(rates, (from.until, now)));
    let Some(from) = from else { return Ok(()) };
    let (held, span) = (Arc::clone(stored), (micros(from.until), micros(now)));
    let owned = paper::look(app, tenant, move |tx| owned(tx, &held, span)).await?;
    let room = (stored.snapshots.values().sum(), stored.bytes);
    let model = runtime.to_owned();
    let work = move |tx: &mut Tx<'_>| {
        if !mark::move_on(tx, &from, (now, from.seen))? {
            return Ok(());
        }
        for (owner, byte_seconds) in &owned {
            let owed = due::for_room(monthly, *byte_seconds, room);
            for (quarter, cost_micros) in due::split(owed, span).filter(|(_, cost)| *cost > 0) {
                let sum = UsageSum { cost_micros, ..UsageSum::default() };
                tx.usage().add(tenant, &key(owner, &model, quarter), &sum)?;
            }
        }
        Ok(())
    };
    paper::write(app, tenant, work).await
}

/// Adds up how many bytes each owner kept in a time, and for how many seconds. What several have is the newest
/// one's.
fn owned(tx: &mut Tx<'_>, stored: &Stored, (from, to): due::Span) -> Result<BTreeMap<Owner, u128>> {
    let (mut sums, mut counted, mut before) = (BTreeMap::new(), HashSet::new(), None);
    loop {
        let page: Vec<Snapshot> = paper::page(tx, before, PAGE)?;
        for snapshot in &page {
            let Some(size) = stored.snapshots.get(&snapshot.files) else { continue };
            if counted.insert(snapshot.files.clone()) {
                let user = snapshot.user.map(|user: UserId| user.to_string());
                let owner = (snapshot.project.to_string(), user.unwrap_or_default());
                let seconds = (to - from.max(micros(snapshot.taken_at))).max(0) / 1_000_000;
                let seconds = u128::try_from(seconds).unwrap_or(0);
                *sums.entry(owner).or_insert(0) += u128::from(*size) * seconds;
            }
        }
        before = page.last().map(|snapshot| snapshot.id);
        if page.len() < PAGE {
            return Ok(sums);
        }
    }
}

fn key((project, user): &Owner, runtime: &str, quarter: i64) -> UsageKey {
    UsageKey {
        quarter,
        provider: SpendKind::Storage.as_str().to_owned(),
        model: runtime.to_owned(),
        project: project.clone(),
        user: user.clone(),
        ..UsageKey::default()
    }
}
