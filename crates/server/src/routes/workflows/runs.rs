//! Runs of workflows.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use godel_api::{
    AnswerStep, Drawing, NewRun, Page, RetryRun, Run, RunRow, RunStep, RunStepDetail, RunStepRound,
    RunSteps, StepCounts, Success, TaskDetail,
};
use godel_app::workflows::runs::{self, STEPS_MAX, What};
use godel_app::workflows::{RunView, StepView};
use godel_board::steps as board;
use godel_decide::workflow::{Counts, Input};
use godel_model::{Invalid, RunId, TaskId, TeamId, WorkflowId, code};
use godel_store::RunRecord;
use http::{StatusCode, header};
use serde::Deserialize;
use utoipa::IntoParams;

use super::super::list::{ListQuery, Listing};
use super::super::queue::read;
use super::definitions::{DrawQuery, refuse};
use crate::error::{ApiError, ApiResult};
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

const KEY_MAX_CHARS: usize = 200;
const NOTE_MAX_CHARS: usize = 2_000;

/// From which step on the steps are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StepsQuery {
    /// The number of the first step; 0 unless given.
    from: Option<u32>,
}

/// Refuses a key that is too long or not plain.
pub(super) fn check_key(key: Option<&str>) -> ApiResult<()> {
    let fits = |key: &str| {
        (1..=KEY_MAX_CHARS).contains(&key.chars().count()) && !key.chars().any(char::is_control)
    };
    if key.is_none_or(fits) {
        return Ok(());
    }
    Err(Invalid::new(code::INVALID_FIELD, "a key has 1 to 200 plain characters").into())
}

/// Shows how many steps are in each state.
pub(super) fn counts(counts: Counts) -> StepCounts {
    StepCounts {
        pending: counts.pending,
        ready: counts.ready,
        running: counts.running,
        waiting: counts.waiting,
        succeeded: counts.succeeded,
        failed: counts.failed,
        skipped: counts.skipped,
        cancelled: counts.cancelled,
    }
}

