//! Users.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Invitation, NewUser, Page, Success, User, UserExport, UserPatch};
use godel_app::auth;
use godel_app::erasure::{self, Leftover};
use godel_app::users::{self, UserChange};
use godel_model::{LoginToken, ProjectId, UserId};
use http::{StatusCode, header};

use super::list::{ListQuery, Listing};
use crate::error::ApiResult;
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

/// Returns the path of a login link; behind the `#` it stays in the browser.
pub(super) fn link_path(link: &LoginToken) -> String {
    format!("/dashboard/#token={}", link.expose())
}

/// List users
///
/// By age, oldest first. The filter takes `name`.
#[utoipa::path(get, path = "/users", tag = "users", operation_id = "listUsers", params(ListQuery),
    responses((status = 200, description = "A page of users", body = Success<Page<User>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<UserId> = query.check("users", "createdAt", false)?;
    listing.ascending_only("createdAt")?;
    let name = listing.take_one("name")?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = match name {
        Some(name) => users::by_name(app, call, name.parse()?).await?.into_iter().collect(),
        None => users::list(app, call, listing.from, limit + 1).await?,
    };
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|user| user.id);
    let items: Vec<User> = found.into_iter().map(User::from).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Invite a user
///
/// The answer has the path of a one-time link that opens the account within 72 hours.
#[utoipa::path(post, path = "/users", tag = "users", operation_id = "inviteUser",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes a repeated request harmless")),
    request_body = NewUser,
    responses((status = 201, description = "The user and the link", body = Success<Invitation>)))]
pub(crate) async fn invite(
    State(shared): State<Shared>,
    mut caller: Caller,
    body: JsonBody<NewUser>,
) -> ApiResult<impl IntoResponse> {
    caller.call.once = body.once;
    let NewUser { name, role, projects } = body.value;
    let projects = projects.into_iter().map(ProjectId::from).collect();
    let invited =
        users::invite(&shared.app, &caller.call, name.parse()?, role.parse()?, projects).await?;
    let (user, link) = invited;
    let place = [(header::LOCATION, format!("/api/v1/users/{}", user.id))];
    let invitation = Invitation { user: user.into(), link_path: link.as_ref().map(link_path) };
    Ok((StatusCode::CREATED, place, Json(Success::new(invitation))))
}

/// Get a user
#[utoipa::path(get, path = "/users/{id}", tag = "users", operation_id = "getUser",
    params(("id" = uuid::Uuid, Path, description = "The id of the user")),
    responses((status = 200, description = "The user", body = Success<User>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<UserId>,
) -> ApiResult<impl IntoResponse> {
    let user = users::get(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(User::from(user))))
}

/// Change a user
///
/// Who is disabled is logged out at once, and its keys do not work until it is enabled again. Its
/// password and open links are gone: a new link lets it in then.
#[utoipa::path(patch, path = "/users/{id}", tag = "users", operation_id = "updateUser",
    params(("id" = uuid::Uuid, Path, description = "The id of the user")),
    request_body = UserPatch,
    responses((status = 200, description = "The user after the change", body = Success<User>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<UserId>,
    body: JsonBody<UserPatch>,
) -> ApiResult<impl IntoResponse> {
    let UserPatch { role, disabled, projects } = body.value;
    let change = UserChange {
        role: role.map(|role| role.parse()).transpose()?,
        disabled,
        projects: projects.map(|list| list.into_iter().map(ProjectId::from).collect()),
    };
    let user = users::update(&shared.app, &caller.call, id, change).await?;
    Ok(Json(Success::new(User::from(user))))
}

/// Erase a user
///
/// What tells who it was goes, and so does every way in. What it did stays on record under its id.
#[utoipa::path(delete, path = "/users/{id}", tag = "users", operation_id = "eraseUser",
    params(("id" = uuid::Uuid, Path, description = "The id of the user")),
    responses((status = 204, description = "It is erased")))]
pub(crate) async fn erase(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<UserId>,
) -> ApiResult<StatusCode> {
    let left = erasure::erase(&shared.app, &caller.call, id).await?;
    shared.crew.clone().spawn(clear_up(shared, left));
    Ok(StatusCode::NO_CONTENT)
}

/// Takes the name out of what was under way: requests that were let in before the erasure, here or
/// by another server that still believed in the credential.
async fn clear_up(shared: Shared, left: Leftover) {
    let patience = shared.request_timeout + Duration::from_secs(auth::BELIEVED_SECS);
    let stopping = shared.crew.stopping();
    // A server that stops takes no more requests, and has not long to wait.
    tokio::time::timeout(patience, stopping.cancelled()).await.ok();
    if let Err(error) = left.remove(&shared.app).await {
        tracing::warn!(%error, "what came in while a person was erased may hold its name");
    }
}

/// Make a new login link for a user
///
/// Earlier links of the user work no more, and its password is gone: who comes by the link sets a new
/// one.
#[utoipa::path(post, path = "/users/{id}/link", tag = "users", operation_id = "newUserLink",
    params(("id" = uuid::Uuid, Path, description = "The id of the user")),
    responses((status = 201, description = "The user and the link", body = Success<Invitation>)))]
pub(crate) async fn link(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<UserId>,
) -> ApiResult<impl IntoResponse> {
    let link = users::new_link(&shared.app, &caller.call, id).await?;
    let user = users::get(&shared.app, &caller.call, id).await?;
    let invitation = Invitation { user: user.into(), link_path: Some(link_path(&link)) };
    Ok((StatusCode::CREATED, Json(Success::new(invitation))))
}

/// Export what the server knows of a user
///
/// Everybody may have its own.
#[utoipa::path(get, path = "/users/{id}/export", tag = "users", operation_id = "exportUser",
    params(("id" = uuid::Uuid, Path, description = "The id of the user")),
    responses((status = 200, description = "Account, keys and acts", body = Success<UserExport>)))]
pub(crate) async fn export(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<UserId>,
) -> ApiResult<impl IntoResponse> {
    let export = users::export(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(UserExport {
        user: export.user.into(),
        keys: export.keys.into_iter().map(super::keys::key).collect(),
        acts: export.acts.into_iter().map(|stored| stored.row.into()).collect(),
    })))
}
