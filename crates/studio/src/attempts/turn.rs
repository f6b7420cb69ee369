//! Keeping trials going: the bead is held, each attempt has its agent, and a person is told at the end.

use std::time::Duration;

use godel_app::spend::budgets;
use godel_app::{Call, beads};
use godel_decide::attempts::Standing;
use godel_fleet::paper::Filed;
use godel_fleet::part::{Fate, Part};
use godel_fleet::spawn::{self, Aim, NewAgent};
use godel_fleet::{Agent, Fleet, NoticeKind, inbox, march, paper, stop};
use godel_model::{Kind, Report as _, TenantId};
use godel_store::{Scope, Tx};
use jiff::SignedDuration;
use uuid::Uuid;

use super::doc::{Attempt, Stage, Trial};
use super::end;
use super::start::tell;
use crate::{Error, Result};

/// How often trials are looked at although nothing was heard.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long is waited for more to happen before it is looked.
const COALESCE: Duration = Duration::from_millis(100);
/// How many trials are looked at in one go.
const LOOK_MAX: usize = 1_000;
/// How long the hold on a bead lasts: a choice may take its time.
const HOLD_SECS: u64 = 7 * 24 * 60 * 60;
/// A hold that lasts no longer than this is extended.
const HOLD_LEAST: SignedDuration = SignedDuration::from_hours(6 * 24);

/// Begins to keep trials going: those that were under way, and those that come, until the server stops.
pub fn keep_going(fleet: &Fleet) {
    let fleet = fleet.clone();
    fleet.crew().clone().spawn(async move {
        let stopping = fleet.crew().stopping();
        loop {
            let moved = fleet.moved();
            if let Err(error) = look_at_all(&fleet).await {
                tracing::warn!(%error, "attempts could not be looked at");
            }
            tokio::select! {
                () = stopping.cancelled() => return,
                () = moved => tokio::time::sleep(COALESCE).await,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    });
}

/// Moves the trials of all tenants on.
async fn look_at_all(fleet: &Fleet) -> Result<()> {
    let find = |tx: &mut Tx<'_>| {
        let mut tenants = Vec::new();
        for stage in Stage::OPEN {
            tenants.extend(tx.papers(<Trial as Filed>::KIND).tenants(stage.as_str())?);
        }
        Ok::<_, Error>(tenants)
    };
    let mut tenants: Vec<TenantId> = fleet.app().store.read(Scope::System, find).await?;
    tenants.sort_unstable();
    tenants.dedup();
    for tenant in tenants {
        let open = paper::look(fleet.app(), tenant, |tx| {
            let mut found = Vec::new();
            for stage in Stage::OPEN {
                found.extend(paper::in_state::<Trial>(tx, stage.as_str(), None, LOOK_MAX)?);
            }
            Ok(found)
        });
        for trial in open.await? {
            if let Err(error) = turn(fleet, tenant, trial.id).await {
                let bead = &trial.bead;
                tracing::warn!(%tenant, %bead, %error, "attempts do not go on");
                note(fleet, tenant, &trial, &error).await;
            }
        }
    }
    Ok(())
}

/// Notes what keeps a trial from going on; one whose bead, project or person is gone ends.
async fn note(fleet: &Fleet, tenant: TenantId, trial: &Trial, error: &Error) {
    let kind = error.code().kind();
    let gone = matches!(kind, Kind::NotFound | Kind::Unauthorized | Kind::Forbidden);
    let (why, now) = (error.to_string(), fleet.app().clock.now());
    let work = move |_: &mut Tx<'_>, trial: &mut Trial| {
        trial.note = Some(why.clone());
        match trial.stage {
            Stage::Running | Stage::Picking if gone => trial.stage = Stage::Dropping,
            // There is nothing left that could be put away.
            Stage::Dropping if gone => {
                (trial.stage, trial.ended_at) = (Stage::Dropped, Some(now));
            }
            _ => {}
        }
        Ok(())
    };
    if let Err(error) = paper::change::<Trial, ()>(fleet.app(), tenant, trial.id, work).await {
        tracing::warn!(%error, "what keeps attempts could not be noted");
    }
}

/// What a turn of a trial looks at.
pub(super) struct Case<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) call: Call,
    pub(super) trial: Trial,
}

