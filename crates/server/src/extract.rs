//! What handlers take in: bodies, queries and paths that were checked at the door.

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Request};
use futures_util::StreamExt as _;
use godel_app::OnceKey;
use godel_model::code;
use http::header;
use http::request::Parts;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::error::{ApiError, ApiResult};
use crate::etag::Tags;
use crate::guard::Caller;
use crate::state::Shared;

/// How deep JSON from outside may be nested.
const JSON_MAX_DEPTH: usize = 64;
/// How much of a too large body is read and dropped before the connection is given up.
const DROPPED_MAX_BYTES: usize = 16 * 1024 * 1024;
/// How long a name in the path can be.
const WORD_MAX_CHARS: usize = 200;
const ONCE_KEY_MAX_CHARS: usize = 200;

/// A JSON body, and the idempotency key that came with it.
#[derive(Debug)]
pub(crate) struct JsonBody<T> {
    pub(crate) value: T,
    pub(crate) once: Option<OnceKey>,
}

impl<T: DeserializeOwned> FromRequest<Shared> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, shared: &Shared) -> ApiResult<Self> {
        let (parts, body) = request.into_parts();
        check_content_type(&parts)?;
        let key = once_key(&parts)?;
        let bytes = read_body(body, shared.body_max_bytes).await?;
        check_depth(&bytes)?;
        let value = read_json(&bytes)?;
        let once = key.map(|key| OnceKey { fingerprint: fingerprint(&parts, &bytes), key });
        Ok(Self { value, once })
    }
}

fn check_content_type(parts: &Parts) -> ApiResult<()> {
    let given = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::new(code::UNSUPPORTED_MEDIA_TYPE, "the body must be JSON")
        .with_hint("send the header `Content-Type: application/json`"))
}

/// Reads a body up to the limit.
///
/// What comes beyond it is read and dropped for a while: a client that is still sending would not
/// see the answer if the connection were closed in its face.
pub(crate) async fn read_body(body: Body, most: usize) -> ApiResult<Vec<u8>> {
    let mut stream = body.into_data_stream();
    let (mut bytes, mut seen) = (Vec::new(), 0_usize);
    while let Some(chunk) = stream.next().await {
        let broken = |_| ApiError::new(code::INVALID_REQUEST, "the body did not arrive whole");
        let chunk = chunk.map_err(broken)?;
        seen += chunk.len();
        if seen <= most {
            bytes.extend_from_slice(&chunk);
        } else if seen > most + DROPPED_MAX_BYTES {
            break;
        }
    }
    if seen > most {
        let why = format!("the body must have at most {most} bytes");
        return Err(ApiError::new(code::BODY_TOO_LARGE, why));
    }
    Ok(bytes)
}

/// Refuses deep nesting before anything is built from it.
fn check_depth(bytes: &[u8]) -> ApiResult<()> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => {
                depth += 1;
                if depth > JSON_MAX_DEPTH {
                    return Err(ApiError::new(
                        code::INVALID_JSON,
                        format!("the body is nested deeper than {JSON_MAX_DEPTH} levels"),
                    ));
                }
            }
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Reads a body, and names the field that does not fit.
fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let field = field_of(&path, &inner.to_string());
        refuse_json(&inner).at(field)
    })?;
    reader.end().map_err(|error| refuse_json(&error))?;
    Ok(value)
}

/// Returns the way to a field that is missing, not known, or of the wrong kind.
fn field_of(path: &str, message: &str) -> String {
    let path = if path == "." { "" } else { path };
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match missing {
        Some(name) if path.is_empty() => name.to_owned(),
        Some(name) => format!("{path}.{name}"),
        None => path.to_owned(),
    }
}

/// Says what is wrong with a body, and where.
pub(crate) fn refuse_json(error: &serde_json::Error) -> ApiError {
    let code = match error.classify() {
        serde_json::error::Category::Data => code::INVALID_FIELD,
        _ => code::INVALID_JSON,
    };
    ApiError::new(code, format!("the body is not understood: {error}"))
}

fn once_key(parts: &Parts) -> ApiResult<Option<String>> {
    let Some(value) = parts.headers.get("idempotency-key") else {
        return Ok(None);
    };
    let sane = |text: &&str| {
        (1..=ONCE_KEY_MAX_CHARS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    };
    match value.to_str().ok().filter(sane) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(ApiError::new(
            code::INVALID_HEADER,
            "an Idempotency-Key must have 1 to 200 printable ASCII characters",
        )),
    }
}

