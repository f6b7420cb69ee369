//! Health and capabilities.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    Capabilities, Check, DetailedHealth, EVENTS_PROTOCOL, Health, HealthStatus, Live, Protection,
    Ready,
};
use godel_app::health::{self, Findings};
use godel_decide as decide;
use http::StatusCode;

use crate::error::ApiResult;
use crate::guard::Caller;
use crate::state::Shared;

fn status(health: decide::Health) -> HealthStatus {
    match health {
        decide::Health::Healthy => HealthStatus::Healthy,
        decide::Health::Degraded => HealthStatus::Degraded,
        decide::Health::Unhealthy => HealthStatus::Unhealthy,
    }
}

fn code(health: decide::Health) -> StatusCode {
    match health {
        decide::Health::Healthy | decide::Health::Degraded => StatusCode::OK,
        decide::Health::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn describe(shared: &Shared, findings: Findings) -> Health {
    let check = |probe: health::Probe| {
        let check = Check {
            status: status(probe.verdict.health),
            latency_ms: probe.latency.as_secs_f64() * 1_000.0,
            message: probe.message,
            free_bytes: probe.free_bytes,
        };
        (probe.name.to_owned(), check)
    };
    Health {
        status: status(findings.health),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checks: findings.probes.into_iter().map(check).collect::<BTreeMap<_, _>>(),
        timestamp: shared.app.clock.now(),
    }
}

/// Health of the server and of all it needs
///
/// Every part is probed now, with its latency. 503 if the server cannot do its work.
#[utoipa::path(get, path = "/health", tag = "health", operation_id = "health", security(()),
    responses((status = 200, description = "Healthy or degraded", body = Health),
        (status = 503, description = "Unhealthy", body = Health)))]
pub(crate) async fn health(State(shared): State<Shared>) -> impl IntoResponse {
    let findings = health::probe(&shared.app, &shared.data_dir).await;
    (code(findings.health), Json(describe(&shared, findings)))
}

/// Liveness: the process runs
#[utoipa::path(get, path = "/health/live", tag = "health", operation_id = "live", security(()),
    responses((status = 200, description = "It runs", body = Live)))]
pub(crate) async fn live() -> impl IntoResponse {
    Json(Live { status: "alive".to_owned() })
}

/// Readiness: the server can take requests
#[utoipa::path(get, path = "/health/ready", tag = "health", operation_id = "ready", security(()),
    responses((status = 200, description = "Ready", body = Ready),
        (status = 503, description = "Not ready", body = Ready)))]
pub(crate) async fn ready(State(shared): State<Shared>) -> impl IntoResponse {
    let not_ready = |reason: String| {
        let body = Ready { status: "not_ready".to_owned(), reason: Some(reason) };
        (StatusCode::SERVICE_UNAVAILABLE, Json(body))
    };
    if shared.crew.stopping().is_cancelled() {
        return not_ready("the server is stopping".to_owned());
    }
    let probe = health::database(&shared.app).await;
    if probe.verdict.health == decide::Health::Unhealthy {
        return not_ready(probe.message.unwrap_or_default());
    }
    (StatusCode::OK, Json(Ready { status: "ready".to_owned(), reason: None }))
}

/// Health with what only a known caller may see
#[utoipa::path(get, path = "/health/detailed", tag = "health", operation_id = "detailedHealth",
    responses((status = 200, description = "Healthy or degraded", body = DetailedHealth),
        (status = 503, description = "Unhealthy", body = DetailedHealth)))]
pub(crate) async fn detailed(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    health::may_see_server(&caller.call)?;
    let findings = health::probe(&shared.app, &shared.data_dir).await;
    let code = code(findings.health);
    let store = &shared.app.store;
    let known = godel_store::known_migrations().last().map_or(0, |migration| migration.version);
    let detailed = DetailedHealth {
        health: describe(&shared, findings),
        database: store.url().shown(),
        durable: store.is_durable(),
        schema_version: known,
        pid: std::process::id(),
        started_at: shared.started_at,
        web_sockets: shared.app.rates.open_sockets(),
        protection: protection(&shared),
    };
    Ok((code, Json(detailed)))
}

fn protection(shared: &Shared) -> Protection {
    let facts = shared.entrance.certificate.as_ref().map(|current| current.facts());
    Protection {
        tls: facts.is_some(),
        insecure: shared.entrance.insecure,
        fingerprint: facts.map(|facts| facts.fingerprint.to_string()),
        expires_at: facts.and_then(|facts| facts.until),
    }
}

/// What this server can do
#[utoipa::path(get, path = "/capabilities", tag = "health", operation_id = "capabilities", security(()),
    responses((status = 200, description = "Versions and features", body = Capabilities)))]
pub(crate) async fn capabilities() -> impl IntoResponse {
    let mut features = vec!["events", "projects", "sse", "websocket", "idempotency", "metrics"];
    features.extend(crate::web::has_dashboard().then_some("dashboard"));
    Json(Capabilities {
        product: "godel".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        api_versions: vec!["v1".to_owned()],
        event_protocols: vec![EVENTS_PROTOCOL.to_owned()],
        features: features.into_iter().map(ToOwned::to_owned).collect(),
    })
}
