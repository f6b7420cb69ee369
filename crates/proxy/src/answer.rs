//! What becomes of a provider's reply: it goes on while it comes, or is told as a whole.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use godel_llm::translate::{Back, BadReply, Place as Keeper};
use godel_llm::{Dialect, ReplyMeter, StreamMeter, Tier, Usage};
use godel_model::Outcome;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http_body_util::BodyExt as _;

use crate::ask::Asked;
use crate::attempt::Tried;
use crate::failure::FailedKind;
use crate::link::Reply;
use crate::quota::tell_quota;
use crate::relay::{ProxyBody, RelayBody, Told, Way, json};
use crate::route::Route;
use crate::running::{Paid, Running, Used};
use crate::silence::Silence;

/// The largest reply that is told in another dialect as a whole.
const REPLY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// How long a client of Anthropic's dialect may hear nothing while its provider thinks.
const PING_EVERY: Duration = Duration::from_secs(15);

/// How many headers an answer has, roughly.
const HEADERS: usize = 12;

impl Asked<'_> {
    /// Lets a reply go on to the client while it comes.
    pub(crate) fn relay(
        &self,
        running: Running,
        response: Response<Reply>,
        first: Bytes,
        back: Option<Back>,
    ) -> Response<ProxyBody> {
        let (head, upstream) = response.into_parts();
        let content_type = head.headers.get(CONTENT_TYPE).cloned();
        let is_stream = is_stream(&head.headers);
        let route = &running.route;
        let way = match back {
            Some(back) => {
                let keep = self.keep(route);
                Way::Told(Box::new(Told { translation: back.stream(), keep, text: 0 }))
            }
            None if is_stream => {
                let meter = StreamMeter::new(route.dialect, !self.peek.include_usage);
                Way::Stream(meter.served(tier_of(route, &head.headers)))
            }
            None => {
                let tier = tier_of(route, &head.headers);
                Way::Whole(ReplyMeter::new(route.dialect).served(tier))
            }
        };
        let idle = self.config.idle;
        let (kind, ping) = match &way {
            // A client that hears nothing for long gives up; in no other dialect is it so.
            Way::Told(_) if self.target.dialect == Dialect::Anthropic => {
                (Some(self.told_type()), Some(PING_EVERY.min(idle / 2)))
            }
            Way::Told(_) => (Some(self.told_type()), None),
            _ => (content_type, None),
        };
        // Limits and names are told beside it: room for all of them at once.
        let mut quota = HeaderMap::with_capacity(HEADERS);
        tell_quota(route, &head.headers, &mut quota);
        let body = RelayBody {
            upstream,
            first: Some(first),
            way,
            running,
            client: self.target.dialect,
            request: self.id,
            silence: Silence::new(idle, ping),
            done: false,
            remember: self.remember(),
        };
        let mut answer = Response::new(ProxyBody::from(body));
        *answer.status_mut() = head.status;
        *answer.headers_mut() = quota;
        if let Some(kind) = kind {
            answer.headers_mut().insert(CONTENT_TYPE, kind);
        }
        answer
    }

    /// Returns what keeps the reply to be given again, if it was asked for.
    fn remember(&self) -> Option<crate::relay::Remember> {
        let (key, board) = (self.cache?, std::sync::Arc::clone(&self.board));
        let config = self.config.cache;
        Some(Box::new(move |body| board.cache.put(key, body, config, board.clock.now())))
    }

    fn told_type(&self) -> HeaderValue {
        let array = self.target.dialect == Dialect::Gemini
            && !self.parts.uri.query().unwrap_or_default().contains("alt=sse");
        HeaderValue::from_static(if array { "application/json" } else { "text/event-stream" })
    }

    /// Returns what keeps what only the provider understands until the next turn.
    fn keep(&self, route: &Route) -> crate::relay::Keep {
        let board = std::sync::Arc::clone(&self.board);
        let provider = std::sync::Arc::clone(&route.provider);
        let scope = self.who.purpose.tenant.to_string();
        Box::new(move |keepsakes| {
            let now = board.clock.now().as_second();
            let mut all = board.keepsakes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for keepsake in keepsakes {
                all.put(Keeper { scope: &scope, provider: &provider }, keepsake, now);
            }
        })
    }

    /// Tells a whole reply in the client's dialect.
    pub(crate) async fn tell_whole(
        &self,
        mut running: Running,
        response: Response<Reply>,
        first: Bytes,
        back: &Back,
    ) -> Tried {
        let route = std::sync::Arc::clone(&running.route);
        let whole = match rest_of(response.into_body(), first, self.config.idle).await {
            Ok(whole) => whole,
            Err((heard, why)) => {
                // What came of it was made, and is paid for.
                running.relayed = heard as u64;
                let failed = self.failure(&route, FailedKind::Transient, &why);
                return self.failed(running, failed.paid(Paid::Answer(Used::Unknown)));
            }
        };
        match back.reply(&whole) {
            Ok(answer) => {
                (self.keep(&route))(answer.keepsakes);
                running.relayed = answer.body.len() as u64;
                running.hear(&answer.body);
                running.finish(Outcome::Ok, answer.usage.into(), None);
                let body = Bytes::from(answer.body);
                if let Some(remember) = self.remember() {
                    remember(body.clone());
                }
                Tried::Answered(json(body))
            }
            Err(error) => {
                running.relayed = whole.len() as u64;
                let paid = match error {
                    BadReply::Failed { .. } => Paid::Nothing,
                    BadReply::Malformed(_) => Paid::Answer(usage_in(&whole, route.dialect).into()),
                };
                let failed = self.failure(&route, FailedKind::Transient, &error.to_string());
                self.failed(running, failed.paid(paid))
            }
        }
    }
}

/// Tells whether a reply comes as server-sent events.
pub(crate) fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"))
}

/// Returns how a reply is served, where a provider tells it in the head: Google may serve a request as usual
/// that asked for more.
fn tier_of(route: &Route, headers: &HeaderMap) -> Tier {
    if route.dialect != Dialect::Gemini {
        return Tier::Standard;
    }
    let told = headers.get("x-gemini-service-tier").and_then(|value| value.to_str().ok());
    told.map(Tier::named).unwrap_or_default()
}

/// Returns what a reply says that it used, whatever else it says.
fn usage_in(whole: &Bytes, dialect: Dialect) -> Option<Usage> {
    let mut meter = ReplyMeter::new(dialect);
    meter.take(whole);
    meter.usage()
}

/// Reads the rest of a reply; a provider may be silent for a while, but not for ever. If it breaks off, it is told
/// how many bytes came of it, and why no more.
async fn rest_of(mut body: Reply, first: Bytes, idle: Duration) -> Result<Bytes, (usize, String)> {
    let mut whole = BytesMut::from(first);
    loop {
        let frame = tokio::time::timeout(idle, body.frame()).await;
        let silent = |_| (whole.len(), format!("it was silent for {} s", idle.as_secs()));
        let Some(frame) = frame.map_err(silent)? else { return Ok(whole.freeze()) };
        let frame = frame.map_err(|error| (whole.len(), error.to_string()))?;
        let Ok(bytes) = frame.into_data() else { continue };
        if whole.len() + bytes.len() > REPLY_MAX_BYTES {
            let why = format!("its reply has more than {REPLY_MAX_BYTES} bytes");
            return Err((whole.len(), why));
        }
        whole.extend_from_slice(&bytes);
    }
}
