//! Providers, how they are doing, and the quotas of subscriptions by which they are asked.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    HedgedModel, ProviderState, ProviderStates, ProviderTest, ProviderTests, QuotaState,
    QuotaStates, RoutedModel, Routing, Success,
};
use godel_app::spend::check;
use godel_books::reports;
use godel_model::Quota;
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::ApiResult;
use crate::extract::JsonBody;
use crate::guard::Caller;
use crate::state::Shared;

fn told(quota: Quota, now: Timestamp) -> QuotaState {
    let window = quota.window;
    // A window that has begun anew is as full as it was only by chance.
    let over = window.resets_at.is_some_and(|resets| resets <= now);
    QuotaState {
        user_id: quota.user.uuid(),
        provider: quota.provider,
        window: window.name,
        window_minutes: window.minutes,
        used_percent: (!over).then_some(window.used_ppm as f64 / 1e4),
        resets_at: window.resets_at,
        state: window.state.filter(|_| !over),
        seen_at: quota.seen_at,
    }
}

async fn all(shared: &Shared, caller: &Caller) -> ApiResult<Vec<QuotaState>> {
    let found = reports::quotas(&shared.app, &caller.call).await?;
    let now = shared.app.clock.now();
    Ok(found.into_iter().map(|quota| told(quota, now)).collect())
}

/// List quotas
///
/// The windows of the subscriptions by which clients asked with a login of their own, as the provider
/// told them last. What is asked for in this way has no price, so no cost is told.
#[utoipa::path(get, path = "/proxy/v1/quotas", tag = "models", operation_id = "listQuotas",
    responses((status = 200, description = "The quotas", body = Success<QuotaStates>)))]
pub(crate) async fn quotas(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    Ok(Json(Success::new(QuotaStates { items: all(&shared, &caller).await? })))
}

/// Which provider is tried.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TestProviders {
    /// Only this one; without it, all of which there is a key.
    provider: Option<String>,
}

/// Try providers
///
/// Asks them for their models with each key of the tenant, which costs nothing, and tells what is
/// wrong and what to do about it. For admins.
#[utoipa::path(post, path = "/proxy/v1/providers/test", tag = "models", operation_id = "testProviders",
    request_body = TestProviders,
    responses((status = 200, description = "How they did", body = Success<ProviderTests>)))]
pub(crate) async fn test(
    State(shared): State<Shared>,
    caller: Caller,
    JsonBody { value: wanted, .. }: JsonBody<TestProviders>,
) -> ApiResult<impl IntoResponse> {
    let probes = check::test(&shared.app, &caller.call, wanted.provider).await?;
    let items = probes.into_iter().map(|probe| {
        let (problem, remedy) = probe.trouble.unzip();
        ProviderTest {
            provider: probe.provider,
            works: problem.is_none(),
            key: probe.key,
            asked: probe.asked,
            status: probe.status,
            models: probe.models,
            took_ms: probe.took.map(|took| took.as_secs_f64() * 1e3),
            problem,
            remedy,
        }
    });
    Ok(Json(Success::new(ProviderTests { items: items.collect() })))
}

/// List providers
///
/// In the order in which they are asked, with how they are doing.
#[utoipa::path(get, path = "/proxy/v1/providers", tag = "models", operation_id = "listProviders",
    responses((status = 200, description = "The providers", body = Success<ProviderStates>)))]
pub(crate) async fn providers(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = reports::providers(&shared.app, &caller.call).await?;
    let quotas = all(&shared, &caller).await?;
    let items = found.into_iter().map(|(provider, health)| {
        let own = quotas.iter().filter(|quota| quota.provider == provider).cloned().collect();
        match health {
            Some(health) => ProviderState {
                provider,
                state: health.state.to_owned(),
                first_byte_ms: health.first_byte_ms,
                worked: health.worked,
                failed: health.failed,
                last_error: health.last_error,
                quotas: own,
            },
            None => ProviderState {
                provider,
                state: "unused".to_owned(),
                first_byte_ms: None,
                worked: 0,
                failed: 0,
                last_error: None,
                quotas: own,
            },
        }
    });
    Ok(Json(Success::new(ProviderStates { items: items.collect() })))
}

/// Show the routing
///
/// How requests to models find their way, as the server does it right now. It is said in the proxy's file.
#[utoipa::path(get, path = "/proxy/v1/routing", tag = "models", operation_id = "getRouting",
    responses((status = 200, description = "The routing", body = Success<Routing>)))]
pub(crate) async fn routing(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = godel_board::routing::show(&shared.app, &caller.call).await?;
    let routed = |all: Vec<(String, Vec<String>)>| {
        all.into_iter().map(|(name, models)| RoutedModel { name, models }).collect()
    };
    let hedges = found.hedges.into_iter().map(|(model, after)| HedgedModel {
        model,
        after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
    });
    Ok(Json(Success::new(Routing {
        order: found.order,
        prefer: found.prefer.to_owned(),
        attempts: found.attempts,
        first_byte_seconds: found.first_byte.as_secs(),
        idle_seconds: found.idle.as_secs(),
        aliases: routed(found.aliases),
        fallbacks: routed(found.fallbacks),
        hedges: hedges.collect(),
        cache_seconds: found.cache_seconds,
    })))
}
