//! Who is calling: API keys, cookies of browsers, and access tokens.

mod callers;
pub mod device;
pub mod jwt;
pub mod login;
pub(crate) mod password;
pub(crate) mod throttle;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use godel_model::{
    Actor, ApiKey, AuditEntry, AuditResult, KeyHash, LoginToken, SessionId, TenantId, UserId,
    UserStatus,
};
use godel_store::{KeyRecord, Purpose, Scope, SessionRecord, Tx};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

pub(crate) use self::callers::Callers;
use crate::call::Origin;
use crate::{App, Error, Result};

/// How often the use of a key is noted.
const USED_EVERY_SECS: i64 = 60;

/// A known caller.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Who it is.
    pub actor: Actor,
    /// When the credential ends, if it does.
    pub expires_at: Option<Timestamp>,
}

/// A signed access token.
#[derive(Clone)]
pub struct AccessToken(String);

impl AccessToken {
    /// Takes a text that looks like a token.
    pub fn from_text(text: &str) -> Option<Self> {
        jwt::is_token(text).then(|| Self(text.to_owned()))
    }

    /// Returns the token itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken(..)")
    }
}

/// What a caller shows to be known.
#[derive(Debug, Clone)]
pub enum Credential {
    /// An API key.
    Key(ApiKey),
    /// The cookie of a browser.
    Cookie(LoginToken),
    /// An access token.
    Access(AccessToken),
}

impl Credential {
    fn hash(&self) -> KeyHash {
        match self {
            Self::Key(key) => key.hash(),
            Self::Cookie(token) => token.hash(),
            Self::Access(token) => KeyHash(Sha256::digest(token.0.as_bytes()).into()),
        }
    }
}

/// Finds out who shows a credential.
///
/// # Errors
/// If nobody is known by it, or not any more.
pub async fn identify(app: &App, credential: &Credential) -> Result<Identity> {
    let (hash, now) = (credential.hash(), app.clock.now());
    if let Some(identity) = app.callers.get(&hash, now) {
        return Ok(identity);
    }
    let home = app.home();
    let identity = match credential {
        Credential::Key(_) => by_key(app, home, hash, now).await?,
        Credential::Cookie(_) => by_token(app, home, (Purpose::Cookie, hash), now).await?,
        Credential::Access(token) => {
            let claims = jwt::verify(&app.vault.token_key()?, &token.0, now)?;
            let (session, user) = (claims.sid, claims.sub);
            let ends = Timestamp::from_second(claims.exp).map_err(|_| Error::Unauthorized)?;
            let found = app.store.read(Scope::System, move |tx| {
                let record = tx.sessions().by_id(session)?;
                let record = record.filter(|record| record.user == user);
                Ok::<_, Error>(record.map(|r| of_session(tx, home, &r, now)).transpose()?.flatten())
            });
            let actor = found.await?.ok_or(Error::Unauthorized)?;
            Identity { actor, expires_at: Some(ends) }
        }
    };
    app.callers.put(hash, identity.clone(), now);
    Ok(identity)
}

async fn by_key(
    app: &App,
    home: Option<TenantId>,
    hash: KeyHash,
    now: Timestamp,
) -> Result<Identity> {
    let found = app.store.read(Scope::System, move |tx| {
        let Some(key) = tx.keys().by_hash(hash)?.filter(|key| key.is_live(now)) else {
            return Ok(None);
        };
        Ok::<_, Error>(actor(tx, home, (key.tenant, key.user), Some(&key), None)?.map(|a| (a, key)))
    });
    let (actor, key) = found.await?.ok_or(Error::Unauthorized)?;
    let before = now.saturating_sub(SignedDuration::from_secs(USED_EVERY_SECS)).unwrap_or(now);
    if key.used_at.is_none_or(|at| at <= before) {
        let work = move |tx: &mut Tx<'_>| {
            tx.users().seen(key.tenant, key.user, now)?;
            tx.keys().used(key.tenant, key.id, now)
        };
        // A key works although its use cannot be noted, for example on a full disk.
        if let Err(error) = app.store.write::<_, godel_store::Error, _>(Scope::System, work).await {
            tracing::warn!(%error, "the use of a key was not noted");
        }
    }
    Ok(Identity { actor, expires_at: key.expires_at })
}

/// Finds out who a cookie or ticket belongs to.
async fn by_token(
    app: &App,
    home: Option<TenantId>,
    (purpose, hash): (Purpose, KeyHash),
    now: Timestamp,
) -> Result<Identity> {
    let found = app.store.read(Scope::System, move |tx| {
        let token = tx.tokens().find(purpose, hash)?;
        let Some(session) = token.filter(|token| token.expires_at > now).and_then(|t| t.session)
        else {
            return Ok(None);
        };
        let Some(session) = tx.sessions().by_id(session)? else { return Ok(None) };
        let actor = of_session(tx, home, &session, now)?;
        Ok::<_, Error>(actor.map(|actor| (actor, session.expires_at)))
    });
    let (actor, expires_at) = found.await?.ok_or(Error::Unauthorized)?;
    Ok(Identity { actor, expires_at: Some(expires_at) })
}

