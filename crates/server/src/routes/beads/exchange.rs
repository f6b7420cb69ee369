//! Beads for other tools, and from them: the lines of bd.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{ImportedBead, ImportedBeads, ImportedField, Success};
use godel_app::beads;
use godel_model::{ProjectId, code};
use http::{HeaderMap, header};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::InProject;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Query, read_body};
use crate::guard::Caller;
use crate::state::Shared;

/// The largest file that is imported; `godel import beads` takes larger ones.
const IMPORT_MAX_BYTES: usize = 32 * 1024 * 1024;
const LINES: &str = "application/x-ndjson";
/// What tools that know nothing of lines of JSON call them.
const PLAIN: &str = "text/plain";

/// Where beads go, and whether they do.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct Into {
    /// The project, if there are several.
    project_id: Option<Uuid>,
    /// Whether only to tell what would change.
    #[serde(default)]
    dry_run: bool,
}

/// Export beads
///
/// All beads of a project as lines of JSON, as bd writes them. What came from such a file and did not change is
/// the same byte for byte.
#[utoipa::path(get, path = "/beads/export", tag = "beads", operation_id = "exportBeads", params(InProject),
    responses((status = 200, description = "The beads, a line each", body = String, content_type = "application/x-ndjson")))]
pub(crate) async fn export(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let found = beads::export(&shared.app, &caller.call, query.id()).await?;
    let headers = [
        (header::CONTENT_TYPE, LINES),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"beads.jsonl\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, found.value))
}

/// Import beads
///
/// The body is a file of bd, or of `GET /beads/export`: a line of JSON for each bead. All of it is taken, or nothing;
/// with `dryRun=true` nothing is, and the answer tells what would change.
#[utoipa::path(post, path = "/beads/import", tag = "beads", operation_id = "importBeads", params(Into),
    request_body(content((String = "application/x-ndjson"), (String = "text/plain"))),
    responses((status = 200, description = "What changed", body = Success<ImportedBeads>)))]
pub(crate) async fn import(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<Into>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if ![LINES, PLAIN].iter().any(|known| essence.eq_ignore_ascii_case(known)) {
        return Err(ApiError::new(code::UNSUPPORTED_MEDIA_TYPE, "the body must be lines of JSON")
            .with_hint(format!("send the header `Content-Type: {LINES}`")));
    }
    let bytes = read_body(body, IMPORT_MAX_BYTES).await?;
    let text = String::from_utf8(bytes)
        .map_err(|_| ApiError::new(code::INVALID_JSON, "the body is not UTF-8"))?;
    let (project, dry_run) = (query.project_id.map(ProjectId::from_uuid), query.dry_run);
    let done = beads::import(&shared.app, &caller.call, project, (text, dry_run)).await?;
    let field = |field: godel_beads::ImportedField| ImportedField {
        name: field.name,
        before: field.before,
        after: field.after,
    };
    let shape = |change: godel_beads::ImportedChange| ImportedBead {
        id: change.id,
        title: change.title,
        is_new: change.is_new,
        fields: change.fields.into_iter().map(field).collect(),
    };
    Ok(Json(Success::new(ImportedBeads {
        project_id: done.project.uuid(),
        dry_run,
        created: done.value.created,
        updated: done.value.updated,
        unchanged: done.value.unchanged,
        changes: done.value.changes.into_iter().map(shape).collect(),
    })))
}
