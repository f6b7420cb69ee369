//! Commands about models: who may ask them, what that costs, and how much of it is allowed.
//!
//! # Invariants
//! - Sums are exact: money is counted in millionths of a dollar, and what has no known price is not added up.
//! - A table and comma-separated values have names, JSON has ids.

mod budget;
mod calls;
mod names;
mod provider;
mod token;
mod usage;

use godel_args::models::{Models as Asked, OneCall};
use godel_console::{Context, Exit, Result};

/// Does what was asked for.
pub async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Token(asked) => token::run(context, asked).await,
        Asked::Budget(asked) => budget::run(context, asked).await,
        Asked::Usage(report) => usage::run(context, &report, usage::In::Tokens).await,
        Asked::Cost(report) => usage::run(context, &report, usage::In::Money).await,
        Asked::Calls { one: Some(OneCall::Show { id, body }), .. } => {
            calls::show(context, &id, body).await
        }
        Asked::Calls { one: None, narrow, since, until, outcome, session, limit, csv } => {
            let which = calls::Which { since, until, outcome, session, limit };
            calls::run(context, &narrow, which, csv).await
        }
        Asked::Provider(asked) => provider::run(context, &asked).await,
    }
}
