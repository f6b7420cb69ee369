//! Views of the dashboard that people keep.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{SaveView, Success, View, ViewList};
use godel_board::views::{self, NewView};
use godel_model::{EventId, UserId};
use http::{StatusCode, header};

use crate::error::ApiResult;
use crate::extract::{JsonBody, Word};
use crate::guard::Caller;
use crate::state::Shared;

fn shape(view: views::View, caller: UserId) -> View {
    let NewView { page, name, query, shared } = view.wanted;
    View {
        id: view.id,
        page,
        name,
        query,
        shared,
        is_own: view.owner == caller,
        created_at: view.created_at,
        updated_at: view.updated_at,
    }
}

fn wanted(SaveView { page, name, query, shared }: SaveView) -> NewView {
    NewView { page, name, query, shared }
}

/// List views
///
/// The caller's own and those that everybody has, by page and name.
#[utoipa::path(get, path = "/views", tag = "views", operation_id = "listViews",
    responses((status = 200, description = "The views", body = Success<ViewList>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = views::list(&shared.app, &caller.call).await?;
    let own = caller.call.actor.user;
    let items = found.into_iter().map(|view| shape(view, own)).collect();
    Ok(Json(Success::new(ViewList { items })))
}

/// Keep a view
///
/// An address of the dashboard with a name, for oneself or for everybody.
#[utoipa::path(post, path = "/views", tag = "views", operation_id = "saveView",
    request_body = SaveView,
    responses((status = 201, description = "The view", body = Success<View>)))]
pub(crate) async fn save(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<SaveView>,
) -> ApiResult<impl IntoResponse> {
    let made = views::keep(&shared.app, &caller.call, wanted(body.value)).await?;
    let place = [(header::LOCATION, format!("/api/v1/views/{}", made.id))];
    let made = shape(made, caller.call.actor.user);
    Ok((StatusCode::CREATED, place, Json(Success::new(made))))
}

/// Change a view
///
/// Only who keeps it can.
#[utoipa::path(put, path = "/views/{id}", tag = "views", operation_id = "changeView",
    params(("id" = Uuid, Path, description = "The id of the view")),
    request_body = SaveView,
    responses((status = 200, description = "The view", body = Success<View>)))]
pub(crate) async fn change(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    body: JsonBody<SaveView>,
) -> ApiResult<impl IntoResponse> {
    let id: EventId = id.parse()?;
    let changed = views::change(&shared.app, &caller.call, id.uuid(), wanted(body.value)).await?;
    Ok(Json(Success::new(shape(changed, caller.call.actor.user))))
}

/// Forget a view
///
/// One's own; admins also those that everybody has.
#[utoipa::path(delete, path = "/views/{id}", tag = "views", operation_id = "forgetView",
    params(("id" = Uuid, Path, description = "The id of the view")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn forget(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
) -> ApiResult<StatusCode> {
    let id: EventId = id.parse()?;
    views::forget(&shared.app, &caller.call, id.uuid()).await?;
    Ok(StatusCode::NO_CONTENT)
}
