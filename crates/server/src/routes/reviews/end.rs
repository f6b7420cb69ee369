//! What comes of a review.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    ApplyReview, ApproveReview, RequestReviewChanges, ReviewApplied, ReviewApproved,
    ReviewConflicts, ReviewRequested, Success,
};
use godel_git::Undecided;
use godel_model::ProjectId;
use godel_reviews::{self as reviews, Approve, Outcome, RequestChanges, Requested};
use http::header;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::super::beads::InProject;
use super::{shape, unknown};
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::routes::agents::landings;
use crate::state::Shared;

/// What a patch holds.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct PatchQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// What becomes of what is not decided: `leave_out`, unless `keep` is said.
    undecided: Option<String>,
}

fn undecided(given: Option<&str>) -> ApiResult<Option<Undecided>> {
    match given {
        None => Ok(None),
        Some("keep") => Ok(Some(Undecided::Keep)),
        Some("leave_out") => Ok(Some(Undecided::LeaveOut)),
        Some(_) => Err(unknown("undecided", "keep or leave_out")),
    }
}

/// Apply decisions
///
/// Commits what was accepted on the branch of the bead, as a commit of the caller. Nothing is moved if the branch
/// has moved meanwhile.
#[utoipa::path(post, path = "/reviews/{id}/apply", tag = "reviews", operation_id = "applyReview",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    request_body = ApplyReview,
    responses((status = 200, description = "The commit", body = Success<ReviewApplied>)))]
pub(crate) async fn apply(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<ApplyReview>,
) -> ApiResult<impl IntoResponse> {
    let ApplyReview { undecided: rest, commit } = body.value;
    let how = (undecided(rest.as_deref())?, commit);
    let found = reviews::apply(&shared.reviews, &caller.call, (project.id(), &name), how).await?;
    let Outcome { commit, tree, conflicts } = found;
    Ok(Json(Success::new(ReviewApplied { commit, tree, conflicts })))
}

/// What is taken back.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct UnapplyQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// Only if the branch is still at this commit.
    commit: Option<String>,
}

/// Take back what was applied
///
/// Commits the files from before on the branch of the bead, as a commit of the caller. It is refused if the branch
/// has another commit since: nothing is lost.
#[utoipa::path(delete, path = "/reviews/{id}/apply", tag = "reviews", operation_id = "unapplyReview",
    params(("id" = String, Path, description = "The id of the bead"), UnapplyQuery),
    responses((status = 200, description = "The commit", body = Success<ReviewApplied>)))]
pub(crate) async fn unapply(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<UnapplyQuery>,
) -> ApiResult<impl IntoResponse> {
    let which = (query.project_id.map(ProjectId::from_uuid), name.as_str());
    let found = reviews::unapply(&shared.reviews, &caller.call, which, query.commit).await?;
    let Outcome { commit, tree, conflicts } = found;
    Ok(Json(Success::new(ReviewApplied { commit, tree, conflicts })))
}

/// Read what the work conflicts with
///
/// The files in which it cannot be merged into its branch, and what both sides say there. Nothing is touched.
#[utoipa::path(get, path = "/reviews/{id}/conflicts", tag = "reviews", operation_id = "getReviewConflicts",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    responses((status = 200, description = "The conflicts", body = Success<ReviewConflicts>)))]
pub(crate) async fn conflicts(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let found = reviews::clashes(&shared.reviews, &caller.call, (project.id(), &name)).await?;
    Ok(Json(Success::new(shape::conflicts(found))))
}

/// Approve the work of a bead
///
/// As it is now: another commit needs another approval. It lands at once, unless `noLand` is said.
#[utoipa::path(post, path = "/reviews/{id}/approve", tag = "reviews", operation_id = "approveReview",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    request_body = ApproveReview,
    responses((status = 200, description = "Whether it landed", body = Success<ReviewApproved>)))]
pub(crate) async fn approve(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<ApproveReview>,
) -> ApiResult<impl IntoResponse> {
    let ApproveReview { note, no_land, commit } = body.value;
    let wanted = Approve { note, land: !no_land, commit };
    let found =
        reviews::approve(&shared.reviews, &caller.call, (project.id(), &name), wanted).await?;
    Ok(Json(Success::new(ReviewApproved {
        approval: shape::approval(found.approval),
        landing: found.landing.map(landings::alone),
    })))
}

/// Request changes
///
/// All comments that were not sent and all rejected hunks go to the agent as one message; the bead is open again.
#[utoipa::path(post, path = "/reviews/{id}/request-changes", tag = "reviews", operation_id = "requestReviewChanges",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    request_body = RequestReviewChanges,
    responses((status = 200, description = "What the agent is told", body = Success<ReviewRequested>)))]
pub(crate) async fn request_changes(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<RequestReviewChanges>,
) -> ApiResult<impl IntoResponse> {
    let RequestReviewChanges { text, no_agent } = body.value;
    let wanted = RequestChanges { text, begin: !no_agent };
    let which = (project.id(), name.as_str());
    let found = reviews::request_changes(&shared.reviews, &caller.call, which, wanted).await?;
    let Requested { message, round, agent } = found;
    Ok(Json(Success::new(ReviewRequested { message, round, agent })))
}

/// Export what was accepted as a patch
///
/// `git apply --index` on the commit where the work began gives exactly the accepted files.
#[utoipa::path(get, path = "/reviews/{id}/patch", tag = "reviews", operation_id = "exportReview",
    params(("id" = String, Path, description = "The id of the bead"), PatchQuery),
    responses((status = 200, description = "The patch", body = String, content_type = "application/octet-stream")))]
pub(crate) async fn patch(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<PatchQuery>,
) -> ApiResult<impl IntoResponse> {
    let rest = undecided(query.undecided.as_deref())?.unwrap_or(Undecided::LeaveOut);
    let which = (query.project_id.map(ProjectId::from_uuid), name.as_str());
    let bytes = reviews::patch(&shared.reviews, &caller.call, which, rest).await?;
    let headers = [
        // A patch holds the bytes of files, which need not be text.
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"review.patch\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, bytes))
}
