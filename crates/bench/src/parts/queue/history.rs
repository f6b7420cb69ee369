//! Whether finished tasks, and somebody who holds on to an old state, make tasks dearer.

use godel_store::DatabaseUrl;

use super::seed::{self, Place};
use super::{Bench, Borrowed, Stage, database, flow, note};
use crate::error::{Result, Told as _};
use crate::stats::median;
use crate::table::{Bar, Row};

const FINISHED: usize = 1_000_000;
const ROUNDS: usize = 5;
const SLOWER_MIN: f64 = 0.5;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let folders = [bench.folder("queue-clean"), bench.folder("queue-old")];
    let [clean, old] = folders.map(|folder| DatabaseUrl::Sqlite(database(&folder)));
    let mut rows = compare(clean, old, "").await?;
    if let (Some(clean), Some(old)) = (Borrowed::find()?, Borrowed::find()?) {
        let (clean, old) = (clean.database.url(), old.database.url());
        rows.extend(compare(clean, old, ", PostgreSQL").await?);
    }
    Ok(rows)
}

async fn compare(clean: DatabaseUrl, old: DatabaseUrl, where_: &str) -> Result<Vec<Row>> {
    let stage = Stage::open(old.clone()).await?;
    let tenant = stage.call.actor.tenant;
    stage.close().await;
    note(&format!("{FINISHED} finished tasks and a held snapshot{where_}"));
    tokio::task::block_in_place(|| seed::fill(&old, tenant, Place::Finished, FINISHED))?;
    let held = tokio::task::block_in_place(|| Held::open(&old))?;
    let (clean, old) = (Stage::open(clean).await?, Stage::open(old).await?);
    flow::round(&clean, 2_000).await?;
    flow::round(&old, 2_000).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let base = flow::round(&clean, flow::TASKS).await?;
        rounds.push((base, flow::round(&old, flow::TASKS).await?));
    }
    clean.close().await;
    old.close().await;
    tokio::task::block_in_place(|| drop(held));
    let row = |what: &str, value, unit| Row::told(format!("{what}{where_}"), value, unit);
    Ok(vec![
        row("tasks, clean", median(rounds.iter().map(|(clean, _)| clean.rate())), "/s"),
        row("tasks, with history", median(rounds.iter().map(|(_, old)| old.rate())), "/s"),
        row(
            "rate, ratio of history and a held snapshot to clean",
            median(rounds.iter().map(|(clean, old)| old.rate() / clean.rate())),
            "x",
        )
        .bar(Bar::AtLeast(SLOWER_MIN)),
        row(
            "CPU, ratio of history and a held snapshot to clean",
            median(rounds.iter().map(|(clean, old)| old.cpu_us() / clean.cpu_us())),
            "x",
        ),
    ])
}

/// A reader that does not let go.
enum Held {
    Sqlite(#[expect(dead_code, reason = "holds a state of the database")] rusqlite::Connection),
    Postgres(Option<::postgres::Client>),
}

impl Held {
    fn open(url: &DatabaseUrl) -> Result<Self> {
        let tried = "hold a snapshot";
        match url {
            DatabaseUrl::Sqlite(path) => {
                let conn = rusqlite::Connection::open(path).told(tried)?;
                conn.execute_batch("BEGIN").told(tried)?;
                conn.query_row("SELECT COUNT(*) FROM ready", [], |_| Ok(())).told(tried)?;
                Ok(Self::Sqlite(conn))
            }
            DatabaseUrl::Postgres(address) => {
                let address = address.clone();
                let work = move || -> Result<::postgres::Client> {
                    let mut client =
                        ::postgres::Client::connect(&address, ::postgres::NoTls).told(tried)?;
                    let begin = "SET idle_in_transaction_session_timeout = 0;
                        BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT COUNT(*) FROM ready";
                    client.batch_execute(begin).told(tried)?;
                    Ok(client)
                };
                let opened = std::thread::spawn(work).join();
                let client = opened.map_err(|_| crate::error::Error::new("holding panicked"))??;
                Ok(Self::Postgres(Some(client)))
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Self::Postgres(client) = self {
            let client = client.take();
            // A client of its own runtime must not be dropped inside another one.
            drop(std::thread::spawn(move || drop(client)).join());
        }
    }
}
