//! The guard: who is calling, and may this request be served now?

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use godel_app::Call;
use godel_app::auth::{self, Identity};
use godel_decide::{Admission, Limit};
use godel_model::{ApiKey, LoginToken, code};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use jiff::Timestamp;

use crate::error::{ApiError, ApiResult};
use crate::state::{Entrance, Shared};
use crate::trace::TraceContext;

/// The cookie of a browser session.
pub(crate) const SESSION_COOKIE: &str = "godel_session";
/// The header that proves that a request comes from the dashboard's own code.
const CSRF: HeaderName = HeaderName::from_static("x-godel-csrf");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The call of a known caller, put there by the guard.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) call: Call,
    pub(crate) expires_at: Option<Timestamp>,
    proof: Proof,
}

/// How a caller is known; long connections ask again whether it still holds.
#[derive(Debug, Clone)]
enum Proof {
    Key(ApiKey),
    Session(LoginToken),
}

impl Proof {
    async fn check(&self, shared: &Shared) -> Result<Identity, godel_app::Error> {
        match self {
            Self::Key(key) => auth::by_key(&shared.app, key).await,
            Self::Session(token) => auth::by_session(&shared.app, token).await,
        }
    }
}

impl Caller {
    /// Tells whether the caller was logged out or its key ended since the request came.
    pub(crate) async fn is_gone(&self, shared: &Shared) -> bool {
        matches!(self.proof.check(shared).await, Err(godel_app::Error::Unauthorized))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        // A route outside of the guard that asks for a caller is refused, not served.
        parts.extensions.get::<Self>().cloned().ok_or_else(unknown)
    }
}

/// Lets known callers in, as fast as their limits allow.
pub(crate) async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let (identity, proof) = match identify(&shared, &parts).await {
        Ok(known) => known,
        Err(error) => return error.into_response(),
    };
    let now = shared.app.clock.now();
    let admission = shared.app.rates.admit(&identity.actor, now).await;
    let limit = shared.app.rates.limit();
    let mut response = if admission.allowed {
        let trace_id = parts.extensions.get::<TraceContext>().map(|trace| trace.trace_id.clone());
        let call = Call { actor: identity.actor, trace_id, once: None };
        parts.extensions.insert(Caller { call, expires_at: identity.expires_at, proof });
        next.run(Request::from_parts(parts, body)).await
    } else {
        ApiError::new(
            code::RATE_LIMITED,
            format!(
                "this caller made more requests than its limit of {} a minute allows",
                limit.per_minute
            ),
        )
        .with_hint(format!(
            "try again in {} s; to follow events, stream them instead of asking again and again",
            admission.retry_after_ms.div_ceil(1_000).max(1)
        ))
        .retry_after_ms(admission.retry_after_ms)
        .into_response()
    };
    add_limits(response.headers_mut(), limit, admission, now);
    response
}

fn add_limits(headers: &mut HeaderMap, limit: Limit, admission: Admission, now: Timestamp) {
    let reset = now.as_second().saturating_add_unsigned(admission.reset_ms.div_ceil(1_000));
    headers.insert(LIMIT, HeaderValue::from(limit.per_minute));
    headers.insert(REMAINING, HeaderValue::from(admission.remaining));
    headers.insert(RESET, HeaderValue::from(reset));
}

fn unknown() -> ApiError {
    ApiError::report(&godel_app::Error::Unauthorized)
}

async fn identify(shared: &Shared, parts: &Parts) -> ApiResult<(Identity, Proof)> {
    if let Some(key) = presented_key(&parts.headers)? {
        let proof = Proof::Key(key);
        return Ok((proof.check(shared).await?, proof));
    }
    let Some(token) = session_token(&parts.headers) else { return Err(unknown()) };
    let proof = Proof::Session(token);
    let identity = proof.check(shared).await?;
    prove_same_site(parts)?;
    Ok((identity, proof))
}

/// Returns the key of the `Authorization` or `X-API-Key` header.
fn presented_key(headers: &HeaderMap) -> ApiResult<Option<ApiKey>> {
    let bearer = headers.get(header::AUTHORIZATION);
    let Some(value) = bearer.or_else(|| headers.get(&API_KEY)) else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| unknown())?;
    let key = match bearer {
        Some(_) => text
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, key)| key.trim())
            .ok_or_else(unknown)?,
        None => text,
    };
    // What is no key at all gets the same answer as a key that nobody has.
    key.parse().map(Some).map_err(|_| unknown())
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
fn prove_same_site(parts: &Parts) -> ApiResult<()> {
    let refuse = || {
        ApiError::new(code::CSRF_REFUSED, "this request did not come from the dashboard")
            .with_hint("programs authenticate with an API key instead of the cookie")
    };
    let host = named_host(&parts.headers, &parts.uri);
    let origin = parts.headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or("?"));
    if let Some(origin) = origin
        && origin.split_once("://").map(|(_, place)| place) != host
    {
        return Err(refuse());
    }
    let upgrade = parts.headers.contains_key(header::UPGRADE);
    let safe = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    match (safe, upgrade) {
        // A page of another site can open a socket with the cookie, but cannot hide its origin.
        (_, true) if origin.is_none() => Err(refuse()),
        (false, _) if !parts.headers.contains_key(&CSRF) => Err(refuse()),
        _ => Ok(()),
    }
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
pub(crate) fn check_host(entrance: &Entrance, request: &Request) -> ApiResult<()> {
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
