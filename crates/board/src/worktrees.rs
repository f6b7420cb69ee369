//! Worktrees of all projects, as people see them, and those that are of no use any more.

use godel_app::Call;
use godel_app::beads;
use godel_beads::ops::Changes;
use godel_fleet::{Agent, Fleet, paper};
use godel_git::{Cleaned, Cleaning, Entry, Name, Remove, Removed, Workbench};
use godel_model::{Project, ProjectId, Reach, Report as _, code};
use godel_store::Tx;
use tracing::instrument;

use crate::{Error, Result};

/// How many agents of one bead are looked at.
const AGENTS_MAX: usize = 100;

/// Lists the worktrees of the projects that a caller works in.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "board.worktrees.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    only: Option<ProjectId>,
) -> Result<Vec<(ProjectId, Entry)>> {
    call.may("agent", "read", Reach::Team)?;
    let mut found = Vec::new();
    for (project, folder) in places(fleet, call, only).await? {
        // A repository that went away must not hide the others.
        match fleet.at_bench(folder.into(), Workbench::list).await {
            Ok(entries) => found.extend(entries.into_iter().map(|one| (project, one))),
            Err(error) => tracing::warn!(%project, %error, "worktrees are not listed"),
        }
    }
    Ok(found)
}

/// Saves all work in a worktree, then removes it.
///
/// # Errors
/// If the caller may not, there is none, several projects have one of that name, or an agent works in it.
#[instrument(level = "debug", name = "board.worktrees.remove", skip_all, fields(tenant = %call.actor.tenant, id))]
pub async fn remove(
    fleet: &Fleet,
    call: &Call,
    (only, id): (Option<ProjectId>, &str),
    how: Remove,
) -> Result<(ProjectId, Removed)> {
    call.may("agent", "delete", Reach::Team)?;
    let name: Name = id.parse()?;
    let mut having = Vec::new();
    for (project, folder) in places(fleet, call, only).await? {
        let wanted = name.clone();
        let known = fleet.at_bench(folder.clone().into(), move |bench| bench.info(&wanted)).await;
        if known.is_ok() {
            having.push((project, folder));
        }
    }
    let (project, folder) = match <[_; 1]>::try_from(having) {
        Ok([one]) => one,
        Err(none) if none.is_empty() => {
            let hint = "see which there are: godel worktree list";
            let why = format!("there is no worktree {id}");
            return Err(Error::refused(code::WORKTREE_NOT_FOUND, why, hint));
        }
        Err(_) => {
            let why = format!("several projects have a worktree {id}");
            return Err(Error::refused(code::INVALID_QUERY, why, "name the project, too"));
        }
    };
    refuse_at_work(fleet, call, (project, id)).await?;
    let removed = fleet.at_bench(folder.into(), move |bench| bench.remove(&name, how)).await?;
    forget(fleet, call, project, &removed).await;
    Ok((project, removed))
}

/// Removes the worktrees whose policy says that their time has come, or only tells which.
///
/// # Errors
/// If the caller may not. A repository that cannot be read is left out.
#[instrument(level = "debug", name = "board.worktrees.cleanup", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn cleanup(
    fleet: &Fleet,
    call: &Call,
    only: Option<ProjectId>,
    dry_run: bool,
) -> Result<Vec<(ProjectId, Cleaned)>> {
    call.may("agent", "delete", Reach::Team)?;
    let mut all = Vec::new();
    for (project, folder) in places(fleet, call, only).await? {
        let cleaning = Cleaning { dry_run, ..Cleaning::default() };
        match fleet.at_bench(folder.into(), move |bench| bench.cleanup(&cleaning)).await {
            Ok(cleaned) => {
                for removed in &cleaned.removed {
                    forget(fleet, call, project, removed).await;
                }
                all.push((project, cleaned));
            }
            Err(error) => tracing::warn!(%project, %error, "worktrees are not cleaned up"),
        }
    }
    Ok(all)
}

/// Lists the repositories of the projects that a caller works in.
async fn places(
    fleet: &Fleet,
    call: &Call,
    only: Option<ProjectId>,
) -> Result<Vec<(ProjectId, String)>> {
    let actor = call.actor.clone();
    let find = move |tx: &mut Tx<'_>| Ok(tx.projects().with_repository()?);
    let projects: Vec<Project> = paper::look(fleet.app(), actor.tenant, find).await?;
    let wanted = |one: &Project| only.is_none_or(|only| only == one.id) && actor.works_in(one.id);
    let wanted = projects.into_iter().filter(wanted);
    Ok(wanted.filter_map(|one| one.repository.map(|folder| (one.id, folder))).collect())
}

/// Refuses to take the place of an agent that will go on.
async fn refuse_at_work(
    fleet: &Fleet,
    call: &Call,
    (project, bead): (ProjectId, &str),
) -> Result<()> {
    let owner = Agent::owner_of(project, bead);
    let find = move |tx: &mut Tx<'_>| paper::of::<Agent>(tx, &owner, None, AGENTS_MAX);
    let agents: Vec<Agent> = paper::look(fleet.app(), call.actor.tenant, find).await?;
    let Some(agent) = agents.iter().find(|agent| !agent.life.is_over()) else { return Ok(()) };
    let label = &agent.label;
    let hint = format!("end it first: godel agent kill {label}");
    Err(Error::refused(code::WORKTREE_BUSY, format!("{label} works in the worktree {bead}"), hint))
}

/// Lets the bead say no longer that it is worked on there. A worktree may be for something that is no bead.
async fn forget(fleet: &Fleet, call: &Call, project: ProjectId, removed: &Removed) {
    let changes = Changes { worktree: Some(None), ..Changes::default() };
    let id = removed.id.to_string();
    match beads::update(fleet.app(), call, Some(project), &id, changes).await {
        Ok(_) => {}
        Err(error) if error.code() == code::BEAD_NOT_FOUND => {}
        Err(error) => tracing::warn!(%id, %error, "a bead still names a worktree that is gone"),
    }
}
