//! API keys.

use godel_model::{
    ApiKey, AuditEntry, AuditResult, KeyHash, KeyId, KeyName, Payload, Permission, Reach, TenantId,
    UserId,
};
use godel_store::{KeyRecord, Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tracing::instrument;

use crate::call::Origin;
use crate::once::{Outcome, once};
use crate::tenants::system_event;
use crate::{App, Call, Error, Result};

/// How many scopes a key can have.
const SCOPES_MAX: usize = 50;
/// How many keys a user can have that work.
pub const KEYS_MAX: i64 = 100;
/// The longest time that an old key goes on after its rotation.
const GRACE_MAX_HOURS: i64 = 24 * 30;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: KeyId,
    prefix: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

fn shown(key: &KeyRecord) -> Shown<'_> {
    Shown { id: key.id, prefix: &key.prefix, expires_at: key.expires_at }
}

/// A key that is about to be stored.
#[derive(Clone)]
pub(crate) struct Draft {
    record: KeyRecord,
    hash: KeyHash,
}

/// Makes a key that is not stored yet.
pub(crate) fn draft(
    app: &App,
    (tenant, user): (TenantId, UserId),
    name: KeyName,
    scopes: Vec<Permission>,
    expires_at: Option<Timestamp>,
) -> (ApiKey, Draft) {
    let key = ApiKey::new(app.mint);
    let record = KeyRecord {
        tenant,
        id: app.mint.id(),
        user,
        name,
        prefix: key.prefix().to_owned(),
        scopes,
        created_at: app.clock.now(),
        expires_at,
        revoked_at: None,
        used_at: None,
    };
    let hash = key.hash();
    (key, Draft { record, hash })
}

impl Draft {
    /// Stores the key that nobody asked for through a call: a server's or a program's first one.
    pub(crate) fn store(&self, app: &App, tx: &mut Tx<'_>, origin: &Origin) -> Result<()> {
        let Self { record, hash } = self;
        tx.keys().insert(record, *hash)?;
        let told = shown(record);
        let act = AuditEntry {
            at: app.clock.now(),
            user: Some(record.user),
            action: "key:create".to_owned(),
            resource: format!("key/{}", record.id),
            result: AuditResult::Ok,
            trace_id: None,
            detail: Payload::of(&told).as_str().to_owned(),
            personal: Some(origin.personal(None)),
        };
        tx.record_act(record.tenant, act)?;
        Ok(tx.record_for(record.tenant, system_event(app, "key:create", &told))?)
    }
}

/// What a new key is to be.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The name.
    pub name: KeyName,
    /// Whose key it is; the caller's own if none is given.
    pub user: Option<UserId>,
    /// What it is narrowed to; empty means all that its user may do.
    pub scopes: Vec<Permission>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

/// Makes a key. It is shown now and never again, so a repeated request gets none.
///
/// # Errors
/// If the caller may not, or a scope makes no sense.
#[instrument(level = "debug", name = "app.keys.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(app: &App, call: &Call, new: NewKey) -> Result<(Option<ApiKey>, KeyRecord)> {
    let user = new.user.unwrap_or(call.actor.user);
    call.may("key", "create", reach(call, user))?;
    if new.scopes.len() > SCOPES_MAX {
        return Err(Error::invalid_at("scopes", "a key can have at most 50 scopes"));
    }
    if new.expires_at.is_some_and(|at| at <= app.clock.now()) {
        return Err(Error::invalid_at("expiresAt", "a key must end in the future"));
    }
    call.whole()?;
    let owner = (call.actor.tenant, user);
    // What a key makes does not outlive it.
    let parent = match call.actor.key {
        Some(id) => find(app, call, id, "read").await?.expires_at,
        None => None,
    };
    let expires_at = match (new.expires_at, parent) {
        (Some(wanted), Some(parent)) => Some(wanted.min(parent)),
        (wanted, parent) => wanted.or(parent),
    };
    let (key, made) = draft(app, owner, new.name, new.scopes, expires_at);
    let event = call.event(app, "key:create", &shown(&made.record), ("keyId", made.record.id));
    let record = made.record.clone();
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        if tx.users().by_id(owner.0, owner.1)?.is_none() {
            return Err(Error::NoUser(owner.1.to_string()));
        }
        check_room(tx, owner, made.record.created_at)?;
        tx.keys().insert(&made.record, made.hash)?;
        call_.tell(&app_, tx, event.clone())?;
        Ok(made.record.id)
    };
    match once(app, call, work).await? {
        Outcome::Fresh(_) => Ok((Some(key), record)),
        Outcome::Known(id) => Ok((None, find(app, call, id, "read").await?)),
    }
}

/// Refuses one more key for a user that has as many as a user can have.
pub(crate) fn check_room(
    tx: &mut Tx<'_>,
    (tenant, user): (TenantId, UserId),
    now: Timestamp,
) -> Result<()> {
    // One after the other: two at the same moment must not both take the last place.
    tx.tenants().lock(tenant)?;
    if tx.keys().live(tenant, user, now)? >= KEYS_MAX {
        return Err(Error::TooManyKeys);
    }
    Ok(())
}

/// One's own keys need less than those of others.
fn reach(call: &Call, user: UserId) -> Reach {
    if user == call.actor.user { Reach::Own } else { Reach::Team }
}

