//! The typed client.

mod calls;
mod files;
mod socket;

use std::time::Duration;

use futures_util::StreamExt as _;
use godel_model::{ApiKey, Code, Kind, Report, code};
use godel_tls::Trust;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::files::Download;
pub use self::socket::{Heard, Socket};
use crate::sse::SseMessage;
use crate::{
    DetailedHealth, ErrorBody, Event, Health, Lagged, NewEvent, Page, SseDecoder, Success,
    SystemMetrics,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(40);
/// A server sends a sign of life every 15 seconds; without one the connection is dead.
const SILENCE_MAX: Duration = Duration::from_secs(45);
const BACKOFF_FIRST: Duration = Duration::from_millis(250);
const BACKOFF_LAST: Duration = Duration::from_secs(10);

/// Talks to a Godel server.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<ApiKey>,
    trust: Trust,
}

/// Makes a [`Client`].
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    url: String,
    key: Option<ApiKey>,
    trust: Trust,
}

impl ClientBuilder {
    /// Sends this key with each request.
    #[must_use]
    pub fn key(mut self, key: Option<ApiKey>) -> Self {
        self.key = key;
        self
    }

    /// Trusts this instead of the authorities of this machine; it counts for `https` only.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    /// If the certificates to trust cannot be used, or the system cannot make connections at all.
    pub fn build(self) -> Result<Client, ClientError> {
        let Self { url, key, trust } = self;
        let http = http(&url, &trust, &[b"h2", b"http/1.1"])?;
        Ok(Client { http, url, key, trust })
    }
}

impl From<ErrorBody> for ClientError {
    fn from(body: ErrorBody) -> Self {
        let code = known_code(&body.code, StatusCode::BAD_REQUEST);
        Self::Refused { body: Box::new(body), code }
    }
}

