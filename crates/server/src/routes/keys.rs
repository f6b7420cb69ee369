//! API keys.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Key, KeyMade, KeyRotation, NewKey, Page, Success};
use godel_app::keys;
use godel_model::{KeyId, UserId};
use godel_store::KeyRecord;
use http::{StatusCode, header};
use jiff::SignedDuration;

use super::list::{ListQuery, Listing};
use crate::error::ApiResult;
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

/// For how long an old key goes on unless told otherwise.
const GRACE_SECS: u32 = 24 * 3_600;

pub(super) fn key(record: KeyRecord) -> Key {
    Key {
        id: record.id.uuid(),
        user_id: record.user.uuid(),
        name: record.name.into(),
        prefix: record.prefix,
        scopes: record.scopes.iter().map(ToString::to_string).collect(),
        created_at: record.created_at,
        expires_at: record.expires_at,
        revoked_at: record.revoked_at,
        used_at: record.used_at,
    }
}

/// List API keys
///
/// By age, oldest first. The filter takes `userId`; without it an admin sees all keys of the
/// tenant, everybody else its own.
#[utoipa::path(get, path = "/keys", tag = "keys", operation_id = "listKeys", params(ListQuery),
    responses((status = 200, description = "A page of keys", body = Success<Page<Key>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<KeyId> = query.check("keys", "createdAt", false)?;
    listing.ascending_only("createdAt")?;
    let user = listing.take_one("userId")?.map(|id| id.parse()).transpose()?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = keys::list(app, call, user, listing.from, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|key| key.id);
    let items: Vec<Key> = found.into_iter().map(key).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create an API key
///
/// The key itself is in this answer and never again.
#[utoipa::path(post, path = "/keys", tag = "keys", operation_id = "createKey",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes a repeated request harmless; the repeated answer has no key")),
    request_body = NewKey,
    responses((status = 201, description = "The key", body = Success<KeyMade>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    mut caller: Caller,
    body: JsonBody<NewKey>,
) -> ApiResult<impl IntoResponse> {
    caller.call.once = body.once;
    let NewKey { name, user_id, scopes, expires_at } = body.value;
    let new = keys::NewKey {
        name: name.parse()?,
        user: user_id.map(UserId::from),
        scopes: scopes.iter().map(|scope| scope.parse()).collect::<Result<_, _>>()?,
        expires_at,
    };
    let (made, record) = keys::create(&shared.app, &caller.call, new).await?;
    Ok(answer(made.map(|key| key.expose().to_owned()), record))
}

fn answer(made: Option<String>, record: KeyRecord) -> impl IntoResponse {
    let headers = [
        (header::LOCATION, format!("/api/v1/keys/{}", record.id)),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    let made = KeyMade { info: key(record), key: made };
    (StatusCode::CREATED, headers, Json(Success::new(made)))
}

/// Get an API key
#[utoipa::path(get, path = "/keys/{id}", tag = "keys", operation_id = "getKey",
    params(("id" = uuid::Uuid, Path, description = "The id of the key")),
    responses((status = 200, description = "What is known of it", body = Success<Key>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<KeyId>,
) -> ApiResult<impl IntoResponse> {
    let found = keys::get(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(key(found))))
}

/// Rotate an API key
///
/// A new key takes over; the old one goes on for a day, or for `graceSeconds`.
#[utoipa::path(post, path = "/keys/{id}/rotate", tag = "keys", operation_id = "rotateKey",
    params(("id" = uuid::Uuid, Path, description = "The id of the old key")),
    request_body = KeyRotation,
    responses((status = 201, description = "The new key", body = Success<KeyMade>)))]
pub(crate) async fn rotate(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<KeyId>,
    body: JsonBody<KeyRotation>,
) -> ApiResult<impl IntoResponse> {
    let grace = body.value.grace_seconds.unwrap_or(GRACE_SECS);
    let grace = SignedDuration::from_secs(i64::from(grace));
    let (made, record) = keys::rotate(&shared.app, &caller.call, id, grace).await?;
    Ok(answer(Some(made.expose().to_owned()), record))
}

/// Revoke an API key
///
/// It works no more at once; on other servers of the same database within five seconds.
#[utoipa::path(delete, path = "/keys/{id}", tag = "keys", operation_id = "revokeKey",
    params(("id" = uuid::Uuid, Path, description = "The id of the key")),
    responses((status = 204, description = "It works no more")))]
pub(crate) async fn revoke(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<KeyId>,
) -> ApiResult<StatusCode> {
    keys::revoke(&shared.app, &caller.call, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
