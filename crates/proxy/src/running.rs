//! An attempt under way: whatever happens to it, it is settled.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use godel_llm::{Model, Tier, Usage};
use godel_model::{CallEnd, CallStart, Outcome, Saved};
use godel_store::CallBody;
use jiff::tz::TimeZone;

use crate::board::Board;
use crate::capture::Capture;
use crate::hedge::Beaten;
use crate::ledger::{Begun, Ended};
use crate::limits::Place;
use crate::route::Route;

/// How many bytes of text make a token, roughly.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;
/// Below so many tokens of output a provider has hardly begun to count them.
const COUNTED_MIN: u64 = 8;
/// How much of an error is kept.
const ERROR_MAX_CHARS: usize = 500;

/// What is known of what an attempt used.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Used {
    /// The provider told all of it.
    Told(Usage),
    /// The provider told some of it, for it has not come to its end.
    Partly(Usage),
    /// Nobody told.
    Unknown,
}

impl From<Option<Usage>> for Used {
    fn from(told: Option<Usage>) -> Self {
        told.map_or(Self::Unknown, Self::Told)
    }
}

/// An attempt under way. When it is dropped before it was settled, its client went away.
pub(crate) struct Running {
    board: Arc<Board>,
    begun: Option<Begun>,
    pub(crate) route: Arc<Route>,
    /// The model that would have been asked, had nobody looked at what it costs.
    instead_of: Option<Arc<Model>>,
    place: Option<Place>,
    began: Instant,
    first_byte: Option<Duration>,
    pub(crate) status: Option<u16>,
    input_estimate: u64,
    /// How it was asked to be served, which counts where nobody tells how it was.
    tier: Tier,
    /// How many bytes of text went to the client.
    pub(crate) relayed: u64,
    /// What is kept of it.
    capture: Option<Box<Capture>>,
    /// Whether another provider answered, so that this one is let go.
    beaten: Option<Beaten>,
    /// The part of the trace that tells of it.
    span: tracing::Span,
}

/// What an attempt cost.
#[derive(Debug, Default)]
struct Paid {
    /// In millionths of a dollar, if that is known.
    cost: Option<i64>,
    /// By which price.
    price: Option<Arc<str>>,
    /// What it would have cost more.
    saved: Saved,
}

/// What is known of an attempt when it begins.
pub(crate) struct Begin {
    pub(crate) begun: Begun,
    pub(crate) route: Arc<Route>,
    pub(crate) instead_of: Option<Arc<Model>>,
    pub(crate) input_estimate: u64,
    pub(crate) tier: Tier,
    pub(crate) capture: Option<Box<Capture>>,
    pub(crate) beaten: Option<Beaten>,
    pub(crate) span: tracing::Span,
}

impl Running {
    pub(crate) fn new(board: Arc<Board>, begin: Begin, place: Option<Place>) -> Self {
        Self {
            board,
            begun: Some(begin.begun),
            route: begin.route,
            instead_of: begin.instead_of,
            place,
            began: Instant::now(),
            first_byte: None,
            status: None,
            input_estimate: begin.input_estimate,
            tier: begin.tier,
            relayed: 0,
            capture: begin.capture,
            beaten: begin.beaten,
            span: begin.span,
        }
    }

    /// Notes that the first byte has come.
    pub(crate) fn first_byte(&mut self) {
        let took = *self.first_byte.get_or_insert_with(|| self.began.elapsed());
        self.board.health.worked(&self.route.provider, self.route.key_id(), took);
    }

