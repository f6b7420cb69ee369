//! The other door: requests to models take no way through the router.
//!
//! An agent asks a model many thousand times a day, and each layer would cost as much as the work
//! itself. What they do for the rest of the API is done here in the words that clients of models
//! understand: who is it, may it, what failed.

use std::sync::Arc;

use axum::body::Body;
use godel_app::Error;
use godel_app::auth::{self, AccessToken, Credential};
use godel_app::spend::{self, Shown};
use godel_llm::Trouble;
use godel_proxy::{Refusal, Switchboard, Who, is_model_path};
use godel_telemetry::{TraceContext, join_trace};
use http::header::{self, HeaderName};
use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use crate::guard::{Peer, check_host, origin_of};
use crate::state::Shared;

/// The header for clients that bring a login of the provider in the usual one.
const OWN_TOKEN: HeaderName = HeaderName::from_static("x-godel-token");
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Tells whether a request is one for models.
pub(crate) fn is_for_models<B>(request: &Request<B>) -> bool {
    is_model_path(request.uri().path())
}

/// Serves a request to a model.
pub(crate) async fn serve(
    shared: &Shared,
    peer: Peer,
    mut request: Request<Incoming>,
) -> Response<Body> {
    let board = &shared.app.switchboard;
    if let Err(error) = check_host(&shared.entrance, &request) {
        let refusal = Refusal::new(Trouble::Forbidden, error.message);
        return board.refuse(&request, &refusal).map(Body::new);
    }
    let who = if Switchboard::is_probe(&request) {
        // Nobody need be known to hear that somebody is here.
        Ok(Arc::new(Who::nobody()))
    } else {
        identify(shared, &request, peer).await
    };
    keep_own(request.headers_mut());
    let span = span(shared, &request);
    let response = match who {
        Ok(who) => board.call(who, request).instrument(span.clone()).await.map(Body::new),
        Err(refusal) => board.refuse(&request, &refusal).map(Body::new),
    };
    span.record("http.response.status_code", response.status().as_u16());
    response
}

/// Makes the part of the caller's trace that tells of a request; without anybody who collects traces
/// there is none, and it costs nothing.
fn span<B>(shared: &Shared, request: &Request<B>) -> Span {
    let span = tracing::debug_span!(
        target: "godel_proxy",
        "models.request",
        otel.kind = "server",
        http.request.method = %request.method(),
        url.path = request.uri().path(),
        http.response.status_code = Empty,
        dialect = Empty,
        model = Empty,
    );
    if !span.is_disabled() {
        join_trace(&span, &TraceContext::of(request.headers(), shared.app.mint));
    }
    span
}

/// Beside a token in our own header, the usual one may hold a login of the provider, which is passed
/// on. One of ours never is, whoever it belongs to.
fn keep_own(headers: &mut HeaderMap) {
    let ours = || bearer(headers).is_some_and(|token| read(token, headers).is_some());
    if headers.contains_key(&OWN_TOKEN) && ours() {
        headers.remove(header::AUTHORIZATION);
    }
}

async fn identify(
    shared: &Shared,
    request: &Request<Incoming>,
    peer: Peer,
) -> Result<Arc<Who>, Refusal> {
    let app = &shared.app;
    let headers = request.headers();
    let Some(text) = shown_token(headers, request.uri().query()) else {
        let why =
            "no Godel token was shown; send it as a bearer token, x-api-key or x-goog-api-key";
        return Err(Refusal::new(Trouble::Unauthenticated, why));
    };
    let found = match read(text, headers) {
        Some(shown) => spend::who(app, &shown).await,
        None => Err(Error::Unauthorized),
    };
    match found {
        Err(Error::Unauthorized) => {
            let origin = origin_of(headers, Some(&peer));
            let refused = Box::pin(auth::refused(app, &origin, "token")).await;
            Err(refusal(refused))
        }
        other => other.map_err(refusal),
    }
}

