//! Teams.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{Page, ScaleTeam, Success, Team, TeamAgent, TeamAgents, TeamMetrics, TeamSpec};
use godel_app::teams;
use godel_decide::team::{TeamAction, TeamSpec as Spec};
use godel_model::{Invalid, RunId, TeamId, code};
use http::{StatusCode, header};
use jiff::Timestamp;
use serde_json::Value;

use super::super::list::{ListQuery, Listing};
use super::runs::counts;
use crate::error::ApiResult;
use crate::extract::{Id, JsonBody, Query, refuse_json};
use crate::guard::Caller;
use crate::state::Shared;

fn spec(body: TeamSpec) -> ApiResult<Spec> {
    serde_json::from_value(body.0).map_err(|error| {
        Invalid::new(code::INVALID_FIELD, format!("the team is not understood: {error}")).into()
    })
}

/// Puts what is to be changed over what is known.
fn patched(known: &Spec, change: TeamSpec) -> ApiResult<TeamSpec> {
    let mut whole = serde_json::to_value(known).map_err(|error| refuse_json(&error))?;
    let (Value::Object(fields), Value::Object(changes)) = (&mut whole, change.0) else {
        return Err(Invalid::new(code::INVALID_FIELD, "the change of a team is an object").into());
    };
    for (name, value) in changes {
        if value.is_null() {
            fields.remove(&name);
        } else {
            fields.insert(name, value);
        }
    }
    Ok(TeamSpec(whole))
}

fn team(found: teams::Team) -> ApiResult<Team> {
    let doc = found.doc;
    Ok(Team {
        id: found.record.id.uuid(),
        name: found.record.name,
        state: found.record.state,
        strategy: doc.current.strategy.as_str().to_owned(),
        size: doc.current.size,
        progress: found.progress,
        counts: counts(found.counts),
        run_id: doc.run.map(RunId::uuid),
        fallbacks: doc.fallbacks,
        spent_micros: found.spent_micros,
        budget_micros: doc.asked.budget_micros,
        result: doc.result,
        error: doc.error,
        alert: doc.alert,
        spec: serde_json::to_value(&doc.asked).map_err(|error| refuse_json(&error))?,
        created_at: found.record.created_at,
        updated_at: found.record.updated_at,
    })
}

fn metrics(found: &teams::Team, now: Timestamp) -> TeamMetrics {
    let over = !matches!(found.record.state.as_str(), "created" | "running" | "paused");
    let until = if over { found.record.updated_at } else { now };
    let since = found.doc.planned_at.unwrap_or(until);
    TeamMetrics {
        team_id: found.record.id.uuid(),
        name: found.record.name.clone(),
        state: found.record.state.clone(),
        progress: found.progress,
        counts: counts(found.counts),
        spent_micros: found.spent_micros,
        fallbacks: u32::try_from(found.doc.fallbacks.len()).unwrap_or(u32::MAX),
        seconds: u64::try_from(until.duration_since(since).as_secs()).unwrap_or(0),
    }
}

