//! `godel restore`: a backup becomes a database again.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_app::backup::{self, Restored};
use godel_args::DatabaseFlag;
use godel_console::{Context, Exit, Result};
use godel_model::SystemClock;
use godel_store::DatabaseUrl;
use serde_json::json;

use super::backup::{counts, described};

/// Restores a backup, checks what came of it, and tells what it was.
pub(crate) async fn run(
    context: &Context,
    file: &Path,
    force: bool,
    database: &DatabaseFlag,
) -> Result<Exit> {
    let config = context.settings(database.flags())?.store()?;
    let start = Instant::now();
    context.output.remark(format_args!("restoring into {}", config.url.shown()));
    let restored = backup::restore(&config, file, Arc::new(SystemClock), force).await?;
    tell(context, &config.url, &restored, start.elapsed())
}

fn tell(context: &Context, url: &DatabaseUrl, restored: &Restored, took: Duration) -> Result<Exit> {
    let output = context.output;
    if output.is_json() {
        let tenants = restored.tenants.iter();
        let tenants: Vec<_> =
            tenants.map(|(name, events)| json!({ "name": name, "events": events })).collect();
        output.value(&json!({
            "database": url.shown(),
            "backup": described(&restored.contents),
            "tenants": tenants,
            "newestEvent": restored.newest_event,
            "movedAside": restored.aside,
            "seconds": took.as_secs_f64(),
        }))?;
        return Ok(Exit::Done);
    }
    let contents = &restored.contents;
    let mut rows = vec![
        ["database".to_owned(), url.shown()],
        ["backup of".to_owned(), format!("{:.0}", contents.made_at)],
    ];
    rows.extend(counts(contents));
    let newest = restored.newest_event.map_or("none".to_owned(), |at| format!("{at:.0}"));
    rows.push(["newest event".to_owned(), newest]);
    rows.push(["took".to_owned(), format!("{:.1} s", took.as_secs_f64())]);
    if let Some(aside) = &restored.aside {
        rows.push(["moved aside".to_owned(), aside.display().to_string()]);
    }
    output.pairs(rows)?;
    let logs = restored.tenants.len();
    let logs = if logs == 1 { "the event log adds" } else { "all event logs add" };
    output.line(format_args!("\nRestored: {logs} up to the tables. Start it with `godel up`."))?;
    output.line(format_args!(
        "Secrets, if there are any in this backup, can only be read with the master key\n\
         ({}), which is not part of it.",
        context.data.join("master.key").display()
    ))?;
    Ok(Exit::Done)
}
