//! Budgets, and tokens of agents.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    AgentToken, AgentTokenMade, Budget, BudgetList, BudgetStop, BudgetTrial, NewAgentToken, Page,
    SetBudget, Success, TryBudget,
};
use godel_app::spend::{budgets, tokens};
use godel_board::rehearsal::{self, Stop, Trial};
use godel_model::{AllowanceChange, BudgetId, ProjectId, TokenId, UserId};
use godel_store::AgentTokenRecord;
use http::{StatusCode, header};
use jiff::Timestamp;

use super::list::{ListQuery, Listing};
use crate::error::ApiResult;
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

/// How many days a trial looks back unless told otherwise.
const TRIAL_DAYS: u32 = 7;

fn token(record: AgentTokenRecord) -> AgentToken {
    let purpose = record.purpose;
    AgentToken {
        id: record.id.uuid(),
        name: record.name,
        prefix: record.prefix,
        user_id: purpose.user.uuid(),
        project_id: purpose.project.map(ProjectId::uuid),
        agent: purpose.agent,
        bead: purpose.bead,
        convoy: purpose.convoy,
        models: record.models,
        created_at: record.created_at,
        expires_at: record.expires_at,
        revoked_at: record.revoked_at,
    }
}

fn budget(budget: &godel_model::Budget, now: Timestamp) -> Budget {
    Budget {
        id: budget.id.uuid(),
        scope: budget.scope.to_string(),
        period: budget.period.to_string(),
        cap_micros: budget.allows.cap,
        warn_percent: budget.allows.warn_percent,
        hard_stop: budget.allows.stops,
        grace_percent: budget.allows.grace_percent,
        tell: budget.allows.tell.iter().map(|user| user.uuid()).collect(),
        spent_micros: budget.spent,
        held_micros: budget.held,
        starts_at: budget.starts,
        ends_at: budget.period.ends(now),
        created_at: budget.created_at,
    }
}

/// List agent tokens
///
/// By age, oldest first. Admins and operators see all of the tenant, others their own.
#[utoipa::path(get, path = "/agent-tokens", tag = "models", operation_id = "listAgentTokens", params(ListQuery),
    responses((status = 200, description = "A page of tokens", body = Success<Page<AgentToken>>)))]
pub(crate) async fn list_tokens(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let listing: Listing<TokenId> = query.check("agent-tokens", "createdAt", false)?;
    listing.ascending_only("createdAt")?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = tokens::list(app, call, listing.from, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|token| token.id);
    let items: Vec<AgentToken> = found.into_iter().map(token).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create an agent token
///
/// The token itself is in this answer and never again. Agents and SDKs use it as their API key, with
/// `/proxy` of this server as their base URL.
#[utoipa::path(post, path = "/agent-tokens", tag = "models", operation_id = "createAgentToken",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes a repeated request harmless; the repeated answer has no token")),
    request_body = NewAgentToken,
    responses((status = 201, description = "The token", body = Success<AgentTokenMade>)))]
pub(crate) async fn create_token(
    State(shared): State<Shared>,
    mut caller: Caller,
    body: JsonBody<NewAgentToken>,
) -> ApiResult<impl IntoResponse> {
    caller.call.once = body.once;
    let new = body.value;
    let new = tokens::NewToken {
        name: new.name,
        project: new.project_id.map(ProjectId::from),
        agent: new.agent,
        bead: new.bead,
        convoy: new.convoy,
        models: new.models,
        budget: new.budget_micros,
        expires_at: new.expires_at,
    };
    let (made, record) = tokens::create(&shared.app, &caller.call, new).await?;
    let made =
        AgentTokenMade { info: token(record), token: made.map(|made| made.expose().to_owned()) };
    let headers = [(header::CACHE_CONTROL, "no-store")];
    Ok((StatusCode::CREATED, headers, Json(Success::new(made))))
}

/// Revoke an agent token
///
/// It works no more at once; on other servers of the same database within five seconds.
#[utoipa::path(delete, path = "/agent-tokens/{id}", tag = "models", operation_id = "revokeAgentToken",
    params(("id" = uuid::Uuid, Path, description = "The id of the token")),
    responses((status = 204, description = "It works no more")))]
pub(crate) async fn revoke_token(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TokenId>,
) -> ApiResult<StatusCode> {
    tokens::revoke(&shared.app, &caller.call, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List budgets
///
/// All of them, by scope and period, with what is spent and held back now.
#[utoipa::path(get, path = "/budgets", tag = "models", operation_id = "listBudgets",
    responses((status = 200, description = "The budgets", body = Success<BudgetList>)))]
pub(crate) async fn list_budgets(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = budgets::list(&shared.app, &caller.call).await?;
    let now = shared.app.clock.now();
    let items = found.iter().map(|found| budget(found, now)).collect();
    Ok(Json(Success::new(BudgetList { items })))
}

/// Set a budget
///
/// A scope has one budget for each period; setting it again changes its limit and what else is named. What was
/// spent before it was set counts.
#[utoipa::path(put, path = "/budgets", tag = "models", operation_id = "setBudget",
    request_body = SetBudget,
    responses((status = 200, description = "The budget", body = Success<Budget>)))]
pub(crate) async fn set_budget(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<SetBudget>,
) -> ApiResult<impl IntoResponse> {
    let SetBudget { scope, period, cap_micros, warn_percent, hard_stop, grace_percent, tell } =
        body.value;
    let change = AllowanceChange {
        cap: cap_micros,
        warn_percent,
        stops: hard_stop,
        grace_percent,
        tell: tell.map(|users| users.into_iter().map(UserId::from_uuid).collect()),
    };
    let limit = (period.parse()?, change);
    let set = budgets::set(&shared.app, &caller.call, scope.parse()?, limit).await?;
    Ok(Json(Success::new(budget(&set, shared.app.clock.now()))))
}

/// Remove a budget
#[utoipa::path(delete, path = "/budgets/{id}", tag = "models", operation_id = "deleteBudget",
    params(("id" = uuid::Uuid, Path, description = "The id of the budget")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete_budget(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<BudgetId>,
) -> ApiResult<StatusCode> {
    budgets::delete(&shared.app, &caller.call, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Try a budget
///
/// Which requests of the past days it would have refused, and which agents it would have stopped. Nothing is set.
#[utoipa::path(post, path = "/budgets/trial", tag = "models", operation_id = "tryBudget",
    request_body = TryBudget,
    responses((status = 200, description = "What it would have done", body = Success<BudgetTrial>)))]
pub(crate) async fn try_budget(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<TryBudget>,
) -> ApiResult<impl IntoResponse> {
    let TryBudget { scope, period, cap_micros, past_days } = body.value;
    let (scope, period) = (scope.parse()?, period.parse()?);
    let past_days = past_days.unwrap_or(TRIAL_DAYS);
    let trial = Trial { scope, period, cap: cap_micros, past_days };
    let found = rehearsal::rehearse(&shared.app, &caller.call, trial).await?;
    let stop = |stop: Stop| BudgetStop {
        at: stop.at,
        requests: stop.calls,
        cost_micros: stop.cost,
        agent_count: stop.agents_count,
        agents: stop.agents,
    };
    Ok(Json(Success::new(BudgetTrial {
        from: found.from,
        to: found.to,
        requests: found.calls,
        spent_micros: found.spent,
        stops: found.stops.into_iter().map(stop).collect(),
        is_whole: found.whole,
    })))
}