fn row(record: RunRecord) -> RunRow {
    RunRow {
        id: record.id.uuid(),
        name: record.name,
        workflow_id: record.workflow.map(WorkflowId::uuid),
        state: record.state,
        parent_id: record.parent.map(|(parent, _)| parent.uuid()),
        team_id: record.team.map(TeamId::uuid),
        created_by: record.created_by.uuid(),
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Shows how a run stands.
pub(super) fn run(view: RunView) -> Run {
    let state = view.row.state.to_string();
    Run {
        row: RunRow { state, ..row(view.record) },
        progress: view.progress,
        counts: counts(view.counts),
        max_concurrency: view.row.max_concurrency,
        critical_path: view.critical_path,
        remaining_seconds: view.remaining.as_secs(),
        inputs: serde_json::Value::Object(view.row.inputs),
        outputs: view.row.outputs.map(serde_json::Value::Object),
        error: view.row.fault.map(|fault| fault.message),
        started_at: view.row.started_at,
        finished_at: view.row.finished_at,
    }
}

fn step(view: StepView) -> RunStep {
    RunStep {
        id: view.id,
        kind: view.kind.to_owned(),
        by: view.by,
        depends_on: view.depends_on,
        state: view.row.state.to_string(),
        round: view.row.round,
        task_id: view.task.map(TaskId::uuid),
        output: view.row.output,
        error: view.row.fault.map(|fault| fault.message),
        started_at: view.row.started_at,
        finished_at: view.row.finished_at,
        due_at: view.row.due_at,
    }
}

/// List runs
///
/// The newest first. The filter takes `workflow` (the id of a stored one).
#[utoipa::path(get, path = "/runs", tag = "workflows", operation_id = "listRuns", params(ListQuery),
    responses((status = 200, description = "A page of runs", body = Success<Page<RunRow>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<RunId> = query.check("runs", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    let workflow = listing.take_one("workflow")?;
    let workflow = workflow.map(|text| text.parse::<WorkflowId>()).transpose()?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = runs::list(app, call, workflow, (listing.from, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id);
    let items: Vec<RunRow> = found.into_iter().map(row).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Start a run
///
/// Of a stored workflow, or of one that comes with the request. It is on disk when this answers.
#[utoipa::path(post, path = "/runs", tag = "workflows", operation_id = "startRun",
    request_body = NewRun,
    responses((status = 201, description = "The run", body = Success<Run>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewRun>,
) -> ApiResult<impl IntoResponse> {
    let NewRun { workflow, source, inputs, key } = body.value;
    check_key(key.as_deref())?;
    let what = match (workflow, source) {
        (Some(stored), None) => What::Stored(stored),
        (None, Some(source)) => What::Inline(source),
        _ => {
            let why = "a run needs either `workflow` or `source`";
            return Err(Invalid::new(code::INVALID_FIELD, why).into());
        }
    };
    let view = runs::start(&shared.app, &caller.call, what, inputs, key).await.map_err(refuse)?;
    let place = format!("/api/v1/runs/{}", view.record.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(Success::new(run(view)))))
}

/// Get a run
///
/// With how much is done, and the longest way that is still ahead.
#[utoipa::path(get, path = "/runs/{id}", tag = "workflows", operation_id = "getRun",
    params(("id" = uuid::Uuid, Path, description = "The id of the run")),
    responses((status = 200, description = "The run", body = Success<Run>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
) -> ApiResult<impl IntoResponse> {
    let view = runs::find(&shared.app, &caller.call, id).await?;
    Ok(Json(Success::new(run(view))))
}

/// List the steps of a run
///
/// In the order of its workflow, 1,000 at a time.
#[utoipa::path(get, path = "/runs/{id}/steps", tag = "workflows", operation_id = "runSteps",
    params(("id" = uuid::Uuid, Path, description = "The id of the run"), StepsQuery),
    responses((status = 200, description = "The steps", body = Success<RunSteps>)))]
pub(crate) async fn steps(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
    Query(query): Query<StepsQuery>,
) -> ApiResult<impl IntoResponse> {
    let from = query.from.unwrap_or(0);
    let found = runs::steps(&shared.app, &caller.call, id, from).await?;
    let next = (found.len() == STEPS_MAX).then(|| from.saturating_add(STEPS_MAX as u32));
    Ok(Json(Success::new(RunSteps { steps: found.into_iter().map(step).collect(), next })))
}

/// Show a step of a run
///
/// With each time that it was begun, the last first: its task with all attempts, or the run that it started.
#[utoipa::path(get, path = "/runs/{id}/steps/{name}", tag = "workflows", operation_id = "runStep",
    params(("id" = uuid::Uuid, Path, description = "The id of the run"),
        ("name" = String, Path, description = "The id of the step")),
    responses((status = 200, description = "The step", body = Success<RunStepDetail>)))]
pub(crate) async fn one_step(
    State(shared): State<Shared>,
    caller: Caller,
    Path((id, name)): Path<(String, String)>,
) -> ApiResult<impl IntoResponse> {
    let found = board::history(&shared.app, &caller.call, id.parse()?, &name).await?;
    let round = |one: board::Round| {
        let task = one.task.map(|(found, failed)| {
            let attempts = read::attempts(&found, failed);
            Ok::<_, ApiError>(TaskDetail { task: read::task(found)?, attempts })
        });
        Ok::<_, ApiError>(RunStepRound {
            round: one.number,
            task: task.transpose()?,
            run: one.run.map(row),
        })
    };
    let rounds = found.rounds.into_iter().map(round).collect::<ApiResult<_>>()?;
    Ok(Json(Success::new(RunStepDetail { step: step(found.step), rounds, cut: found.cut })))
}

/// Draw a run
#[utoipa::path(get, path = "/runs/{id}/drawing", tag = "workflows", operation_id = "drawRun",
    params(("id" = uuid::Uuid, Path, description = "The id of the run"), DrawQuery),
    responses((status = 200, description = "The picture as text", body = Success<Drawing>)))]
pub(crate) async fn draw(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
    Query(query): Query<DrawQuery>,
) -> ApiResult<impl IntoResponse> {
    let is_dot = query.is_dot()?;
    let text = runs::draw(&shared.app, &caller.call, id, is_dot).await?;
    let format = if is_dot { "dot" } else { "mermaid" }.to_owned();
    Ok(Json(Success::new(Drawing { format, text })))
}

async fn control(
    shared: &Shared,
    caller: &Caller,
    id: RunId,
    input: Input,
) -> ApiResult<Json<Success<Run>>> {
    let view = runs::control(&shared.app, &caller.call, id, input).await?;
    Ok(Json(Success::new(run(view))))
}

/// Pause a run
///
/// What has begun goes on, and nothing new begins.
#[utoipa::path(post, path = "/runs/{id}/pause", tag = "workflows", operation_id = "pauseRun",
    params(("id" = uuid::Uuid, Path, description = "The id of the run")),
    responses((status = 200, description = "The run", body = Success<Run>)))]
