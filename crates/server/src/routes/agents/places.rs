//! Copies and snapshots of agents, and where agents work.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Agent, AgentList, AgentSnapshot, ForkAgent, Page, Success};
use godel_fleet::snapshots;
use http::StatusCode;
use uuid::Uuid;

use super::super::list::{ListQuery, Listing};
use super::shape;
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// Shows a snapshot.
pub(super) fn snapshot(found: godel_fleet::Snapshot) -> AgentSnapshot {
    AgentSnapshot {
        id: found.id,
        snapshot: found.files.to_string(),
        agent_id: found.agent.uuid(),
        agent: found.label,
        user_id: found.user.map(godel_model::UserId::uuid),
        bead: found.bead,
        node: found.node.map(|node| node.0),
        commit: found.commit,
        imported: found.imported,
        taken_at: found.taken_at,
    }
}

/// Copy an agent
///
/// Files and conversation as they are now; each copy has a bead and a worktree of its own.
#[utoipa::path(post, path = "/agents/{id}/fork", tag = "agents", operation_id = "forkAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    request_body = ForkAgent,
    responses((status = 201, description = "The copies", body = Success<AgentList>)))]
pub(crate) async fn fork(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<ForkAgent>,
) -> ApiResult<impl IntoResponse> {
    let made = snapshots::fork(&shared.fleet, &caller.call, &name, body.value.copies).await?;
    let items = shape::agents(&shared, &caller, made).await?;
    Ok((StatusCode::CREATED, Json(Success::new(AgentList { items }))))
}

/// Take a snapshot of an agent
///
/// Its files and where its conversation stands, together.
#[utoipa::path(post, path = "/agents/{id}/snapshot", tag = "agents", operation_id = "snapshotAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    responses((status = 201, description = "The snapshot", body = Success<AgentSnapshot>)))]
pub(crate) async fn take(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let made = snapshots::take(&shared.fleet, &caller.call, &name).await?;
    Ok((StatusCode::CREATED, Json(Success::new(snapshot(made)))))
}

/// List snapshots
///
/// The newest first.
#[utoipa::path(get, path = "/snapshots", tag = "agents", operation_id = "listSnapshots", params(ListQuery),
    responses((status = 200, description = "A page of snapshots", body = Success<Page<AgentSnapshot>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let listing: Listing<Uuid> = query.check("snapshots", "takenAt", true)?;
    listing.descending_only("takenAt")?;
    listing.no_more_fields()?;
    let limit = listing.limit;
    let mut found = snapshots::list(&shared.fleet, &caller.call, (listing.from, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id);
    let items: Vec<AgentSnapshot> = found.into_iter().map(snapshot).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Restore a snapshot
///
/// Makes a new agent with these files and this conversation, on a bead and a worktree of its own.
#[utoipa::path(post, path = "/snapshots/{id}/restore", tag = "agents", operation_id = "restoreSnapshot",
    params(("id" = Uuid, Path, description = "The id of the snapshot")),
    responses((status = 201, description = "The new agent", body = Success<Agent>)))]
pub(crate) async fn restore(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
) -> ApiResult<impl IntoResponse> {
    let id: godel_model::EventId = id.parse()?;
    let made = snapshots::restore(&shared.fleet, &caller.call, id.uuid()).await?;
    let made = shape::agent(&shared, &caller, made).await?;
    Ok((StatusCode::CREATED, Json(Success::new(made))))
}
