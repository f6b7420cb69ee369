//! Pictures that a bead changes.

use axum::extract::State;
use axum::response::IntoResponse;
use godel_model::ProjectId;
use godel_reviews::{self as reviews, WantPicture};
use http::header;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::unknown;
use crate::error::ApiResult;
use crate::extract::{Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// Whoever opens a picture by itself gets a picture, whatever is in it.
const POLICY: &str = "default-src 'none'; sandbox";

/// Which picture is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct PictureQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// The file, by its name now, or by its only one.
    path: String,
    /// `base`: as it was; `head`: as it is, unless given.
    side: Option<String>,
    /// Only if its content still has this id, as the diff tells it.
    content: Option<String>,
}

/// Read a picture that a bead changes
///
/// A PNG, JPEG, GIF or WebP file of at most 5 MiB, from the commit where the work began or where it is. A file that
/// is not what its name says is refused.
#[utoipa::path(get, path = "/reviews/{id}/file", tag = "reviews", operation_id = "getReviewFile",
    params(("id" = String, Path, description = "The id of the bead"), PictureQuery),
    responses((status = 200, description = "The picture", content_type = "image/*", body = Vec<u8>)))]
pub(crate) async fn file(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<PictureQuery>,
) -> ApiResult<impl IntoResponse> {
    let PictureQuery { project_id, path, side, content } = query;
    let before = match side.as_deref() {
        None | Some("head") => false,
        Some("base") => true,
        Some(_) => return Err(unknown("side", "base or head")),
    };
    let which = (project_id.map(ProjectId::from_uuid), name.as_str());
    let want = WantPicture { path, before, content };
    let found = reviews::picture(&shared.reviews, &caller.call, which, want).await?;
    let headers = [(header::CONTENT_TYPE, found.kind), (header::CONTENT_SECURITY_POLICY, POLICY)];
    Ok((headers, found.bytes))
}
