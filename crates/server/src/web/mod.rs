//! Pages: the dashboard, the API reference, and the OpenAPI document.

mod coding;

use std::borrow::Cow;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rust_embed::{EmbeddedFile, RustEmbed};

use self::coding::Coding;
use crate::etag::Tags;
use crate::observe::no_route;
use crate::openapi;
use crate::router::compression;
use crate::state::Shared;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The dashboard as `web/` was built; empty if it was not.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../web/dist"]
#[allow_missing = true]
struct Dashboard;

/// Pages that are always there.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/assets"]
struct Assets;

/// Tells whether this binary has the dashboard inside.
pub fn has_dashboard() -> bool {
    Dashboard::get("index.html").is_some()
}

/// Get the OpenAPI document
#[utoipa::path(get, path = "/openapi.json", tag = "health", operation_id = "openapi", security(()),
    responses((status = 200, description = "This document", body = Object)))]
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], openapi::ready())
}

/// The pages. They are no API, so they are not in the OpenAPI document.
#[expect(clippy::disallowed_methods, reason = "pages for people are not part of the API")]
pub(crate) fn pages() -> Router<Shared> {
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/dashboard/") }))
        .route("/dashboard", get(|| async { Redirect::temporary("/dashboard/") }))
        .route(
            "/dashboard/",
            get(|headers: HeaderMap| async move { dashboard("index.html", &headers) }),
        )
        .route(
            "/dashboard/{*path}",
            get(|Path(path): Path<String>, headers: HeaderMap| async move {
                dashboard(&path, &headers)
            }),
        )
        .route("/docs", get(|| async { page(Assets::get("docs.html"), "docs.html") }))
        .route("/docs/{file}", get(docs_file))
        .layer(compression())
        .layer(from_fn(revalidate))
}

/// Saves a browser what it has already.
///
/// It sits outside of the compression: a strong tag stands for the bytes that are sent, so each
/// coding of a file has its own.
async fn revalidate(request: Request, next: Next) -> Response {
    // A malformed header saves nothing; the whole answer is always right.
    let known = Tags::of(request.headers(), &header::IF_NONE_MATCH).unwrap_or_default();
    let response = next.run(request).await;
    let Some(Digest(mut tag)) = response.extensions().get::<Digest>().cloned() else {
        return response;
    };
    if let Some(coding) = response.headers().get(header::CONTENT_ENCODING) {
        tag.push('-');
        tag.push_str(coding.to_str().unwrap_or_default());
    }
    let (mut parts, mut body) = response.into_parts();
    if known.is_some_and(|known| known.name_about(&tag)) {
        parts.status = StatusCode::NOT_MODIFIED;
        for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING] {
            parts.headers.remove(name);
        }
        body = Body::empty();
    }
    if let Ok(tag) = HeaderValue::try_from(format!("\"{tag}\"")) {
        parts.headers.insert(header::ETAG, tag);
    }
    Response::from_parts(parts, body)
}

/// What tells one version of a page from another.
#[derive(Clone)]
struct Digest(String);

async fn docs_file(Path(file): Path<String>) -> Response {
    match Assets::get(&file) {
        Some(found) => page(Some(found), &file),
        None => no_route().await.into_response(),
    }
}

/// Serves a file of the dashboard; other paths are its own routes and get its page.
fn dashboard(path: &str, asked: &HeaderMap) -> Response {
    if !has_dashboard() {
        return page(Assets::get("no-dashboard.html"), "no-dashboard.html");
    }
    let is_file = Coding::of_name(path).is_none() && Dashboard::get(path).is_some();
    if !is_file && path.starts_with("assets/") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let path = if is_file { path } else { "index.html" };
    let mut response = page(Dashboard::get(path), path);
    // The build has compressed it already, better than there is time for now.
    for coding in Coding::wanted(asked) {
        let Some(pressed) = Dashboard::get(&format!("{path}{}", coding.ending())) else { continue };
        *response.body_mut() = Body::from(bytes_of(pressed));
        let name = HeaderValue::from_static(coding.name());
        response.headers_mut().insert(header::CONTENT_ENCODING, name);
        break;
    }
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// What is inside of the program is not copied.
fn bytes_of(file: EmbeddedFile) -> bytes::Bytes {
    match file.data {
        Cow::Borrowed(data) => bytes::Bytes::from_static(data),
        Cow::Owned(data) => data.into(),
    }
}

fn page(file: Option<EmbeddedFile>, path: &str) -> Response {
    let Some(file) = file else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // Half of the hash is more than enough to tell versions apart.
    let hash = file.metadata.sha256_hash();
    let digest = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let mut response = Response::new(Body::from(bytes_of(file)));
    response.extensions_mut().insert(Digest(digest));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Names of built files change with their content; pages must be asked for each time.
    let cache = if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "json" | "map" => "application/json",
        _ => "application/octet-stream",
    }
}
