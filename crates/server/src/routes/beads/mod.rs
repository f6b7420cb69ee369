//! Beads: units of work in the repositories of projects.

pub(crate) mod exchange;
pub(crate) mod memories;
pub(crate) mod moves;
pub(crate) mod shape;

use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use godel_api::{
    Bead, BeadClaim, BeadDetail, BeadLogEntry, BeadPatch, ClaimBead, NewBead, Page, ReadyBeads,
    Success, WaitingBead,
};
use godel_app::beads::{self, Listing as Wanted, Placed};
use godel_beads::ops::{self, Changes, DEFAULT_LEASE_SECS};
use godel_beads::{self as shelf, Asker, Filter, Query as Asked, Row, Sort};
use godel_model::{Invalid, ProjectId, code};
use http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::list::{Listing, LongListQuery};
use crate::error::ApiResult;
use crate::etag::Tags;
use crate::extract::{IfTag, JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

const LOG_MAX: usize = 200;
const READY_DEFAULT: usize = 50;
const READY_MAX: usize = 500;

/// Which project is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct InProject {
    /// The project, if an id alone is not enough.
    project_id: Option<Uuid>,
}

impl InProject {
    pub(crate) fn id(&self) -> Option<ProjectId> {
        self.project_id.map(ProjectId::from_uuid)
    }
}

/// What is asked of the ready queue.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadyQuery {
    /// Of this project only.
    project_id: Option<Uuid>,
    /// How many at most: 1 to 500, 50 unless given.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// Whether to tell what keeps the others.
    #[serde(default)]
    explain: bool,
}

/// Where a page of beads ends, as a cursor carries it.
#[derive(Debug)]
struct Mark(Row);

impl FromStr for Mark {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refuse = || Invalid::new(code::INVALID_CURSOR, "the cursor is not one of this list");
        Row::at_mark(text).map(Self).ok_or_else(refuse)
    }
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.mark())
    }
}

pub(crate) fn answer(status: StatusCode, placed: Placed<shelf::Bead>) -> Response {
    let Placed { project, value, tag } = placed;
    let body = Json(Success::new(shape::bead(project, value)));
    match tag {
        Some(tag) => (status, [(header::ETAG, format!("\"{tag}\""))], body).into_response(),
        None => (status, body).into_response(),
    }
}

/// List beads
///
/// Of all projects in one list. Sorted by `priority` (then age), `-createdAt` or `-updatedAt`. The
/// filter takes `projectId`, `status`, `type`, `priority`, `label`, `agent`, `parent`, `convoy`,
/// `search` and `query`; without a status all but `done` are listed. A `query` is what people type, such
/// as `status:open agent:none blocked:no updated:<2d login`: all words must hold, of several values of a
/// field (`status:open,review`) any will do, a minus before a word turns it around.
#[utoipa::path(get, path = "/beads", tag = "beads", operation_id = "listBeads", params(LongListQuery),
    responses((status = 200, description = "A page of beads", body = Success<Page<Bead>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<LongListQuery>,
) -> ApiResult<impl IntoResponse> {
    let sort = match query.sort_field() {
        Some("createdAt") => Sort::Created,
        Some("updatedAt") => Sort::Updated,
        _ => Sort::Priority,
    };
    let mut listing: Listing<Mark> = match sort {
        Sort::Priority => query.check("beads", "priority", false)?,
        Sort::Created => query.check("beads", "createdAt", true)?,
        Sort::Updated => query.check("beads", "updatedAt", true)?,
    };
    match sort {
        Sort::Priority => listing.ascending_only("priority")?,
        Sort::Created => listing.descending_only("createdAt")?,
        Sort::Updated => listing.descending_only("updatedAt")?,
    }
    let project = listing.take_one("projectId")?.map(|id| id.parse()).transpose()?;
    let asker = Asker { name: &caller.call.actor.name, now: shared.app.clock.now() };
    let filter = filter_of(&mut listing, asker)?;
    listing.no_more_fields()?;
    let after = listing.from.take().map(|mark| mark.0);
    let wanted = Wanted { project, filter, sort, limit: listing.limit, after };
    let (found, _, last) = beads::beads(&shared.app, &caller.call, wanted).await?;
    let items: Vec<Bead> =
        found.into_iter().map(|placed| shape::bead(placed.project, placed.value)).collect();
    Ok(Json(Success::new(listing.page(items, last.map(Mark)))))
}

fn filter_of(listing: &mut Listing<Mark>, asker: Asker<'_>) -> ApiResult<Filter> {
    fn words<T: FromStr<Err = Invalid>>(texts: Vec<String>) -> Result<Vec<T>, Invalid> {
        texts.iter().map(|text| text.parse()).collect()
    }
    let query = listing.take_one("query")?.map(|text| Asked::read(&text, asker)).transpose()?;
    Ok(Filter {
        query,
        statuses: words(listing.take_all("status"))?,
        kinds: listing.take_all("type"),
        priorities: words(listing.take_all("priority"))?,
        labels: listing.take_all("label"),
        agent: listing.take_one("agent")?,
        parent: listing.take_one("parent")?,
        convoy: listing.take_one("convoy")?,
        words: listing.take_one("search")?.filter(|words| !words.trim().is_empty()),
        deleted: false,
    })
}

/// Create a bead
#[utoipa::path(post, path = "/beads", tag = "beads", operation_id = "createBead",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes a repeated request harmless")),
    request_body = NewBead,
    responses((status = 201, description = "The bead", body = Success<Bead>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    mut caller: Caller,
    body: JsonBody<NewBead>,
) -> ApiResult<Response> {
    caller.call.once = body.once;
    let new = body.value;
    let project = new.project_id.map(ProjectId::from_uuid);
    let new = ops::NewBead {
        title: new.title,
        kind: new.kind.map(|kind| kind.parse()).transpose()?,
        priority: new.priority.map(|priority| priority.parse()).transpose()?,
        description: new.description,
        acceptance: new.acceptance,
        labels: new.labels,
        parent: new.parent_bead,
        blocked_by: new.blocked_by,
        blocks: new.blocks,
        estimate: new.estimate,
        budget: new.budget,
        metadata: new.metadata,
        id: None,
    };
    let made = beads::create(&shared.app, &caller.call, project, new).await?;
    let place = [(header::LOCATION, format!("/api/v1/beads/{}", made.value.id))];
    Ok((place, answer(StatusCode::CREATED, made)).into_response())
}

/// List what is ready
///
/// By priority, then age; with `explain=true` also what keeps the others.
#[utoipa::path(get, path = "/beads/ready", tag = "beads", operation_id = "readyBeads", params(ReadyQuery),
    responses((status = 200, description = "What can be begun now", body = Success<ReadyBeads>)))]
