//! An attempt under way: whatever happens to it, it is settled.

use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_llm::Usage;
use godel_model::{CallEnd, CallStart, Outcome};
use jiff::tz::TimeZone;

use crate::board::Board;
use crate::limits::Place;
use crate::route::Route;

/// How many bytes of text make a token, roughly.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

/// An attempt under way. When it is dropped before it was settled, its client went away.
pub(crate) struct Running {
    board: Arc<Board>,
    start: Option<CallStart>,
    pub(crate) route: Route,
    place: Option<Place>,
    began: Instant,
    first_byte: Option<Duration>,
    pub(crate) status: Option<u16>,
    input_estimate: u64,
    /// How many bytes went to the client.
    pub(crate) relayed: u64,
    /// Whether the client's own login pays.
    own_login: bool,
}

/// What is known of an attempt when it begins.
pub(crate) struct Begin {
    pub(crate) start: CallStart,
    pub(crate) route: Route,
    pub(crate) input_estimate: u64,
    pub(crate) own_login: bool,
}

impl Running {
    pub(crate) fn new(board: Arc<Board>, begin: Begin, place: Option<Place>) -> Self {
        Self {
            board,
            start: Some(begin.start),
            route: begin.route,
            place,
            began: Instant::now(),
            first_byte: None,
            status: None,
            input_estimate: begin.input_estimate,
            relayed: 0,
            own_login: begin.own_login,
        }
    }

    /// Notes that the first byte has come.
    pub(crate) fn first_byte(&mut self) {
        let took = *self.first_byte.get_or_insert_with(|| self.began.elapsed());
        self.board.health.worked(&self.route.provider, self.route.key_id(), took);
    }

    /// Takes the place at the gate back, for the next attempt.
    pub(crate) fn take_place(&mut self) -> Option<Place> {
        self.place.take()
    }

    /// Ends an attempt that failed before anything went to the client.
    pub(crate) fn failed(mut self, why: &str) -> Option<(CallStart, CallEnd)> {
        let start = self.start.take()?;
        let end = self.end(Outcome::Failed, Some((Usage::default(), false)), Some(0), Some(why));
        self.count(&start, &end);
        Some((start, end))
    }

    /// Settles the attempt.
    pub(crate) fn finish(&mut self, outcome: Outcome, usage: Option<Usage>, error: Option<&str>) {
        let Some(start) = self.start.take() else { return };
        let told = usage.map(|usage| (usage, false));
        let guessed = || {
            // Nobody told: what went in and out is estimated, and marked so.
            let output = self.relayed / BYTES_PER_TOKEN;
            let input =
                if self.relayed > 0 || outcome == Outcome::Ok { self.input_estimate } else { 0 };
            (Usage { input, output, ..Usage::default() }, true)
        };
        let (usage, estimated) = told.unwrap_or_else(guessed);
        let cost = self.cost(&start, &usage);
        let end = self.end(outcome, Some((usage, estimated)), cost, error);
        if let Some(place) = &mut self.place {
            place.used(usage.input_all() + usage.output);
        }
        self.count(&start, &end);
        self.board.ledger.settle(start, end);
        self.place = None;
    }

    fn cost(&self, start: &CallStart, usage: &Usage) -> Option<i64> {
        if self.own_login {
            return None;
        }
        let day = start.at.to_zoned(TimeZone::UTC).date();
        let price = self.route.known.as_ref()?.price(day, usage.input_all());
        price.map(|price| price.cost(usage))
    }

    fn end(
        &self,
        outcome: Outcome,
        used: Option<(Usage, bool)>,
        cost: Option<i64>,
        error: Option<&str>,
    ) -> CallEnd {
        let (usage, estimated) = used.unwrap_or_default();
        CallEnd {
            at: self.board.clock.now(),
            outcome,
            status: self.status,
            usage,
            cost,
            estimated,
            first_byte_micros: self.first_byte.map(|took| took.as_micros() as i64),
            error: error.map(|error| error.chars().take(500).collect()),
        }
    }

    fn count(&self, start: &CallStart, end: &CallEnd) {
        let took = self.began.elapsed();
        crate::metrics::ended(start, end, took);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.finish(Outcome::Cancelled, None, None);
    }
}
