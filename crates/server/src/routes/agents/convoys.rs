//! Convoys that are run.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{ConvoyRun, StartConvoy, Success};
use godel_fleet::march;

use super::super::beads::InProject;
use super::shape;
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// Run a convoy
///
/// Its beads are worked on as they become ready, by as many agents as asked for; those that wait for
/// others wait. Work lands as the project's `review` says; with `together` all of it lands as one.
#[utoipa::path(post, path = "/convoys/{id}/start", tag = "agents", operation_id = "startConvoy",
    params(("id" = String, Path, description = "The id of the convoy"), InProject),
    request_body = StartConvoy,
    responses((status = 200, description = "How it stands", body = Success<ConvoyRun>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<StartConvoy>,
) -> ApiResult<impl IntoResponse> {
    let StartConvoy { agents, budget_micros: budget, harness, model, role, .. } = body.value;
    let StartConvoy { runtime, sandbox, together, .. } = body.value;
    let orders = march::Orders { agents, budget, harness, model, role, runtime, sandbox, together };
    march::start(&shared.fleet, &caller.call, (project.id(), &name), orders).await?;
    let found = march::find(&shared.fleet, &caller.call, (project.id(), &name)).await?;
    Ok(Json(Success::new(shape::march(found))))
}

/// Let a convoy begin nothing new
///
/// Agents that are at work go on.
#[utoipa::path(post, path = "/convoys/{id}/stop", tag = "agents", operation_id = "stopConvoy",
    params(("id" = String, Path, description = "The id of the convoy"), InProject),
    responses((status = 200, description = "How it stands", body = Success<ConvoyRun>)))]
pub(crate) async fn stop(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    march::halt(&shared.fleet, &caller.call, (project.id(), &name)).await?;
    let found = march::find(&shared.fleet, &caller.call, (project.id(), &name)).await?;
    Ok(Json(Success::new(shape::march(found))))
}

/// Tell how a convoy is run
#[utoipa::path(get, path = "/convoys/{id}/run", tag = "agents", operation_id = "getConvoyRun",
    params(("id" = String, Path, description = "The id of the convoy"), InProject),
    responses((status = 200, description = "How it stands", body = Success<ConvoyRun>)))]
pub(crate) async fn run(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let found = march::find(&shared.fleet, &caller.call, (project.id(), &name)).await?;
    Ok(Json(Success::new(shape::march(found))))
}