pub(crate) async fn ready(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ReadyQuery>,
) -> ApiResult<impl IntoResponse> {
    let limit = query.limit.unwrap_or(READY_DEFAULT);
    if !(1..=READY_MAX).contains(&limit) {
        let why = format!("limit must be 1 to {READY_MAX}");
        return Err(Invalid::new(code::INVALID_QUERY, why).into());
    }
    let project = query.project_id.map(ProjectId::from_uuid);
    let (app, call) = (&shared.app, &caller.call);
    let queue = beads::ready(app, call, project, (limit, query.explain)).await?;
    let items = queue.ready.into_iter().map(shape::placed_row).collect();
    let waiting = queue.waiting.into_iter().map(|placed| WaitingBead {
        reasons: placed.value.reasons.iter().map(|reason| serde_json::json!(reason)).collect(),
        row: shape::row(placed.project, placed.value.row),
    });
    Ok(Json(Success::new(ReadyBeads { items, waiting: waiting.collect() })))
}

/// Claim what is ready first
#[utoipa::path(post, path = "/beads/claim", tag = "beads", operation_id = "claimNextBead", params(InProject),
    request_body = ClaimBead,
    responses((status = 200, description = "The claim", body = Success<BeadClaim>)))]
pub(crate) async fn claim_next(
    State(shared): State<Shared>,
    caller: Caller,
    Query(project): Query<InProject>,
    body: JsonBody<ClaimBead>,
) -> ApiResult<impl IntoResponse> {
    let wanted = (body.value.agent_id, body.value.lease_secs.unwrap_or(DEFAULT_LEASE_SECS));
    let claim = beads::claim(&shared.app, &caller.call, project.id(), None, wanted).await?;
    Ok(Json(Success::new(moves::claimed(claim))))
}

/// Get a bead
///
/// Any beginning of the id that only one bead has will do. The `ETag` changes with every change.
#[utoipa::path(get, path = "/beads/{id}", tag = "beads", operation_id = "getBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200),
        ("If-None-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    responses((status = 200, description = "The bead", body = Success<BeadDetail>),
        (status = 304, description = "Unchanged")))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let found = beads::get(&shared.app, &caller.call, project.id(), &id).await?;
    let tag = found.tag.unwrap_or_default();
    let etag = [(header::ETAG, format!("\"{tag}\""))];
    let known = Tags::of(&headers, &header::IF_NONE_MATCH).unwrap_or_default();
    // What git says of commits changes though the bead does not.
    let settled = found.value.1.is_empty();
    if settled && known.is_some_and(|known| known.name_about(&tag)) {
        return Ok((StatusCode::NOT_MODIFIED, etag).into_response());
    }
    let (bead, commits) = found.value;
    let checked_commits = commits.into_iter().map(shape::commit).collect();
    let detail = BeadDetail { bead: shape::bead(found.project, bead), checked_commits };
    Ok((etag, Json(Success::new(detail))).into_response())
}

