//! What a step of a large workflow costs.

use std::time::Duration;

use godel_app::queue::{Say, workers};
use godel_app::workflows::runs::{self, What};
use godel_model::PoolName;

use godel_store::DatabaseUrl;

use super::{Bench, Stage, database, note};
use crate::error::{Result, Told as _};
use crate::process::{own_cpu, own_resident};
use crate::table::{Bar, Row};

const STEPS: usize = 10_000;
const FAN: usize = 100;
const CPU_MAX_US: f64 = 200.0;

/// Writes a workflow of layers: each step of a layer depends on one of the layer before.
fn source() -> String {
    let steps: Vec<_> = (0..STEPS)
        .map(|number| {
            let before: Vec<String> =
                number.checked_sub(FAN).map(|before| format!("s{before}")).into_iter().collect();
            serde_json::json!({"id": format!("s{number}"), "dependsOn": before, "pool": "steps"})
        })
        .collect();
    serde_json::json!({"name": "large", "maxConcurrency": FAN, "steps": steps}).to_string()
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let stage = Stage::open(DatabaseUrl::Sqlite(database(&bench.folder("queue-steps")))).await?;
    // The program and the database's caches are warm before.
    super::flow::round(&stage, super::flow::TASKS).await?;
    let before = own_resident()?;
    let mut rows = large(&stage).await?;
    let grown = own_resident()?.saturating_sub(before) as f64 / 1e6;
    rows.push(Row::told("memory it grew by", grown, "MB"));
    stage.close().await;
    Ok(rows)
}

async fn large(stage: &Stage) -> Result<Vec<Row>> {
    note(&format!("a workflow of {STEPS} steps"));
    let (app, call) = (&stage.app, &stage.call);
    let pool: PoolName = "steps".parse().told("name a pool")?;
    let (name, capabilities) = ("steps".to_owned(), Default::default());
    let new = workers::NewWorker { name, pool, capabilities, capacity: 1_000 };
    let worker = workers::register(app, call, new).await.told("register a worker")?.id;
    let before = own_cpu();
    let what = What::Inline(source());
    let run = runs::start(app, call, what, serde_json::Map::new(), None).await.told("start")?;
    let mut done = 0;
    while done < STEPS {
        let ask = (FAN as u32, Duration::from_secs(5));
        let given = workers::claim(app, call, worker, ask).await.told("claim")?;
        let mut crowd = tokio::task::JoinSet::new();
        for given in given {
            let (app, call, spot) = (app.clone(), call.clone(), given.lease.spot);
            crowd.spawn(async move {
                let fence = (worker, spot.task, spot.attempt);
                workers::say(&app, &call, fence, Say::Done(None)).await
            });
        }
        while let Some(said) = crowd.join_next().await {
            said.told("end a step")?.told("end a step")?;
            done += 1;
        }
    }
    // The last ends are taken in behind those who said them.
    let mut view = runs::find(app, call, run.record.id).await.told("look at the run")?;
    while (view.counts.ended() as usize) < STEPS {
        tokio::time::sleep(Duration::from_millis(10)).await;
        view = runs::find(app, call, run.record.id).await.told("look at the run")?;
    }
    let cpu = (own_cpu() - before).as_secs_f64() * 1e6 / STEPS as f64;
    workers::leave(app, call, worker).await.told("let a worker go")?;
    Ok(vec![
        Row::told("CPU per step of a workflow, its task included", cpu, "us")
            .bar(Bar::Below(CPU_MAX_US)),
        Row::told("steps that are done", f64::from(view.counts.ended()), ""),
    ])
}
