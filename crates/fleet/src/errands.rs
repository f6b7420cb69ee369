//! Errands: tasks of the queue that ask for an agent, such as steps of workflows and pieces of teams' work.
//!
//! Such a task only waits for its agent; the runs of the agent are tasks of their own. So an agent can be
//! paused, resumed, begun anew or wait for a person, and whoever needs its work just goes on waiting. The agent
//! has the number of its task, so that one task never makes two, whenever a server is killed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use godel_app::queue::{Given, Say, tasks};
use godel_app::{Call, OnceKey, beads, projects};
use godel_beads::ops::NewBead;
use godel_decide::agent::{ERRANDS, Errand, Wanted};
use godel_model::{
    AgentId, Life, LifeMove, Payload, ProjectId, Report as _, TaskId, TaskState, TeamId, TenantId,
    code,
};
use godel_store::{Scope, Tx};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::doc::Agent;
use crate::run::Order;
use crate::spawn::{self, Aim, NewAgent};
use crate::{Error, Fleet, Result, agents, look, paper, stop};

/// How often it is looked which tenants ask for agents.
const SCOUT_EVERY: Duration = Duration::from_secs(1);
/// How often an agent is looked at although nothing was heard of it.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long is waited for more to happen before it is looked.
const COALESCE: Duration = Duration::from_millis(100);
/// How many earlier rounds of a step are looked at for an agent that can go on.
const ROUNDS_BACK_MAX: usize = 20;
/// How many agents are looked at in one go.
const LOOK_MAX: usize = 1_000;
/// How much of what an agent says at its end is told to who waits for it.
const SUMMARY_MAX_BYTES: usize = 16 * 1024;
/// The longest title of a bead that is made for an errand.
const TITLE_MAX_CHARS: usize = 200;

/// How whoever carries an errand out hears that it is over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hold {
    /// Somebody else has it now.
    pub(crate) lost: CancellationToken,
    /// It was called off.
    pub(crate) off: CancellationToken,
}

/// Counts an errand for as long as it is carried out, so that nobody looks at teams while there is none.
struct Counted(Fleet);

