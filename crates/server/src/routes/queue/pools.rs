//! Pools: how they work, and how much waits in them.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Pool, PoolList, PoolPatch, QueueDepth, QueueDepthRow, Success};
use godel_app::queue::pools::{self, PoolChange};
use godel_model::{PoolName, PoolSettings, TaskState};
use godel_store::Depth;

use crate::error::ApiResult;
use crate::extract::{Id, JsonBody};
use crate::guard::Caller;
use crate::state::Shared;

fn pool(name: &PoolName, settings: PoolSettings) -> Pool {
    Pool {
        name: name.to_string(),
        paused: settings.paused,
        ageing_seconds: settings.ageing_seconds,
        placement: settings.placement.as_str().to_owned(),
        dead_alert: settings.dead_alert,
        alerted: settings.alerted,
    }
}

fn depth(rows: Vec<Depth>) -> QueueDepth {
    let mut all = QueueDepth::default();
    let mut by_pool = BTreeMap::new();
    for row in rows {
        let key = (row.lane.pool().to_owned(), row.priority);
        let own: &mut QueueDepthRow = by_pool.entry(key).or_default();
        let (sum, part) = match row.state {
            TaskState::Ready => (&mut all.ready, &mut own.ready),
            TaskState::Delayed => (&mut all.delayed, &mut own.delayed),
            TaskState::Blocked => (&mut all.blocked, &mut own.blocked),
            TaskState::Running => (&mut all.running, &mut own.running),
            _ => (&mut all.dead, &mut own.dead),
        };
        *sum += row.count;
        *part += row.count;
        if row.state == TaskState::Ready {
            own.oldest_ready_at = own.oldest_ready_at.into_iter().chain(row.oldest).min();
        }
    }
    let named = |((pool, priority), row): ((String, godel_model::TaskPriority), QueueDepthRow)| {
        QueueDepthRow { pool, priority: priority.to_string(), ..row }
    };
    all.rows = by_pool.into_iter().map(named).collect();
    all
}

/// Tell how deep the queue is
///
/// Counted from what is there, by pool and priority.
#[utoipa::path(get, path = "/queue/depth", tag = "queue", operation_id = "queueDepth",
    responses((status = 200, description = "What is in the queue", body = Success<QueueDepth>)))]
pub(crate) async fn queue_depth(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let rows = pools::depth(&shared.app, &caller.call).await?;
    Ok(Json(Success::new(depth(rows))))
}

/// List pools
///
/// All that ever had a task, by name.
#[utoipa::path(get, path = "/queue/pools", tag = "queue", operation_id = "listPools",
    responses((status = 200, description = "The pools", body = Success<PoolList>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = pools::list(&shared.app, &caller.call).await?;
    let items = found.iter().map(|(name, settings)| pool(name, *settings)).collect();
    Ok(Json(Success::new(PoolList { items })))
}

/// Change how a pool works
///
/// Pause it, let waiting tasks rise, choose who gets a task, or from how many dead letters on people
/// are told. What runs goes on.
#[utoipa::path(patch, path = "/queue/pools/{name}", tag = "queue", operation_id = "updatePool",
    params(("name" = String, Path, description = "The name of the pool")),
    request_body = PoolPatch,
    responses((status = 200, description = "The pool", body = Success<Pool>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(name): Id<PoolName>,
    body: JsonBody<PoolPatch>,
) -> ApiResult<impl IntoResponse> {
    let PoolPatch { paused, ageing_seconds, placement, dead_alert } = body.value;
    let change = PoolChange {
        paused,
        ageing_seconds: ageing_seconds.map(|seconds| (seconds > 0).then_some(seconds)),
        placement: placement.map(|text| text.parse()).transpose()?,
        dead_alert,
    };
    let settings = pools::change(&shared.app, &caller.call, name.clone(), change).await?;
    Ok(Json(Success::new(pool(&name, settings))))
}
