//! Agents: finding them, and changing their fate.

use godel_agents::Harness;
use godel_app::Call;
use godel_app::queue::tasks;
use godel_model::{Life, LifeMove, ProjectId, Reach, TaskId, TenantId, code};
use godel_store::Tx;
use tracing::instrument;
use uuid::Uuid;

use crate::doc::{Agent, Talk};
use crate::run::Order;
use crate::slips::NoticeKind;
use crate::spawn::{enqueue, refuse_missing};
use crate::{Error, Fleet, Result, inbox, paper, place, roles, snapshots, stop};

pub(crate) fn told(agent: &Agent) -> serde_json::Value {
    serde_json::json!({
        "agent": agent.label, "state": agent.life.as_str(), "view": agent.life.view(),
        "bead": agent.bead, "harness": agent.harness.name(), "model": agent.model,
        "role": agent.role, "sandbox": agent.sandbox.as_str(),
    })
}

/// Finds an agent by its id or name.
pub(crate) fn lookup(tx: &mut Tx<'_>, name: &str) -> Result<Option<Agent>> {
    match Uuid::try_parse(name) {
        Ok(id) => paper::by_id(tx, id),
        Err(_) => paper::by_label(tx, name.trim_start_matches("agent:")),
    }
}

/// Finds an agent by its id or name.
///
/// # Errors
/// If the caller may not, or there is none in a project in which it works.
#[instrument(level = "debug", name = "fleet.agents.find", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn find(fleet: &Fleet, call: &Call, name: &str) -> Result<Agent> {
    call.may("agent", "read", Reach::Team)?;
    let (wanted, actor) = (name.to_owned(), call.actor.clone());
    let found = paper::look(fleet.app(), actor.tenant, move |tx| lookup(tx, &wanted)).await?;
    let found = found.filter(|agent| actor.works_in(agent.project));
    found.ok_or_else(|| Error::NoAgent(name.to_owned()))
}

/// Refuses to lead an agent of somebody else to those who may lead only their own.
///
/// # Errors
/// If it is somebody else's, and the caller may lead only their own.
pub fn may_lead(call: &Call, agent: &Agent) -> Result<()> {
    if agent.user != call.actor.user {
        call.may("agent", "execute", Reach::Team)?;
    }
    Ok(())
}

/// Which agents are listed.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those with this status, state or view.
    pub status: Option<String>,
    /// Those on this bead.
    pub bead: Option<String>,
    /// Those of this convoy.
    pub convoy: Option<String>,
    /// Those of this role.
    pub role: Option<String>,
    /// Those of this project.
    pub project: Option<ProjectId>,
}

impl Filter {
    fn wants(&self, agent: &Agent) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let life = agent.life;
        self.status
            .as_deref()
            .is_none_or(|text| [life.as_str(), life.status(), life.view()].contains(&text))
            && is(&self.bead, &agent.bead)
            && is(&self.role, &agent.role)
            && is(&self.convoy, agent.convoy.as_deref().unwrap_or_default())
            && self.project.is_none_or(|project| project == agent.project)
    }
}

/// Lists agents, the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.agents.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    filter: Filter,
    (before, limit): (Option<Uuid>, usize),
) -> Result<Vec<Agent>> {
    call.may("agent", "read", Reach::Team)?;
    let actor = call.actor.clone();
    paper::look(fleet.app(), actor.tenant, move |tx| {
        let page = |from, limit| paper::page::<Agent>(tx, from, limit);
        paper::gather((before, limit), page, |agent| {
            actor.works_in(agent.project) && filter.wants(agent)
        })
    })
    .await
}

/// Lets something happen to an agent that the caller may lead.
pub(crate) async fn lead(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    (happens, kind): (LifeMove, &'static str),
    more: impl Fn(&mut Agent) + Send + Sync + Clone + 'static,
) -> Result<(Agent, Option<TaskId>)> {
    let found = find(fleet, call, name).await?;
    may_lead(call, &found)?;
    let (fleet_, call_, now) = (fleet.clone(), call.clone(), fleet.app().clock.now());
    let by = call.actor.name.clone();
    let work = move |tx: &mut Tx<'_>, agent: &mut Agent| {
        let task = agent.queued;
        agent.step(happens, &format!("{} by {by}", words(happens)), now)?;
        more(agent);
        inbox::close(
            &fleet_,
            tx,
            agent,
            &[NoticeKind::Question, NoticeKind::Stuck, NoticeKind::Budget],
        )?;
        call_.tell(fleet_.app(), tx, fleet_.event(agent, kind, &told(agent)))?;
        Ok(task)
    };
    paper::change::<Agent, _>(fleet.app(), call.actor.tenant, found.id.uuid(), work).await
}

const fn words(happens: LifeMove) -> &'static str {
    match happens {
        LifeMove::Pause => "paused",
        LifeMove::Resume => "resumed",
        LifeMove::Kill => "ended",
        _ => "begun anew",
    }
}

/// Calls a run off: whoever has it hears of it.
pub(crate) async fn call_off(fleet: &Fleet, tenant: TenantId, task: Option<TaskId>, why: &str) {
    let Some(task) = task else { return };
    let call = fleet.as_fleet(tenant);
    // One that is over already needs no calling off.
    if let Err(error) = tasks::cancel(fleet.app(), &call, task, Some(why.to_owned())).await {
        tracing::debug!(%task, %error, "a run was not called off");
    }
}

