//! The choice: one attempt becomes the work of its bead, or none does; all are put away.

use std::time::Duration;

use godel_app::spend::budgets;
use godel_app::{Call, beads};
use godel_decide::attempts::{Candidate, may_pick};
use godel_fleet::part::Fate;
use godel_fleet::{Agent, Fleet, agents, check, hearing, paper};
use godel_git::{Name, PutAway, Taken};
use godel_model::{BeadStatus, ProjectId, Reach, Report as _, code};
use godel_store::Tx;
use tracing::instrument;

use super::doc::{Pick, Stage, Trial};
use super::look::{self, View};
use super::start::tell;
use super::turn::{self, Case, agents_of, close_notices};
use crate::{Error, Result};

/// How long agents that were stopped have to leave their worktrees before it is looked again.
const LEAVE_PATIENCE: Duration = Duration::from_secs(15);
const LEAVE_LOOK: Duration = Duration::from_millis(100);

/// Picks an attempt: its commits become the branch of the bead, which goes to review. Again is fine.
///
/// # Errors
/// If the caller may not, there is no such attempt, or it cannot be picked; by force one can be picked whose
/// gates did not pass.
#[instrument(level = "debug", name = "studio.attempts.pick", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn pick(
    fleet: &Fleet,
    call: &Call,
    which: (Option<ProjectId>, &str),
    (number, force): (u32, bool),
) -> Result<View> {
    call.may("agent", "execute", Reach::Own)?;
    let view = look::show(fleet, call, which).await?;
    let trial = &view.trial;
    may_lead(call, trial)?;
    trial.attempt(number)?;
    let picked = trial.pick.as_ref().map(|pick| pick.number);
    if trial.stage == Stage::Running {
        let seen = view.attempts.iter().find(|one| one.attempt.number == number);
        let seen = seen.ok_or_else(|| Error::NoAttempt(number.to_string()))?;
        let candidate = Candidate {
            number,
            agent: &seen.attempt.label,
            standing: seen.standing,
            has_work: seen.commit.is_some(),
            passed: seen.passed == Some(true),
        };
        may_pick(candidate, force)?;
        let commit = seen.commit.clone().unwrap_or_default();
        decide(fleet, call, trial, (number, commit, seen.passed != Some(true))).await?;
    } else if picked != Some(number) {
        return Err(over(trial));
    }
    turn::turn(fleet, call.actor.tenant, trial.id).await?;
    look::one(fleet, call, trial.id).await
}

/// Archives all attempts at a bead, and gives the bead back. Again is fine.
///
/// # Errors
/// If the caller may not, there are none, or one was picked.
#[instrument(level = "debug", name = "studio.attempts.drop_all", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn drop_all(
    fleet: &Fleet,
    call: &Call,
    which: (Option<ProjectId>, &str),
) -> Result<View> {
    call.may("agent", "execute", Reach::Own)?;
    let trial = look::show(fleet, call, which).await?.trial;
    may_lead(call, &trial)?;
    match trial.stage {
        Stage::Picking | Stage::Picked => return Err(over(&trial)),
        Stage::Dropping | Stage::Dropped => {}
        Stage::Running => {
            let (app, call_) = (fleet.app().clone(), call.clone());
            let work = move |tx: &mut Tx<'_>, trial: &mut Trial| {
                if trial.stage != Stage::Running {
                    return Err(over(trial));
                }
                trial.stage = Stage::Dropping;
                tell(&app, &call_, tx, "attempt:dropped", trial)
            };
            paper::change::<Trial, ()>(fleet.app(), call.actor.tenant, trial.id, work).await?;
        }
    }
    turn::turn(fleet, call.actor.tenant, trial.id).await?;
    look::one(fleet, call, trial.id).await
}

/// Refuses to decide for somebody else to those who may lead only their own.
fn may_lead(call: &Call, trial: &Trial) -> Result<()> {
    if trial.user != call.actor.user {
        call.may("agent", "execute", Reach::Team)?;
    }
    Ok(())
}

/// Says that the choice was made.
fn over(trial: &Trial) -> Error {
    let bead = &trial.bead;
    let why = match &trial.pick {
        Some(pick) => format!("attempt {} at {bead} was picked already", pick.number),
        None => format!("the attempts at {bead} were dropped"),
    };
    let hint = format!("all are kept: godel attempt show {bead}");
    Error::refused(code::ATTEMPT_REFUSED, why, hint)
}

