//! The guard: who is calling, and may this request be served now?

use std::net::IpAddr;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use godel_app::auth::{self, AccessToken, Credential, Identity, login};
use godel_app::{Call, NoPlace, Origin, SocketPlace, audit};
use godel_decide::{Admission, Limit};
use godel_model::{LoginToken, code};
use godel_telemetry::TraceContext;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use jiff::Timestamp;

use crate::error::{ApiError, ApiResult};
use crate::metrics;
use crate::state::{Entrance, Shared};

/// The cookie of a browser session.
pub(crate) const SESSION_COOKIE: &str = "godel_session";
/// The header that proves that a request comes from the dashboard's own code.
const CSRF: HeaderName = HeaderName::from_static("x-godel-csrf");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
/// How much of the name that a program gives itself is kept.
const AGENT_MAX_CHARS: usize = 200;

/// The network address of the other side, put there when the connection was accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The call of a known caller, put there by the guard.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) call: Call,
    pub(crate) expires_at: Option<Timestamp>,
}

impl Caller {
    /// Tells whether the caller was logged out or its key ended since the request came.
    pub(crate) async fn is_gone(&self, shared: &Shared) -> bool {
        // Boxed: ten thousand idle sockets must not each keep room for a look that is seldom made.
        matches!(Box::pin(auth::holds(&shared.app, &self.call.actor)).await, Ok(false))
    }
}

/// Takes a place for a WebSocket or a stream: both stay open, so both count.
pub(crate) fn take_place(shared: &Shared, caller: &Caller) -> ApiResult<SocketPlace> {
    shared.app.rates.socket(caller.call.actor.credential()).map_err(|why| {
        let message = match why {
            NoPlace::Caller => "this caller has as many open WebSockets and streams as it may",
            NoPlace::Server => "this server has as many open WebSockets and streams as it can hold",
        };
        ApiError::new(code::TOO_MANY_CONNECTIONS, message)
            .with_hint("close one, or put more subscriptions on one WebSocket")
            .retry_after_ms(1_000)
    })
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        // A route outside of the guard that asks for a caller is refused, not served.
        parts.extensions.get::<Self>().cloned().ok_or_else(unknown)
    }
}

impl<S: Sync> FromRequestParts<S> for Whence {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(origin(parts)))
    }
}

/// Where a request without a caller comes from.
#[derive(Debug)]
pub(crate) struct Whence(pub(crate) Origin);

/// Returns where a request comes from.
pub(crate) fn origin(parts: &Parts) -> Origin {
    origin_of(&parts.headers, parts.extensions.get::<Peer>())
}

/// Returns where a request comes from.
pub(crate) fn origin_of(headers: &HeaderMap, peer: Option<&Peer>) -> Origin {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let short = |agent: &str| agent.chars().take(AGENT_MAX_CHARS).collect::<String>().into();
    Origin { address: peer.map(|peer| peer.0), agent: agent.map(short) }
}

/// Lets known callers in, as fast as their limits allow.
pub(crate) async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let origin = origin(&parts);
    let identity = match identify(&shared, &parts, &origin).await {
        Ok(known) => known,
        Err(error) => return error.into_response(),
    };
    let trace_id = parts.extensions.get::<TraceContext>().map(|trace| trace.trace_id.clone());
    let call = Call { actor: identity.actor, trace_id, once: None, origin };
    metrics::tenant_request(call.actor.tenant);
    let (method, route) = (parts.method.clone(), parts.extensions.get::<MatchedPath>().cloned());
    let now = shared.app.clock.now();
    let admission = shared.app.rates.admit(&call.actor, now).await;
    let limit = shared.app.rates.limit();
    let mut response = if !admission.allowed {
        too_fast(limit, admission).into_response()
    } else if let Err(error) = prove_same_site(&shared, &parts) {
        error.into_response()
    } else {
        let caller = Caller { call: call.clone(), expires_at: identity.expires_at };
        parts.extensions.insert(caller);
        next.run(Request::from_parts(parts, body)).await
    };
    if response.status() == StatusCode::FORBIDDEN
        && let Err(error) =
            audit::refused(&shared.app, &call, "access:denied", &asked(&method, route)).await
    {
        tracing::warn!(%error, "a refusal was not recorded");
    }
    add_limits(response.headers_mut(), admission, now);
    response
}

