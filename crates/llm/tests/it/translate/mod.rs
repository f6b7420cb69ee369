//! What is said in one dialect arrives in the others.

mod facts;
mod keepsakes;
mod replies;
mod requests;
mod samples;
mod streams;
mod untranslatable;

use godel_llm::Dialect;
use godel_llm::translate::{Ask, Thinks, Told, Untranslatable, request};
use serde_json::Value;

/// Every pair of two dialects.
fn pairs() -> impl Iterator<Item = (Dialect, Dialect)> {
    let each = |from| Dialect::ALL.into_iter().map(move |to| (from, to));
    Dialect::ALL.into_iter().flat_map(each).filter(|(from, to)| from != to)
}

fn ask<'a>(from: Dialect, to: Dialect) -> Ask<'a> {
    Ask {
        from,
        to,
        model: "upstream-model",
        client_model: "client-model",
        thinks: Thinks::Level,
        stream: true,
        array: false,
        max_output: 50_000,
        request_id: "req-1",
        now_seconds: 1_700_000_000,
    }
}

/// Tells a request without anything kept.
fn tell(ask: &Ask<'_>, body: &Value) -> Result<Told, Untranslatable> {
    request(ask, body.to_string().as_bytes(), &|_| None)
}

/// Tells a request and returns what the upstream gets.
fn told(ask: &Ask<'_>, body: &Value) -> Value {
    serde_json::from_slice(&tell(ask, body).unwrap().body).unwrap()
}