    /// Notes what goes to the client, if that is to be kept.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.hear(bytes);
        }
    }

    fn captured(&mut self) -> Option<CallBody> {
        let capture = self.capture.take()?;
        Some(capture.done(&self.route))
    }

    /// Takes the place at the gate back, for the next attempt.
    pub(crate) fn take_place(&mut self) -> Option<Place> {
        self.place.take()
    }

    /// Ends an attempt that failed before anything went to the client. A provider that was asked and not
    /// heard in time may have read the request, and then it is paid for, so the input is counted.
    pub(crate) fn failed(mut self, why: &str, unheard: bool) -> Option<Ended> {
        let begun = self.begun.take()?;
        let (usage, paid) = if unheard {
            let usage = Usage { input: self.input_estimate, tier: self.tier, ..Usage::default() };
            (usage, self.paid(&begun.start, &usage))
        } else {
            (Usage::default(), Paid { cost: Some(0), ..Paid::default() })
        };
        let end = self.end(Outcome::Failed, (usage, unheard), paid, Some(why));
        self.count(&end);
        let body = self.captured();
        Some(self.board.ledger.ended(begun, end, body))
    }

    /// Settles the attempt.
    pub(crate) fn finish(&mut self, outcome: Outcome, used: Used, error: Option<&str>) {
        let Some(begun) = self.begun.take() else { return };
        let start = &begun.start;
        let (usage, estimated) = match used {
            Used::Told(usage) => (usage, false),
            Used::Partly(told) if told.output >= COUNTED_MIN => (told, true),
            Used::Partly(told) => {
                (Usage { output: told.output.max(self.output_estimate()), ..told }, true)
            }
            Used::Unknown => {
                let (input, output) = (self.input_estimate, self.output_estimate());
                (Usage { input, output, tier: self.tier, ..Usage::default() }, true)
            }
        };
        let paid = self.paid(start, &usage);
        if paid.cost.is_none() && !self.route.own_login {
            let model = match usage.tier {
                Tier::Standard => Arc::clone(&start.model),
                tier => format!("{} ({})", start.model, tier.as_str()).into(),
            };
            self.board.tell_unpriced(&start.provider, &model);
        }
        let end = self.end(outcome, (usage, estimated), paid, error);
        if let Some(place) = &mut self.place {
            place.used(usage.input_all() + usage.output);
        }
        self.count(&end);
        let body = self.captured();
        self.board.ledger.settle(begun, end, body);
        self.place = None;
    }

    /// About how many tokens went to the client.
    fn output_estimate(&self) -> u64 {
        self.relayed.div_ceil(BYTES_PER_TOKEN)
    }

    fn paid(&self, start: &CallStart, usage: &Usage) -> Paid {
        let day = start.at.to_zoned(TimeZone::UTC).date();
        let priced = |model: &Arc<Model>| model.price_of(day, usage);
        let known = self.route.known.as_ref().filter(|_| !self.route.own_login);
        let Some(price) = known.and_then(priced) else { return Paid::default() };
        let cost = price.cost(usage);
        let dearer = self.instead_of.as_ref().and_then(priced).map(|price| price.cost(usage));
        let saved = Saved {
            saved_by_cache_micros: price.saved_by_cache(usage),
            saved_by_routing_micros: dearer.map_or(0, |dearer| dearer - cost),
        };
        Paid { cost: Some(cost), price: Some(price.label), saved }
    }

    fn end(
        &self,
        outcome: Outcome,
        (usage, estimated): (Usage, bool),
        paid: Paid,
        error: Option<&str>,
    ) -> CallEnd {
        CallEnd {
            at: self.board.clock.now(),
            outcome,
            status: self.status,
            usage,
            cost: paid.cost,
            price: paid.price,
            saved: paid.saved,
            estimated,
            first_byte_micros: self.first_byte.map(|took| took.as_micros() as i64),
            error: error.map(|error| plain(error, ERROR_MAX_CHARS)),
        }
    }

    fn count(&self, end: &CallEnd) {
        if !self.span.is_disabled() {
            self.trace(end);
        }
        let took = self.began.elapsed();
        crate::metrics::ended(self.route.counted(), end, took);
    }
}

impl Running {
    fn trace(&self, end: &CallEnd) {
        self.span.record("outcome", end.outcome.as_str());
        if let Some(status) = end.status {
            self.span.record("status", status);
        }
        if end.outcome == Outcome::Failed {
            self.span.record("otel.status_code", "ERROR");
        }
        if let Some(error) = &end.error {
            self.span.record("error", error.as_str());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let beaten = self.beaten.as_ref().is_some_and(|beaten| beaten.load(Ordering::Relaxed));
        let why = if beaten { "another provider answered first" } else { "the client went away" };
        self.finish(Outcome::Cancelled, Used::Unknown, Some(why));
    }
}

/// Returns the beginning of a text without what databases and terminals do not take.
pub(crate) fn plain(text: &str, most: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(most).collect()
}
