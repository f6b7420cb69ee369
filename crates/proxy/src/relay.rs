//! The body of an answer: bytes of a provider on their way to a client.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::link::Reply;
use crate::running::{Running, Used};
use crate::silence::{Quiet, Silence};
use bytes::{Bytes, BytesMut};
use godel_llm::translate::Relay as Translation;
use godel_llm::{Dialect, Ending, Passed, ReplyMeter, StreamMeter, Trouble, text_bytes};
use godel_model::{CallId, Outcome};
use http::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body::{Body, Frame, SizeHint};

/// Up to so many bytes that are there already go on together.
const JOIN_MAX_BYTES: usize = 64 * 1024;
/// What tells a client of Anthropic's dialect that somebody is there.
const PING: &[u8] = b"event: ping\ndata: {\"type\":\"ping\"}\n\n";

/// How bytes go on.
pub(crate) enum Way {
    /// A whole reply as it is.
    Whole(ReplyMeter),
    /// A stream as it is.
    Stream(StreamMeter),
    /// A stream told in another dialect.
    Told(Box<Told>),
}

/// A stream that is told in another dialect.
pub(crate) struct Told {
    pub(crate) translation: Translation,
    pub(crate) keep: Keep,
    /// How many bytes of text the client was told.
    pub(crate) text: u64,
}

/// What is done with what only the provider understands.
pub(crate) type Keep = Box<dyn FnOnce(Vec<godel_llm::translate::Keepsake>) + Send>;

/// The body of an answer.
pub struct ProxyBody {
    inner: Inner,
}

enum Inner {
    Full(Option<Bytes>),
    Relay(Box<RelayBody>),
}

impl std::fmt::Debug for ProxyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProxyBody")
    }
}

/// Says that a provider broke off.
#[derive(Debug, thiserror::Error)]
#[error("the provider broke off: {0}")]
pub struct BrokenOff(String);

impl From<Bytes> for ProxyBody {
    fn from(bytes: Bytes) -> Self {
        Self { inner: Inner::Full(Some(bytes).filter(|bytes| !bytes.is_empty())) }
    }
}

