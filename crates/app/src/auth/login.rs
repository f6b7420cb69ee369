//! Logging in and out, and what lasts in between.

use std::net::IpAddr;

use godel_model::{
    Actor, ApiKey, AuditEntry, AuditResult, KeyHash, KeyId, LoginToken, Payload, Reach, SessionId,
    TenantId, TenantName, UserId, UserName, UserStatus,
};
use godel_store::{Purpose, Scope, SessionRecord, TokenRecord, Tx};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{AccessToken, Credential, Identity, actor, identify, jwt, record_failure};
use tracing::instrument;

use crate::call::Origin;
use crate::tenants::system_event;
use crate::{App, Call, Error, Result};

/// For how long the login link of `godel up` works.
pub const LINK_HOURS: i64 = 1;
/// For how long an invitation works.
pub const INVITE_HOURS: i64 = 72;
/// For how long a browser stays logged in.
pub const SESSION_HOURS: i64 = 12;
/// For how long a refresh token works.
pub const REFRESH_DAYS: i64 = 7;
/// For how long a ticket opens a WebSocket.
pub const TICKET_SECS: i64 = 30;

/// How somebody logs in.
#[derive(Debug)]
pub enum Login {
    /// With the token of a link, which works once.
    Link(LoginToken),
    /// With an API key.
    Key(ApiKey),
    /// With name and password.
    Password {
        /// The tenant; the first one if none is given.
        tenant: Option<TenantName>,
        /// The name of the user.
        name: UserName,
        /// The password.
        password: Password,
    },
}

/// A password on its way; it cannot be printed by accident.
pub struct Password(pub String);

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(..)")
    }
}

/// What a login leaves with the caller.
#[derive(Debug)]
pub enum Opened {
    /// A cookie for a browser.
    Cookie(LoginToken),
    /// Tokens for a program.
    Tokens(TokenPair),
}

/// An access token, and the token that gets the next one.
#[derive(Debug)]
pub struct TokenPair {
    /// The access token.
    pub access: AccessToken,
    /// The token that gets the next pair, once.
    pub refresh: LoginToken,
}

/// What a caller wants to have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A cookie.
    Cookie,
    /// Tokens.
    Tokens,
}

/// Somebody who has proved who it is.
struct Proved {
    tenant: TenantId,
    user: UserId,
    /// The link that must be used up.
    link: Option<KeyHash>,
    key: Option<KeyId>,
    /// Not to last longer than this.
    until: Option<Timestamp>,
    by: &'static str,
}

pub(super) fn after(now: Timestamp, time: SignedDuration) -> Timestamp {
    now.saturating_add(time).unwrap_or(now)
}

pub(super) fn days(days: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * days)
}

/// Makes a link that opens one session for a user.
///
/// # Errors
/// If the store fails.
pub async fn new_link(app: &App, tenant: TenantId, user: UserId, hours: i64) -> Result<LoginToken> {
    let link = LoginToken::new(app.mint);
    let expires_at = after(app.clock.now(), SignedDuration::from_hours(hours));
    let token = TokenRecord { tenant, user, session: None, key: None, expires_at, used_at: None };
    let hash = link.hash();
    let work = move |tx: &mut Tx<'_>| tx.tokens().insert(Purpose::Link, hash, &token);
    app.store.write(Scope::System, work).await.map_err(Error::Store)?;
    Ok(link)
}

/// Logs somebody in.
///
/// # Errors
/// If what it shows proves nothing, or it failed too often of late.
pub async fn login(
    app: &App,
    login: Login,
    wanted: Wanted,
    origin: &Origin,
) -> Result<(Opened, Identity)> {
    let proved = match login {
        Login::Link(link) => by_link(app, &link, origin).await?,
        Login::Key(key) => by_key(app, key, origin).await?,
        Login::Password { tenant, name, password } => {
            by_password(app, tenant, name, password, origin).await?
        }
    };
    open(app, proved, wanted, origin).await
}

