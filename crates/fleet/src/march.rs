//! Marches: convoys that are run, bead after bead, until all of them have landed.

use std::time::Duration;

use godel_agents::gates::Review;
use godel_app::{Call, beads};
use godel_beads::ConvoyState;
use godel_model::{BeadStatus, EventId, Life, ProjectId, Reach, TenantId, code};
use godel_store::Tx;
use tracing::instrument;
use uuid::Uuid;

use crate::doc::Agent;
use crate::landing::{self, Asked, Stage};
use crate::part::Fate;
use crate::slips::{March, MarchState};
use crate::spawn::{self, NewAgent};
use crate::{Error, Fleet, NoticeKind, Result, hearing, inbox, paper, stop, together, wishes};

/// How many agents a march has unless asked otherwise.
const AGENTS: u32 = 4;
/// How many agents a march can have.
pub const AGENTS_MAX: u32 = 200;
/// How often marches are looked at although nothing was heard.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How many agents try one bead before a person is asked.
const TRIES: usize = 4;

/// How a convoy is to be run.
#[derive(Debug, Clone, Default)]
pub struct Orders {
    /// How many agents work at once.
    pub agents: Option<u32>,
    /// What all of them may spend.
    pub budget: Option<i64>,
    /// Which agent works.
    pub harness: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The role.
    pub role: Option<String>,
    /// Where they work.
    pub runtime: Option<String>,
    /// The walls.
    pub sandbox: Option<String>,
    /// Whether all of it lands as one; as the project says if it is not said.
    pub together: Option<bool>,
}

/// Runs a convoy, or goes on with one that was stopped.
///
/// # Errors
/// If the caller may not, or there is no such convoy.
#[instrument(level = "debug", name = "fleet.march.start", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn start(
    fleet: &Fleet,
    call: &Call,
    (project, convoy): (Option<ProjectId>, &str),
    orders: Orders,
) -> Result<March> {
    call.may("agent", "create", Reach::Own)?;
    stop::refuse_if_stopped(fleet, call.actor.tenant).await?;
    let number = orders.agents.unwrap_or(AGENTS);
    if !(1..=AGENTS_MAX).contains(&number) {
        let why = format!("a convoy has 1 to {AGENTS_MAX} agents at once");
        return Err(Error::refused(code::INVALID_FIELD, why, "say --agents 4"));
    }
    if let Some(runtime) = &orders.runtime {
        fleet.runtime(runtime).map_err(|error| error.at("runtime"))?;
    }
    let app = fleet.app();
    let found = beads::convoy(app, call, project, convoy).await?;
    let (project, convoy) = (found.project, found.value.convoy.id.clone());
    if let Some(cap) = orders.budget {
        godel_app::spend::budgets::cap_convoy(app, call, &convoy, cap).await?;
    }
    let (_, folder) = fleet.project(call, project).await?;
    let several = found.value.convoy.beads.len() > 1;
    let usual = wishes::read(fleet, folder).await?.landing.together && several;
    let whole = orders.together.unwrap_or(usual).then(|| beads::new_id(app));
    let fresh = March {
        id: app.mint.id::<EventId>().uuid(),
        convoy: convoy.clone(),
        project,
        user: call.actor.user,
        state: MarchState::Running,
        agents: number,
        budget: orders.budget,
        harness: orders.harness,
        model: orders.model,
        role: orders.role,
        runtime: orders.runtime,
        sandbox: orders.sandbox,
        whole,
        gathered: false,
        note: None,
        created_at: app.clock.now(),
    };
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let owner = Agent::owner_of(project, &convoy);
        let known = paper::of::<March>(tx, &owner, None, 1)?.pop();
        let march = match known {
            Some(known) => {
                let March { id, created_at, gathered, .. } = known;
                // What has begun to land as one goes on so.
                let whole = known.whole.or(fresh.whole.clone());
                let wanted = March { id, created_at, gathered, whole, ..fresh.clone() };
                let changed = paper::change_in::<March, ()>(tx, id, |_, march| {
                    march.clone_from(&wanted);
                    Ok(())
                });
                changed?.0
            }
            None => {
                paper::insert(tx, &fresh)?;
                fresh.clone()
            }
        };
        let told = serde_json::json!({ "convoy": march.convoy, "agents": march.agents });
        let event = call_.event(&app_, "convoy:start", &told, ("convoyId", &march.convoy));
        call_.tell(&app_, tx, event)?;
        Ok(march)
    };
    let march = paper::write(app, call.actor.tenant, work).await?;
    fleet.enlist(call.actor.tenant);
    fleet.own.moved.notify_waiters();
    Ok(march)
}

