//! What is worth knowing later.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use godel_api::{Memories, Memory, NewMemory, Success};
use godel_app::beads::{self, Placed};
use godel_beads::Memory as Known;
use http::StatusCode;

use super::InProject;
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

fn memory(placed: Placed<Known>) -> Memory {
    let Known { id, text, created_by, updated_at, .. } = placed.value;
    Memory { id, project_id: placed.project.uuid(), text, created_by, updated_at }
}

/// List what is remembered
#[utoipa::path(get, path = "/memories", tag = "beads", operation_id = "listMemories", params(InProject),
    responses((status = 200, description = "All of it", body = Success<Memories>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let known = beads::recall(&shared.app, &caller.call, project.id()).await?;
    Ok(Json(Success::new(Memories { items: known.into_iter().map(memory).collect() })))
}

/// Remember something
#[utoipa::path(post, path = "/memories", tag = "beads", operation_id = "remember", params(InProject),
    request_body = NewMemory,
    responses((status = 201, description = "It is remembered", body = Success<Memory>)))]
pub(crate) async fn remember(
    State(shared): State<Shared>,
    caller: Caller,
    Query(project): Query<InProject>,
    body: JsonBody<NewMemory>,
) -> ApiResult<Response> {
    let said = (body.value.name, body.value.text);
    let known = beads::remember(&shared.app, &caller.call, project.id(), said).await?;
    Ok((StatusCode::CREATED, Json(Success::new(memory(known)))).into_response())
}

/// Forget something
#[utoipa::path(delete, path = "/memories/{id}", tag = "beads", operation_id = "forget", params(InProject,
        ("id" = String, Path, description = "The name of what is remembered", max_length = 60)),
    responses((status = 204, description = "It is forgotten")))]
pub(crate) async fn forget(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
) -> ApiResult<StatusCode> {
    beads::forget(&shared.app, &caller.call, project.id(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
