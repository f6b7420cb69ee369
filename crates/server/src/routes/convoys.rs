//! Convoys: beads that belong together.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use godel_api::{
    Convoy, ConvoyBeads, ConvoyDetail, ConvoyPatch, ConvoyWaves, NewConvoy, Page, Success,
};
use godel_app::beads::{self, Placed};
use godel_beads as shelf;
use godel_beads::ops::{self, ConvoyChanges};
use godel_model::{Invalid, ProjectId, code, micros};
use http::{StatusCode, header};

use super::beads::{InProject, shape};
use super::list::{Listing, LongListQuery};
use crate::error::ApiResult;
use crate::extract::{IfTag, JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

fn answer(status: StatusCode, placed: Placed<shelf::Convoy>) -> Response {
    let etag = format!("\"{}\"", placed.tag.unwrap_or_default());
    let body = Json(Success::new(shape::convoy(placed.project, placed.value)));
    (status, [(header::ETAG, etag)], body).into_response()
}

/// Where a page of convoys ends: a convoy is not moved by those that are made or go meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    created_at: i64,
    id: String,
    project: ProjectId,
}

impl Mark {
    fn of(placed: &Placed<shelf::Convoy>) -> Self {
        let created_at = micros(placed.value.created_at);
        Self { created_at, id: placed.value.id.clone(), project: placed.project }
    }
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.created_at, self.id, self.project)
    }
}

impl std::str::FromStr for Mark {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refuse = || Invalid::new(code::INVALID_CURSOR, "the cursor is not one of this list");
        let mut parts = text.splitn(3, ' ');
        let (at, id, project) = (parts.next(), parts.next(), parts.next());
        Ok(Self {
            created_at: at.and_then(|at| at.parse().ok()).ok_or_else(refuse)?,
            id: id.ok_or_else(refuse)?.to_owned(),
            project: project.and_then(|project| project.parse().ok()).ok_or_else(refuse)?,
        })
    }
}