/// Writes the choice down; whatever happens then, it is carried out.
async fn decide(
    fleet: &Fleet,
    call: &Call,
    trial: &Trial,
    (number, commit, forced): (u32, String, bool),
) -> Result<()> {
    let (_, folder) = fleet.project(call, trial.project).await?;
    let bead: Name = trial.bead.parse()?;
    let before = fleet.at_bench(folder, move |bench| bench.head_of(&bead.branch())).await?;
    let by = call.actor.name.clone();
    let pick = Pick { number, commit, before, forced, by, in_review: false };
    let (app, call_) = (fleet.app().clone(), call.clone());
    let work = move |tx: &mut Tx<'_>, trial: &mut Trial| {
        if trial.stage != Stage::Running {
            return match trial.pick.as_ref().is_some_and(|known| known.number == number) {
                true => Ok(()),
                false => Err(over(trial)),
            };
        }
        (trial.stage, trial.pick) = (Stage::Picking, Some(pick.clone()));
        mark(tx, trial, Fate::PassedOver)?;
        tell(&app, &call_, tx, "attempt:picked", trial)
    };
    paper::change::<Trial, ()>(fleet.app(), call.actor.tenant, trial.id, work).await.map(drop)
}

/// Notes with each agent what became of its work.
fn mark(tx: &mut Tx<'_>, trial: &Trial, others: Fate) -> Result<()> {
    for (attempt, agent) in agents_of(tx, &trial.attempts)? {
        let Some(agent) = agent else { continue };
        let picked = trial.pick.as_ref().filter(|pick| pick.number == attempt.number);
        paper::change_in::<Agent, ()>(tx, agent.id.uuid(), |_, agent| {
            if let Some(part) = &mut agent.trial {
                part.fate = if picked.is_some() { Fate::Picked } else { others };
            }
            if let Some(pick) = picked {
                agent.commit = Some(pick.commit.clone());
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Carries a choice out: the branch moves, the bead goes to review, and all attempts are put away.
pub(super) async fn take_over(case: &mut Case<'_>) -> Result<()> {
    let Some(pick) = case.trial.pick.clone() else { return Ok(()) };
    if !pick.in_review {
        move_branch(case, &pick).await?;
        bring_to_review(case, &pick).await?;
    }
    finish(case, Stage::Picked).await
}

/// Lets all attempts go: they are put away, and the bead is given back.
pub(super) async fn let_go(case: &mut Case<'_>) -> Result<()> {
    finish(case, Stage::Dropped).await
}

/// Moves the branch of the bead, unless somebody else has; then the choice is open again.
async fn move_branch(case: &Case<'_>, pick: &Pick) -> Result<()> {
    let (_, folder) = case.fleet.project(&case.call, case.trial.project).await?;
    let bead: Name = case.trial.bead.parse()?;
    let (commit, before) = (pick.commit.clone(), pick.before.clone());
    let take =
        move |bench: &godel_git::Workbench| bench.take_over(&bead, &commit, before.as_deref());
    let Taken::Moved(found) = case.fleet.at_bench(folder, take).await? else { return Ok(()) };
    let found = found.unwrap_or_else(|| "nowhere".to_owned());
    let why = format!("the branch bead/{} was moved to {found} meanwhile", case.trial.bead);
    let (bead, said) = (case.trial.bead.clone(), why.clone());
    let back = move |tx: &mut Tx<'_>, trial: &mut Trial| {
        (trial.stage, trial.pick) = (Stage::Running, None);
        trial.note = Some(said.clone());
        mark(tx, trial, Fate::Open)
    };
    case.change(None, back).await?;
    let hint = format!("look at it: git log bead/{bead}; then pick again");
    Err(Error::refused(code::ATTEMPT_REFUSED, why, hint))
}

/// Brings the bead to review, as if the picked agent had worked alone.
async fn bring_to_review(case: &mut Case<'_>, pick: &Pick) -> Result<()> {
    let (fleet, call, trial) = (case.fleet, &case.call, &case.trial);
    let (app, project) = (fleet.app(), Some(trial.project));
    let agent = trial.attempt(pick.number)?.agent;
    let find = move |tx: &mut Tx<'_>| paper::by_id::<Agent>(tx, agent.uuid());
    let agent = paper::look(app, case.tenant(), find).await?;
    let bead = beads::get(app, call, project, &trial.bead).await?.value.0;
    if bead.status < BeadStatus::Review {
        if let Some(agent) = &agent {
            let said = agent.trial.iter().flat_map(|part| part.verdicts.clone());
            let said = said.filter(|said| said.commit == pick.commit).collect();
            check::judge(fleet, call, agent, said).await?;
        }
        let reason = format!("{} picked attempt {} all the same", pick.by, pick.number);
        let wanted = beads::Move {
            status: Some(BeadStatus::Review),
            token: trial.claim.clone(),
            force: pick.forced,
            reason: pick.forced.then_some(reason),
            ..beads::Move::default()
        };
        match beads::move_to(app, call, project, &bead.id, wanted.clone()).await {
            // The hold may have ended while everything stood still; nobody else has taken the bead.
            Err(error) if error.code() == code::LEASE_LOST => {
                let bare = beads::Move { token: None, ..wanted };
                beads::move_to(app, call, project, &bead.id, bare).await?;
            }
            moved => drop(moved?),
        }
    }
    let judged = match &agent {
        Some(agent) => hearing::is_wanted(fleet, call, agent).await?,
        None => false,
    };
    let fleet_ = fleet.clone();
    let note = move |tx: &mut Tx<'_>, trial: &mut Trial| {
        let Some(pick) = &mut trial.pick else { return Ok(()) };
        (pick.in_review, trial.note) = (true, None);
        match agent.as_ref().filter(|_| judged) {
            Some(agent) => hearing::ask(&fleet_, tx, agent),
            None => Ok(()),
        }
    };
    case.trial = case.change(None, note).await?;
    Ok(())
}

/// Stops agents that are still at it, puts all attempts away, and ends the trial.
async fn finish(case: &mut Case<'_>, stage: Stage) -> Result<()> {
    let people = case.agents().await?;
    for agent in people.iter().filter_map(|(_, agent)| agent.as_ref()) {
        if !agent.life.is_over() {
            // It may have ended in this very moment.
            if let Err(error) = agents::kill(case.fleet, &case.call, &agent.id.to_string()).await {
                tracing::debug!(agent = %agent.id, %error, "an attempt was not stopped");
            }
        }
    }
    let until = tokio::time::Instant::now() + LEAVE_PATIENCE;
    while people.iter().any(|(one, _)| case.fleet.leads(one.agent)) {
        if tokio::time::Instant::now() >= until {
            return Ok(());
        }
        tokio::time::sleep(LEAVE_LOOK).await;
    }
    let (_, folder) = case.fleet.project(&case.call, case.trial.project).await?;
    for attempt in case.trial.attempts.clone() {
        let (bead, tree): (Name, Name) =
            (case.trial.bead.parse()?, case.trial.tree(attempt.number)?);
        let (number, base) = (attempt.number, case.trial.base.clone());
        let away = case
            .fleet
            .at_bench(folder.clone(), move |bench| bench.put_away((&bead, number), &tree, &base));
        let away = away.await?;
        let note = move |_: &mut Tx<'_>, trial: &mut Trial| {
            let own = trial.attempts.iter_mut().filter(|one| one.number == number);
            for one in own {
                let PutAway { reference, commit, rescued } = away.clone();
                (one.archived, one.commit, one.rescued) = (reference, commit, rescued);
            }
            Ok(())
        };
        case.trial = case.change(None, note).await?;
    }
    if stage == Stage::Dropped {
        give_back(case).await?;
    }
    let (app, call, now) =
        (case.fleet.app().clone(), case.call.clone(), case.fleet.app().clock.now());
    let end = move |tx: &mut Tx<'_>, trial: &mut Trial| {
        (trial.stage, trial.ended_at, trial.note) = (stage, Some(now), None);
        if stage == Stage::Dropped {
            mark(tx, trial, Fate::Dropped)?;
        }
        if let Some(cap) = &trial.cap {
            budgets::uncap_bead(&app, &call, tx, (&trial.bead, cap.before))?;
        }
        let people = agents_of(tx, &trial.attempts)?;
        close_notices(tx, &people)
    };
    case.trial = case.change(Some("attempt:archived"), end).await?;
    case.fleet.has_moved();
    Ok(())
}

/// Gives the bead back, if it is still held by the trial.
pub(super) async fn give_back(case: &Case<'_>) -> Result<()> {
    let (app, trial) = (case.fleet.app(), &case.trial);
    let project = Some(trial.project);
    let bead = beads::get(app, &case.call, project, &trial.bead).await?.value.0;
    let held = bead.agent.as_deref() == Some(trial.holder().as_str());
    if held && bead.status < BeadStatus::Review {
        beads::release(app, &case.call, project, &trial.bead, (None, true)).await?;
    }
    Ok(())
}