/// Makes connections to a server, in one of these protocols.
fn http(url: &str, trust: &Trust, protocols: &[&[u8]]) -> Result<reqwest::Client, ClientError> {
    let encrypted = url.starts_with("https://");
    // Reading the authorities of a machine takes a while, so only those who need them do.
    let mut tls = godel_tls::client_config(if encrypted { trust } else { &Trust::Nobody })?;
    tls.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("godel/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .https_only(encrypted)
        .tls_backend_preconfigured(tls)
        .build()
        .map_err(|cause| ClientError::Unreachable { url: url.to_owned(), cause })
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server refused.
    #[error("{}", body.message)]
    Refused {
        /// What the server said.
        body: Box<ErrorBody>,
        /// The code, if this client knows it.
        code: Code,
    },
    /// Nobody answers.
    #[error("no godel server answers at {url}")]
    Unreachable {
        /// The address.
        url: String,
        /// What the network said.
        #[source]
        cause: reqwest::Error,
    },
    /// The server did not prove who it is.
    #[error("the TLS connection to {url} failed: {why}")]
    Untrusted {
        /// The address.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// The certificates to trust cannot be used.
    #[error(transparent)]
    Certificate(#[from] godel_tls::Error),
    /// The answer is not one of a Godel server.
    #[error("the answer of {url} is not understood: {why}")]
    Strange {
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Report for ClientError {
    fn code(&self) -> Code {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Unreachable { .. } => code::SERVER_UNREACHABLE,
            Self::Untrusted { .. } => code::CERTIFICATE_UNTRUSTED,
            Self::Certificate(_) => code::CERTIFICATE_INVALID,
            Self::Strange { .. } => code::INTERNAL_ERROR,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { body, .. } => body.hint.clone(),
            Self::Unreachable { .. } => Some("start it with `godel up`".to_owned()),
            Self::Untrusted { .. } => Some(
                "run `godel status` on the server's machine, and give the fingerprint that it \
                 shows with --ca"
                    .to_owned(),
            ),
            Self::Certificate(_) => {
                Some("give a PEM file, or the SHA-256 fingerprint of the authority".to_owned())
            }
            Self::Strange { .. } => {
                Some("check that the address is that of a Godel server".to_owned())
            }
        }
    }
}

/// Finds the code that a server named; one of a newer server falls back to the status.
fn known_code(name: &str, status: StatusCode) -> Code {
    let by_kind = |kind: Kind| code::ALL.iter().find(|code| code.kind() == kind).copied();
    let kind = match status.as_u16() {
        401 => Kind::Unauthorized,
        403 => Kind::Forbidden,
        404 => Kind::NotFound,
        409 | 412 => Kind::Conflict,
        429 => Kind::RateLimited,
        503 => Kind::ServiceUnavailable,
        408 | 504 => Kind::GatewayTimeout,
        400..=499 => Kind::InvalidRequest,
        _ => Kind::InternalError,
    };
    code::ALL
        .iter()
        .find(|code| code.name() == name)
        .copied()
        .or_else(|| by_kind(kind))
        .unwrap_or(code::INTERNAL_ERROR)
}

/// Reads the body of a refusal, if it is one.
fn refused(text: &str, status: StatusCode) -> Option<ClientError> {
    let body = serde_json::from_str::<Refusal>(text).ok()?.error;
    let code = known_code(&body.code, status);
    Some(ClientError::Refused { body: Box::new(body), code })
}

impl Client {
    /// Makes a client for the server at `url`, such as `http://127.0.0.1:7373`; with `https`, the
    /// authorities of this machine are trusted.
    ///
    /// # Errors
    /// If the system cannot make connections at all.
    pub fn new(url: &str, key: Option<ApiKey>) -> Result<Self, ClientError> {
        Self::builder(url).key(key).build()
    }

    /// Begins to make a client for the server at `url`.
    pub fn builder(url: &str) -> ClientBuilder {
        let url = url.trim_end_matches('/').to_owned();
        ClientBuilder { url, key: None, trust: Trust::System }
    }

    /// Returns the address of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.key {
            Some(key) => request.bearer_auth(key.expose()),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(|cause| self.unreachable(cause))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.map_err(|cause| self.unreachable(cause))?;
        let refused = refused(&text, status);
        Err(refused
            .unwrap_or_else(|| self.strange(format!("status {status} without an error body"))))
    }

    fn unreachable(&self, cause: reqwest::Error) -> ClientError {
        let url = self.url.clone();
        match godel_tls::refusal(&cause) {
            Some(why) => ClientError::Untrusted { url, why },
            None => ClientError::Unreachable { url, cause },
        }
    }

    fn strange(&self, why: impl ToString) -> ClientError {
        ClientError::Strange { url: self.url.clone(), why: why.to_string() }
    }

    async fn read<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let response = self.send(request.timeout(ANSWER_TIMEOUT)).await?;
        let text = response.text().await.map_err(|error| self.strange(error))?;
        serde_json::from_str(&text).map_err(|error| self.strange(error))
    }

    /// Calls the API with a method, a path below the server's address, and an optional body.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
    ) -> Result<T, ClientError> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(body);
        }
        Ok(self.read::<Success<T>>(request).await?.data)
    }

    /// Returns the health of the server; also when it is unhealthy.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn health(&self) -> Result<Health, ClientError> {
        let request = self.request(Method::GET, "/health").timeout(ANSWER_TIMEOUT);
        let response = request.send().await.map_err(|cause| self.unreachable(cause))?;
        let status = response.status();
        let text = response.text().await.map_err(|error| self.strange(error))?;
        serde_json::from_str(&text)
            .map_err(|error| refused(&text, status).unwrap_or_else(|| self.strange(error)))
    }

    /// Returns what only a known caller may see of the server's health.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn detailed_health(&self) -> Result<DetailedHealth, ClientError> {
        self.read(self.request(Method::GET, "/health/detailed")).await
    }

    /// Returns numbers about the server.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn system_metrics(&self) -> Result<SystemMetrics, ClientError> {
        self.call(Method::GET, "/api/v1/metrics/system", None::<&()>).await
    }

    /// Records an event, once for each idempotency key.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn publish(
        &self,
        event: &NewEvent,
        idempotency_key: Option<&str>,
    ) -> Result<Event, ClientError> {
        let mut request = self.request(Method::POST, "/api/v1/events").json(event);
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        Ok(self.read::<Success<Event>>(request).await?.data)
    }

    /// Lists events by a query such as `limit=20&sort=-sequence`.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn events(&self, query: &[(&str, String)]) -> Result<Page<Event>, ClientError> {
        let request = self.request(Method::GET, "/api/v1/events").query(query);
        Ok(self.read::<Success<Page<Event>>>(request).await?.data)
    }

    /// Follows the event log; interruptions heal by themselves without losing or repeating one.
    pub fn follow(&self, patterns: Vec<String>, after: Option<i64>) -> EventStream {
        EventStream {
            client: self.clone(),
            patterns,
            after,
            body: None,
            decoder: SseDecoder::default(),
            ready: std::collections::VecDeque::new(),
            backoff: BACKOFF_FIRST,
        }
    }
}

