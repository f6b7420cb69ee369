//! The event socket: WebSocket `/events`, subprotocol `godel-events-v1`.

mod connection;
mod frames;
mod subscription;

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::{IntoResponse, Response};
use godel_api::EVENTS_PROTOCOL;
use godel_model::code;

pub(crate) use self::frames::render_event;
use crate::error::{ApiError, ApiResult};
use crate::guard::{Caller, take_place};
use crate::state::Shared;

/// The read buffer of a socket: with the default of 128 KiB, idle clients cost 20 times as much.
/// Clients send little, and a larger frame just takes more reads.
const READ_BUFFER_BYTES: usize = 1024;
/// The largest frame that a client may send.
const MESSAGE_MAX_BYTES: usize = 64 * 1024;

/// Follow events over a WebSocket
///
/// Subprotocol `godel-events-v1`; frames are JSON `{id, type, timestamp, payload, metadata?}`.
/// Clients send `subscribe` (`patterns`, `filters`, `after`, `policy`, `bufferSize`),
/// `unsubscribe`, `command` and `ping`; the server sends `response`, `event`, `events` (several at
/// once, under load), `lagged`, `pong` and `error`. The `head` of a `pong` is the last event that was sent:
/// a client that has not got it subscribes again after the last one it has. An `after` behind the end of the log is one of
/// another log and is refused (`invalid_cursor`). Browsers authenticate with the session cookie,
/// programs with a header; a key in the URL is not taken.
#[utoipa::path(get, path = "/events", tag = "events", operation_id = "eventSocket",
    responses((status = 101, description = "The socket is open")))]
pub(crate) async fn upgrade(
    State(shared): State<Shared>,
    caller: Caller,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let upgrade = upgrade.map_err(|rejection| {
        ApiError::new(code::INVALID_REQUEST, format!("this path is a WebSocket: {rejection}"))
            .with_hint("connect with a WebSocket client, or use GET /api/v1/events/stream")
    })?;
    let place = take_place(&shared, &caller)?;
    let crew = shared.crew.clone();
    let upgrade = upgrade
        .protocols([EVENTS_PROTOCOL])
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(MESSAGE_MAX_BYTES)
        .max_frame_size(MESSAGE_MAX_BYTES);
    Ok(upgrade
        .on_upgrade(move |socket| {
            crew.track(connection::Connection::new(shared, caller, place, socket).run())
        })
        .into_response())
}
