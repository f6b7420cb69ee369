//! What an agent asks for itself, with its own token.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::response::IntoResponse;
use godel_agents::grant::Grant;
use godel_api::{
    Made, NewLetter, OwnAgent, OwnAnswer, OwnBead, OwnDone, OwnMail, OwnQuestion, OwnSaid, OwnSelf,
    OwnTodos, OwnTool, OwnTools, OwnUse, OwnVerdict, Success,
};
use godel_app::auth;
use godel_app::spend::{self, Shown};
use godel_fleet::own;
use godel_model::{AgentToken, Purpose};
use http::StatusCode;
use http::header::AUTHORIZATION;
use http::request::Parts;
use serde::Deserialize;
use utoipa::IntoParams;

use super::shape;
use crate::error::{ApiError, ApiResult};
use crate::extract::{JsonBody, Query, Word};
use crate::guard;
use crate::state::Shared;

/// The longest wait for an answer in one request.
const WAIT_MAX_SECS: u64 = 25;

/// The agent whose token was shown.
pub(crate) struct Me(Arc<Purpose>);

impl FromRequestParts<Shared> for Me {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> ApiResult<Self> {
        let shown = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = shown.and_then(|text| text.strip_prefix("Bearer "));
        let token: Option<AgentToken> = token.and_then(|text| text.trim().parse().ok());
        let found = match token {
            Some(token) => spend::who(&shared.app, &Shown::Agent(token)).await,
            None => Err(godel_app::Error::Unauthorized),
        };
        match found {
            // Whoever tries tokens is slowed down here as everywhere.
            Err(godel_app::Error::Unauthorized) if shown.is_some() => {
                let origin = guard::origin(parts);
                Err(auth::refused(&shared.app, &origin, "token").await.into())
            }
            other => Ok(Self(Arc::clone(&other?.purpose))),
        }
    }
}

/// Show an agent itself
#[utoipa::path(get, path = "/self", tag = "self", operation_id = "getSelf",
    responses((status = 200, description = "The agent", body = Success<OwnSelf>)))]
pub(crate) async fn show(State(shared): State<Shared>, Me(me): Me) -> ApiResult<impl IntoResponse> {
    let found = own::show(&shared.fleet, &me).await?;
    let agent = found.agent;
    let bead = found.bead.map(|(title, description, status)| OwnBead {
        id: agent.bead.clone(),
        title,
        description,
        status,
    });
    let todos = agent.todos.iter().map(shape::todo).collect();
    let unread = u32::try_from(found.unread).unwrap_or(u32::MAX);
    let state = agent.life.as_str().to_owned();
    let shown = OwnAgent { id: agent.id.uuid(), name: agent.label, role: agent.role, state };
    Ok(Json(Success::new(OwnSelf { agent: shown, bead, task: agent.task, todos, unread })))
}

/// Write the own list of things to do
#[utoipa::path(put, path = "/self/todos", tag = "self", operation_id = "putOwnTodos",
    request_body = OwnTodos, responses((status = 204, description = "It is written")))]
pub(crate) async fn todos(
    State(shared): State<Shared>,
    Me(me): Me,
    body: JsonBody<OwnTodos>,
) -> ApiResult<StatusCode> {
    let todos = shape::read_todos(body.value.todos)?;
    own::todos(&shared.fleet, &me, todos).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read the own mail
///
/// What was not read before; it counts as read then.
#[utoipa::path(get, path = "/self/mail", tag = "self", operation_id = "readOwnMail",
    responses((status = 200, description = "Letters", body = Success<OwnMail>)))]
pub(crate) async fn mail(State(shared): State<Shared>, Me(me): Me) -> ApiResult<impl IntoResponse> {
    let found = own::letters(&shared.fleet, &me).await?;
    let mail = found.into_iter().map(shape::letter).collect();
    Ok(Json(Success::new(OwnMail { mail })))
}

/// Send a letter as an agent
#[utoipa::path(post, path = "/self/mail", tag = "self", operation_id = "sendOwnMail",
    request_body = NewLetter,
    responses((status = 201, description = "The letter", body = Success<Made>)))]
