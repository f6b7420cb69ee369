//! `queue`: what a task costs from its enqueue to its end.
//!
//! 64 callers add tasks one by one, and 64 workers take and end them, over the application itself, with
//! the event log on and every commit on disk. It is compared with a bare writer that does the same
//! writes in groups and nothing else ([`bare`], [`dispatcher`]), and with one transaction for each
//! operation.

mod bare;
mod crowd;
mod dispatcher;
mod flow;
mod history;
mod load;
mod postgres;
mod seed;
mod sqlite;
mod stage;
mod steps;
mod wire;

use std::fmt;

use clap::ValueEnum;

use self::stage::Stage;
use super::{Bench, Borrowed, database, note};
use crate::error::Result;
use crate::table::{Row, Table};

/// One thing that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Rate, cost and pick-up on SQLite
    Sqlite,
    /// Rate, cost and pick-up on PostgreSQL, with one server and with two
    Postgres,
    /// How many tasks go through the HTTP API
    Http,
    /// Whether a full queue makes a claim slower
    Load,
    /// Whether finished tasks and a held snapshot make tasks dearer
    History,
    /// What a step of a large workflow costs
    Steps,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// Measures some parts, or all.
pub(crate) async fn measure(parts: Vec<Part>) -> Result<Table> {
    let parts = if parts.is_empty() { Part::value_variants().to_vec() } else { parts };
    let bench = Bench::prepare()?;
    let mut table = Table::default();
    for part in parts {
        note(&format!("{part}:"));
        let rows = Box::pin(part.measure(&bench)).await?;
        for row in &rows {
            note(&row.to_string());
        }
        table.add(part.to_string(), rows);
    }
    Ok(table)
}

impl Part {
    async fn measure(self, bench: &Bench) -> Result<Vec<Row>> {
        match self {
            Self::Sqlite => Box::pin(sqlite::measure(bench)).await,
            Self::Postgres => Box::pin(postgres::measure()).await,
            Self::Http => Box::pin(wire::measure(bench)).await,
            Self::Load => Box::pin(load::measure(bench)).await,
            Self::History => Box::pin(history::measure(bench)).await,
            Self::Steps => Box::pin(steps::measure(bench)).await,
        }
    }
}
