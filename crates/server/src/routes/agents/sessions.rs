//! Sessions: conversations of agents.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Agent, Page, Success, Talk, TalkChange, TalkCompared, TalkEnd, TalkNodes};
use godel_fleet::sessions;
use godel_model::AgentId;
use godel_studio::{ends, talks};
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::super::list::{ListQuery, Listing};
use super::shape;
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// How many nodes one request gets.
const NODES_MAX: usize = 500;

/// List sessions
///
/// The newest first. The filter takes `bead` (its id), and `projectId` beside it where several projects have a bead of
/// that id.
#[utoipa::path(get, path = "/sessions", tag = "agents", operation_id = "listSessions", params(ListQuery),
    responses((status = 200, description = "A page of sessions", body = Success<Page<Talk>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<Uuid> = query.check("sessions", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    let bead = listing.take_one("bead")?;
    let project = match &bead {
        Some(_) => listing.take_one("projectId")?.map(|id| id.parse()).transpose()?,
        None => None,
    };
    listing.no_more_fields()?;
    let limit = listing.limit;
    let (fleet, call, from, wanted) = (&shared.fleet, &caller.call, listing.from, limit + 1);
    let mut found = match &bead {
        Some(bead) => {
            let page = (from.map(AgentId::from_uuid), wanted);
            talks::of_bead(fleet, call, (project, bead), page).await?
        }
        None => sessions::list(fleet, call, (from, wanted)).await?,
    };
    let more = found.len() > limit;
    found.truncate(limit);
    // Those of a bead are found by their agents, and an agent is there for longer than what it said.
    let position = |talk: &godel_fleet::Talk| match &bead {
        Some(_) => talk.agent.uuid(),
        None => talk.id,
    };
    let last = found.last().filter(|_| more).map(|one| position(&one.0));
    let items: Vec<Talk> = found.into_iter().map(shape::talk).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Get a session
#[utoipa::path(get, path = "/sessions/{id}", tag = "agents", operation_id = "getSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    responses((status = 200, description = "The session", body = Success<Talk>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = sessions::find(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(shape::talk(found))))
}

/// Which nodes are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NodeQuery {
    /// The first node; 0 unless given.
    from: Option<u32>,
    /// How many at most: 1 to 500, 100 unless given.
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<usize>,
}

/// Read the nodes of a session
#[utoipa::path(get, path = "/sessions/{id}/nodes", tag = "agents", operation_id = "readSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent"), NodeQuery),
    responses((status = 200, description = "Nodes", body = Success<TalkNodes>)))]
pub(crate) async fn nodes(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<NodeQuery>,
) -> ApiResult<impl IntoResponse> {
    let part = (query.from.unwrap_or(0), query.limit.unwrap_or(100).clamp(1, NODES_MAX));
    let (found, next) = sessions::nodes(&shared.fleet, &caller.call, &name, part).await?;
    let items = found.into_iter().map(shape::node).collect();
    Ok(Json(Success::new(TalkNodes { items, next })))
}

/// Which ends are compared.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EndsQuery {
    /// The number of the one node.
    left: u32,
    /// The number of the other node.
    right: u32,
}

/// Compare the files of two ends of a session
///
/// The files of an end are those of the worktree, if the agent stands there now, or else those of the newest snapshot
/// at it or at the nearest node before it.
#[utoipa::path(get, path = "/sessions/{id}/compare", tag = "agents", operation_id = "compareSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent"), EndsQuery),
    responses((status = 200, description = "What differs", body = Success<TalkCompared>)))]
pub(crate) async fn compare(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(EndsQuery { left, right }): Query<EndsQuery>,
) -> ApiResult<impl IntoResponse> {
    let found = ends::compare(&shared.fleet, &caller.call, &name, (left, right)).await?;
    let ends::Compared { left, right, stat, patch, cut } = found;
    let end = |end: ends::End| {
        let ends::End { node, files_of, live, commit } = end;
        TalkEnd { node, files_of, live, commit }
    };
    let (left, right, files) = (end(left), end(right), stat.files as u64);
    let (added, removed) = (stat.added, stat.removed);
    Ok(Json(Success::new(TalkCompared { left, right, files, added, removed, patch, cut })))
}