async fn by_link(app: &App, link: &LoginToken, origin: &Origin) -> Result<Proved> {
    let (hash, now) = (link.hash(), app.clock.now());
    let find = move |tx: &mut Tx<'_>| tx.tokens().find(Purpose::Link, hash);
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    let live = found.filter(|token| token.used_at.is_none() && token.expires_at > now);
    let Some(token) = live else {
        return Err(match super::refused(app, origin, "link").await {
            Error::Unauthorized => Error::LoginLink,
            other => other,
        });
    };
    let (tenant, user) = (token.tenant, token.user);
    Ok(Proved { tenant, user, link: Some(hash), key: None, until: None, by: "link" })
}

async fn by_key(app: &App, key: ApiKey, origin: &Origin) -> Result<Proved> {
    let identity = match identify(app, &Credential::Key(key)).await {
        Err(Error::Unauthorized) => return Err(super::refused(app, origin, "key").await),
        other => other?,
    };
    // A login may do all that its user may: a key that may less must not become one.
    if !identity.actor.scopes.is_empty() {
        return Err(Error::NarrowKey);
    }
    let Actor { tenant, user, key, .. } = *identity.actor;
    Ok(Proved { tenant, user, link: None, key, until: identity.expires_at, by: "key" })
}

async fn by_password(
    app: &App,
    tenant: Option<TenantName>,
    name: UserName,
    Password(password): Password,
    origin: &Origin,
) -> Result<Proved> {
    let (address, home) = (origin.address, app.home());
    let (tenant_text, user_text) = (tenant.clone(), name.as_str().to_owned());
    let found = app
        .store
        .read(Scope::System, move |tx| {
            let tenant = match &tenant {
                Some(name) => tx.tenants().by_name(name)?.map(|tenant| tenant.id),
                None => home,
            };
            let Some(tenant) = tenant else { return Ok(None) };
            let Some(user) = tx.users().by_name(tenant, &name)? else { return Ok(None) };
            let password = tx.users().password(tenant, user.id)?;
            Ok::<_, Error>(Some((tenant, user, password)))
        })
        .await?;
    // However the tenant was named, it is one account.
    let place =
        found.as_ref().map(|(tenant, ..)| *tenant).or(home.filter(|_| tenant_text.is_none()));
    let place = place.map(|tenant| tenant.to_string());
    let place = place.unwrap_or_else(|| tenant_text.map(String::from).unwrap_or_default());
    let account = format!("{place}/{user_text}");
    // The comparison is made in any case: its time must not tell whether there is such a user.
    let hash = found
        .as_ref()
        .and_then(|(_, user, hash)| hash.clone().filter(|_| user.status == UserStatus::Active));
    let matches = compare(app, (address, &account), password, hash).await?;
    let known = found.map(|(tenant, user, _)| (tenant, user.id));
    match known {
        Some((tenant, user)) if matches => {
            Ok(Proved { tenant, user, link: None, key: None, until: None, by: "password" })
        }
        known => {
            if let Some(tenant) = known.map(|(tenant, _)| tenant).or(home) {
                let user = known.map(|(_, user)| user);
                record_failure(app, tenant, user, origin, "password").await;
            }
            Err(Error::WrongPassword)
        }
    }
}

/// Compares a password with a hash, as often as the throttle allows.
///
/// # Errors
/// If there were too many tries of late, or too many passwords are being compared.
pub(crate) async fn compare(
    app: &App,
    (address, account): (Option<IpAddr>, &str),
    password: String,
    hash: Option<String>,
) -> Result<bool> {
    // The try counts before it is made: many at the same moment are as many tries.
    app.throttle.attempt(address, account, app.clock.now())?;
    let matches = app.passwords.matches(password, hash, app.mint).await;
    // One that nobody had time for was none.
    if matches!(matches, Ok(true) | Err(Error::Throttled { .. })) {
        app.throttle.give_back(address, account);
    }
    matches
}

