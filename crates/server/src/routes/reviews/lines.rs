//! Lines of a file outside of the hunks.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{ReviewFileLine, ReviewFileLines, Success};
use godel_git::{EXCERPT_MAX_LINES, Spoken};
use godel_model::ProjectId;
use godel_reviews::{self as reviews, FileLines, Side, WantLines};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::error::ApiResult;
use crate::extract::{Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// Which lines of a file are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct LinesQuery {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
    /// The file, by its name before or now; one that the change is about.
    path: String,
    /// `old`: as it was; `new`: as it is, unless given.
    side: Option<String>,
    /// The first line; 1 unless given.
    #[param(minimum = 1, default = 1)]
    from: Option<u32>,
    /// The last line; 1000 in all at most, and so many unless given.
    #[param(minimum = 1)]
    to: Option<u32>,
    /// Only if the work is still at this commit.
    commit: Option<String>,
}

/// Read lines of a file that a bead changes
///
/// From the commit where the work began or where it is, also those that no hunk shows.
#[utoipa::path(get, path = "/reviews/{id}/lines", tag = "reviews", operation_id = "getReviewLines",
    params(("id" = String, Path, description = "The id of the bead"), LinesQuery),
    responses((status = 200, description = "The lines", body = Success<ReviewFileLines>)))]
pub(crate) async fn lines(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    Query(query): Query<LinesQuery>,
) -> ApiResult<impl IntoResponse> {
    let LinesQuery { project_id, path, side, from, to, commit } = query;
    let side = super::side_of(side.as_deref())?;
    let from = from.unwrap_or(1);
    let to = to.unwrap_or_else(|| from.saturating_add(EXCERPT_MAX_LINES - 1));
    let which = (project_id.map(ProjectId::from_uuid), name.as_str());
    let want = WantLines { path, side, span: (from, to), commit };
    let found = reviews::lines(&shared.reviews, &caller.call, which, want).await?;
    Ok(Json(Success::new(shape(found, side, (from, to)))))
}

fn shape(found: FileLines, side: Side, (from, to): (u32, u32)) -> ReviewFileLines {
    let FileLines { path, commit, excerpt } = found;
    let next = excerpt.lines.last().map_or(from, |line| line.number.saturating_add(1));
    let line = |line: Spoken| {
        let Spoken { number, text, lossy, no_newline } = line;
        ReviewFileLine { number, text, lossy, no_newline }
    };
    ReviewFileLines {
        path,
        side: if side == Side::Old { "old" } else { "new" }.to_owned(),
        commit,
        total: excerpt.total,
        lines: excerpt.lines.into_iter().map(line).collect(),
        next: (next <= to.min(excerpt.total)).then_some(next),
    }
}
