//! Tasks: making them, looking at them, and changing their fate.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    AssignTask, CancelTask, ErrorBody, NewTask, NewTasks, Page, Success, Task, TaskAnswer,
    TaskDetail, TaskMade, TasksMade,
};
use godel_app::queue::tasks::{self, Created};
use godel_model::{TaskId, TaskState, WorkerId};
use godel_store::TaskFilter;
use http::{StatusCode, header};

use super::super::list::{ListQuery, Listing};
use super::read;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

fn made(created: &Created) -> TaskMade {
    let state = created.state.map(|state| state.to_string());
    TaskMade { id: created.id.uuid(), fresh: created.state.is_some(), state }
}

/// List tasks
///
/// The newest first. The filter takes `state`, `pool` and `run` (the id of a run of a workflow).
#[utoipa::path(get, path = "/tasks", tag = "queue", operation_id = "listTasks", params(ListQuery),
    responses((status = 200, description = "A page of tasks", body = Success<Page<Task>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<TaskId> = query.check("tasks", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    let state = listing.take_one("state")?;
    let state = state.map(|text| text.parse::<TaskState>()).transpose()?;
    let (pool, run) = (listing.take_one("pool")?, listing.take_one("run")?);
    listing.no_more_fields()?;
    let owner = run.map(|run| ("run".to_owned(), run));
    let filter = TaskFilter { state, pool, owner };
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = tasks::list(app, call, filter, (listing.from, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|found| found.task.id);
    let items = found.into_iter().map(read::task).collect::<ApiResult<Vec<Task>>>()?;
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create a task
///
/// It is on disk when this answers. With a `key` (or an `Idempotency-Key`) the request can be
/// repeated: 201 if the task was made now, 200 if it was there before.
#[utoipa::path(post, path = "/tasks", tag = "queue", operation_id = "createTask",
    params(("Idempotency-Key" = Option<String>, Header, description = "Stands for the `key` of the task, if it has none")),
    request_body = NewTask,
    responses((status = 201, description = "The task was made", body = Success<TaskMade>),
        (status = 200, description = "It was there before", body = Success<TaskMade>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewTask>,
) -> ApiResult<impl IntoResponse> {
    let mut asked = read::new_task(body.value)?;
    if let (None, Some(once)) = (&asked.key, body.once) {
        asked.key = Some(once.key);
    }
    let created = tasks::create(&shared.app, &caller.call, asked).await?;
    let made = made(&created);
    let status = if made.fresh { StatusCode::CREATED } else { StatusCode::OK };
    let place = format!("/api/v1/tasks/{}", made.id);
    Ok((status, [(header::LOCATION, place)], Json(Success::new(made))))
}

/// Create several tasks
///
/// Each is made, or refused with a reason, by itself; a task can wait for one of an earlier request
/// only. One that makes no sense refuses them all.
#[utoipa::path(post, path = "/tasks/batch", tag = "queue", operation_id = "createTasks",
    request_body = NewTasks,
    responses((status = 200, description = "What became of each", body = Success<TasksMade>)))]
pub(crate) async fn create_all(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewTasks>,
) -> ApiResult<impl IntoResponse> {
    let asked = body.value.tasks.into_iter().map(read::new_task).collect::<ApiResult<Vec<_>>>()?;
    let answers = tasks::create_all(&shared.app, &caller.call, asked).await?;
    let answer = |answer: Result<Created, godel_app::Error>| match answer {
        Ok(created) => TaskAnswer { made: Some(made(&created)), error: None },
        Err(error) => {
            TaskAnswer { made: None, error: Some(ErrorBody::from(ApiError::report(&error))) }
        }
    };
    let items = answers.into_iter().map(answer).collect();
    Ok(Json(Success::new(TasksMade { items })))
}

/// Get a task
///
/// With all its attempts.
#[utoipa::path(get, path = "/tasks/{id}", tag = "queue", operation_id = "getTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    responses((status = 200, description = "The task", body = Success<TaskDetail>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
) -> ApiResult<impl IntoResponse> {
    let (found, failed) = tasks::find(&shared.app, &caller.call, id).await?;
    let attempts = read::attempts(&found, failed);
    Ok(Json(Success::new(TaskDetail { task: read::task(found)?, attempts })))
}

/// Cancel a task
///
/// And all that waits for it. A worker that has it is asked to stop, and loses it after 30 seconds.
#[utoipa::path(post, path = "/tasks/{id}/cancel", tag = "queue", operation_id = "cancelTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    request_body = CancelTask,
    responses((status = 200, description = "The task", body = Success<Task>)))]
pub(crate) async fn cancel(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
    body: JsonBody<CancelTask>,
) -> ApiResult<impl IntoResponse> {
    let found = tasks::cancel(&shared.app, &caller.call, id, body.value.reason).await?;
    Ok(Json(Success::new(read::task(found)?)))
}

/// Try a task again
///
/// One that is dead or cancelled gets as many attempts as at first, and what was cancelled because
/// of it waits for it again; one that waits for its next attempt has it at once.
#[utoipa::path(post, path = "/tasks/{id}/retry", tag = "queue", operation_id = "retryTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    responses((status = 200, description = "The task", body = Success<Task>)))]
pub(crate) async fn retry(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
) -> ApiResult<impl IntoResponse> {
    let found = tasks::retry(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(read::task(found)?)))
}

/// Assign a task to a worker
///
/// Only that worker gets it. It must be ready or delayed.
#[utoipa::path(post, path = "/tasks/{id}/assign", tag = "queue", operation_id = "assignTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    request_body = AssignTask,
    responses((status = 200, description = "The task", body = Success<Task>)))]
pub(crate) async fn assign(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
    body: JsonBody<AssignTask>,
) -> ApiResult<impl IntoResponse> {
    let worker = WorkerId::from(body.value.worker_id);
    let found = tasks::assign(&shared.app, &caller.call, id, worker).await?;
    Ok(Json(Success::new(read::task(found)?)))
}
