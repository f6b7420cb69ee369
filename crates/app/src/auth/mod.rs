//! Who is calling: API keys, cookies of browsers, and access tokens.

mod callers;
pub mod device;
pub mod jwt;
pub mod login;
pub(crate) mod password;
pub mod refresh;
pub(crate) mod throttle;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use godel_model::{
    Actor, ApiKey, AuditEntry, AuditResult, KeyHash, LoginToken, TenantId, UserId, UserStatus,
};
use godel_store::{CallerRecord, Purpose, Scope, Tx};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use self::callers::CACHE_SECS;
pub(crate) use self::callers::Callers;
use crate::call::Origin;
use crate::{App, Error, Result};

/// For how long a server may let somebody in who was shut out on another one.
pub const BELIEVED_SECS: u64 = CACHE_SECS.unsigned_abs();
/// How often the use of a key is noted.
const USED_EVERY_SECS: i64 = 60;

/// A known caller.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Who it is; shared, since thousands of sockets may belong to one caller.
    pub actor: Arc<Actor>,
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
    pub(crate) fn hash(&self) -> KeyHash {
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
    let round = match app.callers.get(&hash, now) {
        Ok(identity) => return Ok(identity),
        Err(round) => round,
    };
    let identity = match credential {
        Credential::Key(_) => by_key(app, hash, now).await?,
        Credential::Cookie(_) => by_cookie(app, hash, now).await?,
        Credential::Access(token) => {
            let claims = jwt::verify(&app.vault.token_key()?, &token.0, now)?;
            let (session, user) = (claims.sid, claims.sub);
            let ends = Timestamp::from_second(claims.exp).map_err(|_| Error::Unauthorized)?;
            let find = move |tx: &mut Tx<'_>| tx.callers().by_session(session);
            let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
            let found = found.filter(|caller| caller.user == user);
            Identity { expires_at: Some(ends), ..known(found, app.home(), now)? }
        }
    };
    app.callers.put(hash, identity.clone(), round, now);
    Ok(identity)
}

async fn by_key(app: &App, hash: KeyHash, now: Timestamp) -> Result<Identity> {
    let find = move |tx: &mut Tx<'_>| tx.callers().by_key_hash(hash);
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    let used_at = found.as_ref().and_then(|caller| caller.key.as_ref()?.used_at);
    let identity = known(found, app.home(), now)?;
    let actor = &identity.actor;
    let before = now.saturating_sub(SignedDuration::from_secs(USED_EVERY_SECS)).unwrap_or(now);
    if let Some(key) = actor.key.filter(|_| used_at.is_none_or(|at| at <= before)) {
        let (tenant, user) = (actor.tenant, actor.user);
        let work = move |tx: &mut Tx<'_>| {
            tx.users().seen(tenant, user, now)?;
            tx.keys().used(tenant, key, now)
        };
        // A key works although its use cannot be noted, for example on a full disk.
        if let Err(error) = app.store.write::<_, godel_store::Error, _>(Scope::System, work).await {
            tracing::warn!(%error, "the use of a key was not noted");
        }
    }
    Ok(identity)
}

/// Finds out who a cookie belongs to.
async fn by_cookie(app: &App, hash: KeyHash, now: Timestamp) -> Result<Identity> {
    let find = move |tx: &mut Tx<'_>| {
        let token = tx.tokens().find(Purpose::Cookie, hash)?;
        let session = token.filter(|token| token.expires_at > now).and_then(|t| t.session);
        Ok(session.map(|id| tx.callers().by_session(id)).transpose()?.flatten())
    };
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    known(found, app.home(), now)
}

/// Returns who was found, if the credential still opens anything.
fn known(found: Option<CallerRecord>, home: Option<TenantId>, now: Timestamp) -> Result<Identity> {
    let expires_at = found.as_ref().and_then(CallerRecord::expires_at);
    let actor = found.and_then(|caller| actor(caller, home, now)).ok_or(Error::Unauthorized)?;
    Ok(Identity { actor: actor.into(), expires_at })
}

/// Returns the actor behind a credential, if it, its account and its tenant are open.
fn actor(caller: CallerRecord, home: Option<TenantId>, now: Timestamp) -> Option<Actor> {
    if !caller.is_live(now) {
        return None;
    }
    let session = caller.session.map(|session| session.id);
    // A login may do all that its user may; the key that opened it only says how long.
    let key = caller.key.filter(|_| session.is_none());
    let id = key.as_ref().map(|key| key.id);
    Some(Actor {
        tenant: caller.tenant,
        home: home == Some(caller.tenant),
        user: caller.user,
        name: format!("user:{}", caller.name.as_str()),
        role: caller.role,
        scopes: key.map(|key| key.scopes).unwrap_or_default().into(),
        projects: caller.projects.into(),
        key: id,
        session,
    })
}

/// Returns an actor that does what a user asked for earlier, with what the user may do now.
///
/// # Errors
/// If the account is closed, or there is none.
pub async fn on_behalf(app: &App, tenant: TenantId, user: UserId) -> Result<Actor> {
    let find = move |tx: &mut Tx<'_>| tx.users().by_id(tenant, user);
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    let found =
        found.filter(|user| user.status == UserStatus::Active).ok_or(Error::Unauthorized)?;
    Ok(Actor {
        tenant,
        home: app.home() == Some(tenant),
        user,
        name: format!("user:{}", found.name.as_str()),
        role: found.role,
        scopes: [].into(),
        projects: found.projects.into(),
        key: None,
        session: None,
    })
}

/// Tells whether an actor that was known a while ago still is: sockets and streams last long.
///
/// # Errors
/// If the store fails.
pub async fn holds(app: &App, actor: &Actor) -> Result<bool> {
    let (tenant, key, session) = (actor.tenant, actor.key, actor.session);
    let find = move |tx: &mut Tx<'_>| match (session, key) {
        (Some(session), _) => tx.callers().by_session(session),
        (None, Some(key)) => tx.callers().by_key(tenant, key),
        (None, None) => Ok(None),
    };
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    let found = found.filter(|caller| caller.is_live(app.clock.now()));
    // Who may do other things now begins anew.
    Ok(found.is_some_and(|now| now.role == actor.role && *now.projects == *actor.projects))
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