/// Lets a march begin nothing new; agents that are at work go on.
///
/// # Errors
/// If the caller may not, or it was never started.
#[instrument(level = "debug", name = "fleet.march.halt", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn halt(fleet: &Fleet, call: &Call, which: (Option<ProjectId>, &str)) -> Result<March> {
    call.may("agent", "execute", Reach::Own)?;
    let (march, _) = find(fleet, call, which).await?;
    let work = |_: &mut Tx<'_>, march: &mut March| {
        if march.state == MarchState::Running {
            march.state = MarchState::Stopped;
        }
        Ok(())
    };
    Ok(paper::change::<March, ()>(fleet.app(), call.actor.tenant, march.id, work).await?.0)
}

/// Finds the march of a convoy, and how many agents work for it.
///
/// # Errors
/// If the caller may not, or it was never started.
#[instrument(level = "debug", name = "fleet.march.find", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn find(
    fleet: &Fleet,
    call: &Call,
    (project, convoy): (Option<ProjectId>, &str),
) -> Result<(March, u32)> {
    call.may("convoy", "read", Reach::Team)?;
    let found = beads::convoy(fleet.app(), call, project, convoy).await?;
    let (project, convoy) = (found.project, found.value.convoy.id.clone());
    let owner = Agent::owner_of(project, &convoy);
    let named = convoy.clone();
    let found = paper::look(fleet.app(), call.actor.tenant, move |tx| {
        let march = paper::of::<March>(tx, &owner, None, 1)?.pop();
        Ok((march, live(tx, &named)?.len()))
    });
    let (march, running) = found.await?;
    let march = march.ok_or_else(|| {
        Error::refused(
            code::CONVOY_NOT_FOUND,
            format!("convoy {convoy} was never started"),
            format!("start it: godel convoy start {convoy}"),
        )
    })?;
    Ok((march, u32::try_from(running).unwrap_or(u32::MAX)))
}

/// Lists agents that work for a convoy.
fn live(tx: &mut Tx<'_>, convoy: &str) -> Result<Vec<Agent>> {
    let mut found = Vec::new();
    for life in Life::ALL.into_iter().filter(|life| !life.is_over()) {
        let of_convoy = |agent: &Agent| agent.convoy.as_deref() == Some(convoy);
        found.extend(
            paper::in_state::<Agent>(tx, life.as_str(), None, 10_000)?
                .into_iter()
                .filter(of_convoy),
        );
    }
    Ok(found)
}