fn refusal(error: Error) -> Refusal {
    let trouble = match &error {
        Error::Unauthorized => Trouble::Unauthenticated,
        Error::Forbidden(_) | Error::NarrowKey | Error::AgentEnded => Trouble::Forbidden,
        Error::Throttled { retry_ms } => Trouble::RateLimited(retry_ms.div_ceil(1_000)),
        Error::Invalid(_) => Trouble::Invalid,
        _ => Trouble::Internal,
    };
    let message = match (&error, trouble) {
        (Error::Unauthorized, _) => {
            "this Godel token is not known, has ended or was revoked".to_owned()
        }
        (_, Trouble::Internal) => {
            tracing::error!(%error, "who asks a model could not be found out");
            "something failed inside Godel; its log has the details".to_owned()
        }
        _ => error.to_string(),
    };
    Refusal::new(trouble, message)
}

/// Returns what is shown, in whichever of the ways that clients have.
fn shown_token<'r>(headers: &'r HeaderMap, query: Option<&'r str>) -> Option<&'r str> {
    let text =
        |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(token) = text(&OWN_TOKEN) {
        return Some(token);
    }
    let named = bearer(headers).or_else(|| text(&X_API_KEY)).or_else(|| text(&X_GOOG_API_KEY));
    let in_query = || {
        query
            .into_iter()
            .flat_map(|query| query.split('&'))
            .find_map(|pair| pair.strip_prefix("key="))
    };
    named.or_else(in_query).filter(|token| !token.is_empty())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn read(text: &str, headers: &HeaderMap) -> Option<Shown> {
    if let Ok(token) = text.parse() {
        return Some(Shown::Agent(token));
    }
    let credential = match text.parse() {
        Ok(key) => Credential::Key(key),
        Err(_) => Credential::Access(AccessToken::from_text(text)?),
    };
    let project = headers.get("x-godel-project").and_then(|value| value.to_str().ok());
    Some(Shown::Person(credential, project.map(ToOwned::to_owned)))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_token_is_found_in_each_of_the_ways_that_clients_have() {
        let of = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            shown_token(&headers, None).map(ToOwned::to_owned)
        };
        for (name, value) in [
            ("authorization", "Bearer t1"),
            ("authorization", "bearer  t1"),
            ("x-api-key", "t1"),
            ("x-goog-api-key", "t1"),
            ("x-godel-token", "t1"),
        ] {
            assert_eq!(of(name, value).as_deref(), Some("t1"), "{name}");
        }
        assert_eq!(of("authorization", "Basic t1"), None);
        assert_eq!(shown_token(&HeaderMap::new(), Some("alt=sse&key=t1")), Some("t1"));
        assert_eq!(shown_token(&HeaderMap::new(), Some("alt=sse")), None);
    }

    #[test]
    fn no_credential_of_ours_is_passed_on_as_a_login() {
        let jwt = "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2ln";
        let agent = format!("Bearer godel_at_{}", "a".repeat(43));
        let key = format!("bearer godel_sk_{}", "a".repeat(43));
        for (shown, stays) in [
            (jwt, false),
            (agent.as_str(), false),
            (key.as_str(), false),
            ("Bearer sk-ant-oat01-x", true),
            ("Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_str(shown).unwrap());
            keep_own(&mut headers);
            assert!(headers.contains_key(header::AUTHORIZATION), "it is how {shown} is shown");
            headers.insert(OWN_TOKEN, HeaderValue::from_static("godel_at_1"));
            keep_own(&mut headers);
            assert_eq!(headers.contains_key(header::AUTHORIZATION), stays, "{shown}");
        }
    }

    #[test]
    fn our_own_header_counts_before_a_login_of_the_provider() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer sk-ant-oat01-x"));
        headers.insert("x-godel-token", HeaderValue::from_static("godel_at_1"));
        assert_eq!(shown_token(&headers, None), Some("godel_at_1"));
    }
}
