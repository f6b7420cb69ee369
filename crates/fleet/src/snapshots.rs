//! Snapshots of agents: files and conversation together; and copies that go on from them.

use godel_app::Call;
use godel_model::{EventId, Life, Reach, code};
use godel_runtime::SandboxId;
use godel_store::{Scope, Tx};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::agents;
use crate::doc::Agent;
use crate::run::{Moment, Order};
use crate::slips::Snapshot;
use crate::spawn::Before;
use crate::{Error, Fleet, Result, conversation, paper, sessions};

/// How many copies of an agent can be made at once.
pub const COPIES_MAX: u32 = 16;

/// Keeps what an agent is now.
///
/// # Errors
/// If the caller may not, or the agent is not at work.
pub async fn take(fleet: &Fleet, call: &Call, name: &str) -> Result<Snapshot> {
    call.may("agent", "execute", Reach::Own)?;
    let agent = agents::find(fleet, call, name).await?;
    agents::may_lead(call, &agent)?;
    if !matches!(agent.life, Life::Executing | Life::Waiting | Life::Completing) {
        return Err(Error::refused(
            code::AGENT_STATE,
            format!("agent {} is {}: it has no sandbox to look into", agent.label, agent.life),
            format!(
                "its files are in its worktree; let it go on: godel agent resume {}",
                agent.label
            ),
        ));
    }
    let (reply, taken) = oneshot::channel();
    let elsewhere = || {
        Error::refused(
            code::AGENT_STATE,
            format!("agent {} was not reached on this server", agent.label),
            "it has just ended, or another server runs it: look at `godel agent show`",
        )
    };
    if !fleet.tell(agent.id, Order::Snapshot(reply)).await {
        return Err(elsewhere());
    }
    let Moment { files, node } = taken.await.map_err(|_| elsewhere())??;
    // The branch of a copy begins where the original's commits are by now.
    let collected = fleet.runtime(&agent.runtime)?.collect(SandboxId::of(agent.id)).await;
    let commit = collected.ok().map(|collected| collected.commit);
    let app = fleet.app();
    let snapshot = Snapshot {
        id: app.mint.id::<EventId>().uuid(),
        files,
        agent: agent.id,
        label: agent.label.clone(),
        project: agent.project,
        bead: agent.bead.clone(),
        talk: agent.talk,
        node,
        commit: commit.or_else(|| agent.commit.clone()),
        taken_at: app.clock.now(),
    };
    let (fleet_, call_, kept) = (fleet.clone(), call.clone(), snapshot.clone());
    let work = move |tx: &mut Tx<'_>| {
        paper::insert(tx, &kept)?;
        let told = serde_json::json!({ "snapshot": kept.id, "node": kept.node });
        call_.tell(fleet_.app(), tx, fleet_.event(&agent, "agent:snapshot", &told))?;
        Ok::<_, Error>(())
    };
    app.store.write(Scope::Tenant(call.actor.tenant), work).await?;
    Ok(snapshot)
}

/// Lists snapshots, the newest first.
///
/// # Errors
/// If the caller may not.
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<Snapshot>> {
    call.may("agent", "read", Reach::Team)?;
    let actor = call.actor.clone();
    paper::look(fleet.app(), actor.tenant, move |tx| {
        let page = |from, limit| paper::page::<Snapshot>(tx, from, limit);
        paper::gather((before, limit), page, |one| actor.works_in(one.project))
    })
    .await
}

/// Makes an agent that goes on from a snapshot, with a bead and a worktree of its own.
///
/// # Errors
/// If the caller may not, or there is none.
pub async fn restore(fleet: &Fleet, call: &Call, id: Uuid) -> Result<Agent> {
    call.may("agent", "create", Reach::Own)?;
    let actor = call.actor.clone();
    let found = paper::look(fleet.app(), actor.tenant, move |tx| {
        let snapshot = paper::by_id::<Snapshot>(tx, id)?;
        let snapshot = snapshot.filter(|one| actor.works_in(one.project));
        let snapshot = snapshot.ok_or_else(|| Error::NoSnapshot(id.to_string()))?;
        let agent = paper::by_id::<Agent>(tx, snapshot.agent.uuid())?;
        let agent = agent.ok_or_else(|| Error::NoAgent(snapshot.label.clone()))?;
        Ok((snapshot, agent))
    });
    let (snapshot, agent) = found.await?;
    let (_, mut tree) = conversation::open(fleet.app(), call.actor.tenant, snapshot.talk).await?;
    let branch = format!("snapshot-{}", snapshot.id.simple());
    tree.fork(&branch, snapshot.node)?;
    tree.switch(&branch)?;
    let before =
        Before { tree: Some(tree), begin_at: snapshot.commit, files: Some(snapshot.files) };
    sessions::copy(fleet, call, &agent, before).await
}

/// Makes copies of an agent as it is now; each goes on by itself.
///
/// # Errors
/// If the caller may not, or the agent is not at work.
pub async fn fork(fleet: &Fleet, call: &Call, name: &str, copies: u32) -> Result<Vec<Agent>> {
    call.may("agent", "create", Reach::Own)?;
    if !(1..=COPIES_MAX).contains(&copies) {
        return Err(Error::refused(
            code::INVALID_FIELD,
            format!("1 to {COPIES_MAX} copies can be made at once"),
            "say `copies`",
        ));
    }
    let snapshot = take(fleet, call, name).await?;
    let mut made = Vec::with_capacity(copies as usize);
    for _ in 0..copies {
        made.push(restore(fleet, call, snapshot.id).await?);
    }
    Ok(made)
}