pub(crate) async fn pause(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
) -> ApiResult<impl IntoResponse> {
    control(&shared, &caller, id, Input::Pause).await
}

/// Resume a run
#[utoipa::path(post, path = "/runs/{id}/resume", tag = "workflows", operation_id = "resumeRun",
    params(("id" = uuid::Uuid, Path, description = "The id of the run")),
    responses((status = 200, description = "The run", body = Success<Run>)))]
pub(crate) async fn resume(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
) -> ApiResult<impl IntoResponse> {
    control(&shared, &caller, id, Input::Resume).await
}

/// Cancel a run
///
/// Its tasks are taken off the queue, and workers are asked to stop.
#[utoipa::path(post, path = "/runs/{id}/cancel", tag = "workflows", operation_id = "cancelRun",
    params(("id" = uuid::Uuid, Path, description = "The id of the run")),
    responses((status = 200, description = "The run", body = Success<Run>)))]
pub(crate) async fn cancel(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
) -> ApiResult<impl IntoResponse> {
    control(&shared, &caller, id, Input::Cancel).await
}

/// Retry a run
///
/// All steps that failed or were cancelled, or those that are named, whatever they came to, and all that depends
/// on them; the rest stays as it is.
#[utoipa::path(post, path = "/runs/{id}/retry", tag = "workflows", operation_id = "retryRun",
    params(("id" = uuid::Uuid, Path, description = "The id of the run")),
    request_body = RetryRun,
    responses((status = 200, description = "The run", body = Success<Run>)))]
pub(crate) async fn retry(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
    body: JsonBody<RetryRun>,
) -> ApiResult<impl IntoResponse> {
    let view = runs::retry(&shared.app, &caller.call, id, body.value.steps).await?;
    Ok(Json(Success::new(run(view))))
}

/// Answer a step
///
/// One that asks a person. Who may answer is said in the workflow.
#[utoipa::path(post, path = "/runs/{id}/answer", tag = "workflows", operation_id = "answerRun",
    params(("id" = uuid::Uuid, Path, description = "The id of the run")),
    request_body = AnswerStep,
    responses((status = 200, description = "The run", body = Success<Run>)))]
pub(crate) async fn answer(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
    body: JsonBody<AnswerStep>,
) -> ApiResult<impl IntoResponse> {
    let AnswerStep { step, approve, note } = body.value;
    if note.as_ref().is_some_and(|note| note.chars().count() > NOTE_MAX_CHARS) {
        return Err(Invalid::new(code::INVALID_FIELD, "a note has at most 2,000 characters").into());
    }
    let call = &caller.call;
    let view = runs::answer(&shared.app, call, (id, step), (approve, note)).await?;
    Ok(Json(Success::new(run(view))))
}
