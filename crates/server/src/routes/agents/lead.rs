//! Agents: asking for them, looking at them, leading them.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    Agent, AgentLog, AgentMessage, AgentMetrics, AskEstop, Estop, Letter, NewAgent, Page,
    RestartAgent, Success,
};
use godel_fleet::{agents, look, mail, spawn, stop};
use godel_model::code;
use http::{StatusCode, header};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::super::list::{Listing, LongListQuery};
use super::shape;
use crate::error::{ApiError, ApiResult};
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// How many lines of a log one request gets.
const LINES_MAX: usize = 500;
/// The longest wait of one request; longer ones would meet the limit of the server.
const WAIT_MAX_SECS: u64 = 25;

/// List agents
///
/// The newest first. Filter by `status` (a status, a state or a view), `bead`, `convoy`, `role` and
/// `projectId`.
#[utoipa::path(get, path = "/agents", tag = "agents", operation_id = "listAgents", params(LongListQuery),
    responses((status = 200, description = "A page of agents", body = Success<Page<Agent>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<LongListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<Uuid> = query.check("agents", "spawnedAt", true)?;
    listing.descending_only("spawnedAt")?;
    let filter = agents::Filter {
        status: listing.take_one("status")?,
        bead: listing.take_one("bead")?,
        convoy: listing.take_one("convoy")?,
        role: listing.take_one("role")?,
        project: listing.take_one("projectId")?.map(|text| text.parse()).transpose()?,
    };
    listing.no_more_fields()?;
    let limit = listing.limit;
    let mut found =
        agents::list(&shared.fleet, &caller.call, filter, (listing.from, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id.uuid());
    let items = shape::agents(&shared, &caller, found).await?;
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Spawn an agent
///
/// It works on a bead, or on a new one that is made of `task`. It is in the queue when this answers.
#[utoipa::path(post, path = "/agents", tag = "agents", operation_id = "spawnAgent",
    request_body = NewAgent,
    responses((status = 201, description = "The agent", body = Success<Agent>)))]
pub(crate) async fn spawn(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewAgent>,
) -> ApiResult<impl IntoResponse> {
    let asked = body.value;
    let new = spawn::NewAgent {
        label: asked.label,
        task: asked.task,
        bead: asked.bead,
        project: asked.project_id.map(godel_model::ProjectId::from_uuid),
        harness: asked.harness,
        command: asked.command,
        model: asked.model,
        role: asked.role,
        runtime: asked.runtime,
        sandbox: asked.sandbox,
        allow: asked.allow,
        budget: asked.budget_micros,
        timeout: asked.timeout_seconds,
        convoy: None,
        team: None,
        aim: spawn::Aim::Work,
    };
    let made = spawn::spawn(&shared.fleet, &caller.call, new).await?;
    let place = format!("/api/v1/agents/{}", made.id);
    let made = shape::agent(&shared, &caller, made).await?;
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(Success::new(made))))
}

/// Get an agent
#[utoipa::path(get, path = "/agents/{id}", tag = "agents", operation_id = "getAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    responses((status = 200, description = "The agent", body = Success<Agent>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = agents::find(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(shape::agent(&shared, &caller, found).await?)))
}

/// Delete an agent
///
/// One that has ended, with its conversation. Its worktree and its commits stay.
#[utoipa::path(delete, path = "/agents/{id}", tag = "agents", operation_id = "deleteAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<StatusCode> {
    agents::delete(&shared.fleet, &caller.call, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Pause an agent
///
/// Its turn is stopped and its processes end; its work and its conversation stay.
#[utoipa::path(post, path = "/agents/{id}/pause", tag = "agents", operation_id = "pauseAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    responses((status = 200, description = "The agent", body = Success<Agent>)))]
pub(crate) async fn pause(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = agents::pause(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(shape::agent(&shared, &caller, found).await?)))
}

/// Resume an agent
#[utoipa::path(post, path = "/agents/{id}/resume", tag = "agents", operation_id = "resumeAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    responses((status = 200, description = "The agent", body = Success<Agent>)))]
pub(crate) async fn resume(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = agents::resume(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(shape::agent(&shared, &caller, found).await?)))
}

/// Begin an agent anew
///
/// A fresh session in the same worktree, with a note of the one before; maybe with another model, or as
/// another kind of agent.
#[utoipa::path(post, path = "/agents/{id}/restart", tag = "agents", operation_id = "restartAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    request_body = RestartAgent,
    responses((status = 200, description = "The agent", body = Success<Agent>)))]
pub(crate) async fn restart(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<RestartAgent>,
) -> ApiResult<impl IntoResponse> {
    let how = (body.value.model, body.value.harness);
    let found = agents::restart(&shared.fleet, &caller.call, &name, how).await?;
    Ok(Json(Success::new(shape::agent(&shared, &caller, found).await?)))
}

/// End an agent
///
/// Its worktree stays, and its bead is free again.
#[utoipa::path(post, path = "/agents/{id}/kill", tag = "agents", operation_id = "killAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    responses((status = 200, description = "The agent", body = Success<Agent>)))]
pub(crate) async fn kill(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = agents::kill(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(shape::agent(&shared, &caller, found).await?)))
}

/// Say something to an agent
///
/// It hears it at its next safe point.
#[utoipa::path(post, path = "/agents/{id}/message", tag = "agents", operation_id = "messageAgent",
    params(("id" = String, Path, description = "The id or the name of the agent")),
    request_body = AgentMessage,
    responses((status = 201, description = "The letter", body = Success<Letter>)))]
