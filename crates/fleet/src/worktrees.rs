//! Worktrees of all projects, as people see them.

use godel_app::Call;
use godel_git::Entry;
use godel_model::{Project, ProjectId, Reach};
use godel_store::Tx;
use tracing::instrument;

use crate::{Fleet, Result, paper};

/// Lists the worktrees of the projects that a caller works in.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "fleet.worktrees.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    fleet: &Fleet,
    call: &Call,
    only: Option<ProjectId>,
) -> Result<Vec<(ProjectId, Entry)>> {
    call.may("agent", "read", Reach::Team)?;
    let actor = call.actor.clone();
    let find = move |tx: &mut Tx<'_>| Ok(tx.projects().with_repository()?);
    let projects: Vec<Project> = paper::look(fleet.app(), actor.tenant, find).await?;
    let mut found = Vec::new();
    for project in projects {
        let wanted = only.is_none_or(|only| only == project.id) && actor.works_in(project.id);
        let Some(folder) = project.repository.filter(|_| wanted) else { continue };
        // A repository that went away must not hide the others.
        match fleet.at_bench(folder.into(), godel_git::Workbench::list).await {
            Ok(entries) => found.extend(entries.into_iter().map(|one| (project.id, one))),
            Err(error) => tracing::warn!(project = %project.id, %error, "worktrees are not listed"),
        }
    }
    Ok(found)
}
