//! WebSockets of the typed client.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::{Method, StatusCode, Upgraded, header};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::{ANSWER_TIMEOUT, Client, ClientError, http, refused};

/// A server asks every 30 seconds for a sign of life; one that is silent for longer is gone.
const SOCKET_SILENCE_MAX: Duration = Duration::from_secs(75);
/// How long the server may take no bytes.
const SEND_PATIENCE: Duration = Duration::from_secs(30);

/// What comes out of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A frame of text.
    Text(String),
    /// A frame of bytes.
    Bytes(Bytes),
    /// The server ended the connection, and said why.
    Closed {
        /// The number of the reason.
        code: u16,
        /// The reason in words.
        reason: String,
    },
    /// The connection broke.
    Lost,
}

/// An open WebSocket.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<Upgraded>,
    heard_at: Instant,
}

impl Client {
    /// Opens a WebSocket.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn socket(
        &self,
        path: &str,
        query: &[(&str, String)],
        protocol: &str,
    ) -> Result<Socket, ClientError> {
        // A socket is opened by HTTP/1.1; over TLS the shared connections may speak HTTP/2.
        let old = http(&self.url, &self.trust, &[b"http/1.1"])?;
        let key = generate_key();
        let request = Self { http: old, ..self.clone() }
            .request(Method::GET, path)
            .query(query)
            .header(header::CONNECTION, "Upgrade")
            .header(header::UPGRADE, "websocket")
            .header(header::SEC_WEBSOCKET_VERSION, "13")
            .header(header::SEC_WEBSOCKET_KEY, &key)
            .header(header::SEC_WEBSOCKET_PROTOCOL, protocol);
        let opening = tokio::time::timeout(ANSWER_TIMEOUT, request.send()).await;
        let response = opening
            .map_err(|_| self.strange("it does not open the socket"))?
            .map_err(|cause| self.unreachable(cause))?;
        let status = response.status();
        if status != StatusCode::SWITCHING_PROTOCOLS {
            let text = response.text().await.map_err(|cause| self.unreachable(cause))?;
            let refused = refused(&text, status);
            return Err(refused.unwrap_or_else(|| self.strange(format!("status {status}"))));
        }
        let accepted = response.headers().get(header::SEC_WEBSOCKET_ACCEPT);
        if accepted
            .is_none_or(|accept| accept.as_bytes() != derive_accept_key(key.as_bytes()).as_bytes())
        {
            return Err(self.strange("it does not speak WebSocket"));
        }
        let upgraded = response.upgrade().await.map_err(|cause| self.unreachable(cause))?;
        let stream = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
        Ok(Socket { stream, heard_at: Instant::now() })
    }
}

impl Socket {
    /// Sends a frame of text; `false` if the connection is broken.
    pub async fn text(&mut self, text: String) -> bool {
        self.send(Message::text(text)).await
    }

    /// Sends a frame of bytes; `false` if the connection is broken.
    pub async fn bytes(&mut self, bytes: Bytes) -> bool {
        self.send(Message::binary(bytes)).await
    }

    async fn send(&mut self, message: Message) -> bool {
        let sent = tokio::time::timeout(SEND_PATIENCE, self.stream.send(message)).await;
        matches!(sent, Ok(Ok(())))
    }

    /// Waits for the next frame; safe to cancel.
    pub async fn next(&mut self) -> Heard {
        loop {
            let until = self.heard_at + SOCKET_SILENCE_MAX;
            let next = tokio::time::timeout_at(until, self.stream.next()).await;
            let Ok(Some(Ok(message))) = next else { return Heard::Lost };
            self.heard_at = Instant::now();
            match message {
                Message::Text(text) => return Heard::Text(text.to_string()),
                Message::Binary(bytes) => return Heard::Bytes(bytes),
                Message::Close(Some(frame)) => {
                    let (code, reason) = (frame.code.into(), frame.reason.to_string());
                    return Heard::Closed { code, reason };
                }
                Message::Close(None) => return Heard::Lost,
                // Answered by the library.
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Says goodbye.
    pub async fn close(mut self) {
        // Whoever is gone needs no goodbye.
        drop(tokio::time::timeout(Duration::from_secs(1), self.stream.close(None)).await);
    }
}
