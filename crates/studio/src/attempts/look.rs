//! Looking at attempts, side by side.

use std::path::PathBuf;

use godel_app::{Call, beads};
use godel_decide::attempts::Standing;
use godel_fleet::part::Said;
use godel_fleet::{Agent, Fleet, look, paper};
use godel_git::{DiffStat, Workbench};
use godel_model::{Life, ProjectId, Reach, code};
use godel_store::Tx;
use tracing::instrument;
use uuid::Uuid;

use super::doc::{Attempt, Stage, Trial};
use super::turn::agents_of;
use crate::{Error, Result};

/// How much of a comparison is shown.
const PATCH_MAX_BYTES: usize = 1 << 20;

/// An attempt as it is now.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The attempt.
    pub attempt: Attempt,
    /// Its agent; gone if somebody deleted it.
    pub agent: Option<Agent>,
    /// How it stands.
    pub standing: Standing,
    /// Its last commit, if it has made any.
    pub commit: Option<String>,
    /// How large its work is.
    pub stat: Option<DiffStat>,
    /// Whether the gates passed on that commit; nothing if they were not run on it.
    pub passed: Option<bool>,
    /// What they said.
    pub gates: Vec<Said>,
    /// What it has cost, in millionths of a dollar; nothing where a price is not known.
    pub spent: Option<i64>,
    /// For how many seconds it has worked.
    pub seconds: Option<u64>,
}

/// A trial as it is now.
#[derive(Debug, Clone)]
pub struct View {
    /// The trial.
    pub trial: Trial,
    /// Its attempts.
    pub attempts: Vec<Seen>,
    /// Whether all are at rest, and a person has to choose.
    pub needs_choice: bool,
    /// What all have cost.
    pub spent: Option<i64>,
}

/// What differs between two commits.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The bead.
    pub bead: String,
    /// The one.
    pub from: String,
    /// The other.
    pub to: String,
    /// How large it is.
    pub stat: DiffStat,
    /// The lines.
    pub patch: String,
    /// Whether lines are left out because they are too many.
    pub cut: bool,
}

/// Shows the last attempts at a bead.
///
/// # Errors
/// If the caller may not, or there are none.
#[instrument(level = "debug", name = "studio.attempts.show", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn show(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (Option<ProjectId>, &str),
) -> Result<View> {
    call.may("agent", "read", Reach::Team)?;
    let found = beads::get(fleet.app(), call, project, bead).await?;
    let (owner, id) = (Agent::owner_of(found.project, &found.value.0.id), found.value.0.id);
    let find = move |tx: &mut Tx<'_>| paper::of::<Trial>(tx, &owner, None, 1);
    let trial = paper::look(fleet.app(), call.actor.tenant, find).await?.pop();
    let none = || Error::NoAttempt(format!("at {id}"));
    view(fleet, call, trial.ok_or_else(none)?).await
}

/// Lists trials that are open, or those that are over; the newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "studio.attempts.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    (project, archived): (Option<ProjectId>, bool),
    limit: usize,
) -> Result<Vec<View>> {
    call.may("agent", "read", Reach::Team)?;
    let actor = call.actor.clone();
    let find = move |tx: &mut Tx<'_>| {
        let wanted = |trial: &Trial| {
            project.is_none_or(|only| only == trial.project) && actor.works_in(trial.project)
        };
        let stages: &[Stage] = if archived { &Stage::OVER } else { &Stage::OPEN };
        let mut found = Vec::new();
        for stage in stages {
            let page = |from, limit| paper::in_state::<Trial>(tx, stage.as_str(), from, limit);
            found.extend(paper::gather((None, limit), page, wanted)?);
        }
        found.sort_by_key(|trial| std::cmp::Reverse(trial.created_at));
        found.truncate(limit);
        Ok(found)
    };
    let mut views = Vec::new();
    for trial in paper::look(fleet.app(), call.actor.tenant, find).await? {
        let bead = trial.bead.clone();
        // One repository that cannot be read does not hide the others.
        match view(fleet, call, trial).await {
            Ok(view) => views.push(view),
            Err(error) => tracing::warn!(%bead, %error, "attempts could not be listed"),
        }
    }
    Ok(views)
}

