//! The switchboard: what it is made of, and how a request comes in.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use godel_hints::Hints;
use godel_llm::translate::{KeepLimits, Keepsakes};
use godel_llm::{Dialect, Trouble};
use godel_model::{CallId, Clock, EventType, Metadata, Mint, NewEvent, Payload, Source, TenantId};
use godel_store::Store;
use http::header::{self, HeaderName};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use serde::Serialize;
use uuid::Uuid;

use crate::ask::Asked;
use crate::broke::{Broke, NoMoney};
use crate::cache::Cache;
use crate::config::Config;
use crate::health::{Health, ProviderHealth};
use crate::ledger::Ledger;
use crate::limits::Gate;
use crate::rate::Spent;
use crate::relay::{ProxyBody, json};
use crate::sessions::Sessions;
use crate::target::{Target, Wish};
use crate::upstream::Upstream;
use crate::who::Who;

/// Of how many models it is remembered that their price is not known.
const UNPRICED_MAX: usize = 1_000;
/// The headers in which a request is named.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const ANTHROPIC_ID: HeaderName = HeaderName::from_static("request-id");
/// Asks web servers on the way to pass a stream on at once.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
pub(crate) const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// The switchboard; cheap to clone.
#[derive(Debug, Clone)]
pub struct Switchboard {
    pub(crate) board: Arc<Board>,
}

pub(crate) struct Board {
    config: RwLock<Arc<Config>>,
    pub(crate) ledger: Ledger,
    pub(crate) gate: Arc<Gate>,
    pub(crate) health: Health,
    pub(crate) upstream: Upstream,
    pub(crate) keepsakes: Mutex<Keepsakes>,
    pub(crate) cache: Cache,
    pub(crate) sessions: Sessions,
    /// The agents that may spend nothing more.
    pub(crate) broke: Broke,
    /// The models whose price is not known and that the log names.
    unpriced: Mutex<HashSet<(String, String)>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) mint: Mint,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").finish_non_exhaustive()
    }
}

/// Why a request is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind.
    pub trouble: Trouble,
    /// A sentence for the person behind the client.
    pub message: String,
    /// The limit that is used up, if it is one.
    pub(crate) spent: Option<Spent>,
}

impl Refusal {
    /// Refuses.
    pub fn new(trouble: Trouble, message: impl Into<String>) -> Self {
        Self { trouble, message: message.into(), spent: None }
    }
}

impl Switchboard {
    /// Puts the parts together; [`Ledger::run`] of [`Switchboard::ledger`] must be running.
    pub fn new(store: Store, hints: Option<Hints>, clock: Arc<dyn Clock>, mint: Mint) -> Self {
        let ledger = Ledger::new(store, Arc::clone(&clock), mint);
        let cache = Cache::default();
        let board = Board {
            config: RwLock::default(),
            ledger,
            gate: Arc::new(Gate::new(hints)),
            health: Health::default(),
            upstream: Upstream::default(),
            keepsakes: Mutex::new(Keepsakes::new(KeepLimits::default())),
            cache,
            sessions: Sessions::default(),
            broke: Broke::default(),
            unpriced: Mutex::default(),
            clock,
            mint,
        };
        Self { board: Arc::new(board) }
    }

    /// Returns the ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.board.ledger
    }

    /// Returns how it works now.
    pub fn config(&self) -> Arc<Config> {
        self.board.config()
    }

    /// Lets it work in another way from the next request on.
    pub fn reload(&self, config: Config) {
        let mut known = self.board.config.write().unwrap_or_else(PoisonError::into_inner);
        *known = Arc::new(config);
    }

    /// Lets other servers know who is under way here, if there are any; never ends.
    pub async fn tend(&self) {
        self.board.gate.tend().await;
    }

    /// Lets other servers know who has left, before this one ends.
    pub async fn tidy(&self) {
        self.board.gate.tidy().await;
    }

    /// Tells how the providers that were asked are doing.
    pub fn providers(&self) -> Vec<ProviderHealth> {
        self.board.health.all(self.board.clock.now())
    }

    /// Closes connections to providers that were not used for long.
    pub fn close_idle(&self) {
        self.board.upstream.close_idle();
    }

    /// Serves one request of somebody who is known.
    pub async fn call<B>(&self, who: Arc<Who>, request: Request<B>) -> Response<ProxyBody>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let (parts, body) = request.into_parts();
        let id = self.board.mint.id::<CallId>();
        let Some(target) = target(&parts) else {
            let refusal =
                Refusal::new(Trouble::NoModel, format!("there is nothing at {}", parts.uri.path()));
            return answer(&refusal, Dialect::Chat, &parts, id);
        };
        let dialect = target.dialect;
        let served = match &target.wish {
            Wish::Probe => Ok(Response::new(Bytes::new().into())),
            Wish::Socket => Ok(no_sockets()),
            Wish::Models(one) => self.board.models(&who, &target, one.as_deref()),
            Wish::Answer | Wish::Count => {
                let board = Arc::clone(&self.board);
                // Boxed: what is asked is large, and most of its life is waiting.
                Box::pin(Asked::serve(board, (who, id, target), &parts, body)).await
            }
        };
        match served {
            Ok(mut response) => {
                name(&mut response, id);
                response
            }
            Err(refusal) => answer(&refusal, dialect, &parts, id),
        }
    }

    /// Tells whether some provider would be asked for a model of this name.
    pub fn knows_model(&self, name: &str) -> bool {
        crate::route::knows(&self.board.config(), name)
    }

    /// Returns how an agent was last refused because of a budget, since this was last asked.
    pub fn take_budget_refusal(&self, agent: &str) -> Option<NoMoney> {
        self.board.broke.take(agent)
    }

    /// Refuses a request in the words of its dialect.
    pub fn refuse<B>(&self, request: &Request<B>, refusal: &Refusal) -> Response<ProxyBody> {
        let id = self.board.mint.id::<CallId>();
        let (method, headers) = (request.method(), request.headers());
        let target = Target::of(request.uri().path(), method, headers, request.uri().query());
        let dialect = target.map_or(Dialect::Chat, |target| target.dialect);
        written(refusal, dialect, is_codex(headers), id)
    }

    /// Tells whether a request is a probe that needs nobody to be known.
    pub fn is_probe<B>(request: &Request<B>) -> bool {
        let path = request.uri().path();
        let method = request.method();
        (method == http::Method::HEAD || method == http::Method::GET)
            && Target::of(path, method, request.headers(), None)
                .is_some_and(|target| matches!(target.wish, Wish::Probe | Wish::Socket))
    }
}

