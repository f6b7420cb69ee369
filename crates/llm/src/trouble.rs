//! What Godel itself has to say when a request cannot be served, in the words of each dialect.
//!
//! Clients act on the status, on a few headers and on a few words in the body; which of them make
//! which client stop, wait or ask again was measured with the real ones.

use serde_json::{Value, json};

use crate::Dialect;

/// Why a request is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The request makes no sense, or cannot be told to the provider.
    Invalid,
    /// The body is too large.
    TooLarge,
    /// The token is missing, wrong, expired or revoked.
    Unauthenticated,
    /// The token may not do this.
    Forbidden,
    /// A budget is used up.
    Budget,
    /// There is no such model, or not for this token.
    NoModel,
    /// Too many requests; to be tried again after so many seconds.
    RateLimited(u64),
    /// The provider answered with something that cannot be passed on.
    BadGateway,
    /// No provider can answer now; to be tried again after so many seconds.
    Overloaded(u64),
    /// The provider did not answer in time.
    Timeout,
    /// Something failed inside.
    Internal,
}

/// An answer to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: Vec<u8>,
    /// After how many seconds to try again.
    pub retry_after: Option<u64>,
    /// Whether clients are told not to try again.
    pub is_final: bool,
}

/// The longest wait that a client is asked for.
const RETRY_MAX_SECONDS: u64 = 59;

impl Trouble {
    /// Returns the answer for a client of this dialect. Codex gives up on a used-up budget only if it
    /// is told so as a rate limit.
    pub fn answer(self, dialect: Dialect, message: &str, request_id: &str, codex: bool) -> Answer {
        let budget_as_rate = codex && self == Self::Budget;
        let status = if budget_as_rate { 429 } else { self.status(dialect) };
        let body = match dialect {
            Dialect::Anthropic => self.anthropic(message, request_id),
            Dialect::Chat | Dialect::Responses => self.open_ai(message),
            Dialect::Gemini => self.gemini(status, message),
        };
        Answer {
            status,
            body: body.to_string().into_bytes(),
            retry_after: self.retry_after(),
            is_final: matches!(
                self,
                Self::Budget
                    | Self::Unauthenticated
                    | Self::Forbidden
                    | Self::Invalid
                    | Self::NoModel
            ),
        }
    }

    /// Returns the event that ends a stream which cannot go on.
    pub fn event(self, dialect: Dialect, message: &str, request_id: &str) -> Vec<u8> {
        match dialect {
            Dialect::Anthropic => {
                format!("event: error\ndata: {}\n\n", self.anthropic(message, request_id))
            }
            Dialect::Chat => format!("data: {}\n\n", self.open_ai(message)),
            Dialect::Gemini => {
                format!("data: {}\n\n", self.gemini(self.status(dialect), message))
            }
            Dialect::Responses => {
                let error = json!({"code": "server_error", "message": message});
                // A number above all that the provider gave, so that the order stays right.
                let event = json!({
                    "type": "response.failed",
                    "sequence_number": 1_000_000_000,
                    "response": {
                        "id": format!("resp_{request_id}"),
                        "object": "response",
                        "status": "failed",
                        "output": [],
                        "error": error,
                    },
                });
                format!("event: response.failed\ndata: {event}\n\n")
            }
        }
        .into_bytes()
    }

    const fn retry_after(self) -> Option<u64> {
        match self {
            Self::RateLimited(seconds) | Self::Overloaded(seconds) => Some(match seconds {
                0 => 1,
                1..=RETRY_MAX_SECONDS => seconds,
                _ => RETRY_MAX_SECONDS,
            }),
            _ => None,
        }
    }

