//! What workers say of their tasks.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    ClaimTasks, CompleteTask, FailTask, ProgressTask, ReleaseTask, SpawnTask, Success, TaskMade,
    TaskSaid,
};
use godel_app::queue::{Said, Say, tasks, workers};
use godel_model::{Payload, TaskId, WorkerId, code};
use godel_store::Fence;
use http::StatusCode;

use super::read;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Id, JsonBody};
use crate::guard::Caller;
use crate::state::Shared;

const ERROR_MAX_CHARS: usize = 20_000;

async fn said(
    shared: &Shared,
    caller: &Caller,
    (worker, task, attempt): (uuid::Uuid, TaskId, u32),
    say: Say,
) -> ApiResult<Json<Success<TaskSaid>>> {
    let fence = (WorkerId::from(worker), task, attempt);
    let said = workers::say(&shared.app, &caller.call, fence, say).await?;
    Ok(Json(Success::new(told(said))))
}

fn told(said: Said) -> TaskSaid {
    let in_state = |state: &str| TaskSaid {
        state: state.to_owned(),
        again_at: None,
        stop: None,
        tasks: Vec::new(),
    };
    match said {
        Said::Over(state) => in_state(state.as_str()),
        Said::Again(at) => TaskSaid { again_at: Some(at), ..in_state("delayed") },
        Said::Noted { stop } => TaskSaid { stop, ..in_state("running") },
    }
}

/// Complete a task
///
/// The worker that has it says that it is done. Who has this attempt no more gets 409
/// `task_lease_lost`, and nothing was changed. With `next` the worker claims its next tasks with the
/// same request: the answer comes when there are some, or after `waitMs`.
#[utoipa::path(post, path = "/tasks/{id}/complete", tag = "queue", operation_id = "completeTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    request_body = CompleteTask,
    responses((status = 200, description = "It was noted", body = Success<TaskSaid>)))]
pub(crate) async fn complete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
    body: JsonBody<CompleteTask>,
) -> ApiResult<impl IntoResponse> {
    let CompleteTask { worker_id, attempt, result, next } = body.value;
    let say = Say::Done(result.map(|raw| Payload::from_raw(&raw)).transpose()?);
    let Some(ClaimTasks { free, wait_ms }) = next else {
        return said(&shared, &caller, (worker_id, id, attempt), say).await;
    };
    let ask = (free.unwrap_or(1), Duration::from_millis(wait_ms.unwrap_or(0)));
    let fence = (WorkerId::from(worker_id), id, attempt);
    let (said, given) = workers::say_and_claim(&shared.app, &caller.call, fence, say, ask).await?;
    let tasks = given.into_iter().map(super::workers::given).collect::<ApiResult<Vec<_>>>()?;
    Ok(Json(Success::new(TaskSaid { tasks, ..told(said) })))
}

/// Fail a task
///
/// The worker that has it says that it failed: it is tried again after a pause, or is a dead letter.
#[utoipa::path(post, path = "/tasks/{id}/fail", tag = "queue", operation_id = "failTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    request_body = FailTask,
    responses((status = 200, description = "It was noted", body = Success<TaskSaid>)))]
pub(crate) async fn fail(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
    body: JsonBody<FailTask>,
) -> ApiResult<impl IntoResponse> {
    let FailTask { worker_id, attempt, error, fatal } = body.value;
    if error.chars().count() > ERROR_MAX_CHARS || error.contains('\0') {
        let why = format!("an error has at most {ERROR_MAX_CHARS} characters");
        return Err(ApiError::new(code::INVALID_FIELD, why));
    }
    said(&shared, &caller, (worker_id, id, attempt), Say::Failed { error, fatal }).await
}

/// Tell how far a task is
///
/// The answer tells whether the worker is to stop.
#[utoipa::path(post, path = "/tasks/{id}/progress", tag = "queue", operation_id = "progressTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    request_body = ProgressTask,
    responses((status = 200, description = "It was noted", body = Success<TaskSaid>)))]
pub(crate) async fn progress(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
    body: JsonBody<ProgressTask>,
) -> ApiResult<impl IntoResponse> {
    let ProgressTask { worker_id, attempt, progress } = body.value;
    let progress = Payload::from_raw(&progress)?;
    said(&shared, &caller, (worker_id, id, attempt), Say::Progress(progress)).await
}

/// Give a task back
///
/// The worker that has it has not begun; the attempt does not count.
#[utoipa::path(post, path = "/tasks/{id}/release", tag = "queue", operation_id = "releaseTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task")),
    request_body = ReleaseTask,
    responses((status = 200, description = "It was noted", body = Success<TaskSaid>)))]
pub(crate) async fn release(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
    body: JsonBody<ReleaseTask>,
) -> ApiResult<impl IntoResponse> {
    let ReleaseTask { worker_id, attempt } = body.value;
    said(&shared, &caller, (worker_id, id, attempt), Say::Released).await
}

/// Create a task on behalf of one
///
/// The worker that has this one makes another, as urgent as this one unless it says otherwise. Who has
/// this attempt no more makes nothing.
#[utoipa::path(post, path = "/tasks/{id}/spawn", tag = "queue", operation_id = "spawnTask",
    params(("id" = uuid::Uuid, Path, description = "The id of the task that the worker has")),
    request_body = SpawnTask,
    responses((status = 201, description = "The task was made", body = Success<TaskMade>)))]
pub(crate) async fn spawn(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TaskId>,
    body: JsonBody<SpawnTask>,
) -> ApiResult<impl IntoResponse> {
    let SpawnTask { worker_id, attempt, task } = body.value;
    let under = Fence { task: id, attempt, worker: WorkerId::from(worker_id) };
    let inherits = task.priority.is_none();
    let asked = read::new_task(task)?;
    let created = tasks::spawn(&shared.app, &caller.call, asked, (under, inherits)).await?;
    let state = created.state.map(|state| state.to_string());
    let made = TaskMade { id: created.id.uuid(), fresh: created.state.is_some(), state };
    Ok((StatusCode::CREATED, Json(Success::new(made))))
}
