//! `queue`: what a task costs from its enqueue to its end.
//!
//! 64 callers add tasks one by one, and 64 workers take and end them, over the application itself, with
//! the event log on and every commit on disk. It is compared with a bare writer that does the same
//! writes in groups and nothing else ([`bare`]), and with one transaction for each operation.

mod bare;
mod flow;
mod load;
mod steps;

use std::sync::Arc;

use godel_app::auth::{self, Credential};
use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, Call, Crew, Origin, keys, tenants};
use godel_model::{Mint, SystemClock};
use godel_store::{Config, DatabaseUrl, Store};

use super::{Bench, Borrowed, database, note};
use crate::error::{Result, Told as _};
use crate::stats::median;
use crate::table::{Bar, Row};

const ROUNDS: usize = 5;
/// At least so much of what the bare writer does.
const BARE_MIN: f64 = 0.5;
const ALONE_MIN: f64 = 10.0;
const CPU_MAX_US: f64 = 60.0;
const CPU_POSTGRES_MAX_US: f64 = 150.0;
const RATE_AIM: f64 = 15_000.0;
const RATE_POSTGRES_AIM: f64 = 6_000.0;

/// The application on a store of its own, with what keeps the queue going.
pub(super) struct Stage {
    pub(super) app: App,
    pub(super) call: Call,
    crew: Crew,
}

impl Stage {
    pub(super) async fn open(url: DatabaseUrl) -> Result<Self> {
        let tried = "set the application up";
        let store = Store::open(&Config::new(url)).await.told(tried)?;
        let (master, clock) = (MasterKey::random(Mint::system()), Arc::new(SystemClock));
        let app = App::open(store, None, clock, AppConfig::default(), &master).await.told(tried)?;
        let tenant = tenants::ensure_first(&app).await.told(tried)?.id;
        let owner = tenants::owner_of(tenant);
        let key = keys::create_owners(&app, tenant, owner, keys::Older::Stay).await.told(tried)?;
        let known = auth::identify(&app, &Credential::Key(key)).await.told(tried)?;
        let origin = Origin { address: None, agent: None };
        let call = Call { actor: known.actor, trace_id: None, once: None, origin };
        let crew = Crew::default();
        godel_app::queue::start(&app, &crew).await.told(tried)?;
        godel_app::workflows::start(&app, &crew);
        Ok(Self { app, call, crew })
    }

    pub(super) async fn close(self) {
        self.crew.stop(std::time::Duration::from_secs(5)).await;
        self.app.store.close().await;
    }
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let stage = Stage::open(DatabaseUrl::Sqlite(database(&bench.folder("queue")))).await?;
    let mut bare = bare::Bare::open(&bench.folder("queue-bare.db"))?;
    flow::round(&stage, 2_000).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let own = flow::round(&stage, flow::TASKS).await?;
        let grouped = bare.grouped().await?;
        let alone = tokio::task::block_in_place(|| bare.alone())?;
        rounds.push((own, grouped, alone));
    }
    let own = median(rounds.iter().map(|(own, ..)| own.rate()));
    let mut rows = vec![
        Row::told("tasks, 64 callers and 64 workers", own, "/s").bar(Bar::AtLeast(RATE_AIM)),
        Row::told("bare writer", median(rounds.iter().map(|(_, bare, _)| bare.rate())), "/s"),
        Row::told(
            "rate, ratio to the bare writer",
            median(rounds.iter().map(|(own, bare, _)| own.rate() / bare.rate())),
            "x",
        )
        .bar(Bar::AtLeast(BARE_MIN)),
        Row::told(
            "rate, ratio to one transaction per operation",
            median(rounds.iter().map(|(own, _, alone)| own.rate() / alone.rate())),
            "x",
        )
        .bar(Bar::AtLeast(ALONE_MIN)),
        Row::told("CPU per task", median(rounds.iter().map(|(own, ..)| own.cpu_us())), "us")
            .bar(Bar::AtMost(CPU_MAX_US)),
        Row::told(
            "CPU per task, bare writer",
            median(rounds.iter().map(|(_, bare, _)| bare.cpu_us())),
            "us",
        ),
    ];
    rows.extend(flow::pick_up(&stage, (1.0, 5.0), "").await?);
    rows.extend(load::measure(&stage).await?);
    rows.extend(steps::measure(&stage).await?);
    stage.close().await;
    rows.extend(on_postgres().await?);
    Ok(rows)
}

async fn on_postgres() -> Result<Vec<Row>> {
    let Some(borrowed) = Borrowed::find()? else { return Ok(Vec::new()) };
    note("on PostgreSQL");
    let stage = Stage::open(borrowed.database.url()).await?;
    flow::round(&stage, 1_000).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(flow::round(&stage, flow::TASKS).await?);
    }
    let rate = median(rounds.iter().map(flow::Cost::rate));
    let cpu = median(rounds.iter().map(flow::Cost::cpu_us));
    let mut rows = vec![
        Row::told("tasks, PostgreSQL", rate, "/s").bar(Bar::AtLeast(RATE_POSTGRES_AIM)),
        Row::told("CPU per task, PostgreSQL, this process", cpu, "us")
            .bar(Bar::AtMost(CPU_POSTGRES_MAX_US)),
    ];
    rows.extend(flow::pick_up(&stage, (3.0, 20.0), ", PostgreSQL").await?);
    stage.close().await;
    Ok(rows)
}
