//! An attempt under way: whatever happens to it, it is settled.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use godel_llm::{Model, Tier, Usage};
use godel_model::{CallEnd, CallStart, Outcome, Saved, TenantId};
use godel_store::CallBody;
use jiff::tz::TimeZone;

use crate::board::Board;
use crate::capture::Capture;
use crate::health::Failure;
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

/// What is to be paid for an attempt of which the client heard nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paid {
    /// Nothing: the provider refused it.
    Nothing,
    /// What went in: the provider was not heard in time, and may have read it.
    Input,
    /// What it made: it answered, and the answer was of no use.
    Answer(Used),
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
    /// How much it is likely to answer.
    likely_output: u64,
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
struct Bill {
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
    /// How much is likely to come out of a reply that comes as a whole: who goes away meanwhile does not
    /// stop its provider.
    pub(crate) likely_output: u64,
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
            likely_output: begin.likely_output,
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
        self.board.health.began(self.route.at(), took);
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

    /// Ends an attempt that failed before anything went to the client.
    pub(crate) fn failed(mut self, why: &str, paid: Paid) -> Option<Ended> {
        let begun = self.begun.take()?;
        let used = match paid {
            Paid::Nothing => None,
            Paid::Input => {
                let (input, tier) = (self.input_estimate, self.tier);
                Some((Usage { input, tier, ..Usage::default() }, true))
            }
            Paid::Answer(used) => Some(self.usage(used)),
        };
        let bill = match &used {
            Some((usage, _)) => self.bill(&begun.start, usage),
            None => Bill { cost: Some(0), ..Bill::default() },
        };
        let end = self.end(Outcome::Failed, used.unwrap_or_default(), bill, Some(why));
        self.count(&end);
        let body = self.captured();
        Some(self.board.ledger.ended(begun, end, body))
    }

    /// Settles the attempt.
    pub(crate) fn finish(&mut self, outcome: Outcome, used: Used, error: Option<&str>) {
        let Some(begun) = self.begun.take() else { return };
        let start = &begun.start;
        self.tell_health(outcome, start.purpose.tenant, error);
        let (usage, estimated) = self.usage(used);
        let bill = self.bill(start, &usage);
        if bill.cost.is_none() && !self.route.own_login {
            let model = match usage.tier {
                Tier::Standard => Arc::clone(&start.model),
                tier => format!("{} ({})", start.model, tier.as_str()).into(),
            };
            self.board.tell_unpriced(&start.provider, &model);
        }
        let end = self.end(outcome, (usage, estimated), bill, error);
        if let Some(place) = &mut self.place {
            place.used(usage.input_all() + usage.output);
        }
        self.count(&end);
        let body = self.captured();
        self.board.ledger.settle(begun, end, body);
        self.place = None;
    }

    /// Lets the provider's health know how an answer ended that the client heard.
    fn tell_health(&self, outcome: Outcome, tenant: TenantId, error: Option<&str>) {
        let health = &self.board.health;
        match outcome {
            Outcome::Ok => health.worked(self.route.at()),
            Outcome::Failed => {
                let why = error.unwrap_or("its answer broke off").to_owned();
                let failure = Failure { why, rest: None };
                if health.failed(self.route.at(), &failure, self.board.clock.now()) {
                    self.board.tell_down(tenant, &self.route.provider, &failure.why);
                }
            }
            // That nobody waits for it any more says nothing of the provider.
            Outcome::Cancelled | Outcome::Lost | Outcome::Open => {
                if self.first_byte.is_none() {
                    health.untried(self.route.at());
                }
            }
        }
    }

    /// Returns what was used as far as that is known, and whether it is an estimate.
    fn usage(&self, used: Used) -> (Usage, bool) {
        match used {
            Used::Told(usage) => (usage, false),
            Used::Partly(told) if told.output >= COUNTED_MIN => (told, true),
            Used::Partly(told) => {
                (Usage { output: told.output.max(self.output_estimate()), ..told }, true)
            }
            Used::Unknown => {
                let (input, output) = (self.input_estimate, self.output_estimate());
                (Usage { input, output, tier: self.tier, ..Usage::default() }, true)
            }
        }
    }

    /// About how many tokens went to the client; or were made, where none of them could be heard yet.
    fn output_estimate(&self) -> u64 {
        match self.relayed {
            0 => self.likely_output,
            relayed => relayed.div_ceil(BYTES_PER_TOKEN),
        }
    }

    fn bill(&self, start: &CallStart, usage: &Usage) -> Bill {
        let day = start.at.to_zoned(TimeZone::UTC).date();
        let priced = |model: &Arc<Model>| model.price_of(day, usage);
        let known = self.route.known.as_ref().filter(|_| !self.route.own_login);
        let Some(price) = known.and_then(priced) else { return Bill::default() };
        let cost = price.cost(usage);
        let dearer = self.instead_of.as_ref().and_then(priced).map(|price| price.cost(usage));
        let saved = Saved {
            saved_by_cache_micros: price.saved_by_cache(usage),
            saved_by_routing_micros: dearer.map_or(0, |dearer| dearer - cost),
        };
        Bill { cost: Some(cost), price: Some(price.label), saved }
    }

    fn end(
        &self,
        outcome: Outcome,
        (usage, estimated): (Usage, bool),
        bill: Bill,
        error: Option<&str>,
    ) -> CallEnd {
        CallEnd {
            at: self.board.clock.now(),
            outcome,
            status: self.status,
            usage,
            cost: bill.cost,
            price: bill.price,
            saved: bill.saved,
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
