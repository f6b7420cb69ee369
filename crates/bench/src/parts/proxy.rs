//! `proxy`: what the switchboard adds to a request, compared with a proxy that only passes it on.
//!
//! Everything is on: the token is checked, limits of requests and tokens are counted, three budgets
//! hold back what a request may cost, and each request is on disk before the provider is asked and
//! again when it has ended. The provider is the scripted one, in a process of its own, which
//! answers at once: whatever the proxy does is seen whole.

mod cost;
mod disk;
mod events;
mod growth;
mod latency;
mod ledger;
mod nginx;
mod postgres;
pub(super) mod stage;
mod streams;

use std::fmt;

use clap::ValueEnum;

use self::stage::Stage;
use super::{Bench, note};
use crate::error::Result;
use crate::table::{Row, Table};

/// One thing that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// What a request costs, and how many there can be
    Cost,
    /// What an event of a stream costs
    Events,
    /// What is added to the time of a request
    Latency,
    /// What a thousand streams at the same time cost
    Streams,
    /// Whether memory grows with the number of requests
    Growth,
    /// Whether a long ledger costs more than a short one
    Ledger,
    /// Cost and time on PostgreSQL
    Postgres,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// Measures some parts, or all; `long` takes as many requests and rows as were promised.
pub(crate) async fn measure(parts: Vec<Part>, long: bool) -> Result<Table> {
    let parts = if parts.is_empty() { Part::value_variants().to_vec() } else { parts };
    let bench = Bench::prepare()?;
    let stage = Stage::open(&bench).await?;
    let mut table = Table::default();
    for part in parts {
        note(&format!("{part}:"));
        let rows = Box::pin(part.measure(&bench, &stage, long)).await?;
        for row in &rows {
            note(&row.to_string());
        }
        table.add(part.to_string(), rows);
    }
    Ok(table)
}

impl Part {
    async fn measure(self, bench: &Bench, stage: &Stage, long: bool) -> Result<Vec<Row>> {
        match self {
            Self::Cost => Box::pin(cost::measure(stage)).await,
            Self::Events => Box::pin(events::measure(stage)).await,
            Self::Latency => {
                let mut rows = disk::measure(&bench.folder("proxy"))?;
                rows.extend(Box::pin(latency::measure(stage)).await?);
                Ok(rows)
            }
            Self::Streams => Box::pin(streams::measure(stage)).await,
            Self::Growth => Box::pin(growth::measure(stage, long)).await,
            Self::Ledger => Box::pin(ledger::measure(bench, stage, long)).await,
            Self::Postgres => Box::pin(postgres::measure(bench, stage)).await,
        }
    }
}