/// Moves a trial on, as far as it goes now; one at a time.
pub(super) async fn turn(fleet: &Fleet, tenant: TenantId, id: Uuid) -> Result<()> {
    let own = fleet.turn_of(id);
    let _alone = own.lock().await;
    let find = move |tx: &mut Tx<'_>| paper::by_id::<Trial>(tx, id);
    let Some(trial) = paper::look(fleet.app(), tenant, find).await? else { return Ok(()) };
    if trial.stage.is_over() {
        fleet.end_turns(id);
        return Ok(());
    }
    let call = match fleet.on_behalf(tenant, trial.user).await {
        Err(_) if trial.stage == Stage::Dropping => fleet.as_fleet(tenant),
        call => call?,
    };
    let mut case = Case { fleet, call, trial };
    match case.trial.stage {
        Stage::Picking => end::take_over(&mut case).await,
        Stage::Dropping => end::let_go(&mut case).await,
        _ => case.run().await,
    }
}

/// Ends a trial that could not begin: nothing is left of it, unless one of its agents is there already.
pub(super) async fn give_up_unbegun(fleet: &Fleet, call: &Call, id: Uuid) -> Result<()> {
    let own = fleet.turn_of(id);
    let _alone = own.lock().await;
    let find = move |tx: &mut Tx<'_>| paper::by_id::<Trial>(tx, id);
    let Some(trial) = paper::look(fleet.app(), call.actor.tenant, find).await? else {
        return Ok(());
    };
    let mut case = Case { fleet, call: call.clone(), trial };
    if case.agents().await?.iter().any(|(one, agent)| one.begun || agent.is_some()) {
        case.trial = case.change(Some("attempt:dropped"), drop_it).await?;
        return end::let_go(&mut case).await;
    }
    if case.trial.claim.is_some() {
        end::give_back(&case).await?;
    }
    let (app, call_, trial) = (fleet.app().clone(), call.clone(), case.trial.clone());
    let work = move |tx: &mut Tx<'_>| {
        if let Some(cap) = &trial.cap {
            budgets::uncap_bead(&app, &call_, tx, (&trial.bead, cap.before))?;
        }
        tx.papers(<Trial as Filed>::KIND).delete(trial.id)?;
        Ok(())
    };
    paper::write(fleet.app(), call.actor.tenant, work).await?;
    fleet.end_turns(id);
    Ok(())
}

/// Lets a trial end without a choice.
fn drop_it(_: &mut Tx<'_>, trial: &mut Trial) -> Result<()> {
    trial.stage = Stage::Dropping;
    Ok(())
}

