//! Large things that go to a server or come from it.

use std::io::{self, Read};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use reqwest::{Method, header};
use serde::de::DeserializeOwned;

use super::{Body, Client, ClientError, SILENCE_MAX};
use crate::Success;

/// How long a server may take to receive something large and to look at all of it.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How much is sent at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Something large on its way here.
pub struct Download {
    client: Client,
    body: Body,
    what: &'static str,
}

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Download").finish_non_exhaustive()
    }
}

impl Download {
    /// Returns the next bytes; `None` at the end.
    ///
    /// # Errors
    /// If it breaks off; what came so far is then not whole.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        let what = self.what;
        match tokio::time::timeout(SILENCE_MAX, self.body.next()).await {
            Ok(next) => next
                .transpose()
                .map_err(|error| self.client.strange(format!("the {what} broke off: {error}"))),
            Err(_) => {
                let why = format!("the {what} broke off: nothing comes any more");
                Err(self.client.strange(why))
            }
        }
    }
}

impl Client {
    /// Begins a backup of the whole server.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn backup(&self) -> Result<Download, ClientError> {
        self.download("/api/v1/admin/backup", "backup").await
    }

    /// Begins to read something large, which is called so if it breaks off.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn download(&self, path: &str, what: &'static str) -> Result<Download, ClientError> {
        let response = self.send(self.request(Method::GET, path)).await?;
        let body = Box::pin(response.bytes_stream());
        Ok(Download { client: self.clone(), body, what })
    }

    /// Sends something large, and returns what the server made of it.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses, or the bytes cannot be read.
    pub async fn upload<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
        from: Box<dyn Read + Send>,
    ) -> Result<T, ClientError> {
        let request = self.request(Method::POST, path).query(query).timeout(UPLOAD_TIMEOUT);
        let request = request.header(header::CONTENT_TYPE, "application/octet-stream");
        let response = self.send(request.body(reqwest::Body::wrap_stream(pieces(from)))).await?;
        let text = response.text().await.map_err(|error| self.strange(error))?;
        let read: Success<T> = serde_json::from_str(&text).map_err(|error| self.strange(error))?;
        Ok(read.data)
    }
}

/// Reads something piece by piece.
fn pieces(from: Box<dyn Read + Send>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    futures_util::stream::unfold(Some(from), |from| async {
        let mut from = from?;
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            let read = (&mut from).take(PIECE_BYTES as u64).read_to_end(&mut piece);
            (read.map(|_| piece), from)
        });
        match read.await {
            Ok((Ok(piece), _)) if piece.is_empty() => None,
            Ok((Ok(piece), from)) => Some((Ok(Bytes::from(piece)), Some(from))),
            Ok((Err(error), _)) => Some((Err(error), None)),
            Err(error) => Some((Err(io::Error::other(error)), None)),
        }
    })
}
