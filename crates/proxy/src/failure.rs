//! Why a provider did not answer, and what the client hears of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use godel_llm::{Dialect, Trouble};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Collected, Limited};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::ask::Asked;
use crate::attempt::Tried;
use crate::board::{Refusal, SHOULD_RETRY};
use crate::health::{Failure, Rest};
use crate::link::Reply;
use crate::quota::tell_quota;
use crate::relay::ProxyBody;
use crate::route::Route;
use crate::running::{Paid, Running, plain};

/// How much of a failure is read.
pub(crate) const FAILURE_MAX_BYTES: usize = 256 * 1024;
/// How long the body of a failure may take.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of what a provider says is told.
const MESSAGE_MAX_CHARS: usize = 1_000;
/// For how long a key is left alone that is not taken, or on which there is nothing left.
const BAD_KEY_SECONDS: u64 = 60;
/// How long to wait if a provider wants that and does not say how long.
const WAIT_SECONDS: u64 = 5;

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) kind: FailedKind,
    status: u16,
    why: String,
    body: Bytes,
    content_type: Option<HeaderValue>,
    retry_after: Option<u64>,
    should_retry: Option<HeaderValue>,
    /// What the provider says of the quota of the client's own login.
    quota: HeaderMap,
    /// Whether the client speaks the provider's dialect.
    same: bool,
    /// The dialect of the provider.
    dialect: Dialect,
    /// What is to be paid although it failed.
    paid: Paid,
    provider: String,
}

