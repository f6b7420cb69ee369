//! Metrics of the switchboard; models that nobody knows share one label, so labels are bounded.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::time::Duration;

use godel_model::{CallEnd, Outcome};
use metrics::{Counter, Histogram, Unit, counter, describe_counter, describe_histogram, histogram};

const REQUESTS: &str = "godel_llm_requests_total";
const TOKENS: &str = "godel_llm_tokens_total";
const COST: &str = "godel_llm_cost_micro_dollars_total";
const DURATION: &str = "godel_llm_request_duration_seconds";
const FIRST_BYTE: &str = "godel_llm_first_byte_seconds";
const REFUSED: &str = "godel_llm_refused_total";

/// The metrics of times that models take.
pub const TIMES: [&str; 2] = [DURATION, FIRST_BYTE];
/// The steps in which they are counted, in seconds.
pub const STEPS: &[f64] =
    &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0];

const OUTCOMES: [Outcome; 5] =
    [Outcome::Open, Outcome::Ok, Outcome::Failed, Outcome::Cancelled, Outcome::Lost];
const KINDS: [&str; 4] = ["input", "cache_read", "cache_write", "output"];

/// Says what the metrics mean.
pub fn describe() {
    describe_counter!(REQUESTS, "attempts by provider, model and outcome");
    describe_counter!(TOKENS, "tokens by provider, model and kind");
    describe_counter!(COST, "cost in millionths of a dollar by provider and model");
    describe_histogram!(DURATION, Unit::Seconds, "time of whole attempts by provider and model");
    describe_histogram!(FIRST_BYTE, Unit::Seconds, "time to the first byte by provider and model");
    describe_counter!(REFUSED, "requests that were refused before a provider was asked, by reason");
}

/// The metrics of one model of a provider, found once: to find them costs more than to count.
pub(crate) struct Counted {
    outcomes: [Counter; 5],
    tokens: [Counter; 4],
    cost: Counter,
    duration: Histogram,
    first_byte: Histogram,
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Counted")
    }
}

impl Counted {
    fn new(provider: &str, model: &str) -> Self {
        let (provider, model) = (provider.to_owned(), model.to_owned());
        let labels = || [("provider", provider.clone()), ("model", model.clone())];
        let with = |name: &'static str, label: &'static str, value: &str| {
            let mut all = labels().to_vec();
            all.push((label, value.to_owned()));
            counter!(name, &all)
        };
        Self {
            outcomes: OUTCOMES.map(|outcome| with(REQUESTS, "outcome", outcome.as_str())),
            tokens: KINDS.map(|kind| with(TOKENS, "kind", kind)),
            cost: counter!(COST, &labels()),
            duration: histogram!(DURATION, &labels()),
            first_byte: histogram!(FIRST_BYTE, &labels()),
        }
    }
}

/// By provider, then by model.
type All = HashMap<String, HashMap<String, Arc<Counted>>>;

static ALL: LazyLock<RwLock<All>> = LazyLock::new(RwLock::default);

fn counted(provider: &str, model: &str) -> Arc<Counted> {
    let known = ALL.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(provider).and_then(|models| models.get(model)) {
        return Arc::clone(found);
    }
    drop(known);
    let mut known = ALL.write().unwrap_or_else(PoisonError::into_inner);
    let models = known.entry(provider.to_owned()).or_default();
    let found = models.entry(model.to_owned());
    Arc::clone(found.or_insert_with(|| Arc::new(Counted::new(provider, model))))
}

/// Finds the metrics of a model.
pub(crate) fn of(provider: &str, model: &str, known: bool) -> Arc<Counted> {
    counted(provider, if known { model } else { "other" })
}

pub(crate) fn ended(counted: &Counted, end: &CallEnd, took: Duration) {
    let place = OUTCOMES.iter().position(|outcome| *outcome == end.outcome).unwrap_or(0);
    counted.outcomes[place].increment(1);
    let usage = &end.usage;
    let written = usage.cache_write_5m + usage.cache_write_1h;
    let tokens = [usage.input, usage.cache_read, written, usage.output];
    for (counter, tokens) in counted.tokens.iter().zip(tokens) {
        counter.increment(tokens);
    }
    counted.cost.increment(end.cost.and_then(|cost| u64::try_from(cost).ok()).unwrap_or(0));
    counted.duration.record(took);
    if let Some(first) = end.first_byte_micros {
        counted.first_byte.record(first as f64 / 1e6);
    }
}

pub(crate) fn refused(reason: &'static str) {
    counter!(REFUSED, "reason" => reason).increment(1);
}
