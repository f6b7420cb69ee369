//! The one mapping from errors to answers.

use axum::response::{IntoResponse, Response};
use godel_api::ErrorBody;
use godel_model::{Code, Invalid, Kind, Report, code};
use http::{HeaderValue, StatusCode, header};

/// The result of a handler.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// A failure on its way out. Its body is written by the outermost layer, which knows the request.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) field: Option<String>,
    /// Behind a pointer: few have any, and a result should be small.
    pub(crate) details: Option<Box<serde_json::Value>>,
    retry_after_secs: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, hint: None, field: None, details: None, retry_after_secs: None }
    }

    /// Names the field of the request that it is about; an empty name is none.
    #[must_use]
    pub(crate) fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into()).filter(|field| !field.is_empty());
        self
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn retry_after_ms(mut self, ms: u64) -> Self {
        let secs = ms.div_ceil(1_000).max(1);
        self.retry_after_secs = Some(secs);
        self.details = Some(Box::new(serde_json::json!({ "retryAfterSeconds": secs })));
        self
    }

    /// Takes what an error says to its caller, and logs what it says to its developer.
    pub(crate) fn report(error: &(impl Report + ?Sized)) -> Self {
        let code = error.code();
        if code.kind() == Kind::InternalError {
            let mut causes = Vec::new();
            let mut cause = error.source();
            while let Some(next) = cause {
                causes.push(next.to_string());
                cause = next.source();
            }
            tracing::error!(code = %code, error = %error, causes = ?causes, "a request failed");
        }
        let own = Self::new(code, error.to_string());
        Self { hint: error.hint(), field: error.field().map(ToOwned::to_owned), ..own }
    }

    /// Returns the HTTP status: that of the kind, unless HTTP has a more exact one.
    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            code::BODY_TOO_LARGE => StatusCode::PAYLOAD_TOO_LARGE,
            code::UNSUPPORTED_MEDIA_TYPE => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            code::METHOD_NOT_ALLOWED => StatusCode::METHOD_NOT_ALLOWED,
            code::VERSION_MISMATCH => StatusCode::PRECONDITION_FAILED,
            other => match other.kind() {
                Kind::InvalidRequest => StatusCode::BAD_REQUEST,
                Kind::Unauthorized => StatusCode::UNAUTHORIZED,
                Kind::Forbidden => StatusCode::FORBIDDEN,
                Kind::NotFound => StatusCode::NOT_FOUND,
                Kind::Conflict => StatusCode::CONFLICT,
                Kind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
                Kind::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
                Kind::ServiceUnavailable => StatusCode::SERVICE_UNAVAILABLE,
                Kind::GatewayTimeout => StatusCode::GATEWAY_TIMEOUT,
            },
        }
    }
}

impl From<godel_app::Error> for ApiError {
    fn from(error: godel_app::Error) -> Self {
        let own = Self::report(&error);
        match error {
            godel_app::Error::Throttled { retry_ms } => own.retry_after_ms(retry_ms),
            _ => own,
        }
    }
}

impl From<godel_fleet::Error> for ApiError {
    fn from(error: godel_fleet::Error) -> Self {
        match error {
            godel_fleet::Error::App(error) => error.into(),
            other => Self::report(&other),
        }
    }
}

impl From<godel_store::Error> for ApiError {
    fn from(error: godel_store::Error) -> Self {
        Self::report(&error)
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::report(&invalid)
    }
}

impl From<ApiError> for ErrorBody {
    fn from(error: ApiError) -> Self {
        Self {
            code: error.code.name().to_owned(),
            message: error.message,
            hint: error.hint,
            field: error.field,
            details: error.details.map(|details| *details),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        let headers = response.headers_mut();
        if self.code.kind() == Kind::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(secs) = self.retry_after_secs {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(secs));
        } else if self.code.kind() == Kind::ServiceUnavailable {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(1_u64));
        }
        response.extensions_mut().insert(self);
        response
    }
}
