//! Metrics of the server; names end in their unit, labels are bounded.

use std::time::Duration;

use godel_app::backup::Numbers;
use godel_app::queue::tally;
use godel_model::{Code, TenantId};
use http::{Method, StatusCode};
use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

const REQUESTS: &str = "godel_api_requests_total";
const DURATION: &str = "godel_api_request_duration_seconds";
const ERRORS: &str = "godel_api_errors_total";
const TENANT_REQUESTS: &str = "godel_tenant_requests_total";
const EVENTS_SENT: &str = "godel_events_processed_total";
const SOCKETS: &str = "godel_websocket_connections";
const MEMORY: &str = "godel_memory_usage_bytes";
const CPU: &str = "godel_cpu_usage_percent";
const BACKUPS: &str = "godel_backups_total";
const BACKUP_TIME: &str = "godel_backup_newest_timestamp_seconds";
const BACKUP_SIZE: &str = "godel_backup_newest_bytes";
const BACKUP_TOOK: &str = "godel_backup_newest_duration_seconds";
const WORK_BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0,
    1800.0, 3600.0,
];
const BUCKETS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Makes the registry of this process; a second call returns the first one.
pub(crate) fn install() -> Result<PrometheusHandle, BuildError> {
    static HANDLE: std::sync::OnceLock<PrometheusHandle> = std::sync::OnceLock::new();
    if let Some(handle) = HANDLE.get() {
        return Ok(handle.clone());
    }
    let mut builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full(DURATION.to_owned()), BUCKETS)?
        .set_buckets_for_metric(Matcher::Full(tally::PICKUP.to_owned()), WORK_BUCKETS)?
        .set_buckets_for_metric(Matcher::Full(tally::DURATION.to_owned()), WORK_BUCKETS)?;
    for time in godel_proxy::metrics::TIMES {
        let steps = godel_proxy::metrics::STEPS;
        builder = builder.set_buckets_for_metric(Matcher::Full(time.to_owned()), steps)?;
    }
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    // In tests several servers share one process, and the first one's registry.
    if metrics::set_global_recorder(recorder).is_ok() {
        describe();
        tally::describe();
        drop(HANDLE.set(handle.clone()));
    }
    Ok(HANDLE.get().cloned().unwrap_or(handle))
}

fn describe() {
    describe_counter!(REQUESTS, "requests by method, route and status");
    describe_histogram!(DURATION, Unit::Seconds, "time to answer, by route");
    describe_counter!(ERRORS, "failed requests by error code");
    describe_counter!(TENANT_REQUESTS, "requests of known callers by tenant");
    describe_counter!(EVENTS_SENT, "events sent to subscribers, by tenant");
    describe_gauge!(SOCKETS, "open WebSockets");
    describe_gauge!(MEMORY, Unit::Bytes, "memory of the process that is in RAM");
    describe_counter!(BACKUPS, "backups by schedule, by outcome");
    describe_gauge!(BACKUP_TIME, Unit::Seconds, "when the newest backup was begun");
    describe_gauge!(BACKUP_SIZE, Unit::Bytes, "size of the newest backup");
    describe_gauge!(BACKUP_TOOK, Unit::Seconds, "how long the newest backup took");
    describe_gauge!(CPU, "processor use since the last look, 100 is one core");
}

pub(crate) fn request(method: &Method, route: &str, status: StatusCode, took: Duration) {
    let method = match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        _ => "OTHER",
    };
    let route = route.to_owned();
    counter!(REQUESTS, "method" => method, "route" => route.clone(), "status" => status.as_u16().to_string())
        .increment(1);
    histogram!(DURATION, "route" => route).record(took);
}

pub(crate) fn failure(code: Code) {
    counter!(ERRORS, "code" => code.name()).increment(1);
}

/// Counts a request of a known caller.
pub(crate) fn tenant_request(tenant: TenantId) {
    counter!(TENANT_REQUESTS, "tenant" => tenant.to_string()).increment(1);
}

pub(crate) fn events_sent(tenant: TenantId, count: u64) {
    counter!(EVENTS_SENT, "tenant" => tenant.to_string()).increment(count);
}

/// Fills in what is read at the moment of a look.
pub(crate) fn sample(memory_bytes: u64, cpu_percent: f64, sockets: u64) {
    gauge!(MEMORY).set(memory_bytes as f64);
    gauge!(CPU).set(cpu_percent);
    gauge!(SOCKETS).set(sockets as f64);
}

/// Fills in how backups by schedule are doing.
pub(crate) fn backups(numbers: &Numbers) {
    counter!(BACKUPS, "outcome" => "made").absolute(numbers.made);
    counter!(BACKUPS, "outcome" => "failed").absolute(numbers.failed);
    if let Some(newest) = numbers.newest {
        gauge!(BACKUP_TIME).set(newest.as_second() as f64);
    }
    gauge!(BACKUP_SIZE).set(numbers.bytes as f64);
    gauge!(BACKUP_TOOK).set(numbers.seconds);
}
