//! Attaching to an agent over a WebSocket.

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::{IntoResponse, Response};
use godel_api::ATTACH_PROTOCOL;
use godel_fleet::attach::{SIDE_MAX, Seat, TakeFrom, What, sit_down};
use godel_model::code;
use godel_runtime::TerminalSize;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::attach::{Connection, FRAME_MAX_BYTES, View, refuse};
use crate::error::{ApiError, ApiResult};
use crate::extract::{Query, Word};
use crate::guard::{Caller, take_place};
use crate::state::Shared;

/// The read buffer of a socket: people type little, and what is more takes more reads.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// What is attached to, and from where on.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttachQuery {
    /// The shell in the agent's sandbox, instead of its log.
    #[serde(default)]
    terminal: bool,
    /// Where to begin: the place of a byte of the terminal, or the position behind which the log is
    /// read. The beginning unless given.
    offset: Option<u64>,
    /// The terminal that `offset` is of, as `hello` named it: another one is refused.
    terminal_id: Option<Uuid>,
    /// To look only: control is not taken, and no terminal is opened.
    #[serde(default)]
    watch: bool,
    /// Characters in a line of a terminal that is opened.
    #[param(minimum = 1, maximum = 1_000, default = 80)]
    columns: Option<u16>,
    /// Lines of a terminal that is opened.
    #[param(minimum = 1, maximum = 1_000, default = 24)]
    rows: Option<u16>,
    /// For pages of a browser, which cannot read why a socket did not open: it opens all the same, the frame
    /// `refused` says why, and it is closed with 4403.
    #[serde(default)]
    explain: bool,
    /// A ticket, for pages of a browser, which can send no header; the guard reads it.
    #[serde(rename = "ticket")]
    #[param(rename = "ticket")]
    _ticket: Option<String>,
}

/// Attach to an agent
///
/// A WebSocket, subprotocol `godel-attach-v1`. Without `terminal` it gives the log of the agent from
/// behind position `offset`, in frames `{"type":"log","items":[..],"next":N}`. With `terminal=true` it
/// is a shell in the sandbox of an agent that works: the first who may lead the agent opens it, and it
/// is kept while the agent runs. What it shows comes in binary frames: 8 bytes with the place of the
/// first byte, the highest byte first, then the bytes. Come back with `offset` (the place behind the
/// last byte) and `terminalId` (from `hello`) to get exactly what follows; what is no longer kept (1 MiB
/// is) is told as `dropped` with `from` and `to`.
///
/// The first frame is `hello` with `agent`, `label`, `seat` (this connection), `terminal`, `offset`,
/// `columns`, `rows`, `mayControl` and `holder`; `size` tells when a terminal has other `columns` and `rows`. One connection has control of the terminal, and one of the conversation;
/// it is given on arrival if it is free, the caller may lead the agent and `watch` is not set. `control`
/// tells everybody when the `holder` (`seat`, `name`) changes; it is free when its connection ends.
/// Clients send `take` (with `force` to take it from somebody), `release`, `resize` (`columns`, `rows`),
/// `message` (`text`: the answer if the agent asks, else a message; answered by `sent`) and `ping`;
/// binary frames are typed. What is not allowed is answered by `refused` with an `error`. `exit` tells
/// that the shell has ended. The server closes with 1000 and the reason when the agent or the shell has
/// ended, 1001 when it stops, 4401 when the login has ended, 4403 with `explain` when it refuses the connection, and 4408 when the client reads too slowly.
#[utoipa::path(get, path = "/agents/{id}/attach", tag = "agents", operation_id = "attachAgent",
    params(("id" = String, Path, description = "The id or the name of the agent"), AttachQuery),
    responses((status = 101, description = "The socket is open")))]
pub(crate) async fn attach(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<AttachQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let what = if query.terminal { What::Terminal } else { What::Log };
    let seat = sit_down(&shared.fleet, &caller.call, &name, what).await.map_err(ApiError::from);
    let seat = match (seat, &upgrade) {
        (Err(error), Ok(_)) if query.explain => Err(error),
        (seat, _) => Ok(seat?),
    };
    let upgrade = upgrade.map_err(|rejection| {
        ApiError::new(code::INVALID_REQUEST, format!("this path is a WebSocket: {rejection}"))
            .with_hint("connect with a WebSocket client, or read GET /api/v1/agents/{id}/logs")
    })?;
    let upgrade = upgrade
        .protocols([ATTACH_PROTOCOL])
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(FRAME_MAX_BYTES)
        .max_frame_size(FRAME_MAX_BYTES);
    let crew = shared.crew.clone();
    let opened = async {
        let place = take_place(&shared, &caller)?;
        let seat = seat?;
        let view = view(&seat, &query).await?;
        Ok::<_, ApiError>((seat, view, place))
    };
    let (seat, view, place) = match opened.await {
        Err(error) if query.explain => {
            let refusing = move |socket| crew.track(refuse(socket, error));
            return Ok(upgrade.on_upgrade(refusing).into_response());
        }
        opened => opened?,
    };
    if seat.may_lead() && !query.watch {
        let from = if query.terminal_id.is_some() { TakeFrom::Oneself } else { TakeFrom::Nobody };
        // Somebody else may have it, which everybody is told.
        drop(seat.take_control(from));
    }
    Ok(upgrade
        .on_upgrade(move |socket| {
            crew.track(Connection::new((shared, caller), (seat, view), place, socket).run())
        })
        .into_response())
}

async fn view(seat: &Seat, query: &AttachQuery) -> ApiResult<View> {
    if !query.terminal {
        let after = query.offset.map(i64::try_from).transpose();
        let after = after.map_err(|_| refused("offset is beyond any log"))?;
        return Ok(View::log(seat.follow(after).await?));
    }
    let usual = TerminalSize::default();
    let size = TerminalSize {
        columns: query.columns.unwrap_or(usual.columns),
        rows: query.rows.unwrap_or(usual.rows),
    };
    check_size(size)?;
    let shell = seat.shell(query.terminal_id, (!query.watch, size)).await?;
    let reader =
        shell.terminal().attach(query.offset.unwrap_or(0)).map_err(godel_fleet::Error::from)?;
    Ok(View::terminal(shell, reader))
}

/// Refuses a terminal that nobody has.
pub(crate) fn check_size(size: TerminalSize) -> ApiResult<()> {
    let side = 1..=SIDE_MAX;
    if side.contains(&size.columns) && side.contains(&size.rows) {
        return Ok(());
    }
    Err(refused(format!("a terminal has 1 to {SIDE_MAX} columns and rows")))
}

fn refused(why: impl Into<String>) -> ApiError {
    ApiError::new(code::INVALID_FIELD, why)
}
