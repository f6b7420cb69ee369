//! The line to the model: one request to Godel's proxy, and its streamed reply.

use std::time::Duration;

use godel_llm::Dialect;
use godel_llm::translate::BadReply;
use godel_llm::translate::talk::{Heard, Item, Listener, Reply, Talk};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::event::{SessionEvent, TEXT_MAX_BYTES, clip, pieces};

/// How long nothing may come before a reply is given up.
const SILENCE: Duration = Duration::from_secs(300);
/// The most bytes of a failure that are read.
const FAILURE_MAX_BYTES: usize = 64 * 1024;
/// The longest wait that a provider is granted.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Where the model is reached.
#[derive(Debug, Clone)]
pub struct Line {
    /// The client, set up for the certificate of the server.
    pub http: reqwest::Client,
    /// The address of Godel's proxy.
    pub base_url: String,
    /// A token of Godel.
    pub token: SecretString,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It may be asked again, after this time if it was told.
    Again { message: String, after: Option<Duration> },
    /// The conversation is too long for the model.
    TooLong { message: String },
    /// Asking again is of no use.
    Never { message: String },
}

impl Line {
    /// Asks a model once, and returns what it said.
    ///
    /// # Errors
    /// Why there is no answer, for people.
    pub async fn answer(&self, talk: &Talk<'_>) -> Result<String, String> {
        // Nobody follows while it comes.
        let (events, _) = mpsc::channel(1);
        let reply = self.ask(talk, "answer", &events).await.map_err(|silence| match silence {
            Silence::Again { message, .. }
            | Silence::TooLong { message }
            | Silence::Never { message } => message,
        })?;
        let texts = reply.items.into_iter().filter_map(|item| match item {
            Item::Model { text } => Some(text),
            _ => None,
        });
        Ok(texts.collect())
    }

    /// Asks the model; what comes is told at once.
    pub(crate) async fn ask(
        &self,
        talk: &Talk<'_>,
        seed: &str,
        events: &mpsc::Sender<SessionEvent>,
    ) -> Result<Reply, Silence> {
        let never = |error: BadReply| Silence::Never { message: error.to_string() };
        let body = talk.request().map_err(never)?;
        let url = format!("{}{}", self.base_url.trim_end_matches('/'), talk.path());
        let request = self.signed(talk.dialect, self.http.post(url)).body(body);
        let sent = request.header("content-type", "application/json").send();
        let sent = tokio::time::timeout(SILENCE, sent).await.map_err(|_| silent())?;
        let mut response = sent.map_err(|error| lost(&error))?;
        if response.status() != StatusCode::OK {
            return Err(failure(response).await);
        }
        let mut listener = Listener::new(talk.dialect, talk.model);
        loop {
            let chunk = tokio::time::timeout(SILENCE, response.chunk()).await;
            let chunk = chunk.map_err(|_| silent())?;
            let mut heard = Vec::new();
            let Some(bytes) = chunk.map_err(|error| lost(&error))? else {
                let reply = listener.finish(seed, &mut |piece| heard.push(piece));
                tell(heard, events).await;
                return reply.map_err(broken);
            };
            let fed = listener.feed(&bytes, &mut |piece| heard.push(piece));
            tell(heard, events).await;
            fed.map_err(broken)?;
        }
    }

    fn signed(&self, dialect: Dialect, request: RequestBuilder) -> RequestBuilder {
        let token = self.token.expose_secret();
        match dialect {
            Dialect::Chat | Dialect::Responses => request.bearer_auth(token),
            Dialect::Anthropic => {
                request.header("x-api-key", token).header("anthropic-version", "2023-06-01")
            }
            Dialect::Gemini => request.header("x-goog-api-key", token),
        }
    }
}

async fn tell(heard: Vec<Heard>, events: &mpsc::Sender<SessionEvent>) {
    for said in heard {
        let (Heard::Text(text) | Heard::Thought(text)) = &said;
        for piece in pieces(text, TEXT_MAX_BYTES) {
            let text = piece.to_owned();
            let event = match said {
                Heard::Text(_) => SessionEvent::Text { text },
                Heard::Thought(_) => SessionEvent::Thinking { text },
            };
            // Nobody listens any more if the session was dropped; then this task ends too.
            let _ = events.send(event).await;
        }
    }
}

fn silent() -> Silence {
    let message = format!("the model said nothing for {} seconds", SILENCE.as_secs());
    Silence::Again { message, after: None }
}

fn lost(error: &reqwest::Error) -> Silence {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    Silence::Again { message: format!("the model cannot be reached: {cause}"), after: None }
}

fn broken(error: BadReply) -> Silence {
    Silence::Again { message: error.to_string(), after: None }
}

async fn failure(mut response: Response) -> Silence {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() > FAILURE_MAX_BYTES {
            break;
        }
    }
    judge(status, &headers, &body)
}

/// Judges a refusal by its status and by what it says.
fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Silence {
    let read: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = read["error"]["message"].as_str().unwrap_or_default();
    let message = clip(&format!("the model answered {}: {said}", status.as_u16()), 4096);
    let lower = String::from_utf8_lossy(body).to_ascii_lowercase();
    let overflow = [
        "prompt is too long",
        "context_length_exceeded",
        "maximum context length",
        "exceeds the maximum number of tokens",
    ];
    if overflow.iter().any(|words| lower.contains(words)) {
        return Silence::TooLong { message };
    }
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let passing = matches!(status.as_u16(), 408 | 409 | 425 | 429 | 500..);
    let quota = lower.contains("insufficient_quota");
    if !passing || quota || header("x-should-retry") == Some("false") {
        return Silence::Never { message };
    }
    let seconds = header(RETRY_AFTER.as_str()).and_then(|text| text.parse().ok());
    let after = seconds.map(|seconds| Duration::from_secs(seconds).min(WAIT_MAX));
    Silence::Again { message, after }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn judged(status: u16, header: Option<(&'static str, &'static str)>, body: &str) -> Silence {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, HeaderValue::from_static(value));
        }
        judge(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes())
    }

    #[test]
    fn a_refusal_is_taken_as_it_is_meant() {
        let said = r#"{"error":{"message":"slow down"}}"#;
        let Silence::Again { message, after } = judged(429, Some(("retry-after", "7")), said)
        else {
            panic!("a rate limit passes");
        };
        assert!(message.contains("slow down"));
        assert_eq!(after, Some(Duration::from_secs(7)));
        for (status, header, body) in [
            (402, None, "{}"),
            (401, None, "not json"),
            (529, Some(("x-should-retry", "false")), "{}"),
            (429, None, r#"{"error":{"code":"insufficient_quota"}}"#),
            (404, None, "{}"),
        ] {
            let told = judged(status, header, body);
            assert!(matches!(told, Silence::Never { .. }), "{status} {told:?}");
        }
        let long = judged(400, None, r#"{"error":{"message":"prompt is too long: 9 > 8"}}"#);
        assert!(matches!(long, Silence::TooLong { .. }));
        assert!(matches!(judged(503, None, ""), Silence::Again { after: None, .. }));
    }
}
