//! Projects.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use godel_api::{NewProject, Page, Project, ProjectPatch, Success};
use godel_app::projects;
use godel_model::{self as model, ProjectChange, ProjectId};
use http::{HeaderMap, StatusCode, header};

use super::list::{ListQuery, Listing};
use crate::error::ApiResult;
use crate::etag::Tags;
use crate::extract::{Id, IfMatch, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

fn tag(version: i64) -> String {
    format!("\"{version}\"")
}

fn answer(status: StatusCode, project: model::Project) -> impl IntoResponse {
    let etag = [(header::ETAG, tag(project.version))];
    (status, etag, Json(Success::new(Project::from(project))))
}

/// List projects
///
/// By age, oldest first unless `sort=-createdAt`. The filter takes `name`.
#[utoipa::path(get, path = "/projects", tag = "projects", operation_id = "listProjects", params(ListQuery),
    responses((status = 200, description = "A page of projects", body = Success<Page<Project>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<ProjectId> = query.check("projects", "createdAt", false)?;
    let name = listing.take_one("name")?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = match name {
        Some(name) => projects::find(app, call, name.parse()?).await?.into_iter().collect(),
        None => projects::list(app, call, listing.descending, listing.from, limit + 1).await?,
    };
    // One more than wanted tells whether there is another page.
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|project| project.id);
    let items: Vec<Project> = found.into_iter().map(Project::from).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create a project
#[utoipa::path(post, path = "/projects", tag = "projects", operation_id = "createProject",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes a repeated request harmless")),
    request_body = NewProject,
    responses((status = 201, description = "The project", body = Success<Project>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    mut caller: Caller,
    body: JsonBody<NewProject>,
) -> ApiResult<impl IntoResponse> {
    caller.call.once = body.once;
    let NewProject { name, description, limits, repository } = body.value;
    let (name, description) = (name.parse()?, description.unwrap_or_default());
    let limits = limits.unwrap_or_default().into();
    let new = projects::NewProject { name, description, limits, repository };
    let project = projects::create(&shared.app, &caller.call, new).await?;
    let place = [(header::LOCATION, format!("/api/v1/projects/{}", project.id))];
    Ok((place, answer(StatusCode::CREATED, project)))
}

/// Get a project
///
/// The `ETag` header has its version; with `If-None-Match` an unchanged project is answered with
/// 304 and no body.
#[utoipa::path(get, path = "/projects/{id}", tag = "projects", operation_id = "getProject",
    params(("id" = uuid::Uuid, Path, description = "The id of the project"),
        ("If-None-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    responses((status = 200, description = "The project", body = Success<Project>),
        (status = 304, description = "Unchanged")))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<ProjectId>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let project = projects::get(&shared.app, &caller.call, id).await?;
    let etag = tag(project.version);
    // A malformed header saves nothing; the whole answer is always right.
    let known = Tags::of(&headers, &header::IF_NONE_MATCH).unwrap_or_default();
    if known.is_some_and(|known| known.name_about(&project.version.to_string())) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    Ok(answer(StatusCode::OK, project).into_response())
}

/// Change a project
///
/// With `If-Match` the change is refused if somebody else changed the project in between.
#[utoipa::path(patch, path = "/projects/{id}", tag = "projects", operation_id = "updateProject",
    params(("id" = uuid::Uuid, Path, description = "The id of the project"),
        ("If-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    request_body = ProjectPatch,
    responses((status = 200, description = "The project after the change", body = Success<Project>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<ProjectId>,
    IfMatch(expected): IfMatch,
    body: JsonBody<ProjectPatch>,
) -> ApiResult<impl IntoResponse> {
    let name = body.value.name.map(|name| name.parse()).transpose()?;
    let limits = body.value.limits.map(Into::into);
    let (description, repository) = (body.value.description, body.value.repository);
    let change = ProjectChange { name, description, limits, repository };
    let project = projects::update(&shared.app, &caller.call, id, expected, change).await?;
    Ok(answer(StatusCode::OK, project))
}

/// Delete a project
#[utoipa::path(delete, path = "/projects/{id}", tag = "projects", operation_id = "deleteProject",
    params(("id" = uuid::Uuid, Path, description = "The id of the project"),
        ("If-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<ProjectId>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    projects::delete(&shared.app, &caller.call, id, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}
