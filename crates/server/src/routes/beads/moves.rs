//! What is done to a bead: who holds it, where it goes, what is said, what it is linked to.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use godel_api::{
    AssignBead, Bead, BeadClaim, BeadLink, ClaimBead, ExtendBead, MoveBead, NewComment,
    ReleaseBead, Success,
};
use godel_app::beads::{self, Move, Placed};
use godel_beads::ops::{Claim, DEFAULT_LEASE_SECS};
use http::StatusCode;

use super::{InProject, answer, shape};
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

pub(super) fn claimed(placed: Placed<Claim>) -> BeadClaim {
    let Claim { bead, token, until } = placed.value;
    BeadClaim { bead: shape::bead(placed.project, bead), token, until }
}

/// Assign a bead
#[utoipa::path(post, path = "/beads/{id}/assign", tag = "beads", operation_id = "assignBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    request_body = AssignBead,
    responses((status = 200, description = "The bead", body = Success<Bead>)))]
pub(crate) async fn assign(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<AssignBead>,
) -> ApiResult<Response> {
    let wanted = (body.value.agent_id, body.value.start);
    let bead = beads::assign(&shared.app, &caller.call, project.id(), &id, wanted).await?;
    Ok(answer(StatusCode::OK, bead))
}

/// Claim a bead
///
/// One claimer wins; the others are told who holds it and until when. The token is shown once.
#[utoipa::path(post, path = "/beads/{id}/claim", tag = "beads", operation_id = "claimBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    request_body = ClaimBead,
    responses((status = 200, description = "The claim", body = Success<BeadClaim>)))]
pub(crate) async fn claim(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<ClaimBead>,
) -> ApiResult<impl IntoResponse> {
    let wanted = (body.value.agent_id, body.value.lease_secs.unwrap_or(DEFAULT_LEASE_SECS));
    let claim = beads::claim(&shared.app, &caller.call, project.id(), Some(&id), wanted).await?;
    Ok(Json(Success::new(claimed(claim))))
}

/// Extend a claim
#[utoipa::path(post, path = "/beads/{id}/heartbeat", tag = "beads", operation_id = "extendBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    request_body = ExtendBead,
    responses((status = 200, description = "The bead", body = Success<Bead>)))]
pub(crate) async fn extend(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<ExtendBead>,
) -> ApiResult<Response> {
    let wanted = (body.value.token, body.value.lease_secs.unwrap_or(DEFAULT_LEASE_SECS));
    let bead = beads::heartbeat(&shared.app, &caller.call, project.id(), &id, wanted).await?;
    Ok(answer(StatusCode::OK, bead))
}

/// Give a bead back
#[utoipa::path(post, path = "/beads/{id}/release", tag = "beads", operation_id = "releaseBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    request_body = ReleaseBead,
    responses((status = 200, description = "The bead", body = Success<Bead>)))]
pub(crate) async fn release(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<ReleaseBead>,
) -> ApiResult<Response> {
    let wanted = (body.value.token, body.value.force);
    let bead = beads::release(&shared.app, &caller.call, project.id(), &id, wanted).await?;
    Ok(answer(StatusCode::OK, bead))
}

/// Move a bead
///
/// To a status that it has earned, or to its end with a resolution and a sentence. What is missing
/// is said.
#[utoipa::path(post, path = "/beads/{id}/move", tag = "beads", operation_id = "moveBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    request_body = MoveBead,
    responses((status = 200, description = "The bead", body = Success<Bead>)))]
pub(crate) async fn advance(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<MoveBead>,
) -> ApiResult<Response> {
    let MoveBead { status, resolution, reason, token, force } = body.value;
    let status = status.map(|status| status.parse()).transpose()?;
    let resolution = resolution.map(|resolution| resolution.parse()).transpose()?;
    let wanted = Move { status, resolution, reason, token, force };
    let bead = beads::move_to(&shared.app, &caller.call, project.id(), &id, wanted).await?;
    Ok(answer(StatusCode::OK, bead))
}

/// Comment on a bead
#[utoipa::path(post, path = "/beads/{id}/comments", tag = "beads", operation_id = "commentBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    request_body = NewComment,
    responses((status = 201, description = "The bead with the comment", body = Success<Bead>)))]
pub(crate) async fn comment(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<NewComment>,
) -> ApiResult<Response> {
    let (app, call) = (&shared.app, &caller.call);
    beads::comment(app, call, project.id(), &id, body.value.text).await?;
    let Placed { project, value: (bead, _), tag } =
        beads::get(app, call, project.id(), &id).await?;
    Ok(answer(StatusCode::CREATED, Placed { project, value: bead, tag }))
}

/// Link a bead
///
/// It depends on the target if the type blocks. A link that would close a circle is refused.
#[utoipa::path(post, path = "/beads/{id}/links", tag = "beads", operation_id = "linkBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    request_body = BeadLink,
    responses((status = 201, description = "The bead with the link", body = Success<Bead>)))]
pub(crate) async fn link(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<BeadLink>,
) -> ApiResult<Response> {
    let wanted = (body.value.kind.parse()?, body.value.target);
    let bead = beads::link(&shared.app, &caller.call, project.id(), &id, wanted).await?;
    Ok(answer(StatusCode::CREATED, bead))
}

/// Remove a link of a bead
#[utoipa::path(delete, path = "/beads/{id}/links/{type}/{target}", tag = "beads", operation_id = "unlinkBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200),
        ("type" = String, Path, description = "The type of the link, or `any`", max_length = 100),
        ("target" = String, Path, description = "The other bead", max_length = 200)),
    responses((status = 200, description = "The bead without the link", body = Success<Bead>)))]
pub(crate) async fn unlink(
    State(shared): State<Shared>,
    caller: Caller,
    Path((id, kind, target)): Path<(String, String, String)>,
    Query(project): Query<InProject>,
) -> ApiResult<Response> {
    let Word(id) = id.parse()?;
    let Word(target) = target.parse()?;
    let kind = if kind == "any" { None } else { Some(kind.parse()?) };
    let wanted = (kind, target);
    let bead = beads::unlink(&shared.app, &caller.call, project.id(), &id, wanted).await?;
    Ok(answer(StatusCode::OK, bead))
}
