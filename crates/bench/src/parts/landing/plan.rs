//! A plan by rules, with a look at the whole repository.

use std::time::Instant;

use serde_json::json;

use super::super::agents::yard::Yard;
use crate::error::{Error, Result};
use crate::stats::median;
use crate::table::{Bar, Row};

const ROUNDS: usize = 10;
/// What a plan without a model may take.
const MAX_MS: f64 = 100.0;

/// Asks for plans, each for another wish.
pub(super) async fn measure(yard: &Yard) -> Result<Vec<Row>> {
    let mut took = Vec::new();
    for round in 0..ROUNDS {
        let text = format!("Add a page {round} with a form, an API for it, and tests");
        let asked = json!({ "text": text, "projectId": yard.project(), "rules": true });
        let start = Instant::now();
        let shown = yard.ask("POST", "/api/v1/intents", &asked).await?;
        took.push(start.elapsed().as_secs_f64() * 1_000.0);
        if shown["plan"]["beads"].as_array().is_none_or(Vec::is_empty) {
            return Err(Error::new(format!("that is no plan: {shown}")));
        }
    }
    Ok(vec![
        Row::told("a plan by rules, 10,000 files, over HTTP", median(took), "ms")
            .bar(Bar::Below(MAX_MS)),
    ])
}