pub(crate) async fn message(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<AgentMessage>,
) -> ApiResult<impl IntoResponse> {
    let sent = mail::message(&shared.fleet, &caller.call, &name, body.value.text).await?;
    Ok((StatusCode::CREATED, Json(Success::new(shape::letter(sent)))))
}

/// Which part of a log is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogQuery {
    /// The position behind which to begin; the beginning unless given.
    after: Option<i64>,
    /// Reads backwards: the newest lines before this position, with `previous` for those before them. A number
    /// beyond the end of the log means its end.
    #[param(minimum = 1)]
    before: Option<i64>,
    /// How many lines at most: 1 to 500, 100 unless given.
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<usize>,
    /// How many seconds to wait if there is nothing yet: at most 25.
    #[param(minimum = 0, maximum = 25)]
    wait_seconds: Option<u64>,
}

/// Read the log of an agent
///
/// What it said and did, from the log of events. With `waitSeconds` the answer waits for more.
#[utoipa::path(get, path = "/agents/{id}/logs", tag = "agents", operation_id = "readAgentLog",
    params(("id" = String, Path, description = "The id or the name of the agent"), LogQuery),
    responses((status = 200, description = "Lines of the log", body = Success<AgentLog>)))]
pub(crate) async fn logs(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<LogQuery>,
) -> ApiResult<impl IntoResponse> {
    let limit = query.limit.unwrap_or(100).clamp(1, LINES_MAX);
    if let Some(before) = query.before {
        refuse_both_ways(&query, before)?;
        let part = (before, limit);
        let (events, previous) =
            godel_board::logs::before(&shared.fleet, &caller.call, &name, part).await?;
        let items: Vec<_> = events.iter().map(shape::line).collect();
        let next = items.last().map_or(0, |line| line.seq);
        return Ok(Json(Success::new(AgentLog { items, next, previous })));
    }
    let wait = Duration::from_secs(query.wait_seconds.unwrap_or(0).min(WAIT_MAX_SECS));
    let part = (query.after, limit, wait);
    let (events, next) = godel_board::logs::after(&shared.fleet, &caller.call, &name, part).await?;
    let items = events.iter().map(shape::line).collect();
    Ok(Json(Success::new(AgentLog { items, next, previous: None })))
}

/// A log is read forwards or backwards, and only what is yet to come is waited for.
fn refuse_both_ways(query: &LogQuery, before: i64) -> ApiResult<()> {
    let why = match (query.after, query.wait_seconds) {
        _ if before < 1 => "before must be 1 or more",
        (Some(_), _) => "say after or before, not both",
        (_, Some(1..)) => "nothing comes before a position: waitSeconds goes with after",
        _ => return Ok(()),
    };
    Err(ApiError::new(code::INVALID_FIELD, why))
}

/// Read the events of an agent
///
/// The same as its log.
#[utoipa::path(get, path = "/agents/{id}/events", tag = "agents", operation_id = "readAgentEvents",
    params(("id" = String, Path, description = "The id or the name of the agent"), LogQuery),
    responses((status = 200, description = "Lines of the log", body = Success<AgentLog>)))]
pub(crate) async fn events(
    state: State<Shared>,
    caller: Caller,
    name: Word,
    query: Query<LogQuery>,
) -> ApiResult<impl IntoResponse> {
    logs(state, caller, name, query).await
}

/// Numbers about agents
#[utoipa::path(get, path = "/metrics/agents", tag = "agents", operation_id = "agentMetrics",
    responses((status = 200, description = "Numbers", body = Success<AgentMetrics>)))]
pub(crate) async fn metrics(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let (states, waiting) = look::metrics(&shared.fleet, &caller.call).await?;
    let (running, capacity) = shared.fleet.load();
    let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
    let states = states.into_iter().collect();
    Ok(Json(Success::new(AgentMetrics { states, running, capacity, waiting })))
}

fn estop_of(found: stop::Stopped) -> Estop {
    Estop { stopped: found.on, reason: found.reason, agents: found.agents }
}

/// Tell whether everything stands still
#[utoipa::path(get, path = "/estop", tag = "agents", operation_id = "getEstop",
    responses((status = 200, description = "Whether it does", body = Success<Estop>)))]
pub(crate) async fn estop_state(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = stop::state(&shared.fleet, &caller.call).await?;
    Ok(Json(Success::new(estop_of(found))))
}

/// Let everything stand still
///
/// All agents of the tenant stop at once and keep their work; nothing new begins.
#[utoipa::path(post, path = "/estop", tag = "agents", operation_id = "estop", request_body = AskEstop,
    responses((status = 200, description = "How many were stopped", body = Success<Estop>)))]
pub(crate) async fn estop(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<AskEstop>,
) -> ApiResult<impl IntoResponse> {
    let found = stop::stop(&shared.fleet, &caller.call, body.value.reason).await?;
    Ok(Json(Success::new(estop_of(found))))
}

/// Let everything go on
#[utoipa::path(delete, path = "/estop", tag = "agents", operation_id = "resumeAll",
    responses((status = 200, description = "How many go on", body = Success<Estop>)))]
pub(crate) async fn estop_end(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = stop::go_on(&shared.fleet, &caller.call).await?;
    Ok(Json(Success::new(estop_of(found))))
}
