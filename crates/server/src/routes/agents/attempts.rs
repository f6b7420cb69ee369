//! Several attempts at one bead.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use godel_api::{
    Attempt, AttemptDiff, AttemptGate, Attempts, AttemptsList, NewAttempts, PickAttempt, Success,
};
use godel_model::{ProjectId, code};
use godel_studio::attempts::{self, Orders, Seen, View};
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::super::beads::InProject;
use crate::error::{ApiError, ApiResult};
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// How many are listed.
const LISTED: usize = 50;

/// Which ones are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct AttemptsQuery {
    /// Of this project only.
    project_id: Option<Uuid>,
    /// Those that are decided instead of those that are open.
    #[serde(default)]
    archived: bool,
}

/// What an attempt is compared with.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// The number of another attempt; what all began from unless given.
    #[param(minimum = 1)]
    against: Option<u32>,
}

/// List beads that are tried several ways
///
/// Those that are open, or those that are decided; the newest 50.
#[utoipa::path(get, path = "/attempts", tag = "attempts", operation_id = "listAttempts", params(AttemptsQuery),
    responses((status = 200, description = "The beads", body = Success<AttemptsList>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<AttemptsQuery>,
) -> ApiResult<impl IntoResponse> {
    let which = (query.project_id.map(ProjectId::from_uuid), query.archived);
    let found = attempts::list(&shared.fleet, &caller.call, which, LISTED).await?;
    let items = found.into_iter().map(shape).collect();
    Ok(Json(Success::new(AttemptsList { items })))
}

/// Try a bead several ways
///
/// Each attempt is an agent of its own with a worktree, a branch and a model of its own. The bead is held until
/// one of them is picked, or all are dropped.
#[utoipa::path(post, path = "/beads/{id}/attempts", tag = "attempts", operation_id = "startAttempts",
    params(("id" = String, Path, description = "The id of the bead"), InProject), request_body = NewAttempts,
    responses((status = 201, description = "The attempts", body = Success<Attempts>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<NewAttempts>,
) -> ApiResult<impl IntoResponse> {
    let NewAttempts { attempts, models, harness, budget_micros } = body.value;
    let orders = Orders { attempts, models, harness, budget: budget_micros, convoy: None };
    let which = (project.id(), name.as_str());
    let begun = attempts::start(&shared.fleet, &caller.call, which, orders).await?;
    Ok((StatusCode::CREATED, Json(Success::new(shape(begun)))))
}

/// Show the attempts at a bead side by side
#[utoipa::path(get, path = "/beads/{id}/attempts", tag = "attempts", operation_id = "getAttempts",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    responses((status = 200, description = "The last attempts", body = Success<Attempts>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let which = (project.id(), name.as_str());
    let found = attempts::show(&shared.fleet, &caller.call, which).await?;
    Ok(Json(Success::new(shape(found))))
}

/// Drop all attempts at a bead
///
/// Agents that are at work are stopped, all is archived, and the bead is open again.
#[utoipa::path(delete, path = "/beads/{id}/attempts", tag = "attempts", operation_id = "dropAttempts",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    responses((status = 200, description = "The attempts", body = Success<Attempts>)))]
pub(crate) async fn drop_all(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let which = (project.id(), name.as_str());
    let found = attempts::drop_all(&shared.fleet, &caller.call, which).await?;
    Ok(Json(Success::new(shape(found))))
}

/// Compare an attempt with what all began from, or with another
#[utoipa::path(get, path = "/beads/{id}/attempts/{number}/diff", tag = "attempts", operation_id = "diffAttempt",
    params(("id" = String, Path, description = "The id of the bead"),
        ("number" = u32, Path, description = "The number of the attempt"), DiffQuery),
    responses((status = 200, description = "What differs", body = Success<AttemptDiff>)))]
pub(crate) async fn diff(
    State(shared): State<Shared>,
    caller: Caller,
    Path((name, number)): Path<(String, String)>,
    Query(query): Query<DiffQuery>,
) -> ApiResult<impl IntoResponse> {
    let Word(name) = name.parse()?;
    let (number, against) = (read_number(&number)?, query.against);
    let which = (query.project_id.map(ProjectId::from_uuid), name.as_str());
    let found = attempts::diff(&shared.fleet, &caller.call, which, (number, against)).await?;
    let attempts::Compared { bead, from, to, stat, patch, cut } = found;
    let (files, added, removed) = (stat.files as u64, stat.added, stat.removed);
    let told = AttemptDiff { bead, number, against, from, to, files, added, removed, patch, cut };
    Ok(Json(Success::new(told)))
}

/// Pick an attempt
///
/// Its commits become the branch of the bead, which goes to review. The others are stopped and archived. Picked
/// again, nothing more happens.
#[utoipa::path(post, path = "/beads/{id}/attempts/{number}/pick", tag = "attempts", operation_id = "pickAttempt",
    params(("id" = String, Path, description = "The id of the bead"),
        ("number" = u32, Path, description = "The number of the attempt"), InProject),
    request_body = PickAttempt,
    responses((status = 200, description = "The attempts", body = Success<Attempts>)))]
pub(crate) async fn pick(
    State(shared): State<Shared>,
    caller: Caller,
    Path((name, number)): Path<(String, String)>,
    Query(project): Query<InProject>,
    body: JsonBody<PickAttempt>,
) -> ApiResult<impl IntoResponse> {
    let Word(name) = name.parse()?;
    let wanted = (read_number(&number)?, body.value.force);
    let which = (project.id(), name.as_str());
    let found = attempts::pick(&shared.fleet, &caller.call, which, wanted).await?;
    Ok(Json(Success::new(shape(found))))
}

fn read_number(text: &str) -> ApiResult<u32> {
    text.parse().map_err(|_| ApiError::new(code::INVALID_ID, "an attempt is named by its number"))
}

fn shape(view: View) -> Attempts {
    let View { trial, attempts, needs_choice, spent } = view;
    let picked = trial.pick.as_ref().map(|pick| pick.number);
    Attempts {
        bead: trial.bead,
        project_id: trial.project.uuid(),
        user_id: trial.user.uuid(),
        convoy: trial.convoy,
        state: trial.stage.as_str().to_owned(),
        needs_choice,
        picked,
        base: trial.base,
        note: trial.note,
        budget_micros: trial.cap.map(|cap| cap.micros),
        spent_micros: spent,
        attempts: attempts.into_iter().map(|seen| one(seen, picked)).collect(),
        started_at: trial.created_at,
        ended_at: trial.ended_at,
    }
}

fn one(seen: Seen, picked: Option<u32>) -> Attempt {
    let Seen { attempt, agent, stat, .. } = seen;
    let stat = stat.unwrap_or_default();
    let gates = seen.gates.into_iter().map(|said| AttemptGate {
        gate: said.gate,
        passed: said.passed,
        detail: said.detail,
    });
    let (model, note, summary) = match agent {
        Some(agent) => (Some(agent.model), agent.note, agent.summary),
        None => (attempt.model, None, None),
    };
    Attempt {
        number: attempt.number,
        agent: attempt.label,
        agent_id: attempt.agent.uuid(),
        model: model.filter(|model| !model.is_empty()),
        state: seen.standing.as_str().to_owned(),
        note,
        picked: picked == Some(attempt.number),
        gates_passed: seen.passed,
        gates: gates.collect(),
        commit: seen.commit,
        files: stat.files as u64,
        added: stat.added,
        removed: stat.removed,
        spent_micros: seen.spent,
        seconds: seen.seconds,
        summary,
        archived: attempt.archived,
        rescued: attempt.rescued,
    }
}