/// Reads a page of teams, and behind which one the next page begins.
async fn page(
    shared: &Shared,
    caller: &Caller,
    query: ListQuery,
) -> ApiResult<(Listing<TeamId>, Vec<teams::Team>, Option<TeamId>)> {
    let listing: Listing<TeamId> = query.check("teams", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    listing.no_more_fields()?;
    let limit = listing.limit;
    let mut found = teams::list(&shared.app, &caller.call, listing.from, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.record.id);
    Ok((listing, found, last))
}

/// List teams
///
/// The newest first.
#[utoipa::path(get, path = "/teams", tag = "teams", operation_id = "listTeams", params(ListQuery),
    responses((status = 200, description = "A page of teams", body = Success<Page<Team>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let (listing, found, last) = page(&shared, &caller, query).await?;
    let items = found.into_iter().map(team).collect::<ApiResult<Vec<Team>>>()?;
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create a team
///
/// It is planned as a workflow when it is started.
#[utoipa::path(post, path = "/teams", tag = "teams", operation_id = "createTeam",
    request_body = TeamSpec,
    responses((status = 201, description = "The team", body = Success<Team>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<TeamSpec>,
) -> ApiResult<impl IntoResponse> {
    let made = teams::create(&shared.app, &caller.call, spec(body.value)?).await?;
    let place = format!("/api/v1/teams/{}", made.record.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(Success::new(team(made)?))))
}

/// Get a team
#[utoipa::path(get, path = "/teams/{id}", tag = "teams", operation_id = "getTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    let found = teams::find(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(team(found)?)))
}

/// Update a team
///
/// What it is asked to do, before it is started; afterwards its budget and deadline. What is left
/// out stays as it is, and null takes it away.
#[utoipa::path(patch, path = "/teams/{id}", tag = "teams", operation_id = "updateTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    request_body = TeamSpec,
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
    body: JsonBody<TeamSpec>,
) -> ApiResult<impl IntoResponse> {
    let known = teams::find(&shared.app, &caller.call, id).await?;
    // One that has not begun may have been scaled; one that has may be on a simpler way.
    let begun = known.doc.run.is_some();
    let base = if begun { &known.doc.asked } else { &known.doc.current };
    let whole = patched(base, body.value)?;
    let changed = teams::update(&shared.app, &caller.call, id, spec(whole)?).await?;
    Ok(Json(Success::new(team(changed)?)))
}

/// Delete a team
///
/// One that does not work.
#[utoipa::path(delete, path = "/teams/{id}", tag = "teams", operation_id = "deleteTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<StatusCode> {
    teams::delete(&shared.app, &caller.call, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Start a team
#[utoipa::path(post, path = "/teams/{id}/start", tag = "teams", operation_id = "startTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    let found = teams::start(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(team(found)?)))
}

async fn control(
    shared: &Shared,
    caller: &Caller,
    id: TeamId,
    action: TeamAction,
) -> ApiResult<Json<Success<Team>>> {
    let found = teams::control(&shared.app, &caller.call, id, action).await?;
    Ok(Json(Success::new(team(found)?)))
}

/// Pause a team
#[utoipa::path(post, path = "/teams/{id}/pause", tag = "teams", operation_id = "pauseTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn pause(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    control(&shared, &caller, id, TeamAction::Pause).await
}

/// Resume a team
#[utoipa::path(post, path = "/teams/{id}/resume", tag = "teams", operation_id = "resumeTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn resume(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    control(&shared, &caller, id, TeamAction::Resume).await
}

/// Complete a team
///
/// Its job is said to be done; what still runs is called off.
#[utoipa::path(post, path = "/teams/{id}/complete", tag = "teams", operation_id = "completeTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn complete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    control(&shared, &caller, id, TeamAction::Complete).await
}

/// Cancel a team
#[utoipa::path(post, path = "/teams/{id}/cancel", tag = "teams", operation_id = "cancelTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn cancel(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    control(&shared, &caller, id, TeamAction::Cancel).await
}

/// Scale a team
///
/// Changes how many of its agents work at once, while it works too.
#[utoipa::path(post, path = "/teams/{id}/scale", tag = "teams", operation_id = "scaleTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    request_body = ScaleTeam,
    responses((status = 200, description = "The team", body = Success<Team>)))]
pub(crate) async fn scale(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
    body: JsonBody<ScaleTeam>,
) -> ApiResult<impl IntoResponse> {
    let found = teams::scale(&shared.app, &caller.call, id, body.value.size).await?;
    Ok(Json(Success::new(team(found)?)))
}

/// List the agents of a team
///
/// The workers that have tasks of it at the moment.
#[utoipa::path(get, path = "/teams/{id}/agents", tag = "teams", operation_id = "teamAgents",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The workers", body = Success<TeamAgents>)))]
pub(crate) async fn agents(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    let found = teams::workers(&shared.app, &caller.call, id).await?;
    let agent = |(worker, tasks): (godel_model::WorkerId, u32)| TeamAgent {
        worker_id: worker.uuid(),
        tasks,
    };
    Ok(Json(Success::new(TeamAgents { items: found.into_iter().map(agent).collect() })))
}

/// Get the numbers of a team
#[utoipa::path(get, path = "/teams/{id}/metrics", tag = "teams", operation_id = "teamMetrics",
    params(("id" = uuid::Uuid, Path, description = "The id of the team")),
    responses((status = 200, description = "The numbers", body = Success<TeamMetrics>)))]
pub(crate) async fn one_metrics(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TeamId>,
) -> ApiResult<impl IntoResponse> {
    let found = teams::find(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(metrics(&found, shared.app.clock.now()))))
}

/// Get the numbers of all teams
///
/// Page by page, the newest team first.
#[utoipa::path(get, path = "/metrics/teams", tag = "metrics", operation_id = "teamsMetrics",
    params(ListQuery),
    responses((status = 200, description = "A page of numbers", body = Success<Page<TeamMetrics>>)))]
pub(crate) async fn all_metrics(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let (listing, found, last) = page(&shared, &caller, query).await?;
    let now = shared.app.clock.now();
    let items: Vec<TeamMetrics> = found.iter().map(|team| metrics(team, now)).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}
