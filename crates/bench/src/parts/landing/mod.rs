//! `landing`: what it costs to plan work, to look at it, and to land it.

mod plan;
mod queue;
mod review;

use super::agents::repository::git;
use super::agents::yard::Yard;
use crate::error::Result;
use crate::table::{Row, Table};

const FILES: usize = 10_000;

/// Measures it.
pub(crate) async fn measure() -> Result<Table> {
    let yard = Yard::open(FILES).await?;
    yard.keep_ready(0)?;
    let repo = yard.repo();
    git(&repo, &["add", "godel.toml"])?;
    git(&repo, &["commit", "-qm", "how work lands"])?;
    let mut table = Table::default();
    let mut add = |name: &str, rows: Vec<Row>| {
        super::note(&format!("{name}:"));
        for row in &rows {
            super::note(&format!("  {row}"));
        }
        table.add(name.to_owned(), rows);
    };
    add("plan", plan::measure(&yard).await?);
    add("review", review::measure(&yard).await?);
    add("queue", queue::measure(&yard).await?);
    Ok(table)
}