impl Failed {
    /// Says that something is to be paid all the same.
    pub(crate) fn paid(self, paid: Paid) -> Self {
        Self { paid, ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedKind {
    /// Another provider, or a later try, may do better.
    Transient,
    /// The provider does not take our key.
    Key,
    /// There is nothing left on our account with the provider.
    Credit,
    /// The provider does not have it; another one may.
    Absent,
    /// The provider wants to be left alone.
    Limited,
    /// The request itself is refused; nobody would do better.
    Request,
}

impl FailedKind {
    /// Tells whether nobody else need be asked.
    pub(crate) fn is_final(self) -> bool {
        self == Self::Request
    }

    fn of(status: u16, own_login: bool) -> Self {
        match status {
            401 | 403 if !own_login => Self::Key,
            402 if !own_login => Self::Credit,
            404 => Self::Absent,
            429 => Self::Limited,
            408 | 500..=599 => Self::Transient,
            _ => Self::Request,
        }
    }
}

impl Asked<'_> {
    pub(crate) fn failure(&self, route: &Route, kind: FailedKind, why: &str) -> Failed {
        Failed {
            kind,
            status: 0,
            why: plain(why, MESSAGE_MAX_CHARS),
            body: Bytes::new(),
            content_type: None,
            retry_after: None,
            should_retry: None,
            quota: HeaderMap::new(),
            same: route.dialect == self.target.dialect,
            dialect: route.dialect,
            paid: Paid::Nothing,
            provider: route.provider.to_string(),
        }
    }

    /// Reads why a provider refused or failed.
    pub(crate) async fn read_failure(&self, route: &Route, response: Response<Reply>) -> Failed {
        let (head, body) = response.into_parts();
        let body = Limited::new(body, FAILURE_MAX_BYTES).collect();
        let body = tokio::time::timeout(FAILURE_TIMEOUT, body).await;
        let body = body.ok().and_then(Result::ok).map(Collected::to_bytes).unwrap_or_default();
        let body = route.without_key(&body);
        let status = head.status.as_u16();
        let kind = FailedKind::of(status, route.own_login);
        let mut quota = HeaderMap::new();
        tell_quota(route, &head.headers, &mut quota);
        Failed {
            status,
            quota,
            why: format!("{status} {}", message_of(&body)),
            retry_after: hint(&head.headers, &body, self.board.clock.now()),
            should_retry: head.headers.get(&SHOULD_RETRY).cloned(),
            content_type: head.headers.get(CONTENT_TYPE).cloned(),
            body,
            ..self.failure(route, kind, "")
        }
    }

    /// Ends an attempt that failed, and lets the provider's health know.
    pub(crate) fn failed(&self, mut running: Running, failed: Failed) -> Tried {
        let now = self.board.clock.now();
        let route = Arc::clone(&running.route);
        let rest = match failed.kind {
            FailedKind::Key | FailedKind::Credit => Some(Rest::Shut(BAD_KEY_SECONDS)),
            // Limits are of one model most of the time.
            FailedKind::Limited => Some(Rest::Model(failed.retry_after.unwrap_or(WAIT_SECONDS))),
            FailedKind::Transient => failed.retry_after.map(Rest::All),
            FailedKind::Absent | FailedKind::Request => None,
        };
        if matches!(failed.kind, FailedKind::Request | FailedKind::Absent) {
            self.board.health.answered(route.at());
        } else if failed.status == 403 {
            // What is forbidden is often one model only; the key is good for others.
            self.board.health.untried(route.at());
        } else {
            let failure = Failure { why: failed.why.clone(), rest };
            if self.board.health.failed(route.at(), &failure, now) {
                self.board.tell_down(self.who.purpose.tenant, &route.provider, &failed.why);
            }
        }
        let place = running.take_place();
        let ended = running.failed(&failed.why, failed.paid);
        Tried::Failed(Box::new(failed), ended, place)
    }

    /// Tells the client that nobody answered.
    pub(crate) fn gave_up(
        &self,
        last: Option<Box<Failed>>,
        routes: &[Arc<Route>],
    ) -> Result<Response<ProxyBody>, Refusal> {
        let Some(failed) = last else {
            let now = self.board.clock.now();
            let wait =
                |route: &Arc<Route>| self.board.health.opens_in(route.at(), now).unwrap_or(1);
            let seconds = routes.iter().map(wait).min().unwrap_or(5);
            let rests = |route: &Arc<Route>| self.board.health.is_resting(route.at(), now);
            if routes.iter().all(rests) {
                let why =
                    format!("every provider of {:?} asked to be left alone for now", self.model);
                return Err(Refusal::new(Trouble::RateLimited(seconds), why));
            }
            let why =
                format!("every provider of {:?} is failing; it is tried again soon", self.model);
            return Err(Refusal::new(Trouble::Overloaded(seconds), why));
        };
        let Failed { kind, status, provider, .. } = &*failed;
        if *kind == FailedKind::Key {
            let why = format!(
                "the provider {provider} does not take this server's key; an admin sets another with \
                 `godel secret set {provider}`"
            );
            return Err(Refusal::new(Trouble::BadGateway, why));
        }
        if failed.same && *status != 0 && !failed.body.is_empty() {
            return Ok(passed_on(*failed));
        }
        let why = format!("the provider {provider} failed: {}", failed.why);
        let trouble = match (kind, status) {
            (FailedKind::Limited, _) => {
                Trouble::RateLimited(failed.retry_after.unwrap_or(WAIT_SECONDS))
            }
            (FailedKind::Credit, _) | (FailedKind::Request, 402) => Trouble::Budget,
            (FailedKind::Absent, _) => Trouble::NoModel,
            (FailedKind::Request, 413) => Trouble::TooLarge,
            (FailedKind::Request, _) => Trouble::Invalid,
            (_, 504) => Trouble::Timeout,
            _ => Trouble::Overloaded(failed.retry_after.unwrap_or(WAIT_SECONDS)),
        };
        // Clients look for these very words to make their context smaller.
        let its_own = matches!(kind, FailedKind::Request | FailedKind::Absent);
        let message = if its_own { message_of(&failed.body) } else { why };
        Err(Refusal::new(trouble, message))
    }

    /// Tells once that a provider takes none of our keys any more, whoever else answers.
    pub(crate) fn tell_if_shut(&self, failed: &Failed, routes: &[Arc<Route>]) {
        if !matches!(failed.kind, FailedKind::Key | FailedKind::Credit) {
            return;
        }
        let now = self.board.clock.now();
        let mut own = routes.iter().filter(|route| *route.provider == *failed.provider);
        let shut = |route: &&Arc<Route>| self.board.health.is_shut(route.at(), now);
        // Of several keys the first stands for all.
        if let Some(first) = own.clone().next()
            && own.all(|route| shut(&route))
            && self.board.health.is_news(first.at())
        {
            self.board.tell_down(self.who.purpose.tenant, &failed.provider, &failed.why);
        }
    }
}

/// Passes a refusal on as the provider wrote it, with the hint that clients wait for.
fn passed_on(failed: Failed) -> Response<ProxyBody> {
    let wait = match failed.kind {
        FailedKind::Limited => Some(failed.retry_after.unwrap_or(WAIT_SECONDS).max(1)),
        _ => failed.retry_after,
    };
    let body = match (failed.dialect, wait) {
        (Dialect::Gemini, Some(seconds)) => with_hint(&failed.body, seconds).map(Bytes::from),
        _ => None,
    };
    let mut response = Response::new(ProxyBody::from(body.unwrap_or(failed.body)));
    *response.status_mut() = StatusCode::from_u16(failed.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    *headers = failed.quota;
    let json = HeaderValue::from_static("application/json");
    headers.insert(CONTENT_TYPE, failed.content_type.unwrap_or(json));
    if let Some(seconds) = wait {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(should_retry) = failed.should_retry {
        headers.insert(SHOULD_RETRY, should_retry);
    }
    response
}

/// Puts the hint into an error of Google's that has none: its clients read it there, not in a header.
fn with_hint(body: &[u8], seconds: u64) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(body).ok()?;
    let whole = if value.is_array() { value.get_mut(0)? } else { &mut value };
    let error = whole.get_mut("error")?.as_object_mut()?;
    let details = error.entry("details").or_insert_with(|| json!([])).as_array_mut()?;
    if details.iter().any(|detail| detail["retryDelay"].is_string()) {
        return None;
    }
    details.push(json!({
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": format!("{seconds}s"),
    }));
    serde_json::to_vec(&value).ok()
}

/// Returns after how many seconds a provider wants to be asked again, in whichever way it says so.
fn hint(headers: &HeaderMap, body: &[u8], now: Timestamp) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|wait| *wait >= 0.0);
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // A date is the other way in which HTTP lets it be said.
    let date = |text: &str| {
        let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
        Some(at.duration_since(now).as_secs_f64().max(0.0))
    };
    let in_body = || {
        let value: Value = serde_json::from_slice(body).ok()?;
        let error = value.get(0).unwrap_or(&value).get("error")?;
        let mut details = error["details"].as_array()?.iter();
        details.find_map(|detail| number(detail["retryDelay"].as_str()?.strip_suffix('s')?))
    };
    let after = text(RETRY_AFTER.as_str());
    let seconds = after.and_then(|text| number(text).or_else(|| date(text)));
    let millis = || text("retry-after-ms").and_then(number).map(|wait| wait / 1_000.0);
    seconds.or_else(millis).or_else(in_body).map(|wait| wait.ceil() as u64)
}

/// Returns what an error of any dialect says.
pub(crate) fn message_of(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let value = if value.is_array() { value[0].clone() } else { value };
    let message = value["error"]["message"].as_str().or(value["message"].as_str());
    let text =
        message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), ToOwned::to_owned);
    plain(&text, MESSAGE_MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_read_in_whichever_way_it_is_given() {
        let of = |name: &'static str, value: &'static str, body: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            hint(&headers, body.as_bytes(), "2026-10-21T07:27:15.5Z".parse().unwrap())
        };
        assert_eq!(of("retry-after", "7", ""), Some(7));
        assert_eq!(of("retry-after", "0.3", ""), Some(1));
        assert_eq!(of("retry-after-ms", "1500", ""), Some(2));
        assert_eq!(of("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", ""), Some(45));
        assert_eq!(of("retry-after", "Wed, 21 Oct 2026 07:26:00 GMT", ""), Some(0), "it is over");
        assert_eq!(of("retry-after", "tomorrow", ""), None);
        let google = r#"{"error":{"details":[{"@type":"x"},{"retryDelay":"25.5s"}]}}"#;
        assert_eq!(of("x", "y", google), Some(26));
        assert_eq!(of("x", "y", &format!("[{google}]")), Some(26));
        assert_eq!(of("x", "y", r#"{"error":"no"}"#), None);
    }

    #[test]
    fn clients_of_google_find_the_hint_where_they_look_for_it() {
        let told = |body: &str| {
            let body = with_hint(body.as_bytes(), 7)?;
            Some(serde_json::from_slice::<Value>(&body).unwrap())
        };
        let plain = r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#;
        let found = told(plain).unwrap();
        assert_eq!(found["error"]["details"][0]["retryDelay"], "7s");
        assert_eq!(found["error"]["message"], "slow down");
        assert_eq!(
            told(&format!("[{plain}]")).unwrap()[0]["error"]["details"][0]["retryDelay"],
            "7s"
        );
        let other = r#"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.Help"}]}}"#;
        assert_eq!(told(other).unwrap()["error"]["details"][1]["retryDelay"], "7s");
        for whole in [r#"{"error":{"details":[{"retryDelay":"3s"}]}}"#, "no JSON", "{}", "[]"] {
            assert_eq!(told(whole), None, "{whole}");
        }
    }

    #[test]
    fn what_a_provider_says_is_told_without_what_terminals_do_not_take() {
        assert_eq!(message_of(br#"{"error":{"message":"a\u0000b\u001b[31m"}}"#), "ab[31m");
        assert_eq!(message_of(b"plain"), "plain");
    }
}
