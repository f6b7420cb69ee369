//! Tasks that come again and again.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{NewSchedule, Page, Schedule, SchedulePatch, Success};
use godel_app::queue::schedules;
use godel_model::{self as model, ScheduleId};
use http::{StatusCode, header};

use super::super::list::{ListQuery, Listing};
use super::read;
use crate::error::ApiResult;
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

fn schedule(found: model::Schedule) -> Schedule {
    let asked = found.asked;
    Schedule {
        id: found.id.uuid(),
        name: asked.name.as_str().to_owned(),
        cron: asked.cron,
        timezone: asked.timezone,
        title: asked.task.title,
        pool: asked.task.pool.to_string(),
        priority: asked.task.priority.to_string(),
        paused: found.paused,
        next_at: found.next_at,
        last_at: found.last_at,
        created_at: found.created_at,
    }
}

/// List schedules
///
/// By age, oldest first.
#[utoipa::path(get, path = "/schedules", tag = "queue", operation_id = "listSchedules", params(ListQuery),
    responses((status = 200, description = "A page of schedules", body = Success<Page<Schedule>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let listing: Listing<ScheduleId> = query.check("schedules", "createdAt", false)?;
    listing.ascending_only("createdAt")?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = schedules::list(app, call, listing.from, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id);
    let items: Vec<Schedule> = found.into_iter().map(schedule).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create a schedule
///
/// It makes one task each time; times that passed while no server ran are made up for by one.
#[utoipa::path(post, path = "/schedules", tag = "queue", operation_id = "createSchedule",
    request_body = NewSchedule,
    responses((status = 201, description = "The schedule", body = Success<Schedule>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewSchedule>,
) -> ApiResult<impl IntoResponse> {
    let NewSchedule { name, cron, timezone, task } = body.value;
    let asked = model::NewSchedule {
        name: name.parse()?,
        cron,
        timezone: timezone.unwrap_or_else(|| "UTC".to_owned()),
        task: read::new_task(task)?,
    };
    let made = schedules::create(&shared.app, &caller.call, asked).await?;
    let place = format!("/api/v1/schedules/{}", made.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(Success::new(schedule(made)))))
}

/// Get a schedule
#[utoipa::path(get, path = "/schedules/{id}", tag = "queue", operation_id = "getSchedule",
    params(("id" = uuid::Uuid, Path, description = "The id of the schedule")),
    responses((status = 200, description = "The schedule", body = Success<Schedule>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
) -> ApiResult<impl IntoResponse> {
    let found = schedules::find(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(schedule(found))))
}

/// Pause or resume a schedule
///
/// What would have come while it was paused does not come later.
#[utoipa::path(patch, path = "/schedules/{id}", tag = "queue", operation_id = "updateSchedule",
    params(("id" = uuid::Uuid, Path, description = "The id of the schedule")),
    request_body = SchedulePatch,
    responses((status = 200, description = "The schedule", body = Success<Schedule>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
    body: JsonBody<SchedulePatch>,
) -> ApiResult<impl IntoResponse> {
    let changed = schedules::pause(&shared.app, &caller.call, id, body.value.paused).await?;
    Ok(Json(Success::new(schedule(changed))))
}

/// Delete a schedule
///
/// What it made stays.
#[utoipa::path(delete, path = "/schedules/{id}", tag = "queue", operation_id = "deleteSchedule",
    params(("id" = uuid::Uuid, Path, description = "The id of the schedule")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<ScheduleId>,
) -> ApiResult<StatusCode> {
    schedules::delete(&shared.app, &caller.call, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