/// Answers with a JSON document.
pub(crate) fn json(body: Bytes) -> Response<ProxyBody> {
    let mut response = Response::new(ProxyBody::from(body));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Bytes of a provider on their way to a client.
pub(crate) struct RelayBody {
    pub(crate) upstream: Reply,
    /// The first bytes, which were waited for before the client was answered.
    pub(crate) first: Option<Bytes>,
    pub(crate) way: Way,
    pub(crate) running: Running,
    /// The dialect of the client.
    pub(crate) client: Dialect,
    pub(crate) request: CallId,
    pub(crate) silence: Silence,
    pub(crate) done: bool,
    /// What keeps a whole reply to be given again.
    pub(crate) remember: Option<Remember>,
}

/// What the client gets next.
type Given = Poll<Option<Result<Frame<Bytes>, BrokenOff>>>;

/// What keeps a whole reply to be given again.
pub(crate) type Remember = Box<dyn FnOnce(Bytes) + Send>;

impl From<RelayBody> for ProxyBody {
    fn from(relay: RelayBody) -> Self {
        Self { inner: Inner::Relay(Box::new(relay)) }
    }
}

impl Body for ProxyBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Given {
        match &mut self.get_mut().inner {
            Inner::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Inner::Relay(relay) => relay.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.inner {
            Inner::Full(bytes) => bytes.is_none(),
            Inner::Relay(relay) => relay.done,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.inner {
            Inner::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Inner::Relay(relay) => match (&relay.way, relay.upstream.size_hint().exact()) {
                (Way::Whole(_), Some(left)) => {
                    let first = relay.first.as_ref().map_or(0, |first| first.len() as u64);
                    SizeHint::with_exact(left + first)
                }
                _ => SizeHint::default(),
            },
        }
    }
}

impl RelayBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Given {
        if self.done {
            return Poll::Ready(None);
        }
        let mut ready = Joined::default();
        if let Some(first) = self.first.take() {
            if let Some(given) = self.pass_whole(&first) {
                return given;
            }
            match self.pass(first) {
                Ok(bytes) => ready.push(bytes),
                Err((told, why)) => {
                    ready.push(told);
                    return self.broken(&why, ready);
                }
            }
        }
        let mut heard = false;
        loop {
            if ready.len >= JOIN_MAX_BYTES {
                return self.give(ready);
            }
            match Pin::new(&mut self.upstream).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    if let Some(given) = self.pass_whole(&bytes) {
                        return given;
                    }
                    heard = true;
                    match self.pass(bytes) {
                        Ok(bytes) => ready.push(bytes),
                        Err((told, why)) => {
                            ready.push(told);
                            return self.broken(&why, ready);
                        }
                    }
                }
                Poll::Ready(Some(Err(error))) => return self.broken(&error.to_string(), ready),
                Poll::Ready(None) => return self.ended(ready),
                Poll::Pending if ready.len > 0 => return self.give(ready),
                Poll::Pending => {
                    if heard {
                        self.silence.broken();
                    }
                    return self.wait(cx, ready);
                }
            }
        }
    }

    /// The provider says nothing now.
    fn wait(&mut self, cx: &mut Context<'_>, mut ready: Joined) -> Given {
        match std::task::ready!(self.silence.poll(cx)) {
            Quiet::Ping => {
                ready.push(Bytes::from_static(PING));
                Poll::Ready(Some(Ok(Frame::data(ready.bytes()))))
            }
            Quiet::TooLong => {
                let why = format!("it was silent for {} s", self.silence.limit().as_secs());
                self.broken(&why, ready)
            }
        }
    }

    /// Hands bytes to the client; from now on the provider may be silent for a while again.
    fn give(&mut self, ready: Joined) -> Given {
        self.silence.broken();
        self.running.relayed += ready.len as u64;
        Poll::Ready(Some(Ok(Frame::data(self.hand_on(ready)))))
    }

    /// Returns bytes for the client, and lets them be kept if that is wanted.
    fn hand_on(&mut self, ready: Joined) -> Bytes {
        let bytes = ready.bytes();
        self.running.hear(&bytes);
        bytes
    }

    /// Hands on a part of a whole reply as it is: there are few of them, so none is joined.
    fn pass_whole(&mut self, bytes: &Bytes) -> Option<Given> {
        let Way::Whole(meter) = &mut self.way else { return None };
        meter.take(bytes);
        let mut ready = Joined::default();
        ready.push(bytes.clone());
        // Who knows the length does not ask for more after the last part.
        Some(if self.upstream.is_end_stream() { self.ended(ready) } else { self.give(ready) })
    }

    /// Reads bytes of the provider, and returns what of them goes on.
    fn pass(&mut self, bytes: Bytes) -> Result<Bytes, (Bytes, String)> {
        match &mut self.way {
            Way::Whole(_) => Ok(bytes),
            Way::Stream(meter) => Ok(match meter.feed(&bytes) {
                Passed::All => bytes,
                Passed::Up(end) => bytes.slice(..end),
                Passed::Instead(bytes) => bytes.into(),
            }),
            Way::Told(told) => {
                let mut out = Vec::new();
                let fed = told.translation.feed(&bytes, &mut out);
                told.text += text_bytes(self.client, &out);
                // What was told before it failed stands.
                let out = Bytes::from(out);
                match fed {
                    Ok(()) => Ok(out),
                    Err(error) => Err((out, error.to_string())),
                }
            }
        }
    }

    /// The provider has said all.
    fn ended(&mut self, mut ready: Joined) -> Given {
        let (usage, proper, failed) = match &mut self.way {
            Way::Whole(meter) => (meter.usage(), true, false),
            Way::Stream(meter) => {
                ready.push(meter.finish().into());
                let ending = meter.ending();
                (meter.usage(), ending != Ending::Open, ending == Ending::Failed)
            }
            Way::Told(told) => {
                let mut out = Vec::new();
                let ended = told.translation.finish(&mut out);
                ready.push(out.into());
                (ended.usage, ended.finished, false)
            }
        };
        if !proper {
            return self.broken("the stream ended without its last event", ready);
        }
        self.keep();
        self.remember();
        let status = self.running.status.unwrap_or(0);
        let outcome = if failed || status >= 400 { Outcome::Failed } else { Outcome::Ok };
        self.running.relayed += ready.len as u64;
        self.count_text();
        let last = self.hand_on(ready);
        self.running.finish(
            outcome,
            usage.into(),
            failed.then_some("the stream told of a failure"),
        );
        self.done = true;
        match last.len() {
            0 => Poll::Ready(None),
            _ => Poll::Ready(Some(Ok(Frame::data(last)))),
        }
    }

    fn remember(&mut self) {
        if let (Way::Whole(meter), Some(remember)) = (&self.way, self.remember.take())
            && let Some(whole) = meter.whole()
        {
            remember(whole);
        }
    }

    fn keep(&mut self) {
        if let Way::Told(told) = &mut self.way {
            let keepsakes = told.translation.keepsakes();
            let keep = std::mem::replace(&mut told.keep, Box::new(drop));
            keep(keepsakes);
        }
    }

    /// The provider broke off: a client must never take what it has for the whole.
    fn broken(&mut self, why: &str, mut ready: Joined) -> Given {
        if self.has_ended() {
            // It said all that there is to say, and then did not hang up properly.
            return self.ended(ready);
        }
        self.done = true;
        let message = format!("the provider {} broke off: {why}", self.running.route.provider);
        self.running.relayed += ready.len as u64;
        let used = self.used();
        match &mut self.way {
            Way::Whole(_) => {
                self.running.finish(Outcome::Failed, used, Some(why));
                return Poll::Ready(Some(Err(BrokenOff(why.to_owned()))));
            }
            Way::Stream(meter) => {
                let id = self.request.to_string();
                let event = Trouble::BadGateway.event(self.client, &message, &id);
                ready.push(meter.torn().into());
                ready.push(event.into());
            }
            Way::Told(told) => {
                let mut out = Vec::new();
                told.translation.fail(&message, &mut out);
                ready.push(out.into());
            }
        }
        let last = self.hand_on(ready);
        self.running.finish(Outcome::Failed, used, Some(why));
        Poll::Ready(Some(Ok(Frame::data(last))))
    }

    fn has_ended(&self) -> bool {
        match &self.way {
            Way::Whole(_) => false,
            Way::Stream(meter) => meter.ending() != Ending::Open,
            Way::Told(told) => told.translation.has_ended(),
        }
    }

    /// Tells what a stream that has not come to its end used so far.
    fn used(&mut self) -> Used {
        self.count_text();
        let told = match &mut self.way {
            Way::Whole(meter) => meter.usage(),
            Way::Stream(meter) => meter.usage(),
            Way::Told(told) => told.translation.finish(&mut Vec::new()).usage,
        };
        match told {
            Some(usage) if self.has_ended() => Used::Told(usage),
            Some(usage) => Used::Partly(usage),
            None => Used::Unknown,
        }
    }

    /// Notes how much of what was told was text of the model.
    fn count_text(&mut self) {
        self.running.relayed = match &self.way {
            Way::Whole(_) => return,
            Way::Stream(meter) => meter.text_bytes(),
            Way::Told(told) => told.text,
        };
    }
}

impl Drop for RelayBody {
    fn drop(&mut self) {
        if !self.done {
            let (used, ended) = (self.used(), self.has_ended());
            let outcome = if ended { Outcome::Ok } else { Outcome::Cancelled };
            if ended {
                self.keep();
            }
            let why = (!ended).then_some("the client went away");
            self.running.finish(outcome, used, why);
        }
    }
}

/// Bytes that go on together.
#[derive(Default)]
struct Joined {
    first: Bytes,
    more: BytesMut,
    len: usize,
}

impl Joined {
    fn push(&mut self, bytes: Bytes) {
        self.len += bytes.len();
        if self.first.is_empty() {
            self.first = bytes;
        } else if !bytes.is_empty() {
            self.more.extend_from_slice(&bytes);
        }
    }

    fn bytes(self) -> Bytes {
        if self.more.is_empty() {
            return self.first;
        }
        let mut all = BytesMut::with_capacity(self.len);
        all.extend_from_slice(&self.first);
        all.extend_from_slice(&self.more);
        all.freeze()
    }
}
