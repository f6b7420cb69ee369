//! The event log.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use godel_api::{Event, NewEvent, Page, Success};
use godel_app::events::{self, Publication, Window};
use godel_model::{self as model, EventFilter, EventId, Metadata, Payload, Seq};
use godel_store::{Direction, Logged};
use http::StatusCode;
use serde_json::value::RawValue;

use super::list::{ListQuery, Listing};
use crate::error::{ApiError, ApiResult};
use crate::extract::{Id, JsonBody, Query};
use crate::guard::Caller;
use crate::state::Shared;
use crate::ws::render_event;

/// List events
///
/// Newest first unless `sort=sequence`. The filter takes `type` (a pattern such as `agent:*`, or a
/// list of them), `source`, `correlationId`, `causationId`, `actor`, `traceId`, and names of
/// references such as `projectId`. A page may have fewer items than asked for, even none, while
/// `hasMore` is true: a rare match does not make one request walk the whole log.
#[utoipa::path(get, path = "/events", tag = "events", operation_id = "listEvents", params(ListQuery),
    responses((status = 200, description = "A page of the log", body = Success<Page<Event>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<Response> {
    let mut listing: Listing<i64> = query.check("events", "sequence", true)?;
    let filter = filter_of(&mut listing)?;
    if filter.is_all() && listing.descending && listing.from.is_none() {
        let newest = events::newest(&shared.app, &caller.call, listing.limit).await?;
        if let Some(newest) = newest {
            return Ok(recent_page(&listing, &newest));
        }
    }
    let (direction, open_end) =
        if listing.descending { (Direction::Backward, i64::MAX) } else { (Direction::Forward, 0) };
    let from = Seq(listing.from.unwrap_or(open_end));
    let window = Window { filter, direction, from, limit: listing.limit };
    let page = events::list(&shared.app, &caller.call, window).await?;
    let last = page.more.then_some(page.reached.0);
    Ok(Json(Success::new(listing.page(page.events, last))).into_response())
}

/// Writes the first page from memory, where each event is rendered already.
fn recent_page(listing: &Listing<i64>, newest: &[Arc<Logged>]) -> Response {
    let rendered: Vec<&str> = newest.iter().map(|logged| logged.rendered(render_event)).collect();
    let last = newest.last().map(|logged| logged.event.seq.0);
    let pagination = serde_json::to_string(&listing.pagination(last)).unwrap_or_default();
    let length: usize = rendered.iter().map(|text| text.len() + 1).sum();
    let mut body = String::with_capacity(length + pagination.len() + 64);
    body.push_str(r#"{"success":true,"data":{"items":["#);
    for (index, text) in rendered.iter().enumerate() {
        body.push_str(if index == 0 { "" } else { "," });
        body.push_str(text);
    }
    body.push_str(r#"],"pagination":"#);
    body.push_str(&pagination);
    body.push_str("}}");
    ([(http::header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn filter_of(listing: &mut Listing<i64>) -> ApiResult<EventFilter> {
    let patterns = listing.filter.remove("type").unwrap_or_default();
    let patterns = patterns.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let names: Vec<String> = listing.filter.keys().cloned().collect();
    let mut fields = BTreeMap::new();
    for name in names {
        if let Some(value) = listing.take_one(&name)? {
            fields.insert(name, value);
        }
    }
    Ok(EventFilter::new(patterns, fields)?)
}

/// Publish an event
///
/// The type must not be one of Godel's own (`auth`, `key`, `project`, `server`, `system`,
/// `tenant`). With an `Idempotency-Key` header the event is recorded once, however often the
/// request is repeated. When this returns, the event is on disk.
#[utoipa::path(post, path = "/events", tag = "events", operation_id = "publishEvent",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes a repeated request harmless")),
    request_body = NewEvent,
    responses((status = 201, description = "The event at its position", body = Success<Event>)))]
pub(crate) async fn publish(
    State(shared): State<Shared>,
    mut caller: Caller,
    body: JsonBody<NewEvent>,
) -> ApiResult<impl IntoResponse> {
    caller.call.once = body.once;
    let publication = parse(body.value)?;
    let event = events::publish(&shared.app, &caller.call, publication).await?;
    let place = format!("/api/v1/events/{}", event.id);
    Ok((StatusCode::CREATED, [(http::header::LOCATION, place)], Json(Success::new(event))))
}

fn parse(event: NewEvent) -> ApiResult<Publication> {
    let empty = || RawValue::from_string("{}".to_owned());
    let raw = event
        .payload
        .map_or_else(empty, Ok)
        .map_err(|error| crate::extract::refuse_json(&error))?;
    let metadata = event.metadata.unwrap_or_default();
    if event.instance.as_ref().is_some_and(|text| text.chars().count() > 200 || text.contains('\0'))
    {
        let why = "instance must have at most 200 characters";
        return Err(ApiError::new(model::code::INVALID_FIELD, why));
    }
    Ok(Publication {
        kind: event.kind.parse()?,
        payload: Payload::from_raw(&raw)?,
        metadata: Metadata {
            correlation_id: metadata.correlation_id,
            causation_id: metadata.causation_id.map(EventId::from),
            refs: metadata.refs,
            ..Metadata::default()
        },
        instance: event.instance,
    })
}

/// Get an event
#[utoipa::path(get, path = "/events/{id}", tag = "events", operation_id = "getEvent",
    params(("id" = uuid::Uuid, Path, description = "The id of the event")),
    responses((status = 200, description = "The event", body = Success<Event>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<EventId>,
) -> ApiResult<impl IntoResponse> {
    Ok(Json(Success::new(events::get(&shared.app, &caller.call, id).await?)))
}