/// Change a bead
///
/// With `If-Match` the change is refused if somebody else changed the bead in between.
#[utoipa::path(patch, path = "/beads/{id}", tag = "beads", operation_id = "updateBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200),
        ("If-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    request_body = BeadPatch,
    responses((status = 200, description = "The bead after the change", body = Success<Bead>)))]
#[expect(clippy::too_many_arguments, reason = "each is a part of the request")]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    IfTag(if_match): IfTag,
    body: JsonBody<BeadPatch>,
) -> ApiResult<Response> {
    let changes = changes(body.value, if_match, shared.app.clock.now())?;
    let bead = beads::update(&shared.app, &caller.call, project.id(), &id, changes).await?;
    Ok(answer(StatusCode::OK, bead))
}

/// Replace what a bead says
///
/// What is left out is removed where it can be; title, type and priority stay.
#[utoipa::path(put, path = "/beads/{id}", tag = "beads", operation_id = "replaceBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200),
        ("If-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    request_body = BeadPatch,
    responses((status = 200, description = "The bead after the change", body = Success<Bead>)))]
#[expect(clippy::too_many_arguments, reason = "each is a part of the request")]
pub(crate) async fn replace(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    IfTag(if_match): IfTag,
    body: JsonBody<BeadPatch>,
) -> ApiResult<Response> {
    let (mut said, now) = (body.value, shared.app.clock.now());
    // A bead as it was read may have been put off until a time that is over; it is not put off any more.
    let is_over = |until: &str| until.parse::<Timestamp>().is_ok_and(|until| until <= now);
    said.defer = said.defer.filter(|until| !is_over(until));
    let mut changes = changes(said, if_match, now)?;
    for text in
        [&mut changes.description, &mut changes.acceptance, &mut changes.rank, &mut changes.parent]
    {
        text.get_or_insert_default();
    }
    changes.estimate.get_or_insert(0);
    changes.budget.get_or_insert(0);
    changes.defer.get_or_insert(None);
    changes.labels.get_or_insert_default();
    changes.metadata_whole = true;
    let bead = beads::update(&shared.app, &caller.call, project.id(), &id, changes).await?;
    Ok(answer(StatusCode::OK, bead))
}

fn changes(patch: BeadPatch, if_match: Option<Vec<String>>, now: Timestamp) -> ApiResult<Changes> {
    Ok(Changes {
        title: patch.title,
        kind: patch.kind.map(|kind| kind.parse()).transpose()?,
        priority: patch.priority.map(|priority| priority.parse()).transpose()?,
        description: patch.description,
        acceptance: patch.acceptance,
        rank: patch.rank,
        estimate: patch.estimate,
        budget: patch.budget,
        labels: patch.labels,
        metadata: patch.metadata,
        metadata_whole: false,
        parent: patch.parent_bead,
        defer: patch.defer.map(|until| put_off(&until, now)).transpose()?,
        no_worktree: false,
        if_match,
    })
}

/// Reads until when a bead is put off; an empty text means that it is not.
fn put_off(until: &str, now: Timestamp) -> ApiResult<Option<Timestamp>> {
    if until.is_empty() {
        return Ok(None);
    }
    let later = until.parse::<Timestamp>().ok().filter(|until| *until > now);
    let wrong = || {
        let why = "a bead is put off until a time that is still to come";
        Invalid::new(code::INVALID_FIELD, why)
            .with_field("defer")
            .with_hint("write it as 2030-01-31T08:00:00Z")
    };
    Ok(Some(later.ok_or_else(wrong)?))
}

/// Delete a bead
#[utoipa::path(delete, path = "/beads/{id}", tag = "beads", operation_id = "deleteBead", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200),
        ("If-Match" = Option<String>, Header, description = "The ETag of what the caller has")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
    IfTag(if_match): IfTag,
) -> ApiResult<StatusCode> {
    beads::delete(&shared.app, &caller.call, project.id(), &id, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read the diary of a bead
///
/// What happened to it, the newest first, as the commits of the state branch tell it.
#[utoipa::path(get, path = "/beads/{id}/log", tag = "beads", operation_id = "beadLog", params(InProject,
        ("id" = String, Path, description = "The id of the bead, or the beginning of it", max_length = 200)),
    responses((status = 200, description = "The last 200 entries", body = Success<Vec<BeadLogEntry>>)))]
pub(crate) async fn log(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    Query(project): Query<InProject>,
) -> ApiResult<impl IntoResponse> {
    let entries = beads::log(&shared.app, &caller.call, project.id(), &id, LOG_MAX).await?;
    let entries = entries.into_iter().map(|entry| BeadLogEntry {
        commit: entry.commit,
        at: entry.at,
        event: entry.event,
        by: entry.by,
        line: entry.line,
    });
    Ok(Json(Success::new(entries.collect::<Vec<_>>())))
}
