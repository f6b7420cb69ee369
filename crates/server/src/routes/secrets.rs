//! Secrets: set and used, never shown.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Secret, SecretList, SecretValue, Success};
use godel_app::secrets;
use godel_model::SecretName;
use godel_store::SecretRecord;
use http::StatusCode;

use crate::error::ApiResult;
use crate::extract::{Id, JsonBody};
use crate::guard::Caller;
use crate::state::Shared;

fn secret(record: SecretRecord) -> Secret {
    Secret {
        name: record.name.into(),
        version: record.version,
        last_four: Some(record.last4).filter(|last| !last.is_empty()),
        created_at: record.created_at,
        updated_at: record.updated_at,
        used_at: record.used_at,
    }
}

/// List secrets
///
/// Names, ages and last four characters; never values.
#[utoipa::path(get, path = "/secrets", tag = "secrets", operation_id = "listSecrets",
    responses((status = 200, description = "All secrets of the tenant", body = Success<SecretList>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = secrets::list(&shared.app, &caller.call).await?;
    let items = found.into_iter().map(secret).collect();
    Ok(Json(Success::new(SecretList { items })))
}

/// Set a secret
///
/// A secret that has a value gets another.
#[utoipa::path(put, path = "/secrets/{name}", tag = "secrets", operation_id = "setSecret",
    params(("name" = String, Path, description = "The name of the secret", max_length = 100)),
    request_body = SecretValue,
    responses((status = 200, description = "What is known of it", body = Success<Secret>)))]
pub(crate) async fn set(
    State(shared): State<Shared>,
    caller: Caller,
    Id(name): Id<SecretName>,
    body: JsonBody<SecretValue>,
) -> ApiResult<impl IntoResponse> {
    let value = secrets::SecretValue(body.value.value);
    let record = secrets::set(&shared.app, &caller.call, name, value).await?;
    Ok(Json(Success::new(secret(record))))
}

/// Delete a secret
#[utoipa::path(delete, path = "/secrets/{name}", tag = "secrets", operation_id = "deleteSecret",
    params(("name" = String, Path, description = "The name of the secret", max_length = 100)),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(name): Id<SecretName>,
) -> ApiResult<StatusCode> {
    secrets::delete(&shared.app, &caller.call, name).await?;
    Ok(StatusCode::NO_CONTENT)
}
