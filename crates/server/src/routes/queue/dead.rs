//! Dead letters.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Page, ReplayDead, Replayed, Success, Task};
use godel_app::queue::dead::{self, DeadFilter};
use godel_model::TaskId;
use http::StatusCode;

use super::super::list::{ListQuery, Listing};
use super::read;
use crate::error::ApiResult;
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

/// List dead letters
///
/// Tasks that were tried as often as allowed or came too late, the newest first. The filter takes
/// `pool`, `error` and `title`, the last two as parts of the text.
#[utoipa::path(get, path = "/dead-letters", tag = "queue", operation_id = "listDeadLetters", params(ListQuery),
    responses((status = 200, description = "A page of tasks", body = Success<Page<Task>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<TaskId> = query.check("dead-letters", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    let filter = DeadFilter {
        pool: listing.take_one("pool")?,
        error: listing.take_one("error")?,
        title: listing.take_one("title")?,
    };
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = dead::list(app, call, filter, (listing.from, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|found| found.task.id);
    let items = found.into_iter().map(read::task).collect::<ApiResult<Vec<Task>>>()?;
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Replay dead letters
///
/// Puts all that match back into the queue, each with as many attempts as at first. Without any
/// field, all of them.
#[utoipa::path(post, path = "/dead-letters/replay", tag = "queue", operation_id = "replayDeadLetters",
    request_body = ReplayDead,
    responses((status = 200, description = "How many", body = Success<Replayed>)))]
pub(crate) async fn replay(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<ReplayDead>,
) -> ApiResult<impl IntoResponse> {
    let ReplayDead { pool, error, title } = body.value;
    let filter = DeadFilter { pool, error, title };
    let replayed = dead::replay_all(&shared.app, &caller.call, filter).await?;
    Ok(Json(Success::new(Replayed { replayed })))
}

/// Delete a dead letter
///
/// With its attempts, for good. One whose run is not over stays.
#[utoipa::path(delete, path = "/dead-letters/{id}", tag = "queue", operation_id = "deleteDeadLetter",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
) -> ApiResult<StatusCode> {
    dead::delete(&shared.app, &caller.call, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
