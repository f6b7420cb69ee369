//! The event log as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event as SseEvent, Sse};
use futures_util::Stream;
use godel_api::{Lagged, LaggedReason};
use godel_app::{SocketPlace, events};
use godel_model::{EventFilter, Seq, code};
use godel_store::{Logged, Tail};
use http::HeaderMap;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{ApiError, ApiResult};
use crate::guard::{Caller, take_place};
use crate::metrics;
use crate::state::Shared;

const BATCH_EVENTS: usize = 100;
/// How often it is looked whether the caller is still logged in, and told that the stream lives.
const LOOK: Duration = Duration::from_secs(10);
/// How long a stream waits before it asks a failed database again.
const RETRY: Duration = Duration::from_millis(500);

/// Follow events
///
/// Server-sent events: each has the position as `id` and the event as `data`. Reconnect with the
/// `Last-Event-ID` header (browsers do) or `after` to go on without losing or repeating one;
/// without either the stream begins now. An event named `ready` tells the position at which it
/// begins and the newest one, one named `lagged` what retention had removed before it was read. One
/// named `alive` comes every 10 seconds with the last position that was sent (`{"head":9}`, `null`
/// before the first): a stream that is silent for longer is dead, and whose own last position is
/// another has lost something. A position behind the end of the log is one of another log and is refused (`invalid_cursor`). Streams
/// and WebSockets count together against the most that a caller may have open
/// (`too_many_connections`).
#[utoipa::path(get, path = "/events/stream", tag = "events", operation_id = "streamEvents",
    params(("pattern" = Option<Vec<String>>, Query, description = "Types that are wanted, such as `agent:*`; may be repeated"),
        ("after" = Option<i64>, Query, minimum = 0, description = "Begin behind this position"),
        ("Last-Event-ID" = Option<i64>, Header, description = "Begin behind this position; wins over `after`")),
    responses((status = 200, description = "A stream that does not end", body = String, content_type = "text/event-stream")))]
pub(crate) async fn stream(
    State(shared): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    uri: http::Uri,
) -> ApiResult<impl IntoResponse> {
    let (patterns, after) = read_query(uri.query().unwrap_or_default())?;
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default().to_owned());
    let after = match last {
        Some(id) => Some(position(&id)?),
        None => after,
    };
    let patterns = patterns.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let filter = EventFilter::new(patterns, std::collections::BTreeMap::new())?;
    let place = take_place(&shared, &caller)?;
    let tail = events::follow(&shared.app, &caller.call, after, filter).await?;
    let stop = shared.crew.stopping();
    let next_look = Instant::now() + LOOK;
    let (ready, begun, sent) = (Vec::new(), false, None);
    let stream =
        Follow { shared, caller, _place: place, tail, stop, ready, begun, sent, next_look };
    let sse = Sse::new(stream.into_stream());
    Ok(([("cache-control", "no-store"), ("x-accel-buffering", "no")], sse))
}

/// Reads the query by hand: `pattern` may come more than once.
fn read_query(query: &str) -> ApiResult<(Vec<String>, Option<Seq>)> {
    let (mut patterns, mut after) = (Vec::new(), None);
    for (name, value) in form_pairs(query) {
        match name.as_str() {
            "pattern" => patterns.push(value),
            "after" if after.is_some() => {
                return Err(ApiError::new(code::INVALID_QUERY, "`after` is there more than once"));
            }
            "after" => after = Some(position(&value)?),
            other => {
                return Err(ApiError::new(
                    code::INVALID_QUERY,
                    format!("there is no parameter `{other}`"),
                ));
            }
        }
    }
    Ok((patterns, after))
}

fn form_pairs(query: &str) -> Vec<(String, String)> {
    let uri = http::Uri::builder().path_and_query(format!("/?{query}")).build();
    let pairs = uri.ok().and_then(|uri| axum::extract::Query::try_from_uri(&uri).ok());
    pairs.map(|axum::extract::Query(pairs)| pairs).unwrap_or_default()
}

fn position(text: &str) -> ApiResult<Seq> {
    text.parse().ok().filter(|seq| *seq >= 0).map(Seq).ok_or_else(|| {
        ApiError::new(code::INVALID_QUERY, "a position must be a whole number from 0 on")
    })
}

struct Follow {
    shared: Shared,
    caller: Caller,
    /// Free for somebody else when the stream ends.
    _place: SocketPlace,
    tail: Tail,
    stop: CancellationToken,
    ready: Vec<SseEvent>,
    begun: bool,
    /// The last position that was sent.
    sent: Option<Seq>,
    /// When to look again whether the caller may still listen, however busy the log is.
    next_look: Instant,
}

impl Follow {
    fn into_stream(self) -> impl Stream<Item = Result<SseEvent, Infallible>> {
        futures_util::stream::unfold(self, |mut follow| async move {
            let event = follow.next().await?;
            Some((Ok(event), follow))
        })
    }

    async fn next(&mut self) -> Option<SseEvent> {
        if !self.begun {
            self.begun = true;
            let head = format!("{{\"head\":{}}}", self.tail.log_end());
            let start = self.tail.cursor().to_string();
            return Some(SseEvent::default().event("ready").id(start).data(head));
        }
        loop {
            if let Some(event) = self.ready.pop() {
                return Some(event);
            }
            let batch = tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                () = tokio::time::sleep_until(self.next_look) => {
                    self.next_look = Instant::now() + LOOK;
                    if self.caller.is_gone(&self.shared).await {
                        return None;
                    }
                    return Some(alive(self.sent));
                }
                batch = self.tail.next(BATCH_EVENTS) => batch,
            };
            match batch {
                Err(godel_store::Error::Closed) => return None,
                Err(error) => {
                    tracing::warn!(%error, "a stream waits for the database");
                    tokio::time::sleep(RETRY).await;
                }
                Ok(batch) => {
                    metrics::events_sent(self.caller.call.actor.tenant, batch.events.len() as u64);
                    self.ready = batch.events.iter().rev().map(|logged| render(logged)).collect();
                    self.ready.extend(batch.gap.as_ref().map(|gap| lagged(gap.from, gap.to)));
                    let last = batch.events.last().map(|logged| logged.event.seq);
                    self.sent = last.or(batch.gap.map(|gap| gap.to)).or(self.sent);
                }
            }
        }
    }
}

fn render(logged: &Logged) -> SseEvent {
    let event = SseEvent::default().id(logged.event.seq.to_string());
    event.data(logged.rendered(crate::ws::render_event))
}

/// Says that the stream lives, and what it sent last.
fn alive(sent: Option<Seq>) -> SseEvent {
    let head = sent.map_or_else(|| "null".to_owned(), |seq| seq.to_string());
    SseEvent::default().event("alive").data(format!("{{\"head\":{head}}}"))
}

fn lagged(from: Seq, to: Seq) -> SseEvent {
    let notice =
        Lagged { from_sequence: from.0, to_sequence: to.0, reason: LaggedReason::Retention };
    let data = serde_json::to_string(&notice).unwrap_or_default();
    SseEvent::default().event("lagged").id(to.to_string()).data(data)
}