async fn talk(
    shared: &Shared,
    caller: &Caller,
    changed: godel_fleet::Talk,
) -> ApiResult<Json<Success<Talk>>> {
    let found = sessions::find(&shared.fleet, &caller.call, &changed.id.to_string()).await?;
    Ok(Json(Success::new(shape::talk(found))))
}

/// Fork a session
///
/// Makes a new agent with a bead and a worktree of its own, which goes on from the node.
#[utoipa::path(post, path = "/sessions/{id}/fork", tag = "agents", operation_id = "forkSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    request_body = TalkChange,
    responses((status = 201, description = "The new agent", body = Success<Agent>)))]
pub(crate) async fn fork(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<TalkChange>,
) -> ApiResult<impl IntoResponse> {
    let made = sessions::fork(&shared.fleet, &caller.call, &name, body.value.node).await?;
    Ok((StatusCode::CREATED, Json(Success::new(shape::agent(&shared, &caller, made).await?))))
}

/// Begin a branch of a session
#[utoipa::path(post, path = "/sessions/{id}/branch", tag = "agents", operation_id = "branchSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    request_body = TalkChange,
    responses((status = 200, description = "The session", body = Success<Talk>)))]
pub(crate) async fn branch(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<TalkChange>,
) -> ApiResult<impl IntoResponse> {
    let how = (body.value.name, body.value.node);
    let changed = sessions::branch(&shared.fleet, &caller.call, &name, how).await?;
    talk(&shared, &caller, changed).await
}

/// Choose the branch of a session to go on with
#[utoipa::path(post, path = "/sessions/{id}/switch", tag = "agents", operation_id = "switchSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    request_body = TalkChange,
    responses((status = 200, description = "The session", body = Success<Talk>)))]
pub(crate) async fn switch(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<TalkChange>,
) -> ApiResult<impl IntoResponse> {
    let changed = sessions::switch(&shared.fleet, &caller.call, &name, body.value.name).await?;
    talk(&shared, &caller, changed).await
}

/// Make a session shorter
///
/// A summary stands for what was said; nothing is deleted.
#[utoipa::path(post, path = "/sessions/{id}/compact", tag = "agents", operation_id = "compactSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    request_body = TalkChange,
    responses((status = 200, description = "The session", body = Success<Talk>)))]
pub(crate) async fn compact(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<TalkChange>,
) -> ApiResult<impl IntoResponse> {
    let changed = sessions::compact(&shared.fleet, &caller.call, &name, body.value.summary).await?;
    talk(&shared, &caller, changed).await
}

/// Save where a session stands, under a name
#[utoipa::path(post, path = "/sessions/{id}/save", tag = "agents", operation_id = "saveSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    request_body = TalkChange,
    responses((status = 200, description = "The session", body = Success<Talk>)))]
pub(crate) async fn save(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<TalkChange>,
) -> ApiResult<impl IntoResponse> {
    let changed = sessions::save(&shared.fleet, &caller.call, &name, body.value.name).await?;
    talk(&shared, &caller, changed).await
}

/// Go on with a session
#[utoipa::path(post, path = "/sessions/{id}/resume", tag = "agents", operation_id = "resumeSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    responses((status = 200, description = "The session", body = Success<Talk>)))]
pub(crate) async fn resume(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let changed = sessions::resume(&shared.fleet, &caller.call, &name).await?;
    talk(&shared, &caller, changed).await
}

/// Put a session away
#[utoipa::path(post, path = "/sessions/{id}/archive", tag = "agents", operation_id = "archiveSession",
    params(("id" = String, Path, description = "The id of the session, or the name of its agent")),
    responses((status = 200, description = "The session", body = Success<Talk>)))]
pub(crate) async fn archive(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let changed = sessions::archive(&shared.fleet, &caller.call, &name).await?;
    talk(&shared, &caller, changed).await
}
