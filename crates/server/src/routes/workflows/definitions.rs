//! Workflows as they are stored.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    CancelledRuns, Drawing, Page, StartRun, Success, Workflow, WorkflowOutline, WorkflowSource,
    WorkflowStep,
};
use godel_app::workflows::runs::{self, What};
use godel_app::workflows::{WorkflowError, definitions};
use godel_decide::workflow::{Plan, dot, mermaid};
use godel_model::{Invalid, WorkflowId, code};
use godel_store::WorkflowRecord;
use http::{StatusCode, header};
use serde::Deserialize;
use utoipa::IntoParams;

use super::super::list::{ListQuery, Listing};
use crate::error::{ApiError, ApiResult};
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

/// The id or the name of a workflow, as it stands in a path.
#[derive(Debug)]
pub(crate) struct Which(String);

impl std::str::FromStr for Which {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self(text.to_owned()))
    }
}

/// How a picture is drawn.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DrawQuery {
    /// `mermaid` (unless given) or `dot`.
    format: Option<String>,
}

impl DrawQuery {
    /// Tells whether it is to be `dot`.
    pub(super) fn is_dot(&self) -> ApiResult<bool> {
        match self.format.as_deref() {
            None | Some("mermaid") => Ok(false),
            Some("dot") => Ok(true),
            Some(_) => Err(Invalid::new(code::INVALID_QUERY, "format is mermaid or dot").into()),
        }
    }
}

fn workflow(record: WorkflowRecord, whole: bool) -> Workflow {
    Workflow {
        id: record.id.uuid(),
        name: record.name,
        version: record.version,
        created_by: record.created_by.uuid(),
        created_at: record.created_at,
        updated_at: record.updated_at,
        source: whole.then_some(record.source),
    }
}

fn outline(plan: &Plan) -> WorkflowOutline {
    let mut waves = vec![0_u32; plan.len()];
    for (wave, steps) in (1_u32..).zip(plan.waves()) {
        for step in steps {
            if let Some(slot) = waves.get_mut(step.0 as usize) {
                *slot = wave;
            }
        }
    }
    let name = |step| plan.get(step).map_or_else(String::new, |step| step.id.clone());
    let steps = plan.steps().map(|(index, step)| WorkflowStep {
        id: step.id.clone(),
        kind: step.kind.as_str().to_owned(),
        depends_on: plan.dependencies(index).map(name).collect(),
        wave: waves.get(index.0 as usize).copied().unwrap_or_default(),
    });
    WorkflowOutline { name: plan.definition().name.clone(), steps: steps.collect() }
}

/// Says each problem with its place.
pub(super) fn refuse(error: godel_app::Error) -> ApiError {
    let mut told = ApiError::report(&error);
    if let godel_app::Error::Workflow(WorkflowError::Problems(problems)) = &error {
        let all: Vec<_> = problems.iter().collect();
        told.message = match all.first() {
            Some(first) => {
                format!("line {}, column {}: {}", first.at.line, first.at.column, first.message)
            }
            None => error.to_string(),
        };
        told.details = Some(Box::new(serde_json::json!({
            "problems": all, "leftOut": problems.left_out(),
        })));
    }
    told
}

/// Check a workflow
///
/// Nothing is stored. Problems are in `error.details.problems`, each with line and column.
#[utoipa::path(post, path = "/workflows/validate", tag = "workflows", operation_id = "validateWorkflow",
    request_body = WorkflowSource,
    responses((status = 200, description = "How it was understood", body = Success<WorkflowOutline>)))]
pub(crate) async fn validate(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<WorkflowSource>,
) -> ApiResult<impl IntoResponse> {
    let checked = definitions::check(&shared.app, &caller.call, &body.value.source).await;
    let plan = checked.map_err(refuse)?;
    Ok(Json(Success::new(outline(&plan))))
}

/// List workflows
///
/// By age, oldest first.
#[utoipa::path(get, path = "/workflows", tag = "workflows", operation_id = "listWorkflows", params(ListQuery),
    responses((status = 200, description = "A page of workflows", body = Success<Page<Workflow>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let listing: Listing<WorkflowId> = query.check("workflows", "createdAt", false)?;
    listing.ascending_only("createdAt")?;
    listing.no_more_fields()?;
    let (app, call, limit) = (&shared.app, &caller.call, listing.limit);
    let mut found = definitions::list(app, call, listing.from, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id);
    let items: Vec<Workflow> = found.into_iter().map(|one| workflow(one, false)).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Create a workflow
///
/// It is stored under the name that its text says.
#[utoipa::path(post, path = "/workflows", tag = "workflows", operation_id = "createWorkflow",
    request_body = WorkflowSource,
    responses((status = 201, description = "The workflow", body = Success<Workflow>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<WorkflowSource>,
) -> ApiResult<impl IntoResponse> {
    let made = definitions::create(&shared.app, &caller.call, body.value.source).await;
    let made = made.map_err(refuse)?;
    let place = format!("/api/v1/workflows/{}", made.id);
    let body = Json(Success::new(workflow(made, true)));
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], body))
}

