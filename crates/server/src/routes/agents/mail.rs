//! Mail, what needs a person, and roles.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{AgentRole, AnswerNotice, Letter, NewLetter, Notice, NoticeCount, Page, Success};
use godel_board::inbox;
use godel_fleet::{mail, roles};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::list::{ListQuery, Listing};
use super::shape;
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// List letters
///
/// Those to the caller, or with the filter `agent` those to an agent; the newest first.
#[utoipa::path(get, path = "/mail", tag = "agents", operation_id = "listMail", params(ListQuery),
    responses((status = 200, description = "A page of letters", body = Success<Page<Letter>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<Uuid> = query.check("mail", "sentAt", true)?;
    listing.descending_only("sentAt")?;
    let agent = listing.take_one("agent")?;
    listing.no_more_fields()?;
    let limit = listing.limit;
    let mut found =
        mail::list(&shared.fleet, &caller.call, agent, (listing.from, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id);
    let items: Vec<Letter> = found.into_iter().map(shape::letter).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Send a letter
///
/// To an agent, by its name or id, or to a person by name.
#[utoipa::path(post, path = "/mail", tag = "agents", operation_id = "sendMail",
    request_body = NewLetter,
    responses((status = 201, description = "The letter", body = Success<Letter>)))]
pub(crate) async fn send(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewLetter>,
) -> ApiResult<impl IntoResponse> {
    let NewLetter { to, text } = body.value;
    let sent = mail::send(&shared.fleet, &caller.call, &to, text).await?;
    Ok((StatusCode::CREATED, Json(Success::new(shape::letter(sent)))))
}

/// List what needs a person
///
/// Questions and failures of agents, approvals of workflows, budgets, dead letters; the newest first. With the
/// filter `state` = `all` also what was answered.
#[utoipa::path(get, path = "/inbox", tag = "agents", operation_id = "listInbox", params(ListQuery),
    responses((status = 200, description = "A page of notices", body = Success<Page<Notice>>)))]
pub(crate) async fn inbox(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<Uuid> = query.check("inbox", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    let all = listing.take_one("state")?.is_some_and(|state| state == "all");
    listing.no_more_fields()?;
    let limit = listing.limit;
    let mut found =
        inbox::list(&shared.fleet, &caller.call, all, (listing.from, limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id);
    let items: Vec<Notice> = found.into_iter().map(shape::notice).collect();
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Count what needs a person
///
/// As many as `GET /inbox` lists in all its pages.
#[utoipa::path(get, path = "/inbox/count", tag = "agents", operation_id = "countInbox",
    responses((status = 200, description = "The count", body = Success<NoticeCount>)))]
pub(crate) async fn count(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let open = inbox::count(&shared.fleet, &caller.call).await?;
    Ok(Json(Success::new(NoticeCount { open })))
}

/// Answer a notice
///
/// Without an answer the agent goes on as it thinks best, and what needs no answer is put aside.
#[utoipa::path(post, path = "/inbox/{id}/answer", tag = "agents", operation_id = "answerNotice",
    params(("id" = Uuid, Path, description = "The id of the notice")),
    request_body = AnswerNotice,
    responses((status = 200, description = "The notice", body = Success<Notice>)))]
pub(crate) async fn answer(
    State(shared): State<Shared>,
    caller: Caller,
    Word(id): Word,
    body: JsonBody<AnswerNotice>,
) -> ApiResult<impl IntoResponse> {
    let id: godel_model::EventId = id.parse()?;
    let done = inbox::answer(&shared.fleet, &caller.call, id.uuid(), body.value.answer).await?;
    Ok(Json(Success::new(shape::notice(done))))
}

/// All roles.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentRoles {
    /// The roles.
    items: Vec<AgentRole>,
}

fn role(found: roles::Role) -> AgentRole {
    let built_in = roles::is_built_in(&found.name);
    let roles::Role { name, description, prompt, harness, model, sandbox, .. } = found;
    AgentRole { name, description, built_in, prompt, harness, model, sandbox }
}

/// List roles
///
/// Those that come with Godel, and those of the projects that the caller works in.
#[utoipa::path(get, path = "/roles", tag = "agents", operation_id = "listRoles",
    responses((status = 200, description = "The roles", body = Success<AgentRoles>)))]
pub(crate) async fn roles(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = roles::all(&shared.fleet, &caller.call).await?;
    Ok(Json(Success::new(AgentRoles { items: found.into_iter().map(role).collect() })))
}

/// Get a role
#[utoipa::path(get, path = "/roles/{name}", tag = "agents", operation_id = "getRole",
    params(("name" = String, Path, description = "The name of the role")),
    responses((status = 200, description = "The role", body = Success<AgentRole>)))]
pub(crate) async fn one_role(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = roles::named(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(role(found))))
}
