//! The emergency stop: everything stands still at once, and nothing is lost.

use godel_app::Call;
use godel_model::{EventId, Life, LifeMove, Reach, TenantId, code};
use godel_store::Tx;
use tracing::instrument;

use crate::doc::Agent;
use crate::run::Order;
use crate::slips::Standstill;
use crate::{Error, Fleet, Result, agents, paper};

/// How many agents are stopped in one go.
const AT_ONCE: usize = 10_000;

/// Whether everything stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Whether it does.
    pub on: bool,
    /// Why.
    pub reason: Option<String>,
    /// How many agents were paused or resumed just now.
    pub agents: u32,
}

fn current(tx: &mut Tx<'_>) -> Result<Option<Standstill>> {
    paper::by_label(tx, "standstill")
}

/// Tells whether everything stands still.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.stop.state", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn state(fleet: &Fleet, call: &Call) -> Result<Stopped> {
    call.may("agent", "read", Reach::Team)?;
    let found = standstill(fleet, call.actor.tenant).await?;
    Ok(Stopped { on: found.is_some(), reason: found.and_then(|one| one.reason), agents: 0 })
}

/// Tells why everything stands still, if it does.
pub(crate) async fn standstill(fleet: &Fleet, tenant: TenantId) -> Result<Option<Standstill>> {
    Ok(paper::look(fleet.app(), tenant, current).await?.filter(|one| one.on))
}

/// Refuses to start anything while everything stands still.
pub async fn refuse_if_stopped(fleet: &Fleet, tenant: TenantId) -> Result<()> {
    standstill(fleet, tenant).await?.map_or(Ok(()), |one| {
        let why = one.reason.map_or_else(String::new, |why| format!(" ({why})"));
        Err(Error::refused(
            code::STOPPED,
            format!("everything was told to stand still{why}"),
            "let it go on: godel resume",
        ))
    })
}

/// Lets all agents of the tenant stand still, and nothing begin.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.stop.stop", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn stop(fleet: &Fleet, call: &Call, reason: Option<String>) -> Result<Stopped> {
    call.may("agent", "execute", Reach::Team)?;
    if reason.as_ref().is_some_and(|why| why.chars().count() > 1_000) {
        return Err(Error::refused(
            code::INVALID_FIELD,
            "a reason has at most 1,000 characters",
            "say it in a sentence",
        ));
    }
    set(fleet, call, true, reason.clone()).await?;
    let now = fleet.app().clock.now();
    let (fleet_, by) = (fleet.clone(), call.actor.name.clone());
    let work = move |tx: &mut Tx<'_>| {
        let mut stopped = Vec::new();
        for life in Life::ALL.into_iter().filter(|life| life.is_running()) {
            for agent in paper::in_state::<Agent>(tx, life.as_str(), None, AT_ONCE)? {
                let (agent, ()) =
                    paper::change_in::<Agent, ()>(tx, agent.id.uuid(), |tx, agent| {
                        agent.step(
                            LifeMove::Pause,
                            &format!("everything was stopped by {by}"),
                            now,
                        )?;
                        agent.stopped = true;
                        let told = serde_json::json!({ "agent": agent.label, "state": "paused" });
                        fleet_.record(tx, agent, "agent:pause", &told)
                    })?;
                stopped.push(agent);
            }
        }
        Ok(stopped)
    };
    let stopped = paper::write(fleet.app(), call.actor.tenant, work).await?;
    for agent in &stopped {
        fleet.tell(agent.id, Order::Stop).await;
        agents::call_off(fleet, call.actor.tenant, agent.queued, "everything was stopped").await;
    }
    Ok(Stopped { on: true, reason, agents: u32::try_from(stopped.len()).unwrap_or(u32::MAX) })
}

/// Lets those go on that were stopped.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.stop.go_on", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn go_on(fleet: &Fleet, call: &Call) -> Result<Stopped> {
    call.may("agent", "execute", Reach::Team)?;
    set(fleet, call, false, None).await?;
    let find = move |tx: &mut Tx<'_>| {
        let paused = paper::in_state::<Agent>(tx, Life::Paused.as_str(), None, AT_ONCE)?;
        Ok(paused.into_iter().filter(|agent| agent.stopped).collect::<Vec<_>>())
    };
    let stopped = paper::look(fleet.app(), call.actor.tenant, find).await?;
    let mut resumed = 0;
    for agent in stopped {
        match agents::resume(fleet, call, &agent.id.to_string()).await {
            Ok(_) => resumed += 1,
            Err(error) => tracing::warn!(agent = %agent.id, %error, "an agent was not resumed"),
        }
    }
    fleet.own.moved.notify_waiters();
    Ok(Stopped { on: false, reason: None, agents: resumed })
}

async fn set(fleet: &Fleet, call: &Call, on: bool, reason: Option<String>) -> Result<()> {
    let (app, call_) = (fleet.app().clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        match current(tx)? {
            Some(known) => {
                paper::change_in::<Standstill, ()>(tx, known.id, |_, one| {
                    (one.on, one.reason) = (on, reason.clone());
                    Ok(())
                })?;
            }
            None => {
                let id = app.mint.id::<EventId>().uuid();
                paper::insert(tx, &Standstill { id, on, reason: reason.clone() })?;
            }
        }
        let kind = if on { "fleet:stop" } else { "fleet:resume" };
        let told = serde_json::json!({ "reason": reason });
        let event = call_.event(&app, kind, &told, ("userId", call_.actor.user));
        Ok(call_.tell(&app, tx, event)?)
    };
    paper::write(fleet.app(), call.actor.tenant, work).await
}