impl Counted {
    fn new(fleet: &Fleet) -> Self {
        fleet.own.errands.fetch_add(1, Ordering::Relaxed);
        Self(fleet.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.own.errands.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Fleet {
    /// Looks which tenants ask for agents, and gives them a foreman, until the server stops.
    pub(crate) async fn scout(&self) {
        let stopping = self.own.crew.stopping();
        while tokio::time::timeout(SCOUT_EVERY, stopping.cancelled()).await.is_err() {
            let find = |tx: &mut Tx<'_>| tx.lanes().tenants(ERRANDS);
            match self.app().store.read(Scope::System, find).await {
                Ok(tenants) => tenants.into_iter().for_each(|tenant| self.enlist(tenant)),
                Err(error) => tracing::debug!(%error, "nobody knows who asks for agents"),
            }
        }
    }

    /// Carries an errand out: waits for its agent, which may have to be asked for first.
    pub(crate) async fn carry_out(
        &self,
        tenant: TenantId,
        given: &Given,
        hold: &Hold,
    ) -> Option<Say> {
        let _counted = Counted::new(self);
        loop {
            let moved = self.own.moved.notified();
            match self.outcome(tenant, given).await {
                Ok(Some(say)) => return Some(say),
                Ok(None) => {}
                Err(error) => {
                    // What a person has to mend does not mend itself.
                    let fatal = !error.code().kind().retryable();
                    let hint = error.hint().map_or_else(String::new, |hint| format!("; {hint}"));
                    return Some(Say::Failed { error: format!("{error}{hint}"), fatal });
                }
            }
            let stopping = self.own.crew.stopping();
            tokio::select! {
                () = hold.lost.cancelled() => return None,
                () = stopping.cancelled() => return Some(Say::Released),
                () = hold.off.cancelled() => {
                    self.end_agent_of(tenant, given.lease.spot.task).await;
                    let error = "it was called off".to_owned();
                    return Some(Say::Failed { error, fatal: true });
                }
                () = moved => tokio::time::sleep(COALESCE).await,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Tells what the queue is told of an errand; nothing while its agent is not done.
    async fn outcome(&self, tenant: TenantId, given: &Given) -> Result<Option<Say>> {
        let agent = match self.agent_of(tenant, given).await? {
            Some(agent) => agent,
            // Nothing begins while everything stands still.
            None if stop::standstill(self, tenant).await?.is_some() => return Ok(None),
            None => self.ask(tenant, given).await?,
        };
        let failed = |error: String| Ok(Some(Say::Failed { error, fatal: true }));
        match agent.life {
            Life::Completed => {
                let agents = std::slice::from_ref(&agent);
                let spent = look::spent(self, tenant, agents).await?;
                let cost = spent.get(&agent.id).copied().flatten();
                let summary = agent.summary.as_deref().unwrap_or_default();
                let summary = godel_agents::clip(summary, SUMMARY_MAX_BYTES);
                let told = serde_json::json!({
                    "agent": agent.id, "label": agent.label, "bead": agent.bead,
                    "commit": agent.commit, "summary": summary, "costMicros": cost,
                });
                Ok(Some(Say::Done(Some(Payload::of(&told)))))
            }
            Life::Killed => failed(format!("agent {} was ended", agent.label)),
            Life::Failed => {
                let why = agent.last_error.clone().unwrap_or_default();
                failed(format!("agent {} cannot go on: {why}", agent.label))
            }
            _ => Ok(None),
        }
    }

    /// Finds the agent of an errand.
    async fn agent_of(&self, tenant: TenantId, given: &Given) -> Result<Option<Agent>> {
        let task = given.lease.spot.task;
        let found = paper::look(self.app(), tenant, move |tx| paper::by_id(tx, task.uuid()));
        if let Some(own) = found.await? {
            return Ok(Some(own));
        }
        let earlier = self.earlier(tenant, given).await?;
        Ok(earlier.map(|(agent, _)| agent).filter(|agent| agent.errand == Some(task)))
    }

    /// Finds the agent of an earlier round of the same step, and whether that round took its work.
    async fn earlier(&self, tenant: TenantId, given: &Given) -> Result<Option<(Agent, bool)>> {
        let Some(key) = given.asked.key.clone().filter(|_| given.asked.owner.is_some()) else {
            return Ok(None);
        };
        let find = move |tx: &mut Tx<'_>| {
            let Some((step, Ok(round))) =
                key.rsplit_once('/').map(|(step, round)| (step, round.parse::<u32>()))
            else {
                return Ok(None);
            };
            for round in (0..round).rev().take(ROUNDS_BACK_MAX) {
                let task = tx.tasks().by_key(&format!("{step}/{round}"))?;
                let found = task.map(|task| paper::by_id::<Agent>(tx, task.uuid())).transpose()?;
                let Some(Some(agent)) = found else { continue };
                let served = agent.errand.map(|task| tx.tasks().find(task)).transpose()?;
                let taken = |found: godel_store::Found| found.state == TaskState::Succeeded;
                return Ok(Some((agent, served.flatten().is_some_and(taken))));
            }
            Ok(None)
        };
        paper::look(self.app(), tenant, find).await
    }

    /// Asks for the agent of an errand, or lets that of an earlier round go on.
    async fn ask(&self, tenant: TenantId, given: &Given) -> Result<Agent> {
        let task = given.lease.spot.task;
        let app = self.app();
        let (found, _) = tasks::find(app, &self.as_fleet(tenant), task).await?;
        let user = found.task.created_by.ok_or_else(|| {
            let why = "nobody is known for whom an agent could work";
            Error::refused(code::FORBIDDEN, why, "let a person ask for it")
        })?;
        let call = self.on_behalf(tenant, user).await?;
        let errand: Errand =
            serde_json::from_str(given.asked.payload.as_str()).map_err(|error| {
                let why = format!("this does not ask for an agent: {error}");
                let hint = "a step of a workflow asks for one by `role` or `harness`";
                Error::refused(code::INVALID_FIELD, why, hint)
            })?;
        let earlier = self.earlier(tenant, given).await?;
        // One that was helped to its end after its step had failed has done the work.
        let of_use = |(one, taken): &&(Agent, bool)| match one.life {
            Life::Completed => !taken,
            life => !life.is_over(),
        };
        if let Some((known, _)) = earlier.as_ref().filter(of_use) {
            return self.go_on(&call, known, task).await;
        }
        let wanted = errand.wanted;
        let project = projects::meant(app, &call, wanted.project.clone()).await?;
        // What was begun is gone on with, whoever ended the one that began it.
        let ended = earlier.map(|(one, _)| one).filter(|one| one.life == Life::Killed);
        let ended = ended.map(|one| one.bead);
        let bead = match wanted.bead.clone().or(ended) {
            Some(bead) => bead,
            None => make_bead(self, &call, (project, task), &wanted).await?,
        };
        let new = NewAgent {
            task: wanted.bead.as_ref().and_then(|_| wanted.words()),
            bead: Some(bead),
            project,
            harness: wanted.harness,
            command: wanted.command,
            model: wanted.model,
            role: wanted.role,
            sandbox: wanted.sandbox,
            budget: wanted.budget_micros,
            timeout: wanted.timeout_seconds,
            team: self.team_of(tenant, given).await?,
            aim: Aim::Errand(AgentId::from_uuid(task.uuid()), task),
            ..NewAgent::default()
        };
        spawn::spawn(self, &call, new).await
    }

    /// Lets an agent work for another round of its step.
    async fn go_on(&self, call: &Call, agent: &Agent, task: TaskId) -> Result<Agent> {
        let note = move |_: &mut Tx<'_>, agent: &mut Agent| {
            agent.errand = Some(task);
            Ok(())
        };
        let (tenant, id) = (call.actor.tenant, agent.id.uuid());
        let agent = paper::change::<Agent, ()>(self.app(), tenant, id, note).await?.0;
        if agent.life == Life::Failed {
            let name = agent.id.to_string();
            return agents::restart(self, call, &name, (None, None)).await;
        }
        Ok(agent)
    }

    /// Tells which team an errand is for.
    async fn team_of(&self, tenant: TenantId, given: &Given) -> Result<Option<Uuid>> {
        let owner = given.asked.owner.clone();
        let Some(run) = owner.and_then(|owner| owner.id.parse().ok()) else { return Ok(None) };
        let found = paper::look(self.app(), tenant, move |tx| Ok(tx.runs().by_id(run)?));
        Ok(found.await?.and_then(|run| run.team).map(TeamId::uuid))
    }

    /// Ends the agent of an errand that nobody waits for any more; its work stays.
    async fn end_agent_of(&self, tenant: TenantId, task: TaskId) {
        let find = move |tx: &mut Tx<'_>| {
            let found = of_errands(tx)?;
            Ok(found.into_iter().find(|agent| agent.errand == Some(task)))
        };
        let found = paper::look(self.app(), tenant, find).await;
        let Ok(Some(agent)) = found else { return };
        let call = self.as_fleet(tenant);
        if let Err(error) = agents::kill(self, &call, &agent.id.to_string()).await {
            tracing::warn!(agent = %agent.id, %error, "an agent that is not needed was not ended");
        }
    }

    /// Ends agents whose errand was called off while no server had it in its hands.
    pub(crate) async fn end_orphans(&self, tenant: TenantId) -> Result<()> {
        let find = |tx: &mut Tx<'_>| {
            let mut orphans = Vec::new();
            for task in of_errands(tx)?.into_iter().filter_map(|agent| agent.errand) {
                let found = tx.tasks().find(task)?;
                if found.is_some_and(|found| found.state == TaskState::Cancelled) {
                    orphans.push(task);
                }
            }
            Ok(orphans)
        };
        for task in paper::look(self.app(), tenant, find).await? {
            self.end_agent_of(tenant, task).await;
        }
        Ok(())
    }

    /// Keeps as many agents of each team at work as it may have, until the server stops.
    pub(crate) async fn keep_sizes(&self, tenant: TenantId) {
        let stopping = self.own.crew.stopping();
        loop {
            let moved = self.own.moved.notified();
            if self.own.errands.load(Ordering::Relaxed) > 0
                && let Err(error) = self.resize(tenant).await
            {
                tracing::warn!(%tenant, %error, "the agents of teams could not be counted");
            }
            tokio::select! {
                () = stopping.cancelled() => return,
                () = moved => tokio::time::sleep(COALESCE).await,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Lets agents stand still whose team has become smaller, and go on when there is room again.
    async fn resize(&self, tenant: TenantId) -> Result<()> {
        let mut teams: BTreeMap<Uuid, Vec<Agent>> = BTreeMap::new();
        for agent in paper::look(self.app(), tenant, of_errands).await? {
            if let Some(team) = agent.team {
                teams.entry(team).or_default().push(agent);
            }
        }
        for (team, mut agents) in teams {
            let id = TeamId::from_uuid(team);
            let find = move |tx: &mut Tx<'_>| Ok(tx.workflows().team(id)?);
            let Some(record) = paper::look(self.app(), tenant, find).await? else { continue };
            let size = godel_app::teams::size(&record)? as usize;
            agents.sort_by_key(|agent| agent.spawned_at);
            let (running, rest): (Vec<_>, Vec<_>) =
                agents.into_iter().partition(|agent| agent.life.is_running());
            for agent in running.iter().skip(size) {
                self.bench(tenant, agent).await;
            }
            let benched = rest.iter().filter(|one| one.benched && one.life == Life::Paused);
            for agent in benched.take(size.saturating_sub(running.len())) {
                let (call, name) = (self.as_fleet(tenant), agent.id.to_string());
                if let Err(error) = agents::resume(self, &call, &name).await {
                    tracing::debug!(agent = %agent.id, %error, "an agent does not go on yet");
                }
            }
        }
        Ok(())
    }

    /// Lets an agent stand still until its team has room for it; its work stays.
    async fn bench(&self, tenant: TenantId, agent: &Agent) {
        let (call, name) = (self.as_fleet(tenant), agent.id.to_string());
        let led = agents::lead(self, &call, &name, (LifeMove::Pause, "agent:pause"), |agent| {
            agent.benched = true;
            agent.note = Some("its team has become smaller; it goes on when there is room".into());
        });
        match led.await {
            Ok((agent, task)) => {
                self.tell(agent.id, Order::Stop).await;
                agents::call_off(self, tenant, task, "its team has become smaller").await;
            }
            // It may have ended in this very moment.
            Err(error) => tracing::debug!(agent = %agent.id, %error, "an agent works on"),
        }
    }
}

/// Lists agents that work for errands and have not ended.
fn of_errands(tx: &mut Tx<'_>) -> Result<Vec<Agent>> {
    let mut found = Vec::new();
    for life in Life::ALL.into_iter().filter(|life| !life.is_over()) {
        let all = paper::in_state::<Agent>(tx, life.as_str(), None, LOOK_MAX)?;
        found.extend(all.into_iter().filter(|agent| agent.errand.is_some()));
    }
    Ok(found)
}

/// Makes the bead of an errand; a second call finds the first one.
async fn make_bead(
    fleet: &Fleet,
    call: &Call,
    (project, task): (Option<ProjectId>, TaskId),
    wanted: &Wanted,
) -> Result<String> {
    let words = wanted.words().unwrap_or_default();
    let words = words.trim();
    let (first, rest) = words.split_once('\n').unwrap_or((words, ""));
    let title: String = first.trim().chars().take(TITLE_MAX_CHARS).collect();
    let whole = title == first.trim();
    let rest = if whole { rest.trim() } else { words };
    let description = (!rest.is_empty()).then(|| rest.to_owned());
    let draft = NewBead { title, description, ..NewBead::default() };
    let once = OnceKey { key: format!("errand:{task}"), fingerprint: [0; 32] };
    let call = Call { once: Some(once), ..call.clone() };
    Ok(beads::create(fleet.app(), &call, project, draft).await?.value.id)
}
