//! Logging in and out.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use godel_api::{
    LoginRequest, LoginWants, PasswordRequest, RefreshRequest, Session, Success, TenantRef, Ticket,
    Tokens,
};
use godel_app::auth::login::{self, Login, Opened, Password, SESSION_HOURS, TokenPair, Wanted};
use godel_app::auth::{self, Identity, jwt, refresh};
use godel_app::{Call, tenants, users};
use godel_model::{LoginToken, code};
use http::{HeaderMap, StatusCode, header};

use crate::error::{ApiError, ApiResult};
use crate::extract::JsonBody;
use crate::guard::{Caller, SESSION_COOKIE, Whence, session_token};
use crate::state::Shared;

/// Log in
///
/// With the token of a login link, with an API key, or with name and password. A browser gets an
/// `HttpOnly` cookie; its changing requests need the header `X-Godel-Csrf` with the `csrfToken` of
/// the answer. A program that `wants` `tokens` gets an access token for 15 minutes and a refresh
/// token for 7 days.
#[utoipa::path(post, path = "/auth/login", tag = "auth", operation_id = "login", security(()),
    request_body = LoginRequest,
    responses((status = 200, description = "Who is logged in", body = Success<Session>)))]
pub(crate) async fn login(
    State(shared): State<Shared>,
    Whence(origin): Whence,
    body: JsonBody<LoginRequest>,
) -> ApiResult<Response> {
    let request = body.value;
    let wanted = match request.wants {
        LoginWants::Cookie => Wanted::Cookie,
        LoginWants::Tokens => Wanted::Tokens,
    };
    let (opened, identity) = login::login(&shared.app, read(request)?, wanted, &origin).await?;
    let session = session(&shared, identity).await?;
    match opened {
        Opened::Cookie(token) => {
            let csrf_token = Some(auth::csrf_token(&shared.app, &token)?);
            let cookie = cookie(&shared, token.expose(), SESSION_HOURS * 3_600);
            let session = Session { csrf_token, ..session };
            Ok(([(header::SET_COOKIE, cookie)], Json(Success::new(session))).into_response())
        }
        Opened::Tokens(pair) => {
            let session = Session { tokens: Some(tokens(&pair)), ..session };
            Ok(([(header::CACHE_CONTROL, "no-store")], Json(Success::new(session))).into_response())
        }
    }
}

/// Reads how somebody logs in: in one way, not in two.
fn read(request: LoginRequest) -> ApiResult<Login> {
    let LoginRequest { token, key, name, password, tenant, .. } = request;
    match (token, key, name, password, tenant) {
        (Some(token), None, None, None, None) => Ok(Login::Link(token.parse()?)),
        (None, Some(key), None, None, None) => Ok(Login::Key(key.parse()?)),
        (None, None, Some(name), Some(password), tenant) => Ok(Login::Password {
            tenant: tenant.map(|tenant| tenant.parse()).transpose()?,
            name: name.parse()?,
            password: Password(password),
        }),
        _ => Err(ApiError::new(
            code::INVALID_FIELD,
            "give either `token`, or `key`, or `name` and `password`",
        )),
    }
}

fn tokens(pair: &TokenPair) -> Tokens {
    Tokens {
        access_token: pair.access.expose().to_owned(),
        expires_in: jwt::ACCESS_SECS,
        refresh_token: pair.refresh.expose().to_owned(),
    }
}

/// Get the next tokens
///
/// A refresh token works once. If it comes a second time, somebody else has it: then its login ends
/// for both.
#[utoipa::path(post, path = "/auth/refresh", tag = "auth", operation_id = "refresh", security(()),
    request_body = RefreshRequest,
    responses((status = 200, description = "The next tokens", body = Success<Session>)))]
pub(crate) async fn refresh(
    State(shared): State<Shared>,
    Whence(origin): Whence,
    body: JsonBody<RefreshRequest>,
) -> ApiResult<impl IntoResponse> {
    let token: Result<LoginToken, _> = body.value.refresh_token.parse();
    let Ok(token) = token else {
        return Err(auth::refused(&shared.app, &origin, "refresh").await.into());
    };
    let (pair, identity) = refresh::refresh(&shared.app, &token, &origin).await?;
    let session = Session { tokens: Some(tokens(&pair)), ..session(&shared, identity).await? };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Success::new(session))))
}

/// Log out
///
/// Ends the login of the cookie or of the access token.
#[utoipa::path(post, path = "/auth/logout", tag = "auth", operation_id = "logout",
    responses((status = 204, description = "The login has ended")))]
pub(crate) async fn logout(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    login::logout(&shared.app, &caller.call).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie(&shared, "", 0))]))
}

/// Who am I
#[utoipa::path(get, path = "/auth/me", tag = "auth", operation_id = "whoAmI",
    responses((status = 200, description = "Who is calling", body = Success<Session>)))]
pub(crate) async fn me(
    State(shared): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
) -> ApiResult<impl IntoResponse> {
    let cookie = session_token(&headers).filter(|_| caller.call.actor.session.is_some());
    let csrf_token = cookie.map(|token| auth::csrf_token(&shared.app, &token)).transpose()?;
    let identity = Identity { actor: caller.call.actor, expires_at: caller.expires_at };
    Ok(Json(Success::new(Session { csrf_token, ..session(&shared, identity).await? })))
}

/// Set the own password
///
/// All other logins of the account end. If it has a password already, `currentPassword` must be that
/// one; whoever forgot it gets a new login link from an admin, which removes it.
#[utoipa::path(put, path = "/auth/password", tag = "auth", operation_id = "setPassword",
    request_body = PasswordRequest,
    responses((status = 204, description = "It is set")))]
pub(crate) async fn password(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<PasswordRequest>,
) -> ApiResult<StatusCode> {
    let PasswordRequest { password, current_password } = body.value;
    let current = current_password.map(Password);
    users::set_password(&shared.app, &caller.call, current, Password(password)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get a ticket for a WebSocket
///
/// A page of a browser cannot give a WebSocket a header. Where there is no cookie either, it opens
/// `/events?ticket=..` within 30 seconds; the ticket works once.
#[utoipa::path(post, path = "/auth/ticket", tag = "auth", operation_id = "newTicket",
    responses((status = 201, description = "The ticket", body = Success<Ticket>)))]
pub(crate) async fn ticket(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let (ticket, expires_at) = login::new_ticket(&shared.app, &caller.call).await?;
    let ticket = Ticket { ticket: ticket.expose().to_owned(), expires_at };
    Ok((StatusCode::CREATED, Json(Success::new(ticket))))
}

async fn session(shared: &Shared, identity: Identity) -> ApiResult<Session> {
    let Identity { actor, expires_at } = identity;
    let call = Call { actor, trace_id: None, once: None, origin: godel_app::Origin::default() };
    let tenant = tenants::own(&shared.app, &call).await?;
    let actor = call.actor;
    Ok(Session {
        tenant: TenantRef { id: tenant.id.uuid(), name: tenant.name.into() },
        user_id: actor.user.uuid(),
        role: actor.role.to_string(),
        permissions: actor.role.permissions().into_iter().map(String::from).collect(),
        scopes: actor.scopes.iter().map(ToString::to_string).collect(),
        key_id: actor.key.map(godel_model::KeyId::uuid),
        actor: actor.name.clone(),
        expires_at,
        csrf_token: None,
        tokens: None,
    })
}

fn cookie(shared: &Shared, token: &str, max_age_secs: i64) -> String {
    let secure = if shared.tls { "; Secure" } else { "" };
    format!(
        "{SESSION_COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/; \
         Max-Age={max_age_secs}{secure}"
    )
}
