//! The outermost layer: names each request, follows its trace, counts it, and writes its failure.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use godel_api::{ErrorBody, Failure, Meta};
use godel_model::{EventId, code};
use godel_telemetry::{TraceContext, join_trace};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tracing::Instrument as _;

use crate::error::ApiError;
use crate::guard::check_host;
use crate::metrics;
use crate::state::Shared;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// For how long a browser remembers to use TLS only: a year.
const STRICT: &str = "max-age=31536000";
const REQUEST_ID_MAX_CHARS: usize = 64;
/// Where large things are sent to; each piece of one still has to come in time.
const UPLOADS: &str = "/snapshots";
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Names, follows, counts and finishes one request.
pub(crate) async fn observe(
    State(shared): State<Shared>,
    mut request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let request_id = request_id(&shared, request.headers());
    let trace = TraceContext::of(request.headers(), shared.app.mint);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);
    let span = tracing::info_span!(
        "api.request",
        otel.kind = "server",
        http.request.method = %method,
        http.route = route,
        trace_id = %trace.trace_id,
        request_id = %request_id,
    );
    join_trace(&span, &trace);
    let traceparent = HeaderValue::try_from(trace.traceparent());
    request.extensions_mut().insert(trace);
    let mut response = match check_host(&shared.entrance, &request) {
        Ok(()) => run(&shared, request, next).instrument(span.clone()).await,
        Err(error) => error.into_response(),
    };
    let status = response.status();
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        response = write_failure(&shared, &error, &request_id, response);
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Ok(traceparent) = traceparent {
        headers.insert(TRACEPARENT, traceparent);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if shared.entrance.strict {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(STRICT));
    }
    metrics::request(&method, route, status, start.elapsed());
    tracing::debug!(parent: &span, %method, route, status = status.as_u16(), "answered");
    response
}

/// Takes the caller's name for the request, if it is a sane one, or makes one.
fn request_id(shared: &Shared, headers: &HeaderMap) -> String {
    let sane = |text: &&str| {
        !text.is_empty()
            && text.len() <= REQUEST_ID_MAX_CHARS
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
    };
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok()).filter(sane);
    given.map_or_else(|| shared.app.mint.id::<EventId>().to_string(), ToOwned::to_owned)
}

fn write_failure(
    shared: &Shared,
    error: &ApiError,
    request_id: &str,
    response: Response,
) -> Response {
    metrics::failure(error.code);
    let failure = Failure {
        success: false,
        error: ErrorBody {
            code: error.code.name().to_owned(),
            message: error.message.clone(),
            hint: error.hint.clone(),
            field: error.field.clone(),
            details: error.details.as_deref().cloned(),
        },
        meta: Meta { request_id: request_id.to_owned(), timestamp: shared.app.clock.now() },
    };
    let (mut parts, _) = response.into_parts();
    let Ok(body) = serde_json::to_vec(&failure) else {
        return http::StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(body))
}

/// Answers when nothing else does.
pub(crate) async fn no_route() -> ApiError {
    ApiError::new(code::ROUTE_NOT_FOUND, "there is nothing at this path")
        .with_hint("/docs lists every path of the API")
}

/// Answers when the path is right and the method is not.
pub(crate) async fn wrong_method() -> ApiError {
    ApiError::new(code::METHOD_NOT_ALLOWED, "this path does not take this method")
        .with_hint("the Allow header and /docs tell which it takes")
}

/// Tells whether a request brings something large, which takes as long as its network does.
fn is_upload(request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    request.method() == Method::POST && route.is_some_and(|route| route.ends_with(UPLOADS))
}

/// Runs the handler: it must end in time, and a panic in it is an answer too.
///
/// Streams begin in time and may then go on.
async fn run(shared: &Shared, request: Request, next: Next) -> Response {
    let patience = if is_upload(&request) { UPLOAD_TIMEOUT } else { shared.request_timeout };
    let handled = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(patience, handled).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            tracing::error!("a handler panicked");
            ApiError::new(code::INTERNAL_ERROR, "something failed inside Godel")
                .with_hint("the log has the details under this request id; please report it")
                .into_response()
        }
        Err(_) => ApiError::new(code::REQUEST_TIMEOUT, "the request took too long")
            .with_hint("repeat it with the same Idempotency-Key; `godel status` tells what is slow")
            .into_response(),
    }
}
