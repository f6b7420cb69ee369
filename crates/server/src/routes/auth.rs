//! Logging in and out of the dashboard.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{LoginRequest, Session, Success, TenantRef};
use godel_app::auth::{self, Identity, SESSION_HOURS};
use godel_app::tenants;
use godel_model::code;
use http::{HeaderMap, StatusCode, header};

use crate::error::{ApiError, ApiResult};
use crate::extract::JsonBody;
use crate::guard::{Caller, SESSION_COOKIE, session_token};
use crate::state::Shared;

/// Log in
///
/// Opens a browser session with the token of a login link or with an API key. The session is an
/// `HttpOnly` cookie; changing requests with it need the header `X-Godel-Csrf`.
#[utoipa::path(post, path = "/auth/login", tag = "auth", operation_id = "login", security(()),
    request_body = LoginRequest,
    responses((status = 200, description = "Who is logged in", body = Success<Session>)))]
pub(crate) async fn login(
    State(shared): State<Shared>,
    body: JsonBody<LoginRequest>,
) -> ApiResult<impl IntoResponse> {
    let (token, identity) = match (body.value.token, body.value.key) {
        (Some(token), None) => auth::login_by_link(&shared.app, &token.parse()?).await?,
        (None, Some(key)) => auth::login_by_key(&shared.app, &key.parse()?).await?,
        _ => {
            return Err(ApiError::new(code::INVALID_FIELD, "give either `token` or `key`"));
        }
    };
    let cookie = cookie(&shared, token.expose(), SESSION_HOURS * 3_600);
    Ok(([(header::SET_COOKIE, cookie)], Json(Success::new(session(&shared, identity).await?))))
}

/// Log out
#[utoipa::path(post, path = "/auth/logout", tag = "auth", operation_id = "logout",
    responses((status = 204, description = "The session has ended")))]
pub(crate) async fn logout(
    State(shared): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
) -> ApiResult<impl IntoResponse> {
    if let Some(token) = session_token(&headers) {
        auth::logout(&shared.app, &caller.call, &token).await?;
    }
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie(&shared, "", 0))]))
}

/// Who am I
#[utoipa::path(get, path = "/auth/me", tag = "auth", operation_id = "whoAmI",
    responses((status = 200, description = "Who is calling", body = Success<Session>)))]
pub(crate) async fn me(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let identity = Identity { actor: caller.call.actor, expires_at: caller.expires_at };
    Ok(Json(Success::new(session(&shared, identity).await?)))
}

async fn session(shared: &Shared, identity: Identity) -> ApiResult<Session> {
    let tenant = tenants::get(&shared.app, identity.actor.tenant).await?;
    Ok(Session {
        tenant: TenantRef { id: tenant.id.uuid(), name: tenant.name.into() },
        actor: identity.actor.name,
        expires_at: identity.expires_at,
    })
}

fn cookie(shared: &Shared, token: &str, max_age_secs: i64) -> String {
    let secure = if shared.tls { "; Secure" } else { "" };
    format!(
        "{SESSION_COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/; \
         Max-Age={max_age_secs}{secure}"
    )
}