/// What a stream returns.
#[derive(Debug)]
pub enum StreamItem {
    /// The next event.
    Event(Box<Event>),
    /// Something was removed by retention before it was read.
    Lagged(Lagged),
    /// The connection was lost; it is tried again after the given pause.
    Interrupted(ClientError, Duration),
}

/// A failure as far as a client reads it; one that was refused at the door has no request.
#[derive(serde::Deserialize)]
struct Refusal {
    error: ErrorBody,
}

type Body = std::pin::Pin<
    Box<dyn futures_util::Stream<Item = Result<bytes::Bytes, reqwest::Error>> + Send>,
>;

/// A stream of events that resumes by itself.
pub struct EventStream {
    client: Client,
    patterns: Vec<String>,
    after: Option<i64>,
    body: Option<Body>,
    decoder: SseDecoder,
    ready: std::collections::VecDeque<StreamItem>,
    backoff: Duration,
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").field("after", &self.after).finish_non_exhaustive()
    }
}

impl EventStream {
    /// Waits for the next item.
    ///
    /// # Errors
    /// If the server refuses for good: the caller is not known, the pattern is wrong, or the log
    /// has become another one that ends before what was read.
    pub async fn next(&mut self) -> Result<StreamItem, ClientError> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(item);
            }
            let Some(body) = &mut self.body else {
                match self.connect().await {
                    Ok(()) => continue,
                    Err(error @ (ClientError::Refused { .. } | ClientError::Untrusted { .. }))
                        if !error.kind().retryable() =>
                    {
                        return Err(error);
                    }
                    Err(error) => return Ok(self.interrupted(error).await),
                }
            };
            let next = tokio::time::timeout(SILENCE_MAX, body.next()).await.unwrap_or(None);
            match next {
                Some(Ok(bytes)) => {
                    self.backoff = BACKOFF_FIRST;
                    for message in self.decoder.feed(&bytes) {
                        self.take(&message)?;
                    }
                }
                Some(Err(_)) | None => {
                    self.body = None;
                    self.decoder = SseDecoder::default();
                    tokio::time::sleep(BACKOFF_FIRST).await;
                }
            }
        }
    }

    async fn interrupted(&mut self, error: ClientError) -> StreamItem {
        let pause = self.backoff;
        self.backoff = (self.backoff * 2).min(BACKOFF_LAST);
        tokio::time::sleep(pause).await;
        StreamItem::Interrupted(error, pause)
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let mut query: Vec<(&str, String)> =
            self.patterns.iter().map(|pattern| ("pattern", pattern.clone())).collect();
        query.extend(self.after.map(|after| ("after", after.to_string())));
        let request = self.client.request(Method::GET, "/api/v1/events/stream").query(&query);
        let response = self.client.send(request).await?;
        self.body = Some(Box::pin(response.bytes_stream()));
        Ok(())
    }

    fn take(&mut self, message: &SseMessage) -> Result<(), ClientError> {
        let strange = |error: serde_json::Error| self.client.strange(error);
        match message.event.as_deref() {
            Some("lagged") => {
                let lagged: Lagged = serde_json::from_str(&message.data).map_err(strange)?;
                self.after = Some(lagged.to_sequence);
                self.ready.push_back(StreamItem::Lagged(lagged));
            }
            Some("ready") => {
                // From where "from now on" is: a lost connection resumes from here.
                let head: Option<i64> = message.id.as_deref().and_then(|id| id.parse().ok());
                self.after = self.after.or(head);
            }
            // Told by a server for others, such as that the stream is alive.
            Some(_) => {}
            None => {
                let event: Event = serde_json::from_str(&message.data).map_err(strange)?;
                // Seen already: the server sends nothing twice, but a network may.
                if self.after.is_none_or(|after| event.sequence > after) {
                    self.after = Some(event.sequence);
                    self.ready.push_back(StreamItem::Event(Box::new(event)));
                }
            }
        }
        Ok(())
    }
}