/// Lets an agent stand still: its turn is stopped, its processes end, its work stays.
///
/// # Errors
/// If the caller may not, or it does not run.
#[instrument(level = "debug", name = "fleet.agents.pause", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn pause(fleet: &Fleet, call: &Call, name: &str) -> Result<Agent> {
    call.may("agent", "execute", Reach::Own)?;
    let (agent, task) = lead(fleet, call, name, (LifeMove::Pause, "agent:pause"), |_| {}).await?;
    fleet.tell(agent.id, Order::Stop).await;
    call_off(fleet, call.actor.tenant, task, "the agent was paused").await;
    Ok(agent)
}

/// Lets an agent go on.
///
/// # Errors
/// If the caller may not, or it is not paused.
#[instrument(level = "debug", name = "fleet.agents.resume", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn resume(fleet: &Fleet, call: &Call, name: &str) -> Result<Agent> {
    call.may("agent", "execute", Reach::Own)?;
    stop::refuse_if_stopped(fleet, call.actor.tenant).await?;
    let (agent, _) = lead(fleet, call, name, (LifeMove::Resume, "agent:resume"), |agent| {
        agent.run += 1;
        agent.queued = None;
        (agent.stopped, agent.benched) = (false, false);
        agent.begin_anew();
    })
    .await?;
    fleet.enlist(call.actor.tenant);
    enqueue(fleet, call.actor.tenant, agent).await
}

/// Lets an agent begin anew, with what it knows.
///
/// # Errors
/// If the caller may not, or it has ended.
#[instrument(level = "debug", name = "fleet.agents.restart", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn restart(
    fleet: &Fleet,
    call: &Call,
    name: &str,
    (model, harness): (Option<String>, Option<String>),
) -> Result<Agent> {
    call.may("agent", "execute", Reach::Own)?;
    stop::refuse_if_stopped(fleet, call.actor.tenant).await?;
    let harness = match harness {
        Some(kind) => {
            let found = Harness::named(&kind).ok_or_else(|| {
                Error::refused(code::INVALID_FIELD, "there is no such agent", "see godel doctor")
            })?;
            let agent = find(fleet, call, name).await?;
            refuse_missing(fleet, found, &agent.command).await?;
            let (_, folder) = fleet.project(call, agent.project).await?;
            let role = roles::find(&folder, &agent.role).await?;
            roles::hold(&role, found, agent.sandbox)?;
            Some(found)
        }
        None => None,
    };
    let (agent, task) = lead(fleet, call, name, (LifeMove::Retry, "agent:restart"), move |agent| {
        agent.run += 1;
        (agent.queued, agent.benched) = (None, false);
        agent.begin_anew();
        agent.retries += 1;
        let first = agent.first_model.clone().unwrap_or_else(|| agent.model.clone());
        agent.model = model.clone().unwrap_or(first);
        agent.harness = harness.unwrap_or(agent.harness);
        agent.handoff = Some("A person had the agent begin anew.".to_owned());
    })
    .await?;
    fleet.tell(agent.id, Order::Stop).await;
    call_off(fleet, call.actor.tenant, task, "the agent was begun anew").await;
    fleet.enlist(call.actor.tenant);
    enqueue(fleet, call.actor.tenant, agent).await
}

/// Ends an agent; its worktree stays.
///
/// # Errors
/// If the caller may not, or it has ended already.
#[instrument(level = "debug", name = "fleet.agents.kill", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn kill(fleet: &Fleet, call: &Call, name: &str) -> Result<Agent> {
    call.may("agent", "execute", Reach::Own)?;
    let (agent, task) = lead(fleet, call, name, (LifeMove::Kill, "agent:kill"), |_| {}).await?;
    let here = fleet.tell(agent.id, Order::Stop).await;
    call_off(fleet, call.actor.tenant, task, "the agent was ended").await;
    if !here {
        place::leave(fleet, call.actor.tenant, &agent).await;
    }
    place::give_back(fleet, call.actor.tenant, &agent).await;
    fleet.own.moved.notify_waiters();
    Ok(agent)
}

/// Forgets an agent that has ended, with its conversation; what snapshots of it need stays.
///
/// # Errors
/// If the caller may not, or it has not ended.
#[instrument(level = "debug", name = "fleet.agents.delete", skip_all, fields(tenant = %call.actor.tenant, %name))]
pub async fn delete(fleet: &Fleet, call: &Call, name: &str) -> Result<()> {
    call.may("agent", "delete", Reach::Own)?;
    let agent = find(fleet, call, name).await?;
    may_lead(call, &agent)?;
    if !agent.life.is_over() && agent.life != Life::Failed {
        return Err(Error::refused(
            code::AGENT_STATE,
            format!("agent {} is {}", agent.label, agent.life),
            format!("end it first: godel agent kill {}", agent.label),
        ));
    }
    place::leave(fleet, call.actor.tenant, &agent).await;
    let (fleet_, call_) = (fleet.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        tx.papers(<Agent as paper::Filed>::KIND).delete(agent.id.uuid())?;
        if !snapshots::keep_talk(tx, &agent)? {
            tx.papers(<Talk as paper::Filed>::KIND).delete(agent.talk)?;
            tx.talk_nodes(agent.talk).clear()?;
        }
        inbox::close(
            &fleet_,
            tx,
            &agent,
            &[NoticeKind::Question, NoticeKind::Stuck, NoticeKind::Budget],
        )?;
        Ok(call_.tell(fleet_.app(), tx, fleet_.event(&agent, "agent:delete", &told(&agent)))?)
    };
    paper::write(fleet.app(), call.actor.tenant, work).await
}
