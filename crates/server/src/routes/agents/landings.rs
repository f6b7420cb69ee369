//! The merge queue.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    AskPause, GateVerdict, Landing, LandingLine, LandingLines, LandingPaused, LandingPull,
    MoveLanding, Reverted, Success,
};
use godel_decide::line::Whither;
use godel_fleet::landing::{self, Stage};
use godel_model::{ProjectId, code};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::super::beads::InProject;
use crate::error::{ApiError, ApiResult};
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// How many that are over are shown unless asked otherwise.
const PAST: u16 = 20;
/// The most of them.
const PAST_MAX: u16 = 500;

/// Which lines are shown.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct LinesQuery {
    /// Of this project only.
    project_id: Option<Uuid>,
    /// How many that are over are shown, of each project: 0 to 500, 20 unless given.
    #[param(minimum = 0, maximum = 500, default = 20)]
    past: Option<u16>,
}

/// Which bead, and how long it is waited for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// How many seconds the answer may take while the landing goes on: at most 20, and that unless given.
    #[param(minimum = 0, maximum = 20, default = 20)]
    wait_seconds: Option<u8>,
}

impl WaitQuery {
    fn project(&self) -> Option<ProjectId> {
        self.project_id.map(ProjectId::from_uuid)
    }

    fn patience(&self) -> ApiResult<Duration> {
        let patience = self.wait_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        if patience > Some(landing::WAIT_MAX) {
            let most = landing::WAIT_MAX.as_secs();
            return Err(refused(format!("waitSeconds is 0 to {most}")));
        }
        Ok(patience.unwrap_or(landing::WAIT_MAX))
    }
}

/// Land the work of a bead
///
/// The bead is put into the merge queue of its project: its work is merged with the target branch, judged by
/// the gates, and the branch moves once, or not at all. The answer comes when that is over, or when the time to
/// wait is; the landing goes on in any case. What failed before is tried again.
#[utoipa::path(post, path = "/beads/{id}/land", tag = "landings", operation_id = "landBead",
    params(("id" = String, Path, description = "The id of the bead"), WaitQuery),
    responses((status = 200, description = "How it stands", body = Success<Landing>)))]
pub(crate) async fn land(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<WaitQuery>,
) -> ApiResult<impl IntoResponse> {
    let which = (query.project(), name.as_str());
    let entry =
        landing::land(&shared.fleet, &caller.call, which, (None, query.patience()?)).await?;
    Ok(Json(Success::new(alone(entry))))
}

/// Take back what a bead brought
///
/// A commit undoes it, if the gates pass without it, and the bead is open again.
#[utoipa::path(post, path = "/beads/{id}/revert", tag = "landings", operation_id = "revertBead",
    params(("id" = String, Path, description = "The id of the bead"), InProject),
    responses((status = 200, description = "The commit that does so", body = Success<Reverted>)))]
pub(crate) async fn revert(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let which = (project.id(), name.as_str());
    let (entry, commit) = landing::revert(&shared.fleet, &caller.call, which).await?;
    let bead = entry.bead.clone();
    Ok(Json(Success::new(Reverted { bead, commit, landing: alone(entry) })))
}

/// Show the merge queue
///
/// For each project what is in its line, in order, with what is to be expected; then what is over.
#[utoipa::path(get, path = "/landings", tag = "landings", operation_id = "listLandings", params(LinesQuery),
    responses((status = 200, description = "The lines", body = Success<LandingLines>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<LinesQuery>,
) -> ApiResult<impl IntoResponse> {
    let project = query.project_id.map(ProjectId::from_uuid);
    let past = query.past.unwrap_or(PAST);
    if past > PAST_MAX {
        return Err(refused(format!("past is 0 to {PAST_MAX}")));
    }
    let past = usize::from(past);
    let found = landing::status(&shared.fleet, &caller.call, project, past).await?;
    let line = |one: landing::Status| LandingLine {
        project_id: one.project.uuid(),
        paused: one.paused.map(paused),
        landings: one.places.into_iter().map(shape).collect(),
    };
    let items = found.into_iter().map(line).collect();
    Ok(Json(Success::new(LandingLines { items })))
}

/// Tell how the landing of a bead stands
#[utoipa::path(get, path = "/landings/{bead}", tag = "landings", operation_id = "getLanding",
    params(("bead" = String, Path, description = "The id of the bead"), WaitQuery),
    responses((status = 200, description = "How it stands", body = Success<Landing>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<WaitQuery>,
) -> ApiResult<impl IntoResponse> {
    let which = (query.project(), name.as_str());
    let entry = landing::get(&shared.fleet, &caller.call, which, query.patience()?).await?;
    Ok(Json(Success::new(alone(entry))))
}

/// Take a bead out of the merge queue
///
/// What is being moved into the branch at this moment lands.
#[utoipa::path(delete, path = "/landings/{bead}", tag = "landings", operation_id = "removeLanding",
    params(("bead" = String, Path, description = "The id of the bead"), InProject),
    responses((status = 200, description = "How it stands", body = Success<Landing>)))]
