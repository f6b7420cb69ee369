//! Worktrees: where work is done, and those that are of no use any more.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    CleanWorktrees, CleanedWorktrees, RemovedWorktree, Success, Worktree, WorktreeFate,
    WorktreeList,
};
use godel_board::worktrees;
use godel_git::{Due, Fate, Remove, Removed};
use godel_model::ProjectId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// How a worktree is removed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemoveQuery {
    /// The project, by its id; needed only if several have a worktree of that name.
    project: Option<String>,
    /// Although it is locked or a process works in it; work is saved all the same.
    #[serde(default)]
    force: bool,
    /// Deletes the branch, too; commits that nobody else has are saved.
    #[serde(default)]
    delete_branch: bool,
}

fn gone(project: ProjectId, removed: Removed) -> RemovedWorktree {
    RemovedWorktree {
        id: removed.id.to_string(),
        project_id: project.uuid(),
        branch: removed.branch,
        branch_deleted: removed.branch_deleted,
        restore: removed.rescued.into_iter().map(|rescue| rescue.restore).collect(),
        ignored_bytes: removed.ignored.bytes,
    }
}

/// List worktrees
///
/// Of all projects that the caller works in.
#[utoipa::path(get, path = "/worktrees", tag = "agents", operation_id = "listWorktrees",
    responses((status = 200, description = "The worktrees", body = Success<WorktreeList>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = worktrees::list(&shared.fleet, &caller.call, None).await?;
    let items = found.into_iter().map(|(project, entry)| Worktree {
        id: entry.id.as_str().to_owned(),
        project_id: project.uuid(),
        path: entry.path.display().to_string(),
        branch: entry.branch,
        head: entry.head,
        ahead: entry.ahead,
        dirty: entry.dirty,
        state: entry.state.as_str().to_owned(),
    });
    Ok(Json(Success::new(WorktreeList { items: items.collect() })))
}

/// Remove a worktree
///
/// What is not committed, and commits that nobody else has, are saved first; the answer says how to get them
/// back. The branch goes if others have all of it. Not from under an agent that will go on.
#[utoipa::path(delete, path = "/worktrees/{id}", tag = "agents", operation_id = "removeWorktree",
    params(("id" = String, Path, description = "Its name: the id of its bead"), RemoveQuery),
    responses((status = 200, description = "What is gone, and what was saved", body = Success<RemovedWorktree>)))]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(query): Query<RemoveQuery>,
) -> ApiResult<impl IntoResponse> {
    let project = query.project.map(|text| text.parse::<ProjectId>()).transpose()?;
    let branch = if query.delete_branch { Fate::Delete } else { Fate::Auto };
    let how = Remove { force: query.force, branch };
    let found = worktrees::remove(&shared.fleet, &caller.call, (project, &id), how).await?;
    Ok(Json(Success::new(gone(found.0, found.1))))
}

/// Clean worktrees up
///
/// Removes those whose policy says that their time has come, or only tells which. All work in them is saved.
#[utoipa::path(post, path = "/worktrees/cleanup", tag = "agents", operation_id = "cleanWorktrees",
    request_body = CleanWorktrees,
    responses((status = 200, description = "What is gone, and what stays", body = Success<CleanedWorktrees>)))]
pub(crate) async fn cleanup(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<CleanWorktrees>,
) -> ApiResult<impl IntoResponse> {
    let CleanWorktrees { project_id, dry_run } = body.value;
    let only = project_id.map(ProjectId::from_uuid);
    let all = worktrees::cleanup(&shared.fleet, &caller.call, only, dry_run).await?;
    let mut told = CleanedWorktrees::default();
    for (project, cleaned) in all {
        let fate = |id: String, why: String| WorktreeFate { id, project_id: project.uuid(), why };
        let due = |one: Due| fate(one.id.to_string(), one.why);
        told.removed.extend(cleaned.removed.into_iter().map(|one| gone(project, one)));
        told.due.extend(cleaned.due.into_iter().map(due));
        told.kept.extend(cleaned.kept.into_iter().map(due));
        let refused = cleaned.refused.into_iter();
        told.refused.extend(refused.map(|one| fate(one.id.to_string(), one.why)));
    }
    Ok(Json(Success::new(told)))
}
