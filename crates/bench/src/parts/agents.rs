//! `agents`: what it costs to give an agent its place of work.

mod crowd;
mod first;
pub(super) mod repository;
mod spawn;
pub(super) mod yard;

use std::fmt;

use clap::ValueEnum;

use crate::error::Result;
use crate::table::{Row, Table};

/// One thing that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// How long it takes until an agent has its sandbox, step by step
    Spawn,
    /// How long it takes from asking for an agent to its first request to a model
    First,
    /// What 200 agents at once cost
    Crowd,
}

impl Part {
    async fn measure(self) -> Result<Vec<Row>> {
        match self {
            Self::Spawn => spawn::measure().await,
            Self::First => Box::pin(first::measure()).await,
            Self::Crowd => Box::pin(crowd::measure()).await,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// Measures these parts, or all.
pub(crate) async fn measure(parts: Vec<Part>) -> Result<Table> {
    let parts = if parts.is_empty() { Part::value_variants().to_vec() } else { parts };
    let mut table = Table::default();
    for part in parts {
        super::note(&format!("{part}:"));
        let rows = Box::pin(part.measure()).await?;
        for row in &rows {
            super::note(&format!("  {row}"));
        }
        table.add(part.to_string(), rows);
    }
    Ok(table)
}