pub(crate) async fn remove(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let which = (project.id(), name.as_str());
    let entry = landing::remove(&shared.fleet, &caller.call, which).await?;
    Ok(Json(Success::new(alone(entry))))
}

/// Give a bead another place in the merge queue
///
/// Only what waits can be moved, and only among those that wait: before another, before all, or behind all.
#[utoipa::path(post, path = "/landings/{bead}/move", tag = "landings", operation_id = "moveLanding",
    params(("bead" = String, Path, description = "The id of the bead"), InProject),
    request_body = MoveLanding,
    responses((status = 200, description = "How it stands", body = Success<Landing>)))]
pub(crate) async fn reorder(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(project): Query<InProject>,
    body: JsonBody<MoveLanding>,
) -> ApiResult<impl IntoResponse> {
    let whither = match body.value {
        MoveLanding { before: Some(_), first: true } => {
            let why = "say `before` or `first`, not both".to_owned();
            return Err(ApiError::new(code::INVALID_FIELD, why));
        }
        MoveLanding { before: Some(other), .. } => Whither::Before(other),
        MoveLanding { first: true, .. } => Whither::First,
        MoveLanding { .. } => Whither::Last,
    };
    let which = (project.id(), name.as_str());
    let entry = landing::reorder(&shared.fleet, &caller.call, which, whither).await?;
    Ok(Json(Success::new(alone(entry))))
}

/// Let the merge queue of a project stand still
///
/// Beads can be added; none lands until it goes on.
#[utoipa::path(post, path = "/landings/pause", tag = "landings", operation_id = "pauseLandings",
    request_body = AskPause,
    responses((status = 200, description = "That it stands still", body = Success<LandingPaused>)))]
pub(crate) async fn pause(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<AskPause>,
) -> ApiResult<impl IntoResponse> {
    let AskPause { project_id, reason } = body.value;
    let project = ProjectId::from_uuid(project_id);
    let now = landing::pause(&shared.fleet, &caller.call, project, (true, reason)).await?;
    Ok(Json(Success::new(now.map(paused))))
}

/// Let the merge queue of a project go on
#[utoipa::path(post, path = "/landings/resume", tag = "landings", operation_id = "resumeLandings",
    request_body = AskPause,
    responses((status = 200, description = "Nothing: it goes on", body = Success<Option<LandingPaused>>)))]
pub(crate) async fn resume(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<AskPause>,
) -> ApiResult<impl IntoResponse> {
    let AskPause { project_id, reason } = body.value;
    let project = ProjectId::from_uuid(project_id);
    let now = landing::pause(&shared.fleet, &caller.call, project, (false, reason)).await?;
    Ok(Json(Success::new(now.map(paused))))
}

fn refused(why: String) -> ApiError {
    ApiError::new(code::INVALID_QUERY, why)
}

fn paused(found: landing::Paused) -> LandingPaused {
    let landing::Paused { by, reason, at } = found;
    LandingPaused { by, reason, at }
}

/// An entry of which nothing more is known than itself.
pub(crate) fn alone(entry: landing::Entry) -> Landing {
    shape(landing::Place { entry, position: None, eta_seconds: None })
}

fn shape(place: landing::Place) -> Landing {
    let landing::Place { entry, position, eta_seconds } = place;
    let verdict = |one: landing::Verdict| GateVerdict {
        gate: one.gate,
        passed: one.passed,
        took_ms: one.took_ms,
        cached: one.cached,
    };
    let pull = |one: landing::PullRequest| LandingPull {
        number: one.number,
        url: one.url,
        state: one.state,
        checks: one.checks,
        review: one.review,
    };
    Landing {
        landed: matches!(entry.stage, Stage::Landed | Stage::Pushing),
        bead: entry.bead,
        title: entry.title,
        project_id: entry.project.uuid(),
        stage: entry.stage.as_str().to_owned(),
        target: entry.target,
        commit: entry.commit,
        source: entry.source,
        trouble: entry.trouble.map(|one| one.as_str().to_owned()),
        why: entry.why,
        files: entry.files,
        asked: entry.asked.as_str().to_owned(),
        convoy: entry.convoy,
        pull_request: entry.pull.map(pull),
        gates: entry.verdicts.into_iter().map(verdict).collect(),
        batch: entry.batch,
        mender: entry.mender,
        position,
        eta_seconds,
        added_at: entry.added_at,
        began_at: entry.began_at,
        ended_at: entry.ended_at,
    }
}