impl Case<'_> {
    pub(super) fn tenant(&self) -> TenantId {
        self.call.actor.tenant
    }

    /// Changes the trial, and tells of it if that is something to tell.
    pub(super) async fn change(
        &self,
        kind: Option<&'static str>,
        work: impl Fn(&mut Tx<'_>, &mut Trial) -> Result<()> + Send + Sync + Clone + 'static,
    ) -> Result<Trial> {
        let (app, call) = (self.fleet.app().clone(), self.call.clone());
        let work = move |tx: &mut Tx<'_>, trial: &mut Trial| {
            work(tx, trial)?;
            kind.map_or(Ok(()), |kind| tell(&app, &call, tx, kind, trial))
        };
        let (tenant, id) = (self.tenant(), self.trial.id);
        Ok(paper::change::<Trial, ()>(self.fleet.app(), tenant, id, work).await?.0)
    }

    /// Lists the agents of the attempts; one that is deleted is missing.
    pub(super) async fn agents(&self) -> Result<Vec<(Attempt, Option<Agent>)>> {
        let attempts = self.trial.attempts.clone();
        let find = move |tx: &mut Tx<'_>| agents_of(tx, &attempts);
        paper::look(self.fleet.app(), self.tenant(), find).await
    }

    /// Holds the bead, lets agents begin, and asks for a choice when all are at rest.
    async fn run(&mut self) -> Result<()> {
        if stop::refuse_if_stopped(self.fleet, self.tenant()).await.is_err() {
            return Ok(());
        }
        let (app, project) = (self.fleet.app(), Some(self.trial.project));
        let bead = beads::get(app, &self.call, project, &self.trial.bead).await?.value.0;
        if bead.is_closed() {
            self.trial = self.change(Some("attempt:dropped"), drop_it).await?;
            return end::let_go(self).await;
        }
        self.hold(&bead).await?;
        for attempt in self.trial.attempts.clone().iter().filter(|one| !one.begun) {
            self.begin(&bead, attempt).await?;
        }
        self.ask_for_choice().await
    }

    /// Takes hold of the bead, or extends the hold; what proves it is written down.
    async fn hold(&mut self, bead: &godel_beads::Bead) -> Result<()> {
        let (app, now) = (self.fleet.app(), self.fleet.app().clock.now());
        let (project, holder) = (Some(self.trial.project), self.trial.holder());
        let held = bead.held(now).map(|(by, until)| (by == holder, until));
        match (held, self.trial.claim.clone()) {
            (Some((true, until)), Some(_)) if until >= now + HOLD_LEAST => return Ok(()),
            (Some((true, _)), Some(token)) => {
                let hold = (token, HOLD_SECS);
                if beads::heartbeat(app, &self.call, project, &bead.id, hold).await.is_ok() {
                    return Ok(());
                }
                beads::release(app, &self.call, project, &bead.id, (None, true)).await?;
            }
            // Killed between taking hold and writing that down, a trial finds itself in its own way.
            (Some((true, _)), None) => {
                beads::release(app, &self.call, project, &bead.id, (None, true)).await?;
            }
            _ => {}
        }
        let wanted = (holder, HOLD_SECS);
        let token = beads::claim(app, &self.call, project, Some(&bead.id), wanted).await?;
        let token = token.value.token;
        let note = move |_: &mut Tx<'_>, trial: &mut Trial| {
            trial.claim = Some(token.clone());
            Ok(())
        };
        // What nobody could hold was never begun.
        let first = self.trial.claim.is_none().then_some("attempt:started");
        self.trial = self.change(first, note).await?;
        Ok(())
    }

    /// Asks for the agent of an attempt; a second call finds the first one.
    async fn begin(&mut self, bead: &godel_beads::Bead, attempt: &Attempt) -> Result<()> {
        let id = attempt.agent;
        let find = move |tx: &mut Tx<'_>| paper::by_id::<Agent>(tx, id.uuid());
        if paper::look(self.fleet.app(), self.tenant(), find).await?.is_none() {
            let trial = &self.trial;
            let part = Part {
                trial: trial.id,
                number: attempt.number,
                fate: Fate::Open,
                verdicts: Vec::new(),
            };
            let new = NewAgent {
                label: Some(attempt.label.clone()),
                bead: Some(trial.bead.clone()),
                task: march::said_about(bead),
                project: Some(trial.project),
                harness: trial.harness.clone(),
                model: attempt.model.clone(),
                convoy: trial.convoy.clone(),
                aim: Aim::Attempt(id, part),
                ..NewAgent::default()
            };
            spawn::attempt(self.fleet, &self.call, new, trial.base.clone()).await?;
        }
        let number = attempt.number;
        let note = move |_: &mut Tx<'_>, trial: &mut Trial| {
            trial.note = None;
            let own = trial.attempts.iter_mut().filter(|one| one.number == number);
            own.for_each(|one| one.begun = true);
            Ok(())
        };
        self.trial = self.change(None, note).await?;
        Ok(())
    }

    /// Tells a person, once, that the choice is theirs.
    async fn ask_for_choice(&mut self) -> Result<()> {
        let agents = self.agents().await?;
        let standing = |(one, agent): &(Attempt, Option<Agent>)| {
            Standing::of(agent.as_ref().map(|agent| agent.life), one.begun)
        };
        let at_rest = agents.iter().all(|one| standing(one).is_at_rest());
        if at_rest == self.trial.told {
            return Ok(());
        }
        let done = agents.iter().filter(|one| standing(one) == Standing::Done).count();
        let (all, bead) = (agents.len(), &self.trial.bead);
        let text = format!(
            "{done} of {all} attempts at {bead} are done, and the choice is yours. Compare them: godel \
             attempt show {bead}; then: godel attempt pick {bead} NUMBER, or: godel attempt drop {bead}"
        );
        let (fleet, people) = (self.fleet.clone(), agents);
        let note = move |tx: &mut Tx<'_>, trial: &mut Trial| {
            trial.told = at_rest;
            let about = people.iter().find(|one| standing(one) == Standing::Done);
            let about = about.or(people.iter().find(|one| one.1.is_some()));
            match about.and_then(|(_, agent)| agent.as_ref()) {
                Some(agent) if at_rest => {
                    inbox::raise(&fleet, tx, agent, NoticeKind::Review, (&text, &[])).map(drop)
                }
                // Somebody let one of them go on.
                _ => close_notices(tx, &people),
            }
        };
        self.trial = self.change(at_rest.then_some("attempt:ready"), note).await?;
        Ok(())
    }
}

/// Finds the agents of attempts.
pub(super) fn agents_of(
    tx: &mut Tx<'_>,
    attempts: &[Attempt],
) -> Result<Vec<(Attempt, Option<Agent>)>> {
    let found = attempts.iter().map(|one| Ok((one.clone(), paper::by_id(tx, one.agent.uuid())?)));
    found.collect()
}

/// Closes what was asked of a person about attempts.
pub(super) fn close_notices(tx: &mut Tx<'_>, of: &[(Attempt, Option<Agent>)]) -> Result<()> {
    for agent in of.iter().filter_map(|(_, agent)| agent.as_ref()) {
        inbox::close_all(tx, agent, &[NoticeKind::Review, NoticeKind::Stuck])?;
    }
    Ok(())
}
