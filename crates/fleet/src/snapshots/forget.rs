//! Forgetting snapshots, and the room that they took.

use std::collections::HashSet;
use std::time::Duration;

use godel_app::Call;
use godel_model::{Life, Reach, TenantId};
use godel_runtime::SnapshotId;
use godel_store::{Scope, Tx};
use tracing::instrument;
use uuid::Uuid;

use super::{Found, event, find};
use crate::doc::{Agent, Talk};
use crate::paper::{self, Filed};
use crate::slips::{Likeness, Snapshot};
use crate::{Error, Fleet, Result};

/// How many papers are looked at together.
const PAGE: usize = 1_000;
/// How often it is tried to find a moment in which nobody makes or uses a snapshot, and how long apart.
const TRIES: u32 = 600;
const PAUSE: Duration = Duration::from_secs(1);

/// Forgets a snapshot; the room that it took is free soon after.
///
/// # Errors
/// If the caller may not, or there is none.
#[instrument(level = "debug", name = "fleet.snapshots.forget", skip_all, fields(tenant = %call.actor.tenant, %id))]
pub async fn forget(fleet: &Fleet, call: &Call, id: Uuid) -> Result<()> {
    call.may("agent", "execute", Reach::Own)?;
    let found = find(fleet, call, id).await?;
    found.may_lead(call)?;
    let Found { snapshot, .. } = found;
    let (fleet_, call_, gone) = (fleet.clone(), call.clone(), snapshot.clone());
    let work = move |tx: &mut Tx<'_>| {
        if !tx.papers(Snapshot::KIND).delete(gone.id)? {
            return Err(Error::NoSnapshot(gone.id.to_string()));
        }
        drop_talk(tx, &gone)?;
        let told = serde_json::json!({ "snapshot": gone.id });
        Ok(call_.tell(fleet_.app(), tx, event(&fleet_, &gone, "agent:forget", &told))?)
    };
    paper::write(fleet.app(), call.actor.tenant, work).await?;
    // A reference that stays behind keeps a commit, and nothing else; a project may be gone by now.
    if let Ok((_, folder)) = fleet.project(call, snapshot.project).await
        && let Err(error) = fleet.at_bench(folder, move |bench| bench.unpin(id)).await
    {
        tracing::warn!(snapshot = %id, %error, "the commit of a forgotten snapshot is still kept");
    }
    free(fleet);
    Ok(())
}

/// Removes a conversation that only this snapshot needed.
fn drop_talk(tx: &mut Tx<'_>, gone: &Snapshot) -> Result<()> {
    let others = paper::of::<Snapshot>(tx, &gone.owner(), None, PAGE)?;
    let needed = others.iter().any(|other| other.talk == gone.talk)
        || paper::by_id::<Agent>(tx, gone.agent.uuid())?.is_some();
    if !needed {
        tx.papers(Talk::KIND).delete(gone.talk)?;
        tx.talk_nodes(gone.talk).clear()?;
    }
    Ok(())
}

/// Keeps what snapshots of an agent need that goes away; `false` if there are none.
pub(crate) fn keep_talk(tx: &mut Tx<'_>, agent: &Agent) -> Result<bool> {
    let of = paper::of::<Snapshot>(tx, &agent.id.to_string(), None, PAGE)?;
    for old in of.iter().filter(|one| one.like.is_none()) {
        paper::change_in::<Snapshot, ()>(tx, old.id, |_, snapshot| {
            (snapshot.like, snapshot.user) = (Some(Likeness::of(agent)), Some(agent.user));
            Ok(())
        })?;
    }
    if !of.is_empty() {
        paper::change_in::<Talk, ()>(tx, agent.talk, |_, talk| {
            talk.archived = true;
            Ok(())
        })?;
    }
    Ok(!of.is_empty())
}

/// Frees the room of files that no snapshot has any more, after a while.
pub(crate) fn free(fleet: &Fleet) {
    let (own, stop) = (fleet.clone(), fleet.own.crew.stopping());
    fleet.own.crew.spawn(async move {
        let freed = tokio::select! {
            () = stop.cancelled() => return,
            freed = collect(&own) => freed,
        };
        match freed {
            Ok(bytes) => tracing::debug!(bytes, "room of snapshots was freed"),
            Err(error) => tracing::warn!(%error, "the room of snapshots was not freed"),
        }
    });
}

/// Removes the files of all snapshots that have no row; the same files may be those of many rows.
async fn collect(fleet: &Fleet) -> Result<u64> {
    // Whoever makes one must not wait for somebody who waits to clean up.
    let mut tries = 0;
    let _alone = loop {
        match fleet.own.keeping.try_write() {
            Ok(alone) => break alone,
            Err(_) if tries < TRIES => tokio::time::sleep(PAUSE).await,
            // The next one that is forgotten brings another chance.
            Err(_) => return Ok(0),
        }
        tries += 1;
    };
    let needed = needed(fleet).await?;
    let mut freed = 0;
    for runtime in fleet.own.runtimes.values() {
        for files in runtime.snapshots().await? {
            if !needed.contains(&files) {
                runtime.forget(&files).await?;
            }
        }
        freed += runtime.sweep().await?;
    }
    Ok(freed)
}

/// Finds the files that anybody needs: snapshots of all tenants, and agents that have yet to get theirs.
async fn needed(fleet: &Fleet) -> Result<HashSet<SnapshotId>> {
    let store = &fleet.app().store;
    let all = |tx: &mut Tx<'_>| Ok::<_, Error>(tx.tenants().list()?);
    let mut needed = HashSet::new();
    for tenant in store.read(Scope::System, all).await? {
        needed.extend(needed_by(fleet, tenant.id).await?);
    }
    Ok(needed)
}

async fn needed_by(fleet: &Fleet, tenant: TenantId) -> Result<Vec<SnapshotId>> {
    paper::look(fleet.app(), tenant, move |tx| {
        let mut needed = Vec::new();
        walk(|from| paper::page::<Snapshot>(tx, from, PAGE), |one| needed.push(one.files))?;
        for life in Life::ALL.iter().filter(|life| !life.is_over()) {
            let page = |from| paper::in_state::<Agent>(tx, life.as_str(), from, PAGE);
            walk(page, |agent| needed.extend(agent.files))?;
        }
        Ok(needed)
    })
    .await
}

/// Goes through all papers, page by page.
fn walk<T: Filed>(
    mut page: impl FnMut(Option<Uuid>) -> Result<Vec<T>>,
    mut each: impl FnMut(T),
) -> Result<()> {
    let mut from = None;
    loop {
        let next = page(from)?;
        let Some(last) = next.last() else { return Ok(()) };
        from = Some(last.uuid());
        next.into_iter().for_each(&mut each);
    }
}