    /// Returns the HTTP status.
    pub const fn status(self, dialect: Dialect) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::TooLarge => 413,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::Budget => 402,
            Self::NoModel => 404,
            Self::RateLimited(_) => 429,
            Self::BadGateway => 502,
            Self::Overloaded(_) => match dialect {
                Dialect::Anthropic => 529,
                Dialect::Chat | Dialect::Responses | Dialect::Gemini => 503,
            },
            Self::Timeout => 504,
            Self::Internal => 500,
        }
    }

    fn anthropic(self, message: &str, request_id: &str) -> Value {
        let kind = match self {
            Self::Invalid => "invalid_request_error",
            Self::TooLarge => "request_too_large",
            Self::Unauthenticated => "authentication_error",
            Self::Forbidden => "permission_error",
            Self::Budget => "billing_error",
            Self::NoModel => "not_found_error",
            Self::RateLimited(_) => "rate_limit_error",
            Self::BadGateway | Self::Internal => "api_error",
            Self::Overloaded(_) => "overloaded_error",
            Self::Timeout => "timeout_error",
        };
        let error = json!({"type": kind, "message": message});
        json!({"type": "error", "error": error, "request_id": request_id})
    }

    fn open_ai(self, message: &str) -> Value {
        let (kind, code) = match self {
            Self::Invalid => ("invalid_request_error", Value::Null),
            Self::TooLarge => ("invalid_request_error", "request_too_large".into()),
            Self::Unauthenticated => ("authentication_error", "invalid_api_key".into()),
            Self::Forbidden => ("permission_error", "forbidden".into()),
            Self::Budget => ("insufficient_quota", "insufficient_quota".into()),
            Self::NoModel => ("invalid_request_error", "model_not_found".into()),
            Self::RateLimited(_) => ("rate_limit_error", "rate_limit_exceeded".into()),
            Self::BadGateway | Self::Internal => ("server_error", "server_error".into()),
            Self::Overloaded(_) => ("server_error", "overloaded".into()),
            Self::Timeout => ("server_error", "timeout".into()),
        };
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
    }

    fn gemini(self, status: u16, message: &str) -> Value {
        let kind = match self {
            Self::Invalid | Self::TooLarge => "INVALID_ARGUMENT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "PERMISSION_DENIED",
            Self::Budget | Self::RateLimited(_) => "RESOURCE_EXHAUSTED",
            Self::NoModel => "NOT_FOUND",
            Self::BadGateway | Self::Overloaded(_) => "UNAVAILABLE",
            Self::Timeout => "DEADLINE_EXCEEDED",
            Self::Internal => "INTERNAL",
        };
        let mut error = json!({"code": status, "message": message, "status": kind});
        if let Some(seconds) = self.retry_after() {
            // The header is not read by its clients; this is.
            error["details"] = json!([{
                "@type": "type.googleapis.com/google.rpc.RetryInfo",
                "retryDelay": format!("{seconds}s"),
            }]);
        }
        json!({"error": error})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(trouble: Trouble, dialect: Dialect, codex: bool) -> (u16, Value, Answer) {
        let answer = trouble.answer(dialect, "why", "r1", codex);
        (answer.status, serde_json::from_slice(&answer.body).unwrap(), answer)
    }

    #[test]
    fn a_used_up_budget_makes_every_client_stop() {
        let (status, body, answer) = told(Trouble::Budget, Dialect::Anthropic, false);
        assert_eq!((status, answer.is_final), (402, true));
        assert_eq!(body["error"]["type"], "billing_error");
        let (status, body, _) = told(Trouble::Budget, Dialect::Responses, true);
        assert_eq!((status, body["error"]["type"].as_str()), (429, Some("insufficient_quota")));
        assert_eq!(body["error"]["code"], "insufficient_quota");
        let (status, body, _) = told(Trouble::Budget, Dialect::Gemini, false);
        assert_eq!((status, body["error"]["status"].as_str()), (402, Some("RESOURCE_EXHAUSTED")));
    }

    #[test]
    fn whoever_must_wait_is_told_how_long_in_a_way_it_reads() {
        for (given, told_) in [(0, 1), (25, 25), (600, 59)] {
            let (status, body, answer) = told(Trouble::RateLimited(given), Dialect::Gemini, false);
            assert_eq!((status, answer.retry_after), (429, Some(told_)));
            assert_eq!(body["error"]["details"][0]["retryDelay"], format!("{told_}s"));
            assert!(!answer.is_final);
        }
        assert_eq!(told(Trouble::Overloaded(5), Dialect::Anthropic, false).0, 529);
        assert_eq!(told(Trouble::Overloaded(5), Dialect::Chat, false).0, 503);
    }

    #[test]
    fn a_stream_ends_with_an_error_that_its_dialect_knows() {
        for dialect in Dialect::ALL {
            let event = Trouble::BadGateway.event(dialect, "lost", "r1");
            let mut meter = crate::StreamMeter::new(dialect, false);
            meter.feed(&event);
            assert_eq!(meter.ending(), crate::Ending::Failed, "{dialect}");
        }
    }
}
