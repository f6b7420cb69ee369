//! `godel backup`: a file with everything in it.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use godel_api::Download;
use godel_args::Backup;
use godel_console::locate::{self, Presence, presence};
use godel_console::measure::bytes;
use godel_console::{Context, Exit, Result};
use godel_model::{Clock as _, SystemClock};
use godel_store::DatabaseUrl;
use godel_store::backup::{self, BackupFile, Contents};
use serde_json::{Value, json};

/// Where the data comes from.
enum Origin {
    Server(Download),
    Database(DatabaseUrl),
}

/// Makes a backup, or checks one.
pub(crate) async fn run(context: &Context, asked: &Backup) -> Result<Exit> {
    let start = Instant::now();
    if asked.verify {
        let contents = backup::verify(&asked.file).await?;
        return tell(context, &asked.file, &contents, start.elapsed(), "whole, every byte of it");
    }
    if asked.file == Path::new("-") {
        let stdout = context.output.raw()?;
        match origin(context, asked).await? {
            Origin::Server(mut download) => receive(&mut download, &stdout).await?,
            Origin::Database(url) => {
                backup::write(&url, SystemClock.now(), stdout).await?;
            }
        }
        return Ok(Exit::Done);
    }
    // A name that is taken is told before the server is troubled.
    let mut file = BackupFile::create(&asked.file, asked.force)?;
    let contents = match origin(context, asked).await? {
        Origin::Server(mut download) => {
            receive(&mut download, &mut file).await?;
            blocking(move || file.finish()).await?
        }
        Origin::Database(url) => {
            let write = move || {
                backup::write_blocking(&url, SystemClock.now(), &mut file)?;
                file.finish()
            };
            blocking(write).await?
        }
    };
    tell(context, &asked.file, &contents, start.elapsed(), "written and checked")
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> godel_store::Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.unwrap_or(Err(godel_store::Error::Panicked))?)
}

/// A running server is asked; without one the database is read here.
async fn origin(context: &Context, asked: &Backup) -> Result<Origin> {
    let named = context.server.is_some();
    let runs = asked.database.database.is_none()
        && (named || matches!(presence(&context.data).await?, Presence::Running(..)));
    if runs {
        context.output.remark("asking the server");
        return Ok(Origin::Server(locate::server(context).await?.client.backup().await?));
    }
    context.output.remark("no server runs: reading the database");
    Ok(Origin::Database(context.settings(asked.database.flags())?.store()?.url))
}

async fn receive(download: &mut Download, mut sink: impl Write) -> Result<()> {
    let fail = |cause| godel_store::Error::BackupFile { done: "written", cause };
    while let Some(bytes) = download.next().await? {
        sink.write_all(&bytes).map_err(fail)?;
    }
    sink.flush().map_err(fail)?;
    Ok(())
}

/// Returns what a backup holds, for programs.
pub(super) fn described(contents: &Contents) -> Value {
    let tables: serde_json::Map<String, Value> =
        contents.tables.iter().map(|(name, rows)| (name.clone(), json!(rows))).collect();
    json!({
        "madeAt": contents.made_at,
        "godel": contents.godel,
        "engine": contents.engine,
        "schema": contents.schema,
        "bytes": contents.bytes,
        "tables": tables,
    })
}

fn tell(
    context: &Context,
    file: &Path,
    contents: &Contents,
    took: Duration,
    verdict: &str,
) -> Result<Exit> {
    let output = context.output;
    if output.is_json() {
        let mut answer = described(contents);
        answer["file"] = json!(file);
        answer["seconds"] = json!(took.as_secs_f64());
        output.value(&answer)?;
        return Ok(Exit::Done);
    }
    let made = format!("godel {} on {}", contents.godel, contents.engine);
    let mut rows = vec![
        ["backup".to_owned(), file.display().to_string()],
        ["begun".to_owned(), format!("{:.0}", contents.made_at)],
        ["by".to_owned(), format!("{made}, schema version {}", contents.schema)],
    ];
    rows.extend(counts(contents));
    let size = format!("{}, {verdict} in {:.1} s", bytes(contents.bytes), took.as_secs_f64());
    rows.push(["size".to_owned(), size]);
    output.pairs(rows)?;
    output.line(
        "\nIt holds what the database holds, hashes of keys included: keep it confidential.",
    )?;
    Ok(Exit::Done)
}

/// Returns how much of what matters most there is.
pub(super) fn counts(contents: &Contents) -> Vec<[String; 2]> {
    let named = [("tenants", "tenant"), ("projects", "project"), ("events", "event")];
    let mut rows: Vec<[String; 2]> = named
        .iter()
        .map(|(name, table)| [(*name).to_owned(), contents.rows(table).to_string()])
        .collect();
    let others =
        contents.tables.iter().filter(|(name, _)| named.iter().all(|(_, own)| own != name));
    let others: u64 = others.map(|(_, rows)| rows).sum();
    rows.push(["other rows".to_owned(), others.to_string()]);
    rows
}