#[derive(Serialize)]
pub(super) struct How {
    pub(super) by: &'static str,
    pub(super) session: SessionId,
}

/// Makes an entry about a login for the record of acts.
pub(super) fn entry(
    app: &App,
    (user, name): (UserId, &str),
    action: &str,
    how: &How,
    origin: &Origin,
) -> AuditEntry {
    AuditEntry {
        at: app.clock.now(),
        user: Some(user),
        action: action.to_owned(),
        resource: format!("session/{}", how.session),
        result: AuditResult::Ok,
        trace_id: None,
        detail: Payload::of(how).as_str().to_owned(),
        personal: Some(origin.personal(Some(name.to_owned()))),
    }
}

async fn open(
    app: &App,
    proved: Proved,
    wanted: Wanted,
    origin: &Origin,
) -> Result<(Opened, Identity)> {
    let (now, home) = (app.clock.now(), app.home());
    let lasts = match wanted {
        Wanted::Cookie => SignedDuration::from_hours(SESSION_HOURS),
        Wanted::Tokens => days(REFRESH_DAYS),
    };
    let expires_at = proved.until.map_or(after(now, lasts), |until| until.min(after(now, lasts)));
    let token = LoginToken::new(app.mint);
    let session = SessionRecord {
        tenant: proved.tenant,
        id: app.mint.id(),
        user: proved.user,
        key: proved.key,
        created_at: now,
        expires_at,
        ended_at: None,
    };
    let (hash, app_, origin_, id) = (token.hash(), app.clone(), origin.clone(), session.id);
    let work = move |tx: &mut Tx<'_>| {
        match proved.link {
            // Two browsers with the same link: only the one that uses it up gets in.
            Some(link) if !tx.tokens().use_up(Purpose::Link, link, now)? => {
                return Err(Error::LoginLink);
            }
            Some(_) => tx.users().came(proved.tenant, proved.user, now)?,
            None => tx.users().seen(proved.tenant, proved.user, now)?,
        }
        tx.sessions().insert(&session)?;
        let found = tx.callers().by_session(session.id)?;
        let actor = found.and_then(|caller| actor(caller, home, now)).ok_or(Error::Unauthorized)?;
        let record = token_of(&session, expires_at);
        tx.tokens().insert(purpose(wanted), hash, &record)?;
        let how = How { by: proved.by, session: session.id };
        let mut event = system_event(&app_, "auth:login", &how);
        event.metadata.actor = Some(actor.name.clone());
        let act = entry(&app_, (actor.user, &actor.name), "auth:login", &how, &origin_);
        tx.record_act(proved.tenant, act)?;
        tx.record_for(proved.tenant, event)?;
        Ok(actor)
    };
    let actor = app.store.write(Scope::System, work).await?.value;
    let opened = match wanted {
        Wanted::Cookie => Opened::Cookie(token),
        Wanted::Tokens => {
            Opened::Tokens(TokenPair { access: access(app, &actor, id)?, refresh: token })
        }
    };
    Ok((opened, Identity { actor: actor.into(), expires_at: Some(expires_at) }))
}

const fn purpose(wanted: Wanted) -> Purpose {
    match wanted {
        Wanted::Cookie => Purpose::Cookie,
        Wanted::Tokens => Purpose::Refresh,
    }
}

pub(super) fn token_of(session: &SessionRecord, expires_at: Timestamp) -> TokenRecord {
    TokenRecord {
        tenant: session.tenant,
        user: session.user,
        session: Some(session.id),
        key: None,
        expires_at,
        used_at: None,
    }
}

pub(super) fn access(app: &App, actor: &Actor, session: SessionId) -> Result<AccessToken> {
    let id = app.mint.secret();
    let claims = jwt::Claims::new(actor.user, actor.tenant, session, id, app.clock.now());
    Ok(AccessToken(jwt::sign(&app.vault.token_key()?, &claims)))
}