/// Lists keys by age: of one user, or of all that the caller may see.
///
/// # Errors
/// If the caller may not see those of that user.
#[instrument(level = "debug", name = "app.keys.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(
    app: &App,
    call: &Call,
    user: Option<UserId>,
    from: Option<KeyId>,
    limit: usize,
) -> Result<Vec<KeyRecord>> {
    let all = call.may("key", "read", Reach::Team).is_ok();
    let user = user.or_else(|| (!all).then_some(call.actor.user));
    call.may("key", "read", user.map_or(Reach::Team, |user| reach(call, user)))?;
    let tenant = call.actor.tenant;
    app.store.read(call.scope(), move |tx| Ok(tx.keys().page(tenant, user, from, limit)?)).await
}

/// Finds a key of which the caller may know.
async fn find(app: &App, call: &Call, id: KeyId, action: &'static str) -> Result<KeyRecord> {
    let tenant = call.actor.tenant;
    let found = app.store.read(call.scope(), move |tx| tx.keys().by_id(tenant, id)).await;
    let key = found.map_err(Error::Store)?.ok_or(Error::NoKey(id))?;
    call.may("key", action, reach(call, key.user)).map_err(|_| Error::NoKey(id))?;
    Ok(key)
}

/// Returns what is known of a key.
///
/// # Errors
/// If there is none that the caller may see.
#[instrument(level = "debug", name = "app.keys.get", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn get(app: &App, call: &Call, id: KeyId) -> Result<KeyRecord> {
    call.may("key", "read", Reach::Own)?;
    find(app, call, id, "read").await
}

/// Makes a key take over from another, which goes on for a while.
///
/// # Errors
/// If there is no such key, it has ended, or the time is too long.
#[instrument(level = "debug", name = "app.keys.rotate", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn rotate(
    app: &App,
    call: &Call,
    id: KeyId,
    grace: SignedDuration,
) -> Result<(ApiKey, KeyRecord)> {
    call.may("key", "update", Reach::Own)?;
    let now = app.clock.now();
    if grace.is_negative() || grace > SignedDuration::from_hours(GRACE_MAX_HOURS) {
        return Err(Error::invalid("an old key can go on for at most 30 days"));
    }
    let old = find(app, call, id, "update").await?;
    // A key may replace itself, but a narrow one no other.
    if !call.actor.scopes.is_empty() && call.actor.key != Some(id) {
        return Err(Error::NarrowKey);
    }
    if !old.is_live(now) {
        return Err(Error::NoKey(id));
    }
    let lasts = old.expires_at.map(|ends| ends.duration_since(old.created_at));
    let expires_at = lasts.map(|lasts| now.saturating_add(lasts).unwrap_or(now));
    let owner = (old.tenant, old.user);
    let (key, made) = draft(app, owner, old.name.clone(), old.scopes.clone(), expires_at);
    let ends = now.saturating_add(grace).unwrap_or(now);
    let ends = old.expires_at.map_or(ends, |planned| planned.min(ends));
    let event = call.event(app, "key:rotate", &shown(&made.record), ("keyId", old.id));
    let record = made.record.clone();
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        // Somebody may have ended it in between.
        let still = tx.keys().by_id(old.tenant, old.id)?.filter(|key| key.is_live(now));
        if still.is_none_or(|still| still.expires_at != old.expires_at) {
            return Err(Error::NoKey(id));
        }
        tx.keys().expire(old.tenant, old.id, ends)?;
        check_room(tx, owner, now)?;
        tx.keys().insert(&made.record, made.hash)?;
        call_.tell(&app_, tx, event.clone())
    };
    app.store.write(call.scope(), work).await?;
    app.forget_callers();
    Ok((key, record))
}

/// Ends a key at once.
///
/// # Errors
/// If there is no such key.
#[instrument(level = "debug", name = "app.keys.revoke", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn revoke(app: &App, call: &Call, id: KeyId) -> Result<()> {
    call.may("key", "delete", Reach::Own)?;
    let key = find(app, call, id, "delete").await?;
    let event = call.event(app, "key:revoke", &shown(&key), ("keyId", id));
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        if tx.keys().revoke(key.tenant, id, now)? {
            call_.tell(&app_, tx, event.clone())?;
        }
        Ok::<_, Error>(())
    };
    app.store.write(call.scope(), work).await?;
    app.forget_callers();
    Ok(())
}

/// What becomes of older keys with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Older {
    /// They go on working.
    Stay,
    /// They end.
    End,
}

/// Makes the key of a server's owner. It is not counted: a server must be able to start.
///
/// # Errors
/// If the store fails.
pub async fn create_owners(
    app: &App,
    tenant: TenantId,
    owner: UserId,
    older: Older,
) -> Result<ApiKey> {
    let name: KeyName = crate::tenants::OWNER.parse()?;
    let (key, made) = draft(app, (tenant, owner), name.clone(), Vec::new(), None);
    let (app_, now) = (app.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        if older == Older::End {
            tx.keys().revoke_of(tenant, owner, Some(&name), now)?;
        }
        made.store(&app_, tx, &Origin::default())
    };
    app.store.write(Scope::System, work).await?;
    app.forget_callers();
    Ok(key)
}
