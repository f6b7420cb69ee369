//! What a client is told of its limits, in the headers that its dialect knows.

use godel_decide::Left;
use godel_llm::Dialect;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// A limit that is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spent {
    /// How much there is in all.
    pub(crate) limit: u32,
    /// Of what: `requests` or `tokens`.
    pub(crate) what: &'static str,
    /// After how many seconds there is enough again.
    pub(crate) seconds: u64,
    pub(crate) now: Timestamp,
}

/// Tells how much is left to who was served.
pub(crate) fn tell(left: Left, now: Timestamp, headers: &mut HeaderMap) {
    headers.insert(LIMIT, left.limit.into());
    headers.insert(REMAINING, left.remaining.into());
    let reset = now.as_second().saturating_add_unsigned(left.reset_ms.div_ceil(1_000));
    headers.insert(RESET, reset.into());
}

impl Spent {
    /// Tells how much there is, that none of it is left, and when there is some again.
    pub(crate) fn tell(&self, dialect: Dialect, headers: &mut HeaderMap) {
        let Self { limit, what, seconds, now } = self;
        let wait = SignedDuration::from_secs(i64::try_from(*seconds).unwrap_or(i64::MAX));
        let reset = now.saturating_add(wait).unwrap_or(*now);
        headers.insert(LIMIT, (*limit).into());
        headers.insert(REMAINING, HeaderValue::from_static("0"));
        headers.insert(RESET, reset.as_second().into());
        let named = match dialect {
            Dialect::Anthropic => [
                (format!("anthropic-ratelimit-{what}-limit"), limit.to_string()),
                (format!("anthropic-ratelimit-{what}-remaining"), "0".to_owned()),
                (format!("anthropic-ratelimit-{what}-reset"), format!("{reset:.0}")),
            ],
            Dialect::Chat | Dialect::Responses => [
                (format!("x-ratelimit-limit-{what}"), limit.to_string()),
                (format!("x-ratelimit-remaining-{what}"), "0".to_owned()),
                (format!("x-ratelimit-reset-{what}"), format!("{seconds}s")),
            ],
            // Its clients read what stands in the body.
            Dialect::Gemini => return,
        };
        for (name, value) in named {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_up_limit_is_told_as_each_dialect_names_it() {
        let told = |dialect| {
            let now = Timestamp::from_second(1_800_000_000).unwrap();
            let spent = Spent { limit: 6, what: "requests", seconds: 10, now };
            let mut headers = HeaderMap::new();
            spent.tell(dialect, &mut headers);
            headers
        };
        for dialect in Dialect::ALL {
            let headers = told(dialect);
            assert_eq!(headers["x-ratelimit-limit"], "6");
            assert_eq!(headers["x-ratelimit-remaining"], "0");
            assert_eq!(headers["x-ratelimit-reset"], "1800000010");
        }
        let anthropic = told(Dialect::Anthropic);
        assert_eq!(anthropic["anthropic-ratelimit-requests-limit"], "6");
        assert_eq!(anthropic["anthropic-ratelimit-requests-remaining"], "0");
        assert_eq!(anthropic["anthropic-ratelimit-requests-reset"], "2027-01-15T08:00:10Z");
        let open_ai = told(Dialect::Responses);
        assert_eq!(open_ai["x-ratelimit-limit-requests"], "6");
        assert_eq!(open_ai["x-ratelimit-remaining-requests"], "0");
        assert_eq!(open_ai["x-ratelimit-reset-requests"], "10s");
        assert_eq!(told(Dialect::Gemini).len(), 3);
    }
}
