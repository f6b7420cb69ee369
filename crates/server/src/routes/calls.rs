//! One request to a model, and what was said in it.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{ModelCall, ModelCallBody, Success};
use godel_books::reports;
use godel_model::CallId;

use super::usage::model_call;
use crate::error::ApiResult;
use crate::extract::Id;
use crate::guard::Caller;
use crate::state::Shared;

/// Get a request to a model
///
/// One attempt to get an answer from a provider.
#[utoipa::path(get, path = "/proxy/v1/audit/{id}", tag = "models", operation_id = "getModelCall",
    params(("id" = uuid::Uuid, Path, description = "The id of the attempt")),
    responses((status = 200, description = "The attempt", body = Success<ModelCall>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<CallId>,
) -> ApiResult<impl IntoResponse> {
    let found = reports::call(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(model_call(found))))
}

/// Get what was said in a request to a model
///
/// What was asked and answered, if the settings let it be kept; secrets and personal data were taken
/// out before. For admins.
#[utoipa::path(get, path = "/proxy/v1/audit/{id}/body", tag = "models", operation_id = "getModelCallBody",
    params(("id" = uuid::Uuid, Path, description = "The id of the attempt")),
    responses((status = 200, description = "What was said", body = Success<ModelCallBody>)))]
pub(crate) async fn body(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<CallId>,
) -> ApiResult<impl IntoResponse> {
    let found = reports::body(&shared.app, &caller.call, id).await?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Json(Success::new(ModelCallBody {
        request: text(found.asked),
        request_bytes: found.asked_bytes,
        reply: text(found.told),
        reply_bytes: found.told_bytes,
        keep_until: found.keep_until,
    })))
}
