//! Numbers about the server.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Success, SystemMetrics};
use godel_app::{events, health};
use http::header;

use crate::error::ApiResult;
use crate::guard::Caller;
use crate::state::Shared;
use crate::{gauges, metrics};

/// Get numbers about the server
#[utoipa::path(get, path = "/metrics/system", tag = "metrics", operation_id = "systemMetrics",
    responses((status = 200, description = "Memory, processor time, sockets, the log", body = Success<SystemMetrics>)))]
pub(crate) async fn system(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    health::may_see_server(&caller.call)?;
    let (head, trimmed) = events::bounds(&shared.app, &caller.call).await?;
    let uptime = shared.app.clock.now().duration_since(shared.started_at);
    Ok(Json(Success::new(SystemMetrics {
        memory_bytes: resident_bytes(),
        cpu_seconds: cpu_seconds(),
        uptime_seconds: uptime.as_secs_f64(),
        open_files: open_files(),
        web_sockets: shared.app.rates.open_sockets(),
        event_head: head.0,
        event_trimmed: trimmed.0,
    })))
}

/// Get all metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "metrics", operation_id = "prometheus",
    responses((status = 200, description = "The text format of Prometheus", body = String, content_type = "text/plain")))]
pub(crate) async fn prometheus(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    health::may_see_server(&caller.call)?;
    let memory = resident_bytes().unwrap_or_default();
    metrics::sample(memory, cpu_percent(), shared.app.rates.open_sockets());
    if let Some(numbers) = shared.app.backups.numbers() {
        metrics::backups(&numbers);
    }
    shared.prometheus.run_upkeep();
    let mut text = shared.prometheus.render();
    if let Some(counts) = shared.counter.counts(&shared.app, &shared.crew).await {
        text.push_str(&gauges::render(&counts));
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}

/// Reads how much of the process is in RAM, where the system tells.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Reads how much processor time the process has used.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the processor use since the last call, 100 being one core.
fn cpu_percent() -> f64 {
    static LAST: Mutex<Option<(Instant, f64)>> = Mutex::new(None);
    let now = (Instant::now(), cpu_seconds());
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).replace(now);
    last.map_or(0.0, |(at, used)| 100.0 * (now.1 - used) / (now.0 - at).as_secs_f64().max(1e-3))
}

fn open_files() -> Option<u64> {
    std::fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64)
}
