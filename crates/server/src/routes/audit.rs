//! The record of who did what.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{AuditEntry, AuditVerdict, Page, Success};
use godel_app::audit;
use godel_model::{AuditResult, Invalid, code};

use super::list::{ListQuery, Listing};
use crate::anchors;
use crate::error::ApiResult;
use crate::extract::Query;
use crate::guard::Caller;
use crate::state::Shared;

/// Read the record of acts
///
/// Newest first. The filter takes `userId`, `action` (with `*` at its end for all that begin so),
/// `result`, `since` and `until`.
#[utoipa::path(get, path = "/audit", tag = "audit", operation_id = "listAudit", params(ListQuery),
    responses((status = 200, description = "A page of acts", body = Success<Page<AuditEntry>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<i64> = query.check("audit", "seq", true)?;
    listing.descending_only("seq")?;
    let wrong = |what: &str| Invalid::new(code::INVALID_QUERY, format!("{what} is not understood"));
    let time = |text: Option<String>, what: &str| {
        text.map(|text| text.parse().map_err(|_| wrong(what))).transpose()
    };
    let query = audit::Query {
        user: listing.take_one("userId")?.map(|id| id.parse()).transpose()?,
        action: listing.take_one("action")?,
        result: listing
            .take_one("result")?
            .map(|name| AuditResult::from_name(&name).ok_or_else(|| wrong("result")))
            .transpose()?,
        since: time(listing.take_one("since")?, "since")?,
        until: time(listing.take_one("until")?, "until")?,
        before: listing.from,
        limit: listing.limit,
    };
    listing.no_more_fields()?;
    let page = audit::query(&shared.app, &caller.call, query).await?;
    let items: Vec<AuditEntry> = page.rows.into_iter().map(|stored| stored.row.into()).collect();
    Ok(Json(Success::new(listing.page(items, page.next))))
}

/// Check the record of acts
///
/// Recomputes every hash of the chain. Tells the first place at which something was altered.
#[utoipa::path(get, path = "/audit/verify", tag = "audit", operation_id = "verifyAudit",
    responses((status = 200, description = "What was found", body = Success<AuditVerdict>)))]
pub(crate) async fn verify(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let anchors = anchors::read(&shared.data_dir);
    let verdict = audit::verify(&shared.app, &caller.call, &anchors).await?;
    Ok(Json(Success::new(AuditVerdict {
        whole: verdict.broken.is_none(),
        rows: verdict.rows,
        from: verdict.from,
        upto: verdict.upto,
        broken_at: verdict.broken.as_ref().map(|broken| broken.seq),
        why: verdict.broken.map(|broken| broken.why),
    })))
}
