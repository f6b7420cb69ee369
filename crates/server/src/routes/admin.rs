//! What the owner of the server may do.

use axum::body::Body;
use axum::extract::State;
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::Stream;
use godel_app::backup::{self, Download};
use http::header;
use tokio_util::sync::CancellationToken;

use crate::error::ApiResult;
use crate::guard::Caller;
use crate::state::Shared;

/// Take a backup of the whole server
///
/// A consistent copy of all data of all tenants, as one file for `godel restore`. Nobody has to wait
/// for it. It is whole if `godel backup --verify` says so; an answer that breaks off is not. Treat it
/// as confidential.
#[utoipa::path(get, path = "/admin/backup", tag = "admin", operation_id = "backup",
    responses((status = 200, description = "The backup", body = String, content_type = "application/octet-stream")))]
pub(crate) async fn backup(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let download = backup::stream(&shared.app, &caller.call).await?;
    let name = format!("godel-{}.backup", download.at.strftime("%Y%m%dT%H%M%SZ"));
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, Body::from_stream(body(download, shared.crew.stopping()))))
}

type Next = Result<Bytes, godel_app::Error>;

/// Passes the backup on; when the server stops it breaks off, so that nobody takes it for whole.
fn body(download: Download, stop: CancellationToken) -> impl Stream<Item = Next> {
    futures_util::stream::unfold((download, stop), |(mut download, stop)| async move {
        let next = tokio::select! {
            () = stop.cancelled() => Some(Err(godel_store::Error::Closed.into())),
            next = download.next() => next.map(|bytes| bytes.map(Bytes::from)),
        };
        next.map(|next| (next, (download, stop)))
    })
}