fn fingerprint(parts: &Parts, body: &[u8]) -> [u8; 32] {
    // Under `/api` and under `/api/v1` it is the same request.
    let path = parts.uri.path();
    let path = path.strip_prefix("/api/v1").or_else(|| path.strip_prefix("/api")).unwrap_or(path);
    // The same text of two users is two requests.
    let user = parts.extensions.get::<Caller>().map(|caller| caller.call.actor.user.uuid());
    let user = user.unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [parts.method.as_str().as_bytes(), path.as_bytes(), body, user.as_bytes()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// A query, with unknown and malformed parameters refused.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        match axum::extract::Query::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let why = std::error::Error::source(&rejection)
                    .map_or_else(|| "it is malformed".to_owned(), ToString::to_string);
                Err(ApiError::new(
                    code::INVALID_QUERY,
                    format!("the query is not understood: {why}"),
                )
                .with_hint("/docs lists the parameters of this path"))
            }
        }
    }
}

/// An id of the path.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for Id<T>
where
    T: std::str::FromStr<Err = godel_model::Invalid>,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let text: Result<axum::extract::Path<String>, PathRejection> =
            axum::extract::Path::from_request_parts(parts, state).await;
        let malformed = |_| ApiError::new(code::INVALID_ID, "the id in the path is malformed");
        let axum::extract::Path(text) = text.map_err(malformed)?;
        Ok(Self(text.parse()?))
    }
}

/// A name or an id in the path, or the beginning of one.
#[derive(Debug)]
pub(crate) struct Word(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Word {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let Id(word) = Id::from_request_parts(parts, state).await?;
        Ok(word)
    }
}

impl std::str::FromStr for Word {
    type Err = godel_model::Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=WORD_MAX_CHARS).contains(&text.chars().count());
        if fits && !text.chars().any(char::is_control) {
            return Ok(Self(text.to_owned()));
        }
        let why = "the name in the path is malformed";
        Err(godel_model::Invalid::new(code::INVALID_ID, why))
    }
}

/// The versions on one of which the caller means to build, from the `If-Match` header; `None` if
/// any will do, empty if none that it names can be one of ours.
#[derive(Debug)]
pub(crate) struct IfMatch(pub(crate) Option<Vec<i64>>);

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let malformed = |_| {
            let why = "If-Match must be the ETag of an earlier answer, such as \"3\"";
            ApiError::new(code::INVALID_HEADER, why)
        };
        match Tags::of(&parts.headers, &header::IF_MATCH).map_err(malformed)? {
            None | Some(Tags::Any) => Ok(Self(None)),
            // A weak tag says "about the same", which is not enough to change a thing.
            Some(Tags::Listed(tags)) => {
                let strong = tags.iter().filter(|tag| !tag.weak);
                Ok(Self(Some(strong.filter_map(|tag| version(&tag.text)).collect())))
            }
        }
    }
}

/// The tags of documents on one of which the caller means to build; `None` if any will do.
#[derive(Debug)]
pub(crate) struct IfTag(pub(crate) Option<Vec<String>>);

impl<S: Sync> FromRequestParts<S> for IfTag {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let malformed = |_| {
            let why = "If-Match must be the ETag of an earlier answer, with its quotes";
            ApiError::new(code::INVALID_HEADER, why)
        };
        match Tags::of(&parts.headers, &header::IF_MATCH).map_err(malformed)? {
            None | Some(Tags::Any) => Ok(Self(None)),
            Some(Tags::Listed(tags)) => {
                let strong = tags.into_iter().filter(|tag| !tag.weak);
                Ok(Self(Some(strong.map(|tag| tag.text).collect())))
            }
        }
    }
}

/// Reads the tag of a version; `02` and `+2` are tags of somebody else.
fn version(tag: &str) -> Option<i64> {
    tag.parse().ok().filter(|version: &i64| version.to_string() == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_texts_do_not_count_as_depth() {
        let flat = format!("{{\"a\": \"{}\\\"{}\"}}", "[".repeat(200), "{".repeat(200));
        assert!(check_depth(flat.as_bytes()).is_ok());
        let deep = format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(check_depth(deep.as_bytes()).is_ok());
        let deeper = format!("{}{}", "[".repeat(65), "]".repeat(65));
        assert!(check_depth(deeper.as_bytes()).is_err());
    }
}
