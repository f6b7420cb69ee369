//! Metrics of the switchboard; models that nobody knows share one label, so labels are bounded.

use std::time::Duration;

use godel_model::{CallEnd, CallStart};
use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

const REQUESTS: &str = "godel_llm_requests_total";
const TOKENS: &str = "godel_llm_tokens_total";
const COST: &str = "godel_llm_cost_micro_dollars_total";
const DURATION: &str = "godel_llm_request_duration_seconds";
const FIRST_BYTE: &str = "godel_llm_first_byte_seconds";
const REFUSED: &str = "godel_llm_refused_total";

/// Says what the metrics mean.
pub fn describe() {
    describe_counter!(REQUESTS, "attempts by provider, model and outcome");
    describe_counter!(TOKENS, "tokens by provider, model and kind");
    describe_counter!(COST, "cost in millionths of a dollar by provider and model");
    describe_histogram!(DURATION, Unit::Seconds, "time of whole attempts by provider");
    describe_histogram!(FIRST_BYTE, Unit::Seconds, "time to the first byte by provider");
    describe_counter!(REFUSED, "requests that were refused before a provider was asked, by reason");
}

pub(crate) fn ended(start: &CallStart, end: &CallEnd, (known, took): (bool, Duration)) {
    let model = if known { start.model.clone() } else { "other".to_owned() };
    let labels = [("provider", start.provider.clone()), ("model", model)];
    let mut with_outcome = labels.to_vec();
    with_outcome.push(("outcome", end.outcome.as_str().to_owned()));
    counter!(REQUESTS, &with_outcome).increment(1);
    for (kind, tokens) in [
        ("input", end.usage.input),
        ("cache_read", end.usage.cache_read),
        ("cache_write", end.usage.cache_write_5m + end.usage.cache_write_1h),
        ("output", end.usage.output),
    ] {
        if tokens > 0 {
            let mut with_kind = labels.to_vec();
            with_kind.push(("kind", kind.to_owned()));
            counter!(TOKENS, &with_kind).increment(tokens);
        }
    }
    if let Some(cost) = end.cost.and_then(|cost| u64::try_from(cost).ok()).filter(|cost| *cost > 0)
    {
        counter!(COST, &labels).increment(cost);
    }
    histogram!(DURATION, "provider" => start.provider.clone()).record(took);
    if let Some(first) = end.first_byte_micros {
        histogram!(FIRST_BYTE, "provider" => start.provider.clone()).record(first as f64 / 1e6);
    }
}

pub(crate) fn refused(reason: &'static str) {
    counter!(REFUSED, "reason" => reason).increment(1);
}
