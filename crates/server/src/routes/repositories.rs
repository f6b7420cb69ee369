//! Repositories that are cloned or begun on the server's machine.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{MakeRepository, RepositoryJob, Success};
use godel_model::EventId;
use godel_repos::jobs;
use http::{StatusCode, header};

use crate::error::ApiResult;
use crate::extract::{Id, JsonBody};
use crate::guard::Caller;
use crate::state::Shared;

/// Clone a repository, or begin a new one
///
/// It comes about in the background: look at the job, or wait for `repository:ready` or `repository:failed`. Its
/// folder is then the `repository` of a project.
#[utoipa::path(post, path = "/repositories", tag = "projects", operation_id = "makeRepository",
    request_body = MakeRepository,
    responses((status = 202, description = "The job that makes it", body = Success<RepositoryJob>)))]
pub(crate) async fn make(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<MakeRepository>,
) -> ApiResult<impl IntoResponse> {
    let MakeRepository { clone, folder } = body.value;
    let job = jobs::make(&shared.repositories, &caller.call, clone, folder).await?;
    let place = [(header::LOCATION, format!("/api/v1/repositories/{}", job.id))];
    Ok((StatusCode::ACCEPTED, place, Json(Success::new(RepositoryJob::from(job)))))
}

/// Get the job that makes a repository
///
/// The last 100 are known until the server stops.
#[utoipa::path(get, path = "/repositories/{id}", tag = "projects", operation_id = "getRepositoryJob",
    params(("id" = uuid::Uuid, Path, description = "The id of the job")),
    responses((status = 200, description = "The job", body = Success<RepositoryJob>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<EventId>,
) -> ApiResult<Json<Success<RepositoryJob>>> {
    let job = jobs::get(&shared.repositories, &caller.call, id.uuid()).await?;
    Ok(Json(Success::new(RepositoryJob::from(job))))
}
