//! Previews: the app that is worked on, running.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{NewPreview, Preview, PreviewList, Success};
use godel_model::{EventId, ProjectId};
use godel_previews::Wanted;
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiResult;
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;

/// Which ones are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PreviewQuery {
    /// Of the work on this bead only.
    bead: Option<String>,
    /// Of the work of this agent only: its name or id.
    agent: Option<String>,
}

fn shape(one: godel_previews::Preview) -> Preview {
    let (is_live, url) = (one.is_live(), one.url());
    let (agent_id, agent) = one.agent.map(|(id, name)| (id.uuid(), name)).unzip();
    Preview {
        id: one.id,
        project: one.project.uuid(),
        bead: one.bead,
        agent,
        agent_id,
        command: one.command,
        state: one.state.as_str().to_owned(),
        url,
        port: one.port,
        is_live,
        commit: one.commit,
        started_at: one.started_at,
        started_by: one.started_by,
        ends_at: one.ends_at,
        ended_at: one.ended_at,
        exit_code: one.exit_code,
        why: one.why,
        output: one.output,
    }
}

/// List previews
///
/// Those of this server that run, and those that ended in the last hour; the newest first.
#[utoipa::path(get, path = "/previews", tag = "previews", operation_id = "listPreviews", params(PreviewQuery),
    responses((status = 200, description = "The previews", body = Success<PreviewList>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<PreviewQuery>,
) -> ApiResult<impl IntoResponse> {
    let which = (query.bead.as_deref(), query.agent.as_deref());
    let found = shared.previews.list(&caller.call, which)?;
    Ok(Json(Success::new(PreviewList { items: found.into_iter().map(shape).collect() })))
}

/// Start a preview
///
/// Runs the app at a port of its own on the loopback of the server's machine. With an agent at work in the runtime
/// `worktree` it has the files that are being changed; else those of the last commit, in a worktree and sandbox made
/// for it. The command is told the port as `PORT`. One that shows the same already is returned with 200.
#[utoipa::path(post, path = "/previews", tag = "previews", operation_id = "startPreview", request_body = NewPreview,
    responses((status = 201, description = "The preview", body = Success<Preview>),
        (status = 200, description = "One that shows the same already", body = Success<Preview>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewPreview>,
) -> ApiResult<impl IntoResponse> {
    let NewPreview { bead, agent, project, command } = body.value;
    let wanted = Wanted { agent, bead, project: project.map(ProjectId::from_uuid), command };
    let (preview, is_new) = shared.previews.start(&caller.call, wanted).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Success::new(shape(preview)))))
}

/// Get a preview
///
/// With the last 16 KiB of what its command wrote.
#[utoipa::path(get, path = "/previews/{id}", tag = "previews", operation_id = "getPreview",
    params(("id" = uuid::Uuid, Path, description = "The id of the preview")),
    responses((status = 200, description = "The preview", body = Success<Preview>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<EventId>,
) -> ApiResult<impl IntoResponse> {
    Ok(Json(Success::new(shape(shared.previews.get(&caller.call, id.uuid())?))))
}

/// Stop a preview
#[utoipa::path(delete, path = "/previews/{id}", tag = "previews", operation_id = "stopPreview",
    params(("id" = uuid::Uuid, Path, description = "The id of the preview")),
    responses((status = 200, description = "The preview, which is over", body = Success<Preview>)))]
pub(crate) async fn stop(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<EventId>,
) -> ApiResult<impl IntoResponse> {
    Ok(Json(Success::new(shape(shared.previews.stop(&caller.call, id.uuid()).await?))))
}
