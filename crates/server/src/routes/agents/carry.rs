//! Snapshots that leave, come in, and go away.

use std::time::Duration;

use axum::Json;
use axum::body::{Body, BodyDataStream};
use axum::extract::State;
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use godel_api::{ImportedSnapshot, Success};
use godel_fleet::carry::{self, Download, Imported};
use godel_fleet::snapshots;
use godel_model::{EventId, ProjectId, code};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;
use uuid::Uuid;

use super::places;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// How long nothing may come of a file.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How much of a file that is refused is read and dropped, so that the sender sees the answer.
const DROPPED_MAX_BYTES: usize = 16 << 20;
const OCTETS: &str = "application/octet-stream";

/// Where a snapshot belongs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Belongs {
    /// The project whose repository has the commits that the agent began at.
    project_id: Uuid,
}

/// Export a snapshot
///
/// One file with all files of the agent, all that was said, and the commits that the target branch has not; for
/// `POST /snapshots` of another server. An answer that breaks off is no snapshot. Treat it as confidential.
#[utoipa::path(get, path = "/snapshots/{id}/file", tag = "agents", operation_id = "exportSnapshot",
    params(("id" = Uuid, Path, description = "The id of the snapshot")),
    responses((status = 200, description = "The snapshot", body = String, content_type = "application/octet-stream")))]
pub(crate) async fn export(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
) -> ApiResult<impl IntoResponse> {
    let id: EventId = id.parse()?;
    let download = carry::export(&shared.fleet, &caller.call, id.uuid()).await?;
    // A name has letters, digits, dots, dashes and underscores only.
    let name = format!("{}.godel", download.label);
    let headers = [
        (header::CONTENT_TYPE, OCTETS.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, Body::from_stream(body(download, shared.crew.stopping()))))
}

/// Passes a snapshot on; when the server stops it breaks off, so that nobody takes it for whole.
fn body(
    download: Download,
    stop: CancellationToken,
) -> impl Stream<Item = Result<Bytes, godel_fleet::Error>> {
    futures_util::stream::unfold((download, stop), |(mut download, stop)| async move {
        let next = tokio::select! {
            () = stop.cancelled() => Some(Err(godel_store::Error::Closed.into())),
            next = download.next() => next.map(|bytes| bytes.map(Bytes::from)),
        };
        next.map(|next| (next, (download, stop)))
    })
}

/// Import a snapshot
///
/// The body is a file of `GET /snapshots/{id}/file`, of this server or another. All of it is checked before any of
/// it is kept. It brings no rights: an agent that worked without walls has walls here, and hosts that it could reach
/// have to be allowed again.
#[utoipa::path(post, path = "/snapshots", tag = "agents", operation_id = "importSnapshot", params(Belongs),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 201, description = "The snapshot", body = Success<ImportedSnapshot>)))]
pub(crate) async fn import(
    State(shared): State<Shared>,
    caller: Caller,
    Query(belongs): Query<Belongs>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !given.is_some_and(|given| given.eq_ignore_ascii_case(OCTETS)) {
        return Err(ApiError::new(code::UNSUPPORTED_MEDIA_TYPE, "the body must be a snapshot")
            .with_hint(format!("send the header `Content-Type: {OCTETS}`")));
    }
    let mut body = body.into_data_stream();
    match receive(&shared, &caller, belongs, &mut body).await {
        Ok(Imported { snapshot, changed }) => {
            let made = ImportedSnapshot { snapshot: places::snapshot(snapshot), changed };
            Ok((StatusCode::CREATED, Json(Success::new(made))))
        }
        Err(error) => {
            drain(&mut body).await;
            Err(error)
        }
    }
}

async fn receive(
    shared: &Shared,
    caller: &Caller,
    belongs: Belongs,
    body: &mut BodyDataStream,
) -> ApiResult<Imported> {
    let project = ProjectId::from_uuid(belongs.project_id);
    let mut incoming = carry::receive(&shared.fleet, &caller.call, project).await?;
    loop {
        let next = tokio::time::timeout(SILENCE_MAX, body.next()).await;
        match next {
            Ok(Some(Ok(bytes))) => incoming.write(&bytes).await?,
            Ok(None) => return Ok(incoming.keep().await?),
            Ok(Some(Err(_))) | Err(_) => {
                return Err(ApiError::new(code::INVALID_REQUEST, "the body did not arrive whole"));
            }
        }
    }
}

/// Reads what is left of a body for a while.
async fn drain(body: &mut BodyDataStream) {
    let mut seen = 0;
    while seen < DROPPED_MAX_BYTES {
        match tokio::time::timeout(SILENCE_MAX, body.next()).await {
            Ok(Some(Ok(bytes))) => seen += bytes.len(),
            _ => return,
        }
    }
}

/// Forget a snapshot
///
/// The room that it takes is free soon after. Agents that went on from it stay.
#[utoipa::path(delete, path = "/snapshots/{id}", tag = "agents", operation_id = "forgetSnapshot",
    params(("id" = Uuid, Path, description = "The id of the snapshot")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn forget(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
) -> ApiResult<StatusCode> {
    let id: EventId = id.parse()?;
    snapshots::forget(&shared.fleet, &caller.call, id.uuid()).await?;
    Ok(StatusCode::NO_CONTENT)
}
