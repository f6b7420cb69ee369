//! `godel queue`: how much waits, and how each pool works.

use godel_api::{Client, Pool, PoolList, PoolPatch, QueueDepth, QueueDepthRow};
use godel_args::queue::{Queue as Asked, Queueing};
use godel_console::lookup::{NOTHING, segment};
use godel_console::measure::{number, since, span};
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, PoolName, SystemClock};
use reqwest::Method;

use super::{dead, schedule, task, worker};

const POOLS: &str = "/api/v1/queue/pools";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Queueing) -> Result<Exit> {
    match asked {
        Queueing::Task(asked) => Box::pin(task::run(context, asked)).await,
        Queueing::Queue(asked) => pools(context, asked).await,
        Queueing::Dead(asked) => dead::run(context, asked).await,
        Queueing::Schedule(asked) => Box::pin(schedule::run(context, asked)).await,
        Queueing::Worker(asked) => Box::pin(worker::run(context, asked)).await,
    }
}

async fn pools(context: &Context, asked: Asked) -> Result<Exit> {
    let paused = |paused| PoolPatch { paused: Some(paused), ..PoolPatch::default() };
    match asked {
        Asked::Depth => depth(context).await,
        Asked::List => list(context).await,
        Asked::Pause { pool } => change(context, &pool, paused(true)).await,
        Asked::Resume { pool } => change(context, &pool, paused(false)).await,
        Asked::Set { pool, ageing, no_ageing, placement, alert, no_alert } => {
            let dead_alert = alert.or(no_alert.then_some(0));
            if ageing.is_none() && !no_ageing && placement.is_none() && dead_alert.is_none() {
                return Err(Error::usage(
                    "nothing was said that is to be different",
                    "give --ageing SECONDS, --no-ageing, --placement HOW, --alert COUNT or --no-alert",
                ));
            }
            let ageing = ageing.map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX));
            let ageing_seconds = ageing.or(no_ageing.then_some(0));
            let patch = PoolPatch { paused: None, ageing_seconds, placement, dead_alert };
            change(context, &pool, patch).await
        }
    }
}

async fn depth(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let depth: QueueDepth = found.client.call(Method::GET, "/api/v1/queue/depth", NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&depth)?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.now();
    let row = |row: &QueueDepthRow| {
        let oldest = row.oldest_ready_at.map_or("-".to_owned(), |at| since(at, now));
        let counts = [row.ready, row.delayed, row.blocked, row.running, row.dead].map(number);
        [vec![row.pool.clone(), row.priority.clone()], counts.to_vec(), vec![oldest]].concat()
    };
    let mut rows: Vec<Vec<String>> = depth.rows.iter().map(row).collect();
    if rows.len() != 1 {
        let counts = [depth.ready, depth.delayed, depth.blocked, depth.running, depth.dead];
        let total = vec!["total".to_owned(), String::new()];
        rows.push([total, counts.map(number).to_vec(), vec![String::new()]].concat());
    }
    let header = ["POOL", "PRIORITY", "READY", "DELAYED", "BLOCKED", "RUNNING", "DEAD", "OLDEST"];
    context.output.numbers(header.map(ToOwned::to_owned).to_vec(), rows, 2..8)?;
    Ok(Exit::Done)
}

/// Returns all pools.
pub(super) async fn all_pools(client: &Client) -> Result<Vec<Pool>> {
    Ok(client.call::<PoolList>(Method::GET, POOLS, NOTHING).await?.items)
}

/// Says after how long a task rises.
fn ageing(pool: &Pool) -> String {
    pool.ageing_seconds.map_or("never".to_owned(), |seconds| span(f64::from(seconds)))
}

/// Says from how many dead letters on people are told, and whether they were.
fn alert(pool: &Pool) -> String {
    match (pool.dead_alert, pool.alerted) {
        (0, _) => "never".to_owned(),
        (count, false) => format!("{count} dead"),
        (count, true) => format!("{count} dead (now)"),
    }
}

const fn state(pool: &Pool) -> &'static str {
    if pool.paused { "paused" } else { "open" }
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items = all_pools(&found.client).await?;
    if context.output.is_json() {
        context.output.value(&PoolList { items })?;
        return Ok(Exit::Done);
    }
    if items.is_empty() {
        context.output.remark("there are no pools: the first task of one makes it");
    }
    let rows = items.into_iter().map(|pool| {
        let (state, ageing, alert) = (state(&pool).to_owned(), ageing(&pool), alert(&pool));
        [pool.name, state, ageing, pool.placement, alert]
    });
    let header = ["NAME", "STATE", "RISES AFTER", "PLACEMENT", "ALERT AT"];
    context.output.table(header, rows.collect())?;
    Ok(Exit::Done)
}

async fn change(context: &Context, name: &str, patch: PoolPatch) -> Result<Exit> {
    name.parse::<PoolName>()?;
    let found = locate::server(context).await?;
    let known = all_pools(&found.client).await?.iter().any(|pool| pool.name == name);
    let path = format!("{POOLS}/{}", segment(name));
    let pool: Pool = found.client.call(Method::PATCH, &path, Some(&patch)).await?;
    if !known {
        // A slip of the finger must not look like a pool that works as told.
        context.output.note(format_args!("note: pool {name} had no task so far"));
    }
    if context.output.is_json() {
        context.output.value(&pool)?;
        return Ok(Exit::Done);
    }
    context.output.line(match (patch.paused, pool.paused) {
        (Some(_), true) => format!("pool {name} is paused: nothing of it is handed out"),
        (Some(_), false) => format!("pool {name} is open"),
        (None, _) => format!(
            "pool {name} is {}, placement {}, tasks rise: {}, alert: {}",
            state(&pool),
            pool.placement,
            pool.ageing_seconds.map_or("never".to_owned(), |_| format!("after {}", ageing(&pool))),
            if pool.dead_alert == 0 { "never".to_owned() } else { format!("at {}", alert(&pool)) }
        ),
    })?;
    Ok(Exit::Done)
}