pub(crate) async fn send(
    State(shared): State<Shared>,
    Me(me): Me,
    body: JsonBody<NewLetter>,
) -> ApiResult<impl IntoResponse> {
    let NewLetter { to, text } = body.value;
    let sent = own::send(&shared.fleet, &me, &to, text).await?;
    Ok((StatusCode::CREATED, Json(Success::new(Made { id: sent.id }))))
}

/// Ask a person as an agent
#[utoipa::path(post, path = "/self/questions", tag = "self", operation_id = "askPerson",
    request_body = OwnQuestion,
    responses((status = 201, description = "The question", body = Success<Made>)))]
pub(crate) async fn ask(
    State(shared): State<Shared>,
    Me(me): Me,
    body: JsonBody<OwnQuestion>,
) -> ApiResult<impl IntoResponse> {
    let OwnQuestion { text, choices } = body.value;
    let asked = own::ask(&shared.fleet, &me, (text, choices)).await?;
    Ok((StatusCode::CREATED, Json(Success::new(Made { id: asked.id }))))
}

/// How long to wait for an answer.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// How many seconds to wait: at most 25.
    wait_seconds: Option<u64>,
}

/// Wait for an answer
#[utoipa::path(get, path = "/self/questions/{id}", tag = "self", operation_id = "awaitAnswer",
    params(("id" = uuid::Uuid, Path, description = "The id of the question"), WaitQuery),
    responses((status = 200, description = "How it stands", body = Success<OwnAnswer>)))]
pub(crate) async fn answer(
    State(shared): State<Shared>,
    Me(me): Me,
    Word(id): Word,
    Query(query): Query<WaitQuery>,
) -> ApiResult<impl IntoResponse> {
    let id: godel_model::EventId = id.parse()?;
    let patience = Duration::from_secs(query.wait_seconds.unwrap_or(0).min(WAIT_MAX_SECS));
    let found = own::answer(&shared.fleet, &me, id.uuid(), patience).await?;
    let state = match (&found.answer, found.open) {
        (_, true) => "open",
        (Some(_), false) => "answered",
        (None, false) => "declined",
    };
    Ok(Json(Success::new(OwnAnswer { state: state.to_owned(), answer: found.answer })))
}

/// Say that the work is done
///
/// It is checked, and the answer says what is missing.
#[utoipa::path(post, path = "/self/done", tag = "self", operation_id = "sayDone",
    request_body = OwnDone,
    responses((status = 200, description = "Whether it is so", body = Success<OwnVerdict>)))]
pub(crate) async fn done(
    State(shared): State<Shared>,
    Me(me): Me,
    body: JsonBody<OwnDone>,
) -> ApiResult<impl IntoResponse> {
    let missing = own::done(&shared.fleet, &me, body.value.summary).await?;
    Ok(Json(Success::new(OwnVerdict { accepted: missing.is_empty(), missing })))
}

/// List the tools that the own role gives
///
/// With them an agent asks for more than its own work, in its own project.
#[utoipa::path(get, path = "/self/tools", tag = "self", operation_id = "listOwnTools",
    responses((status = 200, description = "The tools", body = Success<OwnTools>)))]
pub(crate) async fn tools(
    State(shared): State<Shared>,
    Me(me): Me,
) -> ApiResult<impl IntoResponse> {
    let found = own::tools(&shared.fleet, &me).await?;
    let tool = |grant: &Grant| OwnTool {
        name: grant.tool.name.to_owned(),
        description: grant.tool.description.to_owned(),
        input_schema: serde_json::from_str(grant.tool.schema).unwrap_or_default(),
    };
    let tools = found.into_iter().map(tool).collect();
    Ok(Json(Success::new(OwnTools { tools })))
}

/// Use a tool that the own role gives
#[utoipa::path(post, path = "/self/tools/{name}", tag = "self", operation_id = "useOwnTool",
    params(("name" = String, Path, description = "The name of the tool")),
    request_body = OwnUse,
    responses((status = 200, description = "What it says", body = Success<OwnSaid>)))]
pub(crate) async fn use_tool(
    State(shared): State<Shared>,
    Me(me): Me,
    Word(name): Word,
    body: JsonBody<OwnUse>,
) -> ApiResult<impl IntoResponse> {
    let text = own::use_tool(&shared.fleet, &me, &name, body.value.input).await?;
    Ok(Json(Success::new(OwnSaid { text })))
}
