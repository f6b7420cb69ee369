//! Programs that a person lets in.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    Device, DeviceAnswer, DeviceAsk, DeviceDecision, DeviceRequest, DeviceStart, Success,
};
use godel_app::auth::device::{self, ASK_EVERY_SECS, Answer};
use http::header;

use crate::error::{ApiError, ApiResult};
use crate::extract::JsonBody;
use crate::guard::{Caller, Whence};
use crate::state::Shared;

/// The page on which a person enters the code.
const PAGE: &str = "/dashboard/device";

/// Ask to be let in
///
/// A program without a browser shows the `userCode`; a person who is logged in enters it on the
/// page. The program asks `/auth/device/token` until it has an answer.
#[utoipa::path(post, path = "/auth/device", tag = "auth", operation_id = "startDevice", security(()),
    request_body = DeviceRequest,
    responses((status = 200, description = "How to go on", body = Success<DeviceStart>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    Whence(origin): Whence,
    body: JsonBody<DeviceRequest>,
) -> ApiResult<impl IntoResponse> {
    let waiting = device::begin(&shared.app, body.value.name.parse()?, &origin).await?;
    let start = DeviceStart {
        device_code: waiting.device_code.expose().to_owned(),
        user_code: waiting.user_code,
        verification_path: PAGE.to_owned(),
        interval: ASK_EVERY_SECS,
        expires_at: waiting.expires_at,
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Success::new(start))))
}

/// Ask whether a person has answered
#[utoipa::path(post, path = "/auth/device/token", tag = "auth", operation_id = "askDevice", security(()),
    request_body = DeviceAsk,
    responses((status = 200, description = "Waiting, or the key", body = Success<DeviceAnswer>)))]
pub(crate) async fn ask(
    State(shared): State<Shared>,
    Whence(origin): Whence,
    body: JsonBody<DeviceAsk>,
) -> ApiResult<impl IntoResponse> {
    let code = body.value.device_code.parse();
    let code = code.map_err(|_| ApiError::report(&godel_app::Error::DeviceCode))?;
    let answer = match device::ask(&shared.app, &code, &origin).await? {
        Answer::Waiting => DeviceAnswer { status: "waiting".to_owned(), key: None },
        Answer::Key(key) => {
            DeviceAnswer { status: "approved".to_owned(), key: Some(key.expose().to_owned()) }
        }
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Success::new(answer))))
}

/// Let a program in, or not
///
/// Without `approve` the answer tells which program waits with this code.
#[utoipa::path(post, path = "/auth/device/decision", tag = "auth", operation_id = "decideDevice",
    request_body = DeviceDecision,
    responses((status = 200, description = "The program", body = Success<Device>)))]
pub(crate) async fn decide(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<DeviceDecision>,
) -> ApiResult<impl IntoResponse> {
    let DeviceDecision { user_code, approve } = body.value;
    let name = device::look(&shared.app, &caller.call, &user_code).await?;
    let status = match approve {
        None => "waiting",
        Some(approve) => {
            device::answer(&shared.app, &caller.call, &user_code, approve).await?;
            if approve { "approved" } else { "refused" }
        }
    };
    Ok(Json(Success::new(Device { name, status: status.to_owned() })))
}
