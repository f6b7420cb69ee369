//! Intents: a sentence becomes a plan, and a plan becomes a convoy that runs.

mod shape;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{AnswerIntent, Intent, NewIntent, Page, StartIntent, Success};
use godel_model::ProjectId;
use godel_studio::intents;
use http::{StatusCode, header};
use uuid::Uuid;

use super::list::{ListQuery, Listing};
use crate::error::ApiResult;
use crate::extract::{JsonBody, Query, Word};
use crate::guard::Caller;
use crate::state::Shared;

/// Say what you want
///
/// The sentence is understood and the repository looked at. Work becomes a plan with its order, who should
/// do it, and what it is likely to cost; a question about what is going on is answered at once. Nothing
/// runs before the intent is started. What is not plain is asked back as one question.
#[utoipa::path(post, path = "/intents", tag = "intents", operation_id = "createIntent", request_body = NewIntent,
    responses((status = 201, description = "What was understood", body = Success<Intent>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewIntent>,
) -> ApiResult<impl IntoResponse> {
    let NewIntent { text, project_id, agents, budget_micros, harness, model, rules } = body.value;
    let wanted = intents::Wanted {
        agents,
        budget: budget_micros,
        harness,
        model,
        rules,
        ..intents::Wanted::default()
    };
    let new = intents::New { project: project_id.map(ProjectId::from_uuid), text, wanted };
    let made = intents::submit(&shared.fleet, &caller.call, new).await?;
    let place = [(header::LOCATION, format!("/api/v1/intents/{}", made.id))];
    Ok((StatusCode::CREATED, place, Json(Success::new(shape::intent(&made)?))))
}

/// List what was asked for
///
/// The newest first.
#[utoipa::path(get, path = "/intents", tag = "intents", operation_id = "listIntents", params(ListQuery),
    responses((status = 200, description = "A page of intents", body = Success<Page<Intent>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> ApiResult<impl IntoResponse> {
    let mut listing: Listing<Uuid> = query.check("intents", "createdAt", true)?;
    listing.descending_only("createdAt")?;
    listing.no_more_fields()?;
    let limit = listing.limit;
    let mut found =
        intents::list(&shared.fleet, &caller.call, (listing.from.take(), limit + 1)).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| more).map(|one| one.id);
    let items = found.iter().map(shape::intent).collect::<ApiResult<Vec<_>>>()?;
    Ok(Json(Success::new(listing.page(items, last))))
}

/// Get an intent
#[utoipa::path(get, path = "/intents/{id}", tag = "intents", operation_id = "getIntent",
    params(("id" = String, Path, description = "The id of the intent", max_length = 200)),
    responses((status = 200, description = "The intent", body = Success<Intent>)))]
pub(crate) async fn get(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = intents::find(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(shape::intent(&found)?)))
}

/// Answer the question of an intent
#[utoipa::path(post, path = "/intents/{id}/answer", tag = "intents", operation_id = "answerIntent",
    params(("id" = String, Path, description = "The id of the intent", max_length = 200)), request_body = AnswerIntent,
    responses((status = 200, description = "What is understood now", body = Success<Intent>)))]
pub(crate) async fn answer(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<AnswerIntent>,
) -> ApiResult<impl IntoResponse> {
    let found = intents::answer(&shared.fleet, &caller.call, &name, &body.value.answer).await?;
    Ok(Json(Success::new(shape::intent(&found)?)))
}

/// Start an intent
///
/// Its plan becomes beads and a convoy that runs. Started again, it is not done twice. A plan with one bead can
/// be tried several ways.
#[utoipa::path(post, path = "/intents/{id}/start", tag = "intents", operation_id = "startIntent",
    params(("id" = String, Path, description = "The id of the intent", max_length = 200)), request_body = StartIntent,
    responses((status = 200, description = "The intent, started", body = Success<Intent>)))]
pub(crate) async fn start(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
    body: JsonBody<StartIntent>,
) -> ApiResult<impl IntoResponse> {
    let StartIntent { agents, budget_micros: budget, harness, model, attempts, models, together } =
        body.value;
    let go = intents::Go { agents, budget, harness, model, attempts, models, together };
    let found = intents::start(&shared.fleet, &caller.call, &name, go).await?;
    Ok(Json(Success::new(shape::intent(&found)?)))
}

/// Put an intent aside that was not started
#[utoipa::path(delete, path = "/intents/{id}", tag = "intents", operation_id = "cancelIntent",
    params(("id" = String, Path, description = "The id of the intent", max_length = 200)),
    responses((status = 200, description = "The intent, put aside", body = Success<Intent>)))]
pub(crate) async fn cancel(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = intents::cancel(&shared.fleet, &caller.call, &name).await?;
    Ok(Json(Success::new(shape::intent(&found)?)))
}