/// Keeps the marches of a tenant going until the server stops.
pub(crate) async fn keep_going(fleet: &Fleet, tenant: TenantId) {
    let stopping = fleet.own.crew.stopping();
    loop {
        let moved = fleet.own.moved.notified();
        match fleet.marches(tenant).await {
            Ok(marches) => {
                for march in marches {
                    if let Err(error) = turn(fleet, tenant, &march).await {
                        note(fleet, tenant, march.id, Some(error.to_string())).await;
                    }
                }
            }
            Err(error) => tracing::warn!(%tenant, %error, "convoys could not be looked at"),
        }
        tokio::select! {
            () = stopping.cancelled() => return,
            () = moved => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

async fn note(fleet: &Fleet, tenant: TenantId, id: Uuid, text: Option<String>) {
    let work = move |_: &mut Tx<'_>, march: &mut March| {
        march.note.clone_from(&text);
        Ok(())
    };
    if let Err(error) = paper::change::<March, ()>(fleet.app(), tenant, id, work).await {
        tracing::warn!(%error, "a convoy could not be noted");
    }
}

/// Moves a march on: lands what may land, starts what is ready, ends it when all is done.
async fn turn(fleet: &Fleet, tenant: TenantId, march: &March) -> Result<()> {
    if stop::refuse_if_stopped(fleet, tenant).await.is_err() {
        return Ok(());
    }
    let call = fleet.on_behalf(tenant, march.user).await?;
    let (_, folder) = fleet.project(&call, march.project).await?;
    let wanted = wishes::read(fleet, folder).await?;
    let mut state = look(fleet, &call, march).await?;
    let mut gathered = march.gathered;
    if let Some(whole) = &march.whole {
        let whole = together::gather(fleet, &call, march, (whole, &state)).await?;
        gathered = gathered || together::show(fleet, &call, march, (&whole, &state)).await?;
        state = look(fleet, &call, march).await?;
    }
    let mut kept = None;
    for bead in in_status(&state, BeadStatus::Review) {
        let is_whole = march.whole.as_ref() == Some(&bead);
        // What lands as one is looked at as one.
        let review = match &march.whole {
            Some(_) if !is_whole => Review::Auto,
            _ => wanted.review,
        };
        match review {
            Review::Auto => kept = land(fleet, &call, march, &bead).await?.or(kept),
            Review::Agent if is_whole => ask_whole(fleet, &call, march, &bead).await?,
            Review::Agent => hearing::ask_for(fleet, tenant, (march.project, &bead)).await?,
            Review::Person => {}
        }
    }
    if state.progress.done == state.progress.total && state.missing.is_empty() {
        return finish(fleet, &call, march).await;
    }
    let apart = march.whole.as_deref().filter(|_| !gathered);
    let why = begin_ready(fleet, &call, march, (&state, apart)).await?.or(kept);
    if march.note != why {
        note(fleet, tenant, march.id, why).await;
    }
    Ok(())
}

async fn look(fleet: &Fleet, call: &Call, march: &March) -> Result<ConvoyState> {
    Ok(beads::convoy(fleet.app(), call, Some(march.project), &march.convoy).await?.value)
}

fn in_status(state: &ConvoyState, status: BeadStatus) -> Vec<String> {
    let rows = state.waves.iter().flatten();
    rows.filter(|row| row.status == status).map(|row| row.id.clone()).collect()
}

/// Lets an agent judge what a convoy comes to.
async fn ask_whole(fleet: &Fleet, call: &Call, march: &March, bead: &str) -> Result<()> {
    let whole = beads::get(fleet.app(), call, Some(march.project), bead).await?.value.0;
    let Some(head) = together::head(fleet, call, march, &whole).await? else { return Ok(()) };
    hearing::ask_whole(fleet, call.actor.tenant, march, (bead, head)).await
}

/// Puts a bead into the merge queue; says what keeps it there.
async fn land(fleet: &Fleet, call: &Call, march: &March, bead: &str) -> Result<Option<String>> {
    let (asked, convoy) = (Asked::Convoy, Some(march.convoy.clone()));
    let project = Some(march.project);
    let wish = landing::Wish { project, bead, asked, convoy, commit: None };
    let entry = landing::enter(fleet, call, wish).await?;
    Ok(entry.why.map(|why| format!("{bead} cannot land: {why}")))
}

/// Starts agents on what is ready, as many as may be; says what keeps the rest.
async fn begin_ready(
    fleet: &Fleet,
    call: &Call,
    march: &March,
    (state, apart): (&ConvoyState, Option<&str>),
) -> Result<Option<String>> {
    let convoy = march.convoy.clone();
    let live = paper::look(fleet.app(), call.actor.tenant, move |tx| live(tx, &convoy)).await?;
    let running = live.iter().filter(|agent| agent.life.is_running()).count();
    let mut free = (march.agents as usize).saturating_sub(running);
    let mut why = None;
    for row in state.waves.iter().flatten() {
        if free == 0 {
            break;
        }
        if row.status != BeadStatus::Open
            || row.blocked
            || Some(row.id.as_str()) == apart
            || live.iter().any(|one| one.bead == row.id)
            || is_repaired(fleet, call, march, &row.id).await?
        {
            continue;
        }
        match begin(fleet, call, march, &row.id).await {
            Ok(true) => free -= 1,
            Ok(false) => why = Some(format!("{} waits for a person", row.id)),
            Err(error) => why = Some(format!("{} was not begun: {error}", row.id)),
        }
    }
    if let Some(stuck) = live.iter().find(|agent| agent.life == Life::Failed) {
        why = why.or_else(|| Some(format!("{} needs a person", stuck.label)));
    }
    Ok(why)
}

/// Tells whether the merge queue has a bead repaired by an agent of its own.
async fn is_repaired(fleet: &Fleet, call: &Call, march: &March, bead: &str) -> Result<bool> {
    let entry = landing::find(fleet, call.actor.tenant, (march.project, bead)).await?;
    Ok(entry.is_some_and(|entry| entry.stage == Stage::Mending))
}

/// Starts an agent on a bead; `false` if too many have tried, or a person ended the last one.
async fn begin(fleet: &Fleet, call: &Call, march: &March, bead: &str) -> Result<bool> {
    let owner = Agent::owner_of(march.project, bead);
    let tried = paper::look(fleet.app(), call.actor.tenant, move |tx| {
        paper::of::<Agent>(tx, &owner, None, 100)
    });
    let mut tried = tried.await?;
    // Those that try a bead of an intent are there before its convoy runs.
    let of_march = |one: &Agent| {
        one.spawned_at >= march.created_at || one.convoy.as_ref() == Some(&march.convoy)
    };
    tried.retain(|one| of_march(one) && one.judges.is_none());
    // Whoever dropped all attempts decides what comes next.
    let dropped = |one: &Agent| one.trial.as_ref().is_some_and(|part| part.fate == Fate::Dropped);
    if tried.first().is_some_and(dropped) {
        return Ok(false);
    }
    tried.retain(Agent::did_the_work);
    let last = tried.first();
    if tried.len() >= TRIES || last.is_some_and(|last| last.life == Life::Killed) {
        if let Some(last) = last {
            let text = format!("{} agents tried {bead}; the last was {}.", tried.len(), last.label);
            let told = (text, Vec::new());
            inbox::raise_now(fleet, call.actor.tenant, last, NoticeKind::Stuck, told).await?;
        }
        return Ok(false);
    }
    let found = beads::get(fleet.app(), call, Some(march.project), bead).await?.value.0;
    let new = NewAgent {
        bead: Some(bead.to_owned()),
        task: said_about(&found),
        project: Some(march.project),
        harness: march.harness.clone(),
        model: march.model.clone(),
        role: march.role.clone(),
        runtime: march.runtime.clone(),
        sandbox: march.sandbox.clone(),
        convoy: Some(march.convoy.clone()),
        ..NewAgent::default()
    };
    spawn::spawn(fleet, call, new).await?;
    Ok(true)
}

/// Tells the next agent what was said last about a bead.
pub fn said_about(bead: &godel_beads::Bead) -> Option<String> {
    let last = bead.comments.iter().rev().take(3).rev();
    let said: Vec<&str> = last.filter_map(|one| one.get("text")?.as_str()).collect();
    (!said.is_empty()).then(|| format!("What was said about it:\n{}", said.join("\n")))
}

async fn finish(fleet: &Fleet, call: &Call, march: &March) -> Result<()> {
    let (app, call_) = (fleet.app().clone(), call.clone());
    let work = move |tx: &mut Tx<'_>, march: &mut March| {
        march.state = MarchState::Done;
        march.note = None;
        let told = serde_json::json!({ "convoy": march.convoy });
        Ok(tx.record(call_.event(&app, "convoy:done", &told, ("convoyId", &march.convoy)))?)
    };
    let id = march.id;
    paper::change::<March, ()>(fleet.app(), call.actor.tenant, id, work).await.map(drop)
}
