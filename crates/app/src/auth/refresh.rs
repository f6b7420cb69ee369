//! Refresh tokens: each gets the next pair once, and one that comes twice ends its login.

use godel_model::{Actor, AuditEntry, AuditResult, KeyHash, LoginToken, SessionId};
use godel_store::{Purpose, Scope, SessionRecord, Tx};
use jiff::Timestamp;

use super::Identity;
use super::login::{How, REFRESH_DAYS, TokenPair, access, after, days, entry, token_of};
use crate::call::Origin;
use crate::tenants::system_event;
use crate::{App, Error, Result};

/// For how long a program can refresh before its person must log in again.
const LOGIN_MAX_DAYS: i64 = 90;
/// What a token that comes a second time is called on record.
const REUSED: &str = "auth:refresh-reused";

/// What became of a refresh token.
enum Refreshed {
    Next(Actor, SessionId, Timestamp),
    /// It was used before: somebody else has it, so the login ends for both.
    Reused {
        session: SessionRecord,
        /// Whether the login ended just now, and this is on record.
        ended: bool,
    },
    Unknown,
}

/// Gets the next pair of tokens; each refresh token works once.
///
/// # Errors
/// If the token is not known, has ended, or was used before; then its login ends.
pub async fn refresh(
    app: &App,
    token: &LoginToken,
    origin: &Origin,
) -> Result<(TokenPair, Identity)> {
    let now = app.clock.now();
    let (hash, next) = (token.hash(), LoginToken::new(app.mint));
    let (next_hash, app_, origin_) = (next.hash(), app.clone(), origin.clone());
    let work = move |tx: &mut Tx<'_>| rotate(&app_, tx, (hash, next_hash), &origin_);
    let refreshed = app.store.write(Scope::System, work).await?.value;
    match refreshed {
        Refreshed::Next(actor, session, expires_at) => {
            let pair = TokenPair { access: access(app, &actor, session)?, refresh: next };
            Ok((pair, Identity { actor: actor.into(), expires_at: Some(expires_at) }))
        }
        Refreshed::Reused { session, ended } => {
            app.throttle.failed(origin.address, None, now);
            let news = app.throttle.is_news(session.id, now);
            if ended {
                app.callers.forget_login(session.id);
            } else if news {
                record_reuse(app, &session, origin).await;
            }
            Err(Error::Unauthorized)
        }
        Refreshed::Unknown => Err(super::refused(app, origin, "refresh").await),
    }
}

fn rotate(
    app: &App,
    tx: &mut Tx<'_>,
    (hash, next): (KeyHash, KeyHash),
    origin: &Origin,
) -> Result<Refreshed> {
    let (now, home) = (app.clock.now(), app.home());
    let Some(token) = tx.tokens().find(Purpose::Refresh, hash)? else {
        return Ok(Refreshed::Unknown);
    };
    let session = token.session.map(|id| tx.sessions().by_id(id)).transpose()?.flatten();
    let Some(session) = session else { return Ok(Refreshed::Unknown) };
    let how = How { by: "refresh", session: session.id };
    if token.used_at.is_some() || !tx.tokens().use_up(Purpose::Refresh, hash, now)? {
        let ended = tx.sessions().end(session.tenant, session.id, now)?;
        if ended {
            tx.record_act(session.tenant, reuse(app, &session, origin))?;
            let event = system_event(app, REUSED, &how);
            tx.record_for(session.tenant, event)?;
        }
        return Ok(Refreshed::Reused { session, ended });
    }
    if token.expires_at <= now {
        return Ok(Refreshed::Unknown);
    }
    let caller = tx.callers().by_session(session.id)?;
    let Some(actor) = caller.and_then(|caller| super::actor(caller, home, now)) else {
        return Ok(Refreshed::Unknown);
    };
    let last = after(session.created_at, days(LOGIN_MAX_DAYS));
    let until = after(now, days(REFRESH_DAYS)).min(last).max(session.expires_at.min(last));
    tx.sessions().extend(session.tenant, session.id, until)?;
    tx.tokens().insert(Purpose::Refresh, next, &token_of(&session, until))?;
    let act = entry(app, (actor.user, &actor.name), "auth:refresh", &how, origin);
    tx.record_act(session.tenant, act)?;
    Ok(Refreshed::Next(actor, session.id, until))
}

/// Makes an entry about a token that came a second time.
fn reuse(app: &App, session: &SessionRecord, origin: &Origin) -> AuditEntry {
    let how = How { by: "refresh", session: session.id };
    AuditEntry {
        result: AuditResult::Denied,
        personal: Some(origin.personal(None)),
        ..entry(app, (session.user, ""), REUSED, &how, origin)
    }
}

/// Records that a used token of a login came again that had ended before.
async fn record_reuse(app: &App, session: &SessionRecord, origin: &Origin) {
    let (tenant, act) = (session.tenant, reuse(app, session, origin));
    let work = move |tx: &mut Tx<'_>| tx.record_act(tenant, act.clone());
    if let Err(error) = app.store.write::<_, godel_store::Error, _>(Scope::System, work).await {
        tracing::warn!(%error, "a reused token was not recorded");
    }
}
