//! One subscription: a cursor in the log, and what to do when its client is slow.

use std::sync::Arc;

use godel_api::{Lagged, LaggedReason, Policy as WirePolicy, Subscribe};
use godel_app::{App, Call, events};
use godel_decide::{BUFFER_DEFAULT_EVENTS, BUFFER_MAX_EVENTS, Policy, shed};
use godel_model::{EventFilter, Seq, code};
use godel_store::{Logged, Tail};

use crate::error::{ApiError, ApiResult};

/// How many events one frame carries, at most.
const FRAME_MAX_EVENTS: usize = 200;

/// A cursor in the log on behalf of a client.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) tail: Tail,
    policy: Policy,
    buffer: usize,
    /// Until it has reached the end of the log once, a subscription catches up and skips nothing.
    live: bool,
    /// Up to where the newer events go when the oldest have been sent (policy `drop`).
    drop_upto: Option<(usize, Seq)>,
    /// The position of the last event that was sent.
    pub(super) sent: Option<i64>,
}

/// What is to be sent now.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) lagged: Vec<Lagged>,
    pub(super) events: Vec<Arc<Logged>>,
}

impl Subscription {
    pub(super) async fn open(
        app: &App,
        call: &Call,
        id: String,
        request: Subscribe,
    ) -> ApiResult<Self> {
        let buffer = request.buffer_size.unwrap_or(BUFFER_DEFAULT_EVENTS);
        if !(1..=BUFFER_MAX_EVENTS).contains(&buffer) {
            return Err(ApiError::new(
                code::INVALID_FIELD,
                format!("bufferSize must be 1 to {BUFFER_MAX_EVENTS}"),
            ));
        }
        if request.after.is_some_and(|after| after < 0) {
            return Err(ApiError::new(code::INVALID_FIELD, "after must be 0 or more"));
        }
        let patterns =
            request.patterns.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        let filter = EventFilter::new(patterns, request.filters)?;
        let tail = events::follow(app, call, request.after.map(Seq), filter).await?;
        let policy = match request.policy {
            WirePolicy::Block => Policy::Block,
            WirePolicy::Drop => Policy::Drop,
            WirePolicy::Sliding => Policy::Sliding,
        };
        let live = tail.cursor() >= tail.head();
        Ok(Self { id, tail, policy, buffer, live, drop_upto: None, sent: None })
    }

    /// Returns what is to be sent now; empty if nothing is.
    pub(super) async fn take(&mut self) -> Result<Delivery, godel_store::Error> {
        let mut delivery = Delivery::default();
        if self.live && self.policy != Policy::Block && self.drop_upto.is_none() {
            delivery.lagged.extend(self.shed());
        }
        let limit = self.drop_upto.map_or(FRAME_MAX_EVENTS, |(left, _)| left.min(FRAME_MAX_EVENTS));
        if limit > 0 {
            let batch = self.tail.take(limit).await?;
            delivery
                .lagged
                .extend(batch.gap.map(|gap| lagged(gap.from, gap.to, LaggedReason::Retention)));
            delivery.events = batch.events;
        }
        self.finish_drop(&mut delivery);
        self.live |= self.tail.cursor() >= self.tail.head();
        Ok(delivery)
    }

    /// Applies the policy to what waits; for `drop` only notes it, since the oldest go out first.
    fn shed(&mut self) -> Option<Lagged> {
        self.tail.skip_unwanted();
        let (waiting, behind) = match self.tail.backlog() {
            Some(waiting) => (waiting, None),
            // Further behind than memory reaches, which is more than any buffer.
            None if self.policy == Policy::Drop => {
                self.drop_upto = Some((self.buffer, self.tail.head()));
                return None;
            }
            None => {
                let from = self.tail.cursor().next();
                self.tail.skip_to(self.tail.recent_from());
                (self.tail.backlog().unwrap_or_default(), Some(from))
            }
        };
        let skip = shed(self.policy, self.buffer, &waiting);
        match (self.policy, skip) {
            (Policy::Drop, Some(skip)) => {
                self.drop_upto = Some((self.buffer, skip.to));
                None
            }
            (_, Some(skip)) => {
                self.tail.skip_to(skip.to);
                Some(lagged(behind.unwrap_or(skip.from), skip.to, LaggedReason::Slow))
            }
            (_, None) => behind.map(|from| lagged(from, self.tail.cursor(), LaggedReason::Slow)),
        }
    }

    /// After the oldest of a backlog went out: skips the rest and says so.
    fn finish_drop(&mut self, delivery: &mut Delivery) {
        let Some((left, upto)) = self.drop_upto else {
            return;
        };
        let left = left.saturating_sub(delivery.events.len());
        self.drop_upto = Some((left, upto));
        if left == 0 || self.tail.cursor() >= upto {
            self.drop_upto = None;
            if self.tail.cursor() < upto {
                let from = self.tail.cursor().next();
                self.tail.skip_to(upto);
                delivery.lagged.push(lagged(from, upto, LaggedReason::Slow));
            }
        }
    }
}

fn lagged(from: Seq, to: Seq, reason: LaggedReason) -> Lagged {
    Lagged { from_sequence: from.0, to_sequence: to.0, reason }
}
