//! Reviews: what people decide about the work of agents.

pub(crate) mod end;
pub(crate) mod lines;
pub(crate) mod pictures;
mod shape;

use std::fmt;
use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    Cursor, DecideReview, EditReview, NewReviewComment, Page, Pagination, Review, ReviewComment,
    ReviewDiff, ReviewPart, ReviewRow, Success,
};
use godel_git::Lines;
use godel_model::{BeadStatus, Invalid, ProjectId, code};
use godel_reviews::{self as reviews, Decide, Edit, Listing, NewComment, Place, Side, Want, Which};
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::beads::InProject;
use crate::error::{ApiError, ApiResult};
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

const LIST_DEFAULT: usize = 50;
const LIST_MAX: usize = 100;
const FILES_DEFAULT: usize = 500;
const FILES_MAX: usize = 1_000;
const PARTS_MAX: usize = 1_000;

/// Which reviews are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ReviewsQuery {
    /// Of this project only.
    project_id: Option<Uuid>,
    /// Work that has come so far: `review` unless given, or `in-progress` for work that is still done.
    status: Option<String>,
    /// How many at most: 1 to 100, 50 unless given.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<usize>,
    /// The cursor of the page before.
    cursor: Option<String>,
}

/// Where a list of reviews goes on, as a cursor has it.
struct Behind(Place);

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (since, project, bead) = &self.0;
        write!(f, "{since} {project} {bead}")
    }
}

impl FromStr for Behind {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refuse = || Invalid::new(code::INVALID_CURSOR, "the cursor names no review");
        let [since, project, bead] =
            text.splitn(3, ' ').collect::<Vec<_>>().try_into().map_err(|_| refuse())?;
        let since = since.parse().map_err(|_| refuse())?;
        Ok(Self((since, project.parse()?, bead.to_owned())))
    }
}

/// Which files of a change are wanted, and how.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// This file only.
    path: Option<String>,
    /// From the file of this number; 0 is the first.
    #[param(minimum = 0)]
    from: Option<usize>,
    /// How many files at most: 1 to 1000, 500 unless given.
    #[param(minimum = 1, maximum = 1000, default = 500)]
    limit: Option<usize>,
    /// `split` lays lines out side by side, too; `unified` unless given.
    view: Option<String>,
}

/// Which decisions are taken back.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct UndoQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// All about this hunk or file; without one, what was decided last.
    key: Option<String>,
}

fn limit(given: Option<usize>, default: usize, most: usize) -> ApiResult<usize> {
    let limit = given.unwrap_or(default);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    Err(ApiError::new(code::INVALID_FIELD, format!("limit must be 1 to {most}")))
}

/// Refuses a word that is none of those that are understood.
fn unknown(what: &str, words: &str) -> ApiError {
    Invalid::new(code::INVALID_FIELD, format!("{what} must be {words}")).into()
}

/// Reads a side; what is said of none is meant of how it is now.
fn side_of(side: Option<&str>) -> ApiResult<Side> {
    match side {
        None | Some("new") => Ok(Side::New),
        Some("old") => Ok(Side::Old),
        Some(_) => Err(unknown("side", "old or new")),
    }
}

/// List what waits to be reviewed
///
/// What has waited longest is on the first page; of one page first what nobody approved.
#[utoipa::path(get, path = "/reviews", tag = "reviews", operation_id = "listReviews", params(ReviewsQuery),
    responses((status = 200, description = "What waits", body = Success<Page<ReviewRow>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ReviewsQuery>,
) -> ApiResult<impl IntoResponse> {
    let limit = limit(query.limit, LIST_DEFAULT, LIST_MAX)?;
    let project = query.project_id.map(ProjectId::from_uuid);
    let status = match query.status.as_deref() {
        None | Some("review") => BeadStatus::Review,
        Some("in-progress") => BeadStatus::InProgress,
        Some(_) => return Err(unknown("status", "review or in-progress")),
    };
    let name = format!("reviews {status} {}", project.map(|id| id.to_string()).unwrap_or_default());
    let behind = query.cursor.map(|text| Cursor::decode::<Behind>(&text, &name)).transpose()?;
    let behind = behind.map(|Behind(place)| place);
    let listing = Listing { project, status, behind, limit };
    let (found, next) = reviews::list(&shared.reviews, &caller.call, listing).await?;
    let items = found.into_iter().map(shape::row).collect();
    let cursor = next.map(|place| Cursor::new(name, Behind(place)).encode());
    let has_more = cursor.is_some();
    Ok(Json(Success::new(Page { items, pagination: Pagination { limit, cursor, has_more } })))
}

/// Show the review of a bead
///
/// What was decided and said, whether that is still there after a push, and what keeps it from being approved.
#[utoipa::path(get, path = "/reviews/{id}", tag = "reviews", operation_id = "getReview",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    responses((status = 200, description = "The review", body = Success<Review>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let found = reviews::show(&shared.reviews, &caller.call, (project.id(), &name)).await?;
    Ok(Json(Success::new(shape::review(found))))
}