/// Names what was asked for, without ids or queries: those may hold anything.
fn asked(method: &Method, route: Option<MatchedPath>) -> String {
    format!("{method} {}", route.as_ref().map_or("", MatchedPath::as_str))
}

fn too_fast(limit: Limit, admission: Admission) -> ApiError {
    let often = limit.per_minute;
    let message =
        format!("this caller made more requests than its limit of {often} a minute allows");
    ApiError::new(code::RATE_LIMITED, message)
        .with_hint(format!(
            "try again in {} s; to follow events, stream them instead of asking again and again",
            admission.retry_after_ms.div_ceil(1_000).max(1)
        ))
        .retry_after_ms(admission.retry_after_ms)
}

fn add_limits(headers: &mut HeaderMap, admission: Admission, now: Timestamp) {
    let reset = now.as_second().saturating_add_unsigned(admission.reset_ms.div_ceil(1_000));
    headers.insert(LIMIT, HeaderValue::from(admission.limit));
    headers.insert(REMAINING, HeaderValue::from(admission.remaining));
    headers.insert(RESET, HeaderValue::from(reset));
}

fn unknown() -> ApiError {
    ApiError::report(&godel_app::Error::Unauthorized)
}

async fn identify(shared: &Shared, parts: &Parts, origin: &Origin) -> ApiResult<Identity> {
    let app = &shared.app;
    let presented = presented(parts)?;
    // Any page can open a socket from the browser of somebody who is here; what it shows must not
    // count against that person's address.
    if matches!(presented, Presented::Ticket(_)) && is_foreign(parts) {
        return Err(foreign());
    }
    let (found, what) = match presented {
        Presented::Nothing => return Err(unknown()),
        Presented::Ticket(None) => (Err(godel_app::Error::Unauthorized), "ticket"),
        Presented::Ticket(Some(ticket)) => (login::by_ticket(app, &ticket).await, "ticket"),
        Presented::Credential(credential) => {
            let what = match credential {
                Credential::Key(_) => "key",
                Credential::Cookie(_) => "cookie",
                Credential::Access(_) => "token",
            };
            (auth::identify(app, &credential).await, what)
        }
        // What is no credential at all gets the same answer as one that nobody has.
        Presented::Garbage => (Err(godel_app::Error::Unauthorized), "key"),
    };
    match found {
        // A cookie that ended is no attack: browsers send it on and on.
        Err(godel_app::Error::Unauthorized) if what != "cookie" => {
            Err(auth::refused(app, origin, what).await.into())
        }
        other => Ok(other?),
    }
}

/// What a request shows to be known.
enum Presented {
    Nothing,
    Garbage,
    Credential(Credential),
    /// A ticket, or what came in its place.
    Ticket(Option<LoginToken>),
}

fn presented(parts: &Parts) -> ApiResult<Presented> {
    let headers = &parts.headers;
    // Two different claims to be somebody: whoever checked only one of them would be fooled.
    let claims = headers.get_all(header::AUTHORIZATION).iter().count()
        + headers.get_all(&API_KEY).iter().count();
    if claims > 1 {
        return Err(ApiError::new(code::INVALID_HEADER, "a request must show one credential")
            .with_hint("send either one Authorization header or one X-API-Key header"));
    }
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let bearer = value.to_str().ok().and_then(|text| text.split_once(' '));
        let token = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        return Ok(token.map_or(Presented::Garbage, |(_, token)| read_bearer(token.trim())));
    }
    if let Some(value) = headers.get(&API_KEY) {
        let key = value.to_str().ok().and_then(|key| key.parse().ok()).map(Credential::Key);
        return Ok(key.map_or(Presented::Garbage, Presented::Credential));
    }
    if let Some(token) = session_token(headers) {
        return Ok(Presented::Credential(Credential::Cookie(token)));
    }
    // Only for sockets: a page of a browser cannot give them a header.
    let path = parts.uri.path();
    let is_socket = path == "/events" || path.starts_with("/agents/") && path.ends_with("/attach");
    let is_socket = is_socket && headers.contains_key(header::UPGRADE);
    let query = parts.uri.query().filter(|_| is_socket);
    let ticket = query.into_iter().flat_map(|query| query.split('&'));
    let ticket = ticket.filter_map(|pair| pair.strip_prefix("ticket=")).next();
    Ok(ticket.map_or(Presented::Nothing, |ticket| Presented::Ticket(ticket.parse().ok())))
}