/// Returns who is logged in, if the login holds.
fn of_session(
    tx: &mut Tx<'_>,
    home: Option<TenantId>,
    session: &SessionRecord,
    now: Timestamp,
) -> Result<Option<Actor>> {
    if !session.is_live(now) {
        return Ok(None);
    }
    if let Some(key) = session.key {
        let key = tx.keys().by_id(session.tenant, key)?;
        if !key.is_some_and(|key| key.is_live(now)) {
            return Ok(None);
        }
    }
    actor(tx, home, (session.tenant, session.user), None, Some(session.id))
}

/// Returns the actor behind a credential, if its account and its tenant are open.
fn actor(
    tx: &mut Tx<'_>,
    home: Option<TenantId>,
    (tenant, user): (TenantId, UserId),
    key: Option<&KeyRecord>,
    session: Option<SessionId>,
) -> Result<Option<Actor>> {
    let found = tx.users().by_id(tenant, user)?;
    let Some(user) = found.filter(|user| user.status == UserStatus::Active) else {
        return Ok(None);
    };
    let open = tx.tenants().by_id(tenant)?.is_some_and(|tenant| tenant.disabled_at.is_none());
    Ok(open.then(|| Actor {
        tenant,
        home: home == Some(tenant),
        user: user.id,
        name: format!("user:{}", user.name.as_str()),
        role: user.role,
        scopes: key.map(|key| key.scopes.as_slice()).unwrap_or_default().into(),
        projects: user.projects.into(),
        key: key.map(|key| key.id),
        session,
    }))
}

/// Tells whether an actor that was known a while ago still is: sockets and streams last long.
///
/// # Errors
/// If the store fails.
pub async fn holds(app: &App, actor: &Actor) -> Result<bool> {
    let (home, now) = (app.home(), app.clock.now());
    let (tenant, key, session) = (actor.tenant, actor.key, actor.session);
    let work = move |tx: &mut Tx<'_>| {
        if let Some(id) = session {
            let record = tx.sessions().by_id(id)?;
            let actor = record.map(|record| of_session(tx, home, &record, now)).transpose()?;
            return Ok(actor.flatten());
        }
        let Some(id) = key else { return Ok(None) };
        let Some(key) = tx.keys().by_id(tenant, id)?.filter(|key| key.is_live(now)) else {
            return Ok(None);
        };
        self::actor(tx, home, (tenant, key.user), Some(&key), None)
    };
    let found: Option<Actor> = app.store.read(Scope::System, work).await?;
    // Who may do other things now begins anew.
    Ok(found.is_some_and(|now| now.role == actor.role && now.projects == actor.projects))
}

/// Returns the token that the dashboard's own code sends with each change, and no other page can.
///
/// # Errors
/// If the keys are not there.
pub fn csrf_token(app: &App, cookie: &LoginToken) -> Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&app.vault.token_key()?)
        .expect("a keyed hash takes a key of any length");
    mac.update(b"csrf ");
    mac.update(cookie.expose().as_bytes());
    Ok(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

/// Compares a token with the one that belongs to a cookie, in constant time.
pub fn is_csrf_token(app: &App, cookie: &LoginToken, given: &[u8]) -> bool {
    csrf_token(app, cookie).is_ok_and(|token| token.as_bytes().ct_eq(given).into())
}

/// Notes that somebody showed a credential that nobody has.
///
/// # Errors
/// If it came too often from this address; else that the caller is not known.
pub async fn refused(app: &App, origin: &Origin, what: &'static str) -> Error {
    let now = app.clock.now();
    if app.throttle.failed(origin.address, None, now) {
        return match app.throttle.check(origin.address, None, now) {
            Err(error) => error,
            Ok(()) => Error::Throttled { retry_ms: 1_000 },
        };
    }
    if let Some(home) = app.home() {
        record_failure(app, home, None, origin, what).await;
    }
    Error::Unauthorized
}

/// Records a failed attempt to be let in.
async fn record_failure(
    app: &App,
    tenant: TenantId,
    user: Option<UserId>,
    origin: &Origin,
    what: &'static str,
) {
    let entry = AuditEntry {
        at: app.clock.now(),
        user,
        action: "auth:failure".to_owned(),
        resource: what.to_owned(),
        result: AuditResult::Denied,
        trace_id: None,
        detail: "{}".to_owned(),
        personal: Some(origin.personal(None)),
    };
    let work = move |tx: &mut Tx<'_>| tx.record_act(tenant, entry.clone());
    if let Err(error) = app.store.write::<_, godel_store::Error, _>(Scope::System, work).await {
        tracing::warn!(%error, "a failed login was not recorded");
    }
}