/// List convoys
///
/// Of all projects, the newest first. The filter takes `projectId` and `status`.
#[utoipa::path(get, path = "/convoys", tag = "convoys", operation_id = "listConvoys", params(LongListQuery),
    responses((status = 200, description = "A page of convoys", body = Success<Page<Convoy>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<LongListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<Mark> = query.check("convoys", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    let project = listing.take_one("projectId")?.map(|id| id.parse()).transpose()?;
    let statuses = listing.take_all("status");
    listing.no_more_fields()?;
    let found = beads::convoys(&shared.app, &caller.call, project).await?;
    let wanted = |placed: &Placed<shelf::Convoy>| {
        statuses.is_empty() || statuses.contains(&placed.value.status)
    };
    let from = listing.from.take();
    let behind =
        |placed: &Placed<shelf::Convoy>| from.as_ref().is_none_or(|from| Mark::of(placed) < *from);
    let mut rest = found.into_iter().filter(wanted).filter(behind).peekable();
    let (mut items, mut last) = (Vec::new(), None);
    while items.len() < listing.limit
        && let Some(placed) = rest.next()
    {
        last = rest.peek().map(|_| Mark::of(&placed));
        items.push(shape::convoy(placed.project, placed.value));
    }
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create a convoy
#[utoipa::path(post, path = "/convoys", tag = "convoys", operation_id = "createConvoy",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes a repeated request harmless")),
    request_body = NewConvoy,
    responses((status = 201, description = "The convoy", body = Success<Convoy>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    mut caller: Caller,
    body: JsonBody<NewConvoy>,
) -> ApiResult<Response> {
    caller.call.once = body.once;
    let NewConvoy { project_id, name, description, beads: members } = body.value;
    let new = ops::NewConvoy { name, description, beads: members, id: None };
    let project = project_id.map(ProjectId::from_uuid);
    let made = beads::create_convoy(&shared.app, &caller.call, project, new).await?;
    let place = [(header::LOCATION, format!("/api/v1/convoys/{}", made.value.id))];
    Ok((place, answer(StatusCode::CREATED, made)).into_response())
}

/// Get a convoy
///
/// With its progress, and why nothing moves if nothing does.
#[utoipa::path(get, path = "/convoys/{id}", tag = "convoys", operation_id = "getConvoy", params(InProject,
        ("id" = String, Path, description = "The id of the convoy, or the beginning of it", max_length = 200)),
    responses((status = 200, description = "The convoy", body = Success<ConvoyDetail>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
) -> ApiResult<Response> {
    let found = beads::convoy(&shared.app, &caller.call, project.id(), &id).await?;
    let etag = [(header::ETAG, format!("\"{}\"", found.tag.unwrap_or_default()))];
    let state = found.value;
    let detail = ConvoyDetail {
        convoy: shape::convoy(found.project, state.convoy),
        progress: shape::progress(state.progress),
        stalled: state.stalled,
    };
    Ok((etag, Json(Success::new(detail))).into_response())
}

/// Get the waves of a convoy
///
/// All beads of a wave can be worked on at the same time.
#[utoipa::path(get, path = "/convoys/{id}/waves", tag = "convoys", operation_id = "convoyWaves", params(InProject,
        ("id" = String, Path, description = "The id of the convoy, or the beginning of it", max_length = 200)),
    responses((status = 200, description = "The waves", body = Success<ConvoyWaves>)))]
pub(crate) async fn waves(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let found = beads::convoy(&shared.app, &caller.call, project.id(), &id).await?;
    let (project, state) = (found.project, found.value);
    let rows = |wave: Vec<shelf::Row>| -> Vec<_> {
        wave.into_iter().map(|row| shape::row(project, row)).collect()
    };
    let waves = state.waves.into_iter().map(rows).collect();
    let (tangled, missing) = (rows(state.tangled), state.missing);
    Ok(Json(Success::new(ConvoyWaves { waves, tangled, missing })))
}

/// Change a convoy
///
/// With `If-Match` the change is refused if somebody else changed the convoy in between.
#[utoipa::path(patch, path = "/convoys/{id}", tag = "convoys", operation_id = "updateConvoy", params(InProject,
        ("id" = String, Path, description = "The id of the convoy, or the beginning of it", max_length = 200),
        ("If-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    request_body = ConvoyPatch,
    responses((status = 200, description = "The convoy after the change", body = Success<Convoy>)))]
#[expect(clippy::too_many_arguments, reason = "each is a part of the request")]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    IfTag(if_match): IfTag,
    body: JsonBody<ConvoyPatch>,
) -> ApiResult<Response> {
    let ConvoyPatch { name, description, archived } = body.value;
    let changes = ConvoyChanges { name, description, archived, if_match };
    let (app, call) = (&shared.app, &caller.call);
    let convoy = beads::update_convoy(app, call, project.id(), &id, changes).await?;
    Ok(answer(StatusCode::OK, convoy))
}

/// Delete a convoy
///
/// Its beads stay.
#[utoipa::path(delete, path = "/convoys/{id}", tag = "convoys", operation_id = "deleteConvoy", params(InProject,
        ("id" = String, Path, description = "The id of the convoy, or the beginning of it", max_length = 200),
        ("If-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    IfTag(if_match): IfTag,
) -> ApiResult<StatusCode> {
    beads::delete_convoy(&shared.app, &caller.call, project.id(), &id, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Put beads into a convoy, or take them out
#[utoipa::path(post, path = "/convoys/{id}/beads", tag = "convoys", operation_id = "fillConvoy", params(InProject,
        ("id" = String, Path, description = "The id of the convoy, or the beginning of it", max_length = 200)),
    request_body = ConvoyBeads,
    responses((status = 200, description = "The convoy after the change", body = Success<Convoy>)))]
pub(crate) async fn fill(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    body: JsonBody<ConvoyBeads>,
) -> ApiResult<Response> {
    let ConvoyBeads { add, remove } = body.value;
    let (app, call) = (&shared.app, &caller.call);
    let convoy = beads::fill_convoy(app, call, project.id(), &id, (add, remove)).await?;
    Ok(answer(StatusCode::OK, convoy))
}