fn target(parts: &Parts) -> Option<Target> {
    Target::of(parts.uri.path(), &parts.method, &parts.headers, parts.uri.query())
}

fn is_codex(headers: &http::HeaderMap) -> bool {
    let originator = headers.get("originator").and_then(|value| value.to_str().ok());
    originator.is_some_and(|originator| originator.starts_with("codex"))
}

fn answer(refusal: &Refusal, dialect: Dialect, parts: &Parts, id: CallId) -> Response<ProxyBody> {
    written(refusal, dialect, is_codex(&parts.headers), id)
}

fn written(refusal: &Refusal, dialect: Dialect, codex: bool, id: CallId) -> Response<ProxyBody> {
    let told = refusal.trouble.answer(dialect, &refusal.message, &id.to_string(), codex);
    crate::metrics::refused(reason(refusal.trouble));
    let mut response = json(Bytes::from(told.body));
    *response.status_mut() = StatusCode::from_u16(told.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    if let Some(seconds) = told.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if told.is_final {
        headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    if let Some(spent) = &refusal.spent {
        spent.tell(dialect, headers);
    }
    name(&mut response, id);
    response
}

const fn reason(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Invalid => "invalid",
        Trouble::TooLarge => "too_large",
        Trouble::Unauthenticated => "unauthenticated",
        Trouble::Forbidden => "forbidden",
        Trouble::Budget => "budget",
        Trouble::NoModel => "no_model",
        Trouble::RateLimited(_) => "rate_limited",
        Trouble::BadGateway => "bad_gateway",
        Trouble::Overloaded(_) => "overloaded",
        Trouble::Timeout => "timeout",
        Trouble::Internal => "internal",
    }
}

fn name(response: &mut Response<ProxyBody>, id: CallId) {
    let mut text = Uuid::encode_buffer();
    if let Ok(id) = HeaderValue::from_str(id.uuid().hyphenated().encode_lower(&mut text)) {
        response.headers_mut().insert(ANTHROPIC_ID, id.clone());
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response.headers_mut().insert(NO_BUFFERING, HeaderValue::from_static("no"));
}

/// Codex tries a WebSocket first; any other answer makes it wait for seconds or give up.
fn no_sockets() -> Response<ProxyBody> {
    let body = r#"{"error":{"message":"use POST; WebSockets are not spoken here","type":"invalid_request_error","param":null,"code":null}}"#;
    let mut response = json(Bytes::from_static(body.as_bytes()));
    *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
    response
}

impl Board {
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Warns once of each model whose price is not known.
    pub(crate) fn tell_unpriced(&self, provider: &str, model: &str) {
        let mut known = self.unpriced.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < UNPRICED_MAX && known.insert((provider.to_owned(), model.to_owned())) {
            tracing::warn!(
                provider,
                model,
                "the price of a model is not known, so budgets do not count it; name its price in the \
                 file of models"
            );
        }
    }

    /// Tells a tenant that a provider is left alone for a while.
    pub(crate) fn tell_down(&self, tenant: TenantId, provider: &str, why: &str) {
        #[derive(Serialize)]
        struct Told<'a> {
            provider: &'a str,
            why: &'a str,
        }
        tracing::warn!(provider, why, "a provider is left alone for a while");
        let event = NewEvent {
            id: self.mint.id(),
            kind: EventType::known("provider:down"),
            at: self.clock.now(),
            source: Source::component("proxy"),
            payload: Payload::of(&Told { provider, why }),
            metadata: Metadata::default().about("providerId", provider),
        };
        self.ledger.tell(tenant, event);
    }
}