/// Read what a bead changes
///
/// File by file, with the words that differ and a key for each hunk that stays the same when it only moves.
#[utoipa::path(get, path = "/reviews/{id}/diff", tag = "reviews", operation_id = "getReviewDiff",
    params(("id" = String, Path, description = "The id of the bead"), DiffQuery),
    responses((status = 200, description = "The files", body = Success<ReviewDiff>)))]
pub(crate) async fn diff(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<DiffQuery>,
) -> ApiResult<impl IntoResponse> {
    let limit = limit(query.limit, FILES_DEFAULT, FILES_MAX)?;
    let split = match query.view.as_deref() {
        None | Some("unified") => false,
        Some("split") => true,
        Some(_) => return Err(unknown("view", "unified or split")),
    };
    let want = Want { path: query.path, from: query.from.unwrap_or(0), limit };
    let which = (query.project_id.map(ProjectId::from_uuid), name.as_str());
    let found = reviews::diff(&shared.reviews, &caller.call, which, want).await?;
    Ok(Json(Success::new(shape::diff(found, split))))
}

/// Comment on a change
///
/// On a line, a file, or all of it; the agent is told when changes are requested.
#[utoipa::path(post, path = "/reviews/{id}/comments", tag = "reviews", operation_id = "commentReview",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    request_body = NewReviewComment,
    responses((status = 201, description = "The comment", body = Success<ReviewComment>)))]
pub(crate) async fn comment(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<NewReviewComment>,
) -> ApiResult<impl IntoResponse> {
    let NewReviewComment { text, path, line, side, reply_to, commit } = body.value;
    let side = side_of(side.as_deref())?;
    let new = NewComment { text, path, line, side, reply_to, commit };
    let made = reviews::comment(&shared.reviews, &caller.call, (project.id(), &name), new).await?;
    let line = made.on.as_ref().map(|on| on.line);
    Ok((StatusCode::CREATED, Json(Success::new(shape::comment(made, line)))))
}

fn part(part: ReviewPart) -> Which {
    let ReviewPart { key, path, hunk, lines } = part;
    let lines = lines.map(|lines| Lines { from: lines.from, to: lines.to });
    Which { key, path, hunk, lines }
}

/// Accept or reject parts of a change
///
/// Hunks, lines of hunks, files, or all. Decisions stay after a push where the hunk is the same.
#[utoipa::path(post, path = "/reviews/{id}/decisions", tag = "reviews", operation_id = "decideReview",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    request_body = DecideReview,
    responses((status = 200, description = "The review", body = Success<Review>)))]
pub(crate) async fn decide(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<DecideReview>,
) -> ApiResult<impl IntoResponse> {
    let DecideReview { verdict, parts, all, commit } = body.value;
    let accept = match verdict.as_str() {
        "accepted" => true,
        "rejected" => false,
        _ => return Err(unknown("verdict", "accepted or rejected")),
    };
    if all != parts.is_empty() || parts.len() > PARTS_MAX {
        let why = format!("name 1 to {PARTS_MAX} parts, or say that all are meant");
        return Err(ApiError::new(code::INVALID_FIELD, why));
    }
    let wanted = Decide { accept, parts: parts.into_iter().map(part).collect(), commit };
    let found =
        reviews::decide(&shared.reviews, &caller.call, (project.id(), &name), wanted).await?;
    Ok(Json(Success::new(shape::review(found))))
}

/// Take decisions back
///
/// What was decided last, or all about one hunk or file.
#[utoipa::path(delete, path = "/reviews/{id}/decisions", tag = "reviews", operation_id = "undoReview",
    params(("id" = String, Path, description = "The id of the bead"), UndoQuery),
    responses((status = 200, description = "The review", body = Success<Review>)))]
pub(crate) async fn undo(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<UndoQuery>,
) -> ApiResult<impl IntoResponse> {
    let which = (query.project_id.map(ProjectId::from_uuid), name.as_str());
    let found = reviews::undo(&shared.reviews, &caller.call, which, query.key).await?;
    Ok(Json(Success::new(shape::review(found))))
}

/// Write something else into a hunk
///
/// It becomes a commit of the caller when the decisions are applied.
#[utoipa::path(post, path = "/reviews/{id}/edits", tag = "reviews", operation_id = "editReview",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    request_body = EditReview,
    responses((status = 200, description = "The review", body = Success<Review>)))]
pub(crate) async fn edit(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<EditReview>,
) -> ApiResult<impl IntoResponse> {
    let EditReview { part: which, text, commit } = body.value;
    let edit = Edit { part: part(which), text, commit };
    let found = reviews::edit(&shared.reviews, &caller.call, (project.id(), &name), edit).await?;
    Ok(Json(Success::new(shape::review(found))))
}
