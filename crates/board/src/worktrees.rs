//! Worktrees of all projects, as people see them, and those that are of no use any more.

use std::collections::HashMap;

use godel_app::{Call, beads};
use godel_beads::ops::Changes;
use godel_fleet::{Agent, Fleet, paper};
use godel_git::{Cleaned, Cleaning, Entry, Name, Remove, Removed, Workbench};
use godel_model::{Life, Project, ProjectId, Reach, Report as _, code};
use godel_store::Tx;
use tracing::instrument;

use crate::{Error, Result};

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

/// Saves all work in a worktree, then removes it. It goes on if nobody waits any more.
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
        match fleet.at_bench(folder.clone().into(), move |bench| bench.info(&wanted)).await {
            Ok(_) => having.push((project, folder)),
            Err(error) if error.code() == code::WORKTREE_NOT_FOUND || only.is_none() => {}
            Err(error) => return Err(error),
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
    if let Some(agent) = at_work(fleet, call, project).await?.remove(id) {
        let hint = format!("end it first: godel agent kill {agent}");
        let why = format!("{agent} works in the worktree {id}");
        return Err(Error::refused(code::WORKTREE_BUSY, why, hint));
    }
    let (fleet_, call_) = (fleet.clone(), call.clone());
    let work = async move {
        let gone = fleet_.at_bench(folder.into(), move |bench| bench.remove(&name, how)).await?;
        forget(&fleet_, &call_, project, &gone).await;
        Ok((project, gone))
    };
    fleet.to_its_end(work).await
}

/// Removes the worktrees whose policy says that their time has come, or only tells which. It goes on if nobody
/// waits any more.
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
    let (fleet_, call_) = (fleet.clone(), call.clone());
    let work = async move {
        let mut all = Vec::new();
        for (project, folder) in places(&fleet_, &call_, only).await? {
            match clean(&fleet_, &call_, (project, folder), dry_run).await {
                Ok(cleaned) => all.push((project, cleaned)),
                Err(error) => tracing::warn!(%project, %error, "worktrees are not cleaned up"),
            }
        }
        Ok(all)
    };
    fleet.to_its_end(work).await
}

/// Removes those of one project whose time has come: not from under an agent that will go on.
async fn clean(
    fleet: &Fleet,
    call: &Call,
    (project, folder): (ProjectId, String),
    dry_run: bool,
) -> Result<Cleaned> {
    let taken = at_work(fleet, call, project).await?;
    let cleaning = Cleaning { dry_run, taken, ..Cleaning::default() };
    let cleaned = fleet.at_bench(folder.into(), move |bench| bench.cleanup(&cleaning)).await?;
    for removed in &cleaned.removed {
        forget(fleet, call, project, removed).await;
    }
    Ok(cleaned)
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

/// Finds the worktrees of a project that agents have who will go on, each with the name of its agent.
async fn at_work(
    fleet: &Fleet,
    call: &Call,
    project: ProjectId,
) -> Result<HashMap<String, String>> {
    let find = move |tx: &mut Tx<'_>| {
        let mut found = HashMap::new();
        for life in Life::ALL.into_iter().filter(|life| !life.is_over()) {
            let agents: Vec<Agent> = paper::all_in_state(tx, life.as_str())?;
            let own = agents.into_iter().filter(|agent| agent.project == project);
            found.extend(own.map(|agent| (agent.tree(), agent.label)));
        }
        Ok(found)
    };
    paper::look(fleet.app(), call.actor.tenant, find).await
}

/// Lets the bead say no longer that it is worked on there. A worktree may be for something that is no bead.
async fn forget(fleet: &Fleet, call: &Call, project: ProjectId, removed: &Removed) {
    let id = removed.id.to_string();
    // A name may be the beginning of another bead's.
    let names_it = match beads::get(fleet.app(), call, Some(project), &id).await {
        Ok(found) => found.value.0.id == id && found.value.0.worktree.is_some(),
        Err(_) => false,
    };
    if !names_it {
        return;
    }
    let changes = Changes { no_worktree: true, ..Changes::default() };
    if let Err(error) = beads::update(fleet.app(), call, Some(project), &id, changes).await {
        tracing::warn!(%id, %error, "a bead still names a worktree that is gone");
    }
}
