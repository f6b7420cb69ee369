//! Workers: who takes tasks.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    ClaimTasks, GivenTask, GivenTasks, NewWorker, Page, Success, Worker, WorkerBeat, WorkerDetail,
    WorkerPatch,
};
use godel_app::queue::{Given, workers};
use godel_model::{self as model, WorkerId, code};
use http::{StatusCode, header};
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::super::list::{ListQuery, Listing};
use super::read;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Id, JsonBody, Query, refuse_json};
use crate::guard::Caller;
use crate::state::Shared;

const ERROR_MAX_CHARS: usize = 2_000;

fn worker(worker: model::Worker, load: u32, now: Timestamp) -> Worker {
    Worker {
        id: worker.id.uuid(),
        status: worker.status(load, now).to_string(),
        name: worker.name.as_str().to_owned(),
        pool: worker.pool.to_string(),
        capabilities: worker.capabilities.iter().map(ToString::to_string).collect(),
        load,
        capacity: worker.capacity,
        error: worker.error,
        user_id: worker.user.uuid(),
        registered_at: worker.registered_at,
        seen_at: worker.seen_at,
    }
}

pub(super) fn given(given: Given) -> ApiResult<GivenTask> {
    let spot = given.lease.spot;
    let asked = given.asked;
    let payload = RawValue::from_string(asked.payload.as_str().to_owned());
    Ok(GivenTask {
        id: spot.task.uuid(),
        attempt: spot.attempt,
        last: spot.attempt >= spot.last,
        title: asked.title,
        payload: payload.map_err(|error| refuse_json(&error))?,
        pool: asked.pool.to_string(),
        priority: spot.priority.to_string(),
        session: asked.session,
        ends_at: given.lease.ends_at,
    })
}

/// List workers
///
/// The newest first, with how many tasks each of them has.
#[utoipa::path(get, path = "/workers", tag = "queue", operation_id = "listWorkers", params(ListQuery),
    responses((status = 200, description = "A page of workers", body = Success<Page<Worker>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let listing: Listing<WorkerId> = query.check("workers", "registeredAt", true)?;
    listing.descending_only("registeredAt")?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = workers::list(app, call, listing.from, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|(worker, _)| worker.id);
    let now = app.clock.now();
    let items: Vec<Worker> = found.into_iter().map(|(one, load)| worker(one, load, now)).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Register a worker
///
/// It must be heard of at least every 30 seconds, by a heartbeat or anything else that it says;
/// else it is gone, and what it had is given to others.
#[utoipa::path(post, path = "/workers", tag = "queue", operation_id = "registerWorker",
    request_body = NewWorker,
    responses((status = 201, description = "The worker", body = Success<Worker>)))]
pub(crate) async fn register(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewWorker>,
) -> ApiResult<impl IntoResponse> {
    let NewWorker { name, pool, capabilities, capacity } = body.value;
    let new = workers::NewWorker {
        name,
        pool: pool.map(|text| text.parse()).transpose()?.unwrap_or_default(),
        capabilities: capabilities
            .into_iter()
            .map(|text| text.parse())
            .collect::<Result<_, model::Invalid>>()?,
        capacity: capacity.unwrap_or(1),
    };
    let made = workers::register(&shared.app, &caller.call, new).await?;
    let now = made.registered_at;
    let place = format!("/api/v1/workers/{}", made.id);
    let body = Json(Success::new(worker(made, 0, now)));
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], body))
}

/// Get a worker
///
/// With what it has in its hands.
#[utoipa::path(get, path = "/workers/{id}", tag = "queue", operation_id = "getWorker",
    params(("id" = uuid::Uuid, Path, description = "The id of the worker")),
    responses((status = 200, description = "The worker", body = Success<WorkerDetail>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<WorkerId>,
) -> ApiResult<impl IntoResponse> {
    let (found, held) = workers::find(&shared.app, &caller.call, id).await?;
    let load = u32::try_from(held.len()).unwrap_or(u32::MAX);
    let worker = worker(found, load, shared.app.clock.now());
    let tasks = held.into_iter().map(read::held).collect();
    Ok(Json(Success::new(WorkerDetail { worker, tasks })))
}

/// Change a worker
///
/// It says, or somebody says for it, that it works, takes nothing for now, or cannot work.
#[utoipa::path(patch, path = "/workers/{id}", tag = "queue", operation_id = "updateWorker",
    params(("id" = uuid::Uuid, Path, description = "The id of the worker")),
    request_body = WorkerPatch,
    responses((status = 200, description = "The worker", body = Success<Worker>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<WorkerId>,
    body: JsonBody<WorkerPatch>,
) -> ApiResult<impl IntoResponse> {
    let WorkerPatch { state, error } = body.value;
    if error.as_ref().is_some_and(|text| text.chars().count() > ERROR_MAX_CHARS) {
        let why = format!("an error has at most {ERROR_MAX_CHARS} characters");
        return Err(ApiError::new(code::INVALID_FIELD, why));
    }
    let mood = state.parse()?;
    workers::set_mood(&shared.app, &caller.call, id, mood, error).await?;
    let (changed, held) = workers::find(&shared.app, &caller.call, id).await?;
    let load = u32::try_from(held.len()).unwrap_or(u32::MAX);
    Ok(Json(Success::new(worker(changed, load, shared.app.clock.now()))))
}

/// Unregister a worker
///
/// What it has is given back; those attempts do not count.
#[utoipa::path(delete, path = "/workers/{id}", tag = "queue", operation_id = "unregisterWorker",
    params(("id" = uuid::Uuid, Path, description = "The id of the worker")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn leave(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<WorkerId>,
) -> ApiResult<StatusCode> {
    workers::leave(&shared.app, &caller.call, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Say that a worker lives
///
/// The answer tells what it has by the book, and what of it is to be stopped.
#[utoipa::path(post, path = "/workers/{id}/heartbeat", tag = "queue", operation_id = "beatWorker",
    params(("id" = uuid::Uuid, Path, description = "The id of the worker")),
    responses((status = 200, description = "What it has", body = Success<WorkerBeat>)))]
pub(crate) async fn beat(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<WorkerId>,
) -> ApiResult<impl IntoResponse> {
    let beat = workers::beat(&shared.app, &caller.call, id).await?;
    let tasks = beat.held.into_iter().map(read::held).collect();
    Ok(Json(Success::new(WorkerBeat { tasks, expires_at: beat.expires_at })))
}

/// Claim tasks
///
/// The most urgent ones that the worker can do, at most as many as it has free. If there are none,
/// it waits for up to `waitMs`; an empty list means that none came.
#[utoipa::path(post, path = "/workers/{id}/claim", tag = "queue", operation_id = "claimTasks",
    params(("id" = uuid::Uuid, Path, description = "The id of the worker")),
    request_body = ClaimTasks,
    responses((status = 200, description = "The tasks", body = Success<GivenTasks>)))]
pub(crate) async fn claim(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<WorkerId>,
    body: JsonBody<ClaimTasks>,
) -> ApiResult<impl IntoResponse> {
    let ClaimTasks { free, wait_ms } = body.value;
    let wait = Duration::from_millis(wait_ms.unwrap_or(0));
    let ask = (free.unwrap_or(1), wait);
    let found = workers::claim(&shared.app, &caller.call, id, ask).await?;
    let tasks = found.into_iter().map(given).collect::<ApiResult<Vec<_>>>()?;
    Ok(Json(Success::new(GivenTasks { tasks })))
}
