//! Snapshots of agents: files and conversation together; and copies that go on from them.

mod forget;

use std::sync::Arc;

use godel_agents::tree::Tree;
use godel_app::Call;
use godel_model::{EventId, Life, NewEvent, Reach, UserId, code};
use godel_runtime::{RuntimeProvider, SandboxId};
use godel_store::{Scope, Tx};
use tokio::sync::oneshot;
use tracing::instrument;
use uuid::Uuid;

pub use self::forget::forget;
pub(crate) use self::forget::{free, keep_talk};
use crate::agents;
use crate::doc::{Agent, Talk};
use crate::run::{Moment, Order};
use crate::slips::{Likeness, Snapshot};
use crate::spawn::{self, Before};
use crate::{Error, Fleet, Result, conversation, paper, sessions};

/// How many copies of an agent can be made at once.
pub const COPIES_MAX: u32 = 16;

/// Keeps what an agent is now.
///
/// # Errors
/// If the caller may not, or the agent is not at work.
#[instrument(level = "debug", name = "fleet.snapshots.take", skip_all, fields(tenant = %call.actor.tenant, %name))]
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
    let _kept = fleet.own.keeping.read().await;
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
    let agent = agents::find(fleet, call, &agent.id.to_string()).await?;
    let commit = collected.ok().map(|collected| collected.commit);
    let app = fleet.app();
    let snapshot = Snapshot {
        id: app.mint.id::<EventId>().uuid(),
        files,
        agent: agent.id,
        label: agent.label.clone(),
        user: Some(agent.user),
        like: Some(Likeness::of(&agent)),
        imported: false,
        project: agent.project,
        bead: agent.bead.clone(),
        talk: agent.talk,
        node,
        commit: commit.or_else(|| agent.commit.clone()),
        taken_at: app.clock.now(),
    };
    pin(fleet, call, &snapshot).await?;
    let told = serde_json::json!({ "snapshot": snapshot.id, "node": snapshot.node });
    file(fleet, call, &snapshot, ("agent:snapshot", told), None).await?;
    Ok(snapshot)
}

/// Keeps the commit of a snapshot from being collected by git, whatever becomes of the branch.
pub(crate) async fn pin(fleet: &Fleet, call: &Call, snapshot: &Snapshot) -> Result<()> {
    let Some(commit) = snapshot.commit.clone() else { return Ok(()) };
    let (_, folder) = fleet.project(call, snapshot.project).await?;
    let id = snapshot.id;
    fleet.at_bench(folder, move |bench| bench.pin(id, &commit)).await
}

/// Writes a snapshot down, with a conversation that came along.
pub(crate) async fn file(
    fleet: &Fleet,
    call: &Call,
    snapshot: &Snapshot,
    (kind, told): (&'static str, serde_json::Value),
    talk: Option<(Talk, Tree)>,
) -> Result<()> {
    let (fleet_, call_, kept) = (fleet.clone(), call.clone(), snapshot.clone());
    let work = move |tx: &mut Tx<'_>| {
        if let Some((mut talk, tree)) = talk.clone() {
            conversation::store(tx, &mut talk, &tree, conversation::Stamp::default())?;
            paper::insert(tx, &talk)?;
        }
        paper::insert(tx, &kept)?;
        Ok::<_, Error>(call_.tell(fleet_.app(), tx, event(&fleet_, &kept, kind, &told))?)
    };
    fleet.app().store.write(Scope::Tenant(call.actor.tenant), work).await?;
    Ok(())
}

/// Makes an event about a snapshot.
pub(crate) fn event(
    fleet: &Fleet,
    of: &Snapshot,
    kind: &'static str,
    told: &serde_json::Value,
) -> NewEvent {
    fleet.event_about((of.agent, &of.label, of.project, &of.bead), kind, told)
}

/// A snapshot, and what an agent is like that goes on from it.
pub(crate) struct Found {
    pub(crate) snapshot: Snapshot,
    pub(crate) like: Likeness,
    user: Option<UserId>,
}

/// Finds a snapshot in a project in which the caller works.
pub(crate) async fn find(fleet: &Fleet, call: &Call, id: Uuid) -> Result<Found> {
    let actor = call.actor.clone();
    paper::look(fleet.app(), actor.tenant, move |tx| {
        let snapshot = paper::by_id::<Snapshot>(tx, id)?;
        let snapshot = snapshot.filter(|one| actor.works_in(one.project));
        let snapshot = snapshot.ok_or_else(|| Error::NoSnapshot(id.to_string()))?;
        if let Some(like) = snapshot.like.clone() {
            return Ok(Found { user: snapshot.user, snapshot, like });
        }
        let agent = paper::by_id::<Agent>(tx, snapshot.agent.uuid())?;
        let agent = agent.ok_or_else(|| Error::NoAgent(snapshot.label.clone()))?;
        Ok(Found { user: Some(agent.user), like: Likeness::of(&agent), snapshot })
    })
    .await
}

impl Found {
    /// Refuses those who may not lead the agent that it is of, or have not brought it here.
    pub(crate) fn may_lead(&self, call: &Call) -> Result<()> {
        if self.user != Some(call.actor.user) {
            call.may("agent", "execute", Reach::Team)?;
        }
        Ok(())
    }

    /// Finds the runtime that holds the files.
    pub(crate) async fn runtime(&self, fleet: &Fleet) -> Result<Arc<dyn RuntimeProvider>> {
        let runtime = fleet.runtime(&self.like.runtime)?;
        if runtime.snapshots().await?.contains(&self.snapshot.files) {
            return Ok(runtime);
        }
        Err(Error::refused(
            code::SNAPSHOT_NOT_FOUND,
            format!("the files of snapshot {} are not on this server", self.snapshot.id),
            "ask the server that took it; `godel agent export` carries it to another one",
        ))
    }

    /// Reads the conversation.
    pub(crate) async fn tree(&self, fleet: &Fleet, call: &Call) -> Result<Tree> {
        let talk = self.snapshot.talk;
        Ok(conversation::open(fleet.app(), call.actor.tenant, talk).await?.1)
    }
}

/// Lists snapshots, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.snapshots.list", skip_all, fields(tenant = %call.actor.tenant))]
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
#[instrument(level = "debug", name = "fleet.snapshots.restore", skip_all, fields(tenant = %call.actor.tenant, %id))]
pub async fn restore(fleet: &Fleet, call: &Call, id: Uuid) -> Result<Agent> {
    call.may("agent", "create", Reach::Own)?;
    let _kept = fleet.own.keeping.read().await;
    let found = find(fleet, call, id).await?;
    // Before a bead is made for it.
    found.runtime(fleet).await?;
    let mut tree = found.tree(fleet, call).await?;
    let Found { snapshot, like, .. } = found;
    let branch = format!("snapshot-{}", snapshot.id.simple());
    tree.fork(&branch, snapshot.node)?;
    tree.switch(&branch)?;
    let new = sessions::like(&like, &snapshot.label, snapshot.project);
    let before = Before {
        tree: Some(tree),
        begin_at: snapshot.commit,
        files: Some(snapshot.files),
        todos: like.todos,
    };
    spawn::spawn_with(fleet, call, new, Some(before)).await
}

/// Makes copies of an agent as it is now; each goes on by itself.
///
/// # Errors
/// If the caller may not, or the agent is not at work.
#[instrument(level = "debug", name = "fleet.snapshots.fork", skip_all, fields(tenant = %call.actor.tenant, %name))]
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