/// Compares an attempt with what all began from, or with another.
///
/// # Errors
/// If the caller may not, or one of them has made no commit.
#[instrument(level = "debug", name = "studio.attempts.diff", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn diff(
    fleet: &Fleet,
    call: &Call,
    which: (Option<ProjectId>, &str),
    (number, other): (u32, Option<u32>),
) -> Result<Compared> {
    call.may("agent", "read", Reach::Team)?;
    let view = show(fleet, call, which).await?;
    let commit = |number: u32| {
        let seen = view.attempts.iter().find(|one| one.attempt.number == number);
        let seen = seen.ok_or_else(|| Error::NoAttempt(format!("{number} at {}", which.1)))?;
        seen.commit.clone().ok_or_else(|| {
            Error::refused(
                code::ATTEMPT_REFUSED,
                format!("attempt {number} has made no commit yet"),
                format!("look how it stands: godel attempt show {}", view.trial.bead),
            )
        })
    };
    let (from, to) = match other {
        Some(other) => (commit(number)?, commit(other)?),
        None => (view.trial.base.clone(), commit(number)?),
    };
    let (_, folder) = fleet.project(call, view.trial.project).await?;
    let bead = view.trial.bead.clone();
    let compare = move |bench: &Workbench| {
        let stat = bench.diff_stat(&from, &to)?;
        let patch = bench.compare(&from, &to)?;
        let cut = patch.len() > PATCH_MAX_BYTES;
        let mut end = patch.len().min(PATCH_MAX_BYTES);
        while !patch.is_char_boundary(end) {
            end -= 1;
        }
        let patch = patch.get(..end).unwrap_or_default().to_owned();
        Ok(Compared { bead, from, to, stat, patch, cut })
    };
    fleet.at_bench(folder, compare).await
}

/// Shows a trial anew.
pub(super) async fn one(fleet: &Fleet, call: &Call, id: Uuid) -> Result<View> {
    let find = move |tx: &mut Tx<'_>| paper::by_id::<Trial>(tx, id);
    let found = paper::look(fleet.app(), call.actor.tenant, find).await?;
    view(fleet, call, found.ok_or_else(|| Error::NoAttempt(id.to_string()))?).await
}

/// Puts together what is known of a trial.
async fn view(fleet: &Fleet, call: &Call, trial: Trial) -> Result<View> {
    let tenant = call.actor.tenant;
    let attempts = trial.attempts.clone();
    let find = move |tx: &mut Tx<'_>| agents_of(tx, &attempts);
    let people = paper::look(fleet.app(), tenant, find).await?;
    let agents: Vec<Agent> = people.iter().filter_map(|(_, agent)| agent.clone()).collect();
    let spent = look::spent(fleet, tenant, &agents).await?;
    let (_, folder) = fleet.project(call, trial.project).await?;
    let works = works(fleet, folder, &trial).await?;
    let now = fleet.app().clock.now();
    let seen: Vec<Seen> = people
        .into_iter()
        .zip(works)
        .map(|((attempt, agent), work)| {
            let (commit, stat) = work.unzip();
            let life = agent.as_ref().map(|agent| agent.life);
            let standing = Standing::of(life, attempt.begun);
            let gates = said(agent.as_ref(), commit.as_deref());
            let passed = passed(agent.as_ref(), commit.as_deref(), &gates);
            let cost = agent.as_ref().and_then(|agent| spent.get(&agent.id).copied().flatten());
            let seconds = agent.as_ref().and_then(|agent| {
                let end = agent.completed_at.unwrap_or(now).max(agent.spawned_at);
                u64::try_from(end.duration_since(agent.spawned_at).as_secs()).ok()
            });
            Seen { attempt, agent, standing, commit, stat, passed, gates, spent: cost, seconds }
        })
        .collect();
    let running = trial.stage == Stage::Running;
    // Whoever reads it here finds it in the inbox too.
    let told = running && trial.told;
    let needs_choice = told && seen.iter().all(|one| one.standing.is_at_rest());
    let known = seen.iter().filter(|one| one.agent.is_some());
    let spent = known.map(|one| one.spent).sum();
    Ok(View { trial, attempts: seen, needs_choice, spent })
}

/// Finds the last commit of each attempt, and how large its work is.
async fn works(
    fleet: &Fleet,
    folder: PathBuf,
    trial: &Trial,
) -> Result<Vec<Option<(String, DiffStat)>>> {
    let mut places = Vec::new();
    for attempt in &trial.attempts {
        places.push((trial.tree(attempt.number)?.branch(), attempt.commit.clone()));
    }
    let base = trial.base.clone();
    let find = move |bench: &Workbench| {
        let work = |(branch, kept): (String, Option<String>)| {
            let commit = match kept {
                Some(kept) => Some(kept),
                None => bench.head_of(&branch)?.filter(|head| *head != base),
            };
            commit.map(|at| bench.diff_stat(&base, &at).map(|stat| (at, stat))).transpose()
        };
        places.into_iter().map(work).collect()
    };
    fleet.at_bench(folder, find).await
}

/// Returns what gates said about a commit.
fn said(agent: Option<&Agent>, commit: Option<&str>) -> Vec<Said> {
    let all = agent.and_then(|agent| agent.trial.as_ref()).map(|part| part.verdicts.clone());
    let of_it = |said: &Said| Some(said.commit.as_str()) == commit;
    all.unwrap_or_default().into_iter().filter(of_it).collect()
}

/// Tells whether a commit was checked, and what came of it.
fn passed(agent: Option<&Agent>, commit: Option<&str>, gates: &[Said]) -> Option<bool> {
    let checked = agent.filter(|agent| commit.is_some() && agent.commit.as_deref() == commit)?;
    if checked.life == Life::Completed {
        return Some(true);
    }
    gates.iter().any(|said| !said.passed).then_some(false)
}