fn read_bearer(token: &str) -> Presented {
    if let Ok(key) = token.parse() {
        return Presented::Credential(Credential::Key(key));
    }
    let access = AccessToken::from_text(token).map(Credential::Access);
    access.map_or(Presented::Garbage, Presented::Credential)
}

/// Returns the token of the session cookie.
pub(crate) fn session_token(headers: &HeaderMap) -> Option<LoginToken> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(name, _)| *name == SESSION_COOKIE)
        .and_then(|(_, token)| token.parse().ok())
}

/// A cookie is sent by the browser whoever asked for the request, so more proof is needed.
fn prove_same_site(shared: &Shared, parts: &Parts) -> ApiResult<()> {
    let by_header =
        [header::AUTHORIZATION, API_KEY].iter().any(|name| parts.headers.contains_key(name));
    let Some(cookie) = session_token(&parts.headers).filter(|_| !by_header) else {
        return Ok(());
    };
    if is_foreign(parts) {
        return Err(foreign());
    }
    let upgrade = parts.headers.contains_key(header::UPGRADE);
    let safe = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    let proof = parts.headers.get(&CSRF).map(HeaderValue::as_bytes).unwrap_or_default();
    match (safe, upgrade) {
        // A page of another site can open a socket with the cookie, but cannot hide its origin.
        (_, true) if !parts.headers.contains_key(header::ORIGIN) => Err(foreign()),
        (false, _) if !auth::is_csrf_token(&shared.app, &cookie, proof) => Err(foreign()),
        _ => Ok(()),
    }
}

fn foreign() -> ApiError {
    ApiError::new(code::CSRF_REFUSED, "this request did not come from the dashboard")
        .with_hint("programs authenticate with an API key instead of the cookie")
}

/// Tells whether a browser says that a page of another server made the request.
fn is_foreign(parts: &Parts) -> bool {
    let host = named_host(&parts.headers, &parts.uri);
    let origin = parts.headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or("?"));
    origin.is_some_and(|origin| origin.split_once("://").map(|(_, place)| place) != host)
}

/// Returns the host that a request names; HTTP/2 has no `Host` header for it.
fn named_host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| uri.authority().map(Authority::as_str))
}

/// Refuses a request that reached a loopback address under another name: DNS rebinding.
///
/// With TLS a browser itself notices that the name is wrong, and a server that other machines reach
/// has names of which it does not know.
pub(crate) fn check_host<B>(entrance: &Entrance, request: &http::Request<B>) -> ApiResult<()> {
    let host = named_host(request.headers(), request.uri());
    if entrance.any_host || host.is_none_or(is_loopback_name) {
        return Ok(());
    }
    Err(ApiError::new(code::HOST_REFUSED, "this server answers only under its loopback address")
        .with_hint("use http://127.0.0.1 or http://localhost with the server's port"))
}

fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_loopback() {
        for good in
            ["localhost", "LOCALHOST:7373", "127.0.0.1:7373", "127.1.2.3", "[::1]:80", "[::1]"]
        {
            assert!(is_loopback_name(good), "{good}");
        }
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "[::2]:80",
            "127.0.0.1.evil.example",
        ] {
            assert!(!is_loopback_name(bad), "{bad}");
        }
    }

    #[test]
    fn foreign_names_are_refused_on_plain_loopback_only() {
        let named = |host: &str| {
            let request = http::Request::builder().uri("/health").header(header::HOST, host);
            request.body(axum::body::Body::empty()).unwrap()
        };
        // As HTTP/2 names the host.
        let by_authority = |host: &str| {
            let uri = format!("https://{host}/health");
            http::Request::builder().uri(uri).body(axum::body::Body::empty()).unwrap()
        };
        let entrance =
            |any_host| Entrance { certificate: None, insecure: false, any_host, strict: false };
        for request in [named("evil.example:7373"), by_authority("evil.example:7373")] {
            assert!(check_host(&entrance(false), &request).is_err());
            assert!(check_host(&entrance(true), &request).is_ok());
        }
        for request in [named("localhost:7373"), by_authority("127.0.0.1:7373")] {
            assert!(check_host(&entrance(false), &request).is_ok());
        }
    }
}