/// Get a workflow
///
/// By its id or its name, with its text.
#[utoipa::path(get, path = "/workflows/{id}", tag = "workflows", operation_id = "getWorkflow",
    params(("id" = String, Path, description = "The id or the name of the workflow")),
    responses((status = 200, description = "The workflow", body = Success<Workflow>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(Which(which)): Id<Which>,
) -> ApiResult<impl IntoResponse> {
    let found = definitions::find(&shared.app, &caller.call, &which).await?;
    Ok(Json(Success::new(workflow(found, true))))
}

/// Update a workflow
///
/// Runs that have begun go on with the text that they began with.
#[utoipa::path(patch, path = "/workflows/{id}", tag = "workflows", operation_id = "updateWorkflow",
    params(("id" = String, Path, description = "The id or the name of the workflow")),
    request_body = WorkflowSource,
    responses((status = 200, description = "The workflow", body = Success<Workflow>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(Which(which)): Id<Which>,
    body: JsonBody<WorkflowSource>,
) -> ApiResult<impl IntoResponse> {
    let found = definitions::find(&shared.app, &caller.call, &which).await?;
    let changed = definitions::update(&shared.app, &caller.call, found.id, body.value.source).await;
    Ok(Json(Success::new(workflow(changed.map_err(refuse)?, true))))
}

/// Delete a workflow
///
/// Its runs stay.
#[utoipa::path(delete, path = "/workflows/{id}", tag = "workflows", operation_id = "deleteWorkflow",
    params(("id" = String, Path, description = "The id or the name of the workflow")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Id(Which(which)): Id<Which>,
) -> ApiResult<StatusCode> {
    let found = definitions::find(&shared.app, &caller.call, &which).await?;
    definitions::delete(&shared.app, &caller.call, found.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Start a workflow
///
/// The run is on disk when this answers, and goes on by itself.
#[utoipa::path(post, path = "/workflows/{id}/start", tag = "workflows", operation_id = "startWorkflow",
    params(("id" = String, Path, description = "The id or the name of the workflow")),
    request_body = StartRun,
    responses((status = 201, description = "The run", body = Success<godel_api::Run>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    caller: Caller,
    Id(Which(which)): Id<Which>,
    body: JsonBody<StartRun>,
) -> ApiResult<impl IntoResponse> {
    let StartRun { inputs, key } = body.value;
    super::runs::check_key(key.as_deref())?;
    let what = What::Stored(which);
    let view = runs::start(&shared.app, &caller.call, what, inputs, key).await.map_err(refuse)?;
    Ok((StatusCode::CREATED, Json(Success::new(super::runs::run(view)))))
}

/// Cancel a workflow
///
/// All its runs that are not over.
#[utoipa::path(post, path = "/workflows/{id}/cancel", tag = "workflows", operation_id = "cancelWorkflow",
    params(("id" = String, Path, description = "The id or the name of the workflow")),
    responses((status = 200, description = "How many runs", body = Success<CancelledRuns>)))]
pub(crate) async fn cancel(
    State(shared): State<Shared>,
    caller: Caller,
    Id(Which(which)): Id<Which>,
) -> ApiResult<impl IntoResponse> {
    let found = definitions::find(&shared.app, &caller.call, &which).await?;
    let cancelled = runs::cancel_all(&shared.app, &caller.call, found.id).await?;
    Ok(Json(Success::new(CancelledRuns { cancelled })))
}

/// List the steps of a workflow
///
/// In their order, each with the wave in which it runs at the earliest.
#[utoipa::path(get, path = "/workflows/{id}/steps", tag = "workflows", operation_id = "workflowSteps",
    params(("id" = String, Path, description = "The id or the name of the workflow")),
    responses((status = 200, description = "The steps", body = Success<WorkflowOutline>)))]
pub(crate) async fn steps(
    State(shared): State<Shared>,
    caller: Caller,
    Id(Which(which)): Id<Which>,
) -> ApiResult<impl IntoResponse> {
    let found = definitions::find(&shared.app, &caller.call, &which).await?;
    let plan = definitions::read(&found.source).map_err(refuse)?;
    Ok(Json(Success::new(outline(&plan))))
}

/// Draw a workflow
#[utoipa::path(get, path = "/workflows/{id}/drawing", tag = "workflows", operation_id = "drawWorkflow",
    params(("id" = String, Path, description = "The id or the name of the workflow"), DrawQuery),
    responses((status = 200, description = "The picture as text", body = Success<Drawing>)))]
pub(crate) async fn draw(
    State(shared): State<Shared>,
    caller: Caller,
    Id(Which(which)): Id<Which>,
    Query(query): Query<DrawQuery>,
) -> ApiResult<impl IntoResponse> {
    let is_dot = query.is_dot()?;
    let found = definitions::find(&shared.app, &caller.call, &which).await?;
    let plan = definitions::read(&found.source).map_err(refuse)?;
    let text = if is_dot { dot(&plan, |_| None) } else { mermaid(&plan, |_| None) };
    let format = if is_dot { "dot" } else { "mermaid" }.to_owned();
    Ok(Json(Success::new(Drawing { format, text })))
}