/// Ends the login of a call.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.login.logout", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn logout(app: &App, call: &Call) -> Result<()> {
    call.may("account", "update", Reach::Own)?;
    let Some(session) = call.actor.session else { return Ok(()) };
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let how = How { by: "session", session };
    let event = call.event(app, "auth:logout", &how, ("sessionId", session));
    let work = move |tx: &mut Tx<'_>| {
        if tx.sessions().end(call_.actor.tenant, session, now)? {
            call_.tell(&app_, tx, event.clone())?;
        }
        Ok::<_, Error>(())
    };
    app.store.write(Scope::System, work).await?;
    app.callers.forget_login(session);
    Ok(())
}

/// Makes a ticket that opens one WebSocket on behalf of a call.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.login.new_ticket", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn new_ticket(app: &App, call: &Call) -> Result<(LoginToken, Timestamp)> {
    call.may("event", "read", Reach::Team)?;
    let ticket = LoginToken::new(app.mint);
    let expires_at = after(app.clock.now(), SignedDuration::from_secs(TICKET_SECS));
    let Actor { tenant, user, key, session, .. } = *call.actor;
    let token = TokenRecord { tenant, user, session, key, expires_at, used_at: None };
    let hash = ticket.hash();
    let work = move |tx: &mut Tx<'_>| tx.tokens().insert(Purpose::Ticket, hash, &token);
    app.store.write(Scope::System, work).await.map_err(Error::Store)?;
    Ok((ticket, expires_at))
}

/// Finds out who holds a ticket; it works no more afterwards.
///
/// # Errors
/// If it is not known, was used, or is too old.
pub async fn by_ticket(app: &App, ticket: &LoginToken) -> Result<Identity> {
    let (hash, now, home) = (ticket.hash(), app.clock.now(), app.home());
    let work = move |tx: &mut Tx<'_>| {
        let token = tx.tokens().find(Purpose::Ticket, hash)?;
        let Some(token) = token.filter(|token| token.expires_at > now) else {
            return Ok(None);
        };
        if !tx.tokens().use_up(Purpose::Ticket, hash, now)? {
            return Ok(None);
        }
        Ok(match (token.session, token.key) {
            (Some(session), _) => tx.callers().by_session(session)?,
            (None, Some(key)) => tx.callers().by_key(token.tenant, key)?,
            (None, None) => None,
        })
    };
    let found = app.store.write(Scope::System, work).await.map_err(Error::Store)?.value;
    super::known(found, home, now)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use godel_testkit::{Database, World};

    use super::*;
    use crate::AppConfig;
    use crate::vault::MasterKey;

    #[tokio::test]
    async fn a_password_that_nobody_had_time_for_is_no_try() {
        let world = World::on(Database::sqlite()).await;
        let (clock, master) = (Arc::clone(&world.clock), MasterKey::new([5; 32]));
        let app = App::open(world.store.clone(), None, clock, AppConfig::default(), &master);
        let app = app.await.unwrap();
        let word = "correct horse battery".to_owned();
        let hash = app.passwords.hash(word.clone(), app.mint).await.unwrap();
        let place = ("10.0.0.1".parse().ok(), "acme/ann");
        let crowd = app.passwords.crowd();
        for _ in 0..50 {
            let busy = compare(&app, place, word.clone(), Some(hash.clone())).await;
            assert!(matches!(busy, Err(Error::Throttled { retry_ms: 1_000 })), "{busy:?}");
        }
        drop(crowd);
        assert!(compare(&app, place, word.clone(), Some(hash.clone())).await.unwrap());
        for _ in 0..5 {
            assert!(!compare(&app, place, "wrong".to_owned(), Some(hash.clone())).await.unwrap());
        }
        compare(&app, place, word, Some(hash)).await.unwrap_err();
    }
}
