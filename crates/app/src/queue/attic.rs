//! Removes what is over for long, a little at a time and beside everything else.

use std::time::Duration;

use godel_model::{RunId, TaskId, TenantId};
use godel_store::{Before, Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::{App, Crew, Result};

/// How often it is looked for old things.
const EVERY: Duration = Duration::from_secs(600);
/// How many are looked at in one transaction.
const AT_ONCE: usize = 200;
/// The pause between two transactions: others are more urgent.
const PAUSE: Duration = Duration::from_millis(20);
/// For how long dead letters are kept at least.
pub const DEAD_MIN: SignedDuration = SignedDuration::from_hours(24 * 7);

/// For how long what is over is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Tasks that succeeded or were cancelled, runs and teams.
    pub done: SignedDuration,
    /// Dead letters; never less than 7 days.
    pub dead: SignedDuration,
}

impl Default for Keep {
    fn default() -> Self {
        let month = SignedDuration::from_hours(24 * 30);
        Self { done: month, dead: month }
    }
}

impl Keep {
    fn before(self, now: Timestamp) -> Before {
        let ago = |time| now.saturating_sub(time).unwrap_or(Timestamp::UNIX_EPOCH);
        Before { dead: ago(self.dead.max(DEAD_MIN)), others: ago(self.done) }
    }
}

/// Looks for old things from time to time.
pub(super) fn start(app: &App, crew: &Crew) {
    let (app, stopping) = (app.clone(), crew.stopping());
    crew.spawn(async move {
        loop {
            tokio::select! {
                swept = sweep(&app, PAUSE) => if let Err(error) = swept {
                    tracing::warn!(%error, "old tasks could not be removed; it is tried again");
                },
                () = stopping.cancelled() => return,
            }
            if tokio::time::timeout(EVERY, stopping.cancelled()).await.is_ok() {
                return;
            }
        }
    });
}

/// Removes what is over for long of all tenants; returns how many tasks, runs and teams.
///
/// # Errors
/// If the database fails; what was removed stays so.
pub async fn sweep(app: &App, pause: Duration) -> Result<u64> {
    let now = app.clock.now();
    let read = app.store.read(Scope::System, move |tx| Ok((tx.clock(now)?, tx.tenants().list()?)));
    let (now, tenants) = read.await.map_err(crate::Error::Store)?;
    let before = app.config.keep.before(now);
    let mut removed = 0;
    for tenant in tenants {
        removed += tasks(app, tenant.id, before, pause).await?;
        removed += runs(app, tenant.id, before.others, pause).await?;
        removed += teams(app, tenant.id, before.others, pause).await?;
        lines(app, tenant.id).await?;
    }
    let others = before.others;
    app.store.write(Scope::System, move |tx| tx.workers().trim(others)).await?;
    Ok(removed)
}

async fn tasks(app: &App, tenant: TenantId, before: Before, pause: Duration) -> Result<u64> {
    let (mut removed, mut from) = (0, Some(TaskId::from_uuid(Uuid::nil())));
    while let Some(after) = from {
        let work = move |tx: &mut Tx<'_>| tx.attic().tasks(before, after, AT_ONCE);
        let looked = app.store.write(Scope::Tenant(tenant), work).await?.value;
        (removed, from) = (removed + looked.removed, looked.next);
        tokio::time::sleep(pause).await;
    }
    if removed > 0 {
        app.desks.tally().look_at(tenant);
    }
    Ok(removed)
}

async fn runs(app: &App, tenant: TenantId, before: Timestamp, pause: Duration) -> Result<u64> {
    let (mut removed, mut from) = (0, Some(RunId::from_uuid(Uuid::nil())));
    while let Some(after) = from {
        let look = move |tx: &mut Tx<'_>| tx.attic().runs(before, after, AT_ONCE);
        let (old, next) =
            app.store.read_long(Scope::Tenant(tenant), look).await.map_err(crate::Error::Store)?;
        for run in old {
            loop {
                let work = move |tx: &mut Tx<'_>| tx.attic().drop_run(run, AT_ONCE);
                let gone = app.store.write(Scope::Tenant(tenant), work).await?.value;
                tokio::time::sleep(pause).await;
                if gone {
                    break;
                }
            }
            removed += 1;
        }
        from = next;
    }
    Ok(removed)
}

async fn teams(app: &App, tenant: TenantId, before: Timestamp, pause: Duration) -> Result<u64> {
    let mut removed = 0;
    loop {
        let work = move |tx: &mut Tx<'_>| tx.attic().teams(before, AT_ONCE);
        let gone = app.store.write(Scope::Tenant(tenant), work).await?.value;
        removed += gone;
        if gone < AT_ONCE as u64 {
            return Ok(removed);
        }
        tokio::time::sleep(pause).await;
    }
}

/// Removes lines in which nothing is.
async fn lines(app: &App, tenant: TenantId) -> Result<()> {
    let unused = app.store.read_long(Scope::Tenant(tenant), |tx| tx.lanes().unused());
    if unused.await.map_err(crate::Error::Store)? == 0 {
        return Ok(());
    }
    let gone = app.store.write(Scope::Tenant(tenant), |tx| tx.lanes().sweep()).await?.value;
    if gone.is_some() {
        app.lanes.forget(tenant);
    }
    Ok(())
}
