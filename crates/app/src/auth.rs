//! Who is calling: API keys, login links and browser sessions.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use godel_model::{Actor, ApiKey, KeyHash, LoginToken};
use godel_store::{KeyRecord, Login, Purpose, Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::tenants::system_event;
use crate::{App, Call, Error, Result};

/// For how long a login link works.
pub const LINK_HOURS: i64 = 1;
/// For how long a browser stays logged in.
pub const SESSION_HOURS: i64 = 12;
/// For how long an answer about a caller is believed; a revoked key works no longer than this.
const CACHE_SECS: i64 = 5;
const CACHE_MAX_CALLERS: usize = 10_000;

/// A known caller.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Who it is.
    pub actor: Actor,
    /// When the browser session ends, if it is one.
    pub expires_at: Option<Timestamp>,
}

/// Callers that were looked up a moment ago, by the hash of their secret.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    known: Mutex<HashMap<KeyHash, (Identity, Timestamp)>>,
}

impl Callers {
    fn get(&self, hash: &KeyHash, now: Timestamp) -> Option<Identity> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(hash).filter(|(_, until)| *until > now).map(|(identity, _)| identity.clone())
    }

    fn put(&self, hash: KeyHash, identity: Identity, now: Timestamp) {
        let until = now.saturating_add(SignedDuration::from_secs(CACHE_SECS)).unwrap_or(now);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CACHE_MAX_CALLERS {
            known.retain(|_, (_, until)| *until > now);
        }
        if known.len() < CACHE_MAX_CALLERS {
            known.insert(hash, (identity, until));
        }
    }

    pub(crate) fn forget_all(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn actor(key: KeyRecord) -> Actor {
    Actor { tenant: key.tenant, name: format!("key:{}", key.name), key: key.id }
}

/// Finds out who holds an API key.
///
/// # Errors
/// If nobody does, or it was revoked.
pub async fn by_key(app: &App, key: &ApiKey) -> Result<Identity> {
    let (hash, now) = (key.hash(), app.clock.now());
    if let Some(identity) = app.callers.get(&hash, now) {
        return Ok(identity);
    }
    let found = app.store.read(Scope::System, move |tx| tx.keys().by_hash(hash)).await;
    let record = found.map_err(Error::Store)?.ok_or(Error::Unauthorized)?;
    let identity = Identity { actor: actor(record), expires_at: None };
    app.callers.put(hash, identity.clone(), now);
    Ok(identity)
}

/// Finds out who a browser session belongs to.
///
/// # Errors
/// If it is not known, or has ended.
pub async fn by_session(app: &App, token: &LoginToken) -> Result<Identity> {
    let (hash, now) = (token.hash(), app.clock.now());
    if let Some(identity) = app.callers.get(&hash, now) {
        return Ok(identity);
    }
    let found = app
        .store
        .read(Scope::System, move |tx| {
            let Some(login) = tx.logins().find(Purpose::Session, hash, now)? else {
                return Ok(None);
            };
            let key = tx.keys().by_id(login.key)?;
            Ok::<_, Error>(key.map(|key| (key, login.expires_at)))
        })
        .await?;
    let (key, expires_at) = found.ok_or(Error::Unauthorized)?;
    let identity = Identity { actor: actor(key), expires_at: Some(expires_at) };
    app.callers.put(hash, identity.clone(), now);
    Ok(identity)
}

/// Makes a link token that opens one browser session on behalf of a key.
///
/// # Errors
/// If the store fails.
pub async fn new_link(app: &App, key: &ApiKey) -> Result<LoginToken> {
    let identity = by_key(app, key).await?;
    let token = LoginToken::new(app.mint);
    let login = login_of(app, &identity.actor, LINK_HOURS);
    let hash = token.hash();
    let work = move |tx: &mut Tx<'_>| tx.logins().insert(Purpose::Link, hash, &login);
    app.store.write(Scope::System, work).await.map_err(Error::Store)?;
    Ok(token)
}

fn login_of(app: &App, actor: &Actor, hours: i64) -> Login {
    let now = app.clock.now();
    let expires_at = now.saturating_add(SignedDuration::from_hours(hours)).unwrap_or(now);
    Login { tenant: actor.tenant, key: actor.key, expires_at }
}

#[derive(Serialize)]
struct LoggedIn {
    by: &'static str,
}

/// Opens a browser session with a login link; the link works no more afterwards.
///
/// # Errors
/// If the link is not known, was used, or is too old.
pub async fn login_by_link(app: &App, link: &LoginToken) -> Result<(LoginToken, Identity)> {
    let (hash, now) = (link.hash(), app.clock.now());
    let found = app
        .store
        .read(Scope::System, move |tx| {
            let Some(login) = tx.logins().find(Purpose::Link, hash, now)? else {
                return Ok(None);
            };
            Ok::<_, Error>(tx.keys().by_id(login.key)?)
        })
        .await?;
    let actor = actor(found.ok_or(Error::LoginLink)?);
    open_session(app, actor, Some(hash)).await
}

/// Opens a browser session with an API key.
///
/// # Errors
/// If the key is not known.
pub async fn login_by_key(app: &App, key: &ApiKey) -> Result<(LoginToken, Identity)> {
    let identity = by_key(app, key).await?;
    open_session(app, identity.actor, None).await
}

async fn open_session(
    app: &App,
    actor: Actor,
    link: Option<KeyHash>,
) -> Result<(LoginToken, Identity)> {
    let token = LoginToken::new(app.mint);
    let login = login_of(app, &actor, SESSION_HOURS);
    let by = if link.is_some() { "link" } else { "key" };
    let mut event = system_event(app, "auth:login", &LoggedIn { by });
    event.metadata.actor = Some(actor.name.clone());
    let (hash, expires_at, tenant) = (token.hash(), login.expires_at, actor.tenant);
    let work = move |tx: &mut Tx<'_>| {
        // Two browsers with the same link: only the one that removes it gets in.
        if let Some(link) = link
            && !tx.logins().delete(Purpose::Link, link)?
        {
            return Err(Error::LoginLink);
        }
        tx.logins().insert(Purpose::Session, hash, &login)?;
        Ok(tx.record_for(tenant, event.clone())?)
    };
    app.store.write(Scope::System, work).await?;
    Ok((token, Identity { actor, expires_at: Some(expires_at) }))
}

/// Ends a browser session.
///
/// # Errors
/// If the store fails.
pub async fn logout(app: &App, call: &Call, token: &LoginToken) -> Result<()> {
    let (hash, tenant) = (token.hash(), call.actor.tenant);
    let mut event = system_event(app, "auth:logout", &LoggedIn { by: "session" });
    event.metadata.actor = Some(call.actor.name.clone());
    event.metadata.trace_id.clone_from(&call.trace_id);
    let work = move |tx: &mut Tx<'_>| {
        if tx.logins().delete(Purpose::Session, hash)? {
            tx.record_for(tenant, event.clone())?;
        }
        Ok(())
    };
    app.store.write(Scope::System, work).await.map_err(Error::Store)?;
    app.callers.forget_all();
    Ok(())
}
