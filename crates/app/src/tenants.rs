//! Tenants and the keys that open them.

use godel_model::{
    ApiKey, EventType, Metadata, NewEvent, Payload, Source, Tenant, TenantId, TenantName,
};
use godel_store::{KeyRecord, Scope, Tx};
use serde::Serialize;

use crate::{App, Error, Result};

/// The name of the tenant that a new server begins with.
pub const FIRST_TENANT: &str = "default";
/// The name of the key that a new server begins with.
pub const OWNER_KEY: &str = "owner";

#[derive(Serialize)]
struct NewKey<'a> {
    id: godel_model::KeyId,
    name: &'a str,
    prefix: &'a str,
}

/// Returns the first tenant, made at the first start.
///
/// # Errors
/// If the store fails.
pub async fn ensure_first(app: &App) -> Result<Tenant> {
    let name: TenantName = FIRST_TENANT.parse()?;
    let wanted = name.clone();
    let found = app.store.read(Scope::System, move |tx| tx.tenants().by_name(&wanted)).await;
    if let Some(tenant) = found.map_err(Error::Store)? {
        return Ok(tenant);
    }
    match create(app, name.clone()).await {
        // Another server on the same database was faster.
        Err(Error::TenantNameTaken(_)) => {
            let found = app.store.read(Scope::System, move |tx| tx.tenants().by_name(&name)).await;
            found.map_err(Error::Store)?.ok_or(Error::TenantNameTaken(FIRST_TENANT.to_owned()))
        }
        other => other,
    }
}

/// Makes a tenant with an empty log.
///
/// # Errors
/// If the name is taken.
pub async fn create(app: &App, name: TenantName) -> Result<Tenant> {
    let tenant = Tenant { id: app.mint.id(), name, created_at: app.clock.now() };
    let event = system_event(app, "tenant:create", &tenant);
    let written = app.store.write(Scope::System, move |tx| {
        if !tx.tenants().insert(&tenant)? {
            return Err(Error::TenantNameTaken(tenant.name.to_string()));
        }
        tx.record_for(tenant.id, event.clone())?;
        Ok(tenant.clone())
    });
    Ok(written.await?.value)
}

/// Finds the tenant of a call.
///
/// # Errors
/// If it is not there.
pub async fn get(app: &App, id: TenantId) -> Result<Tenant> {
    let found = app.store.read(Scope::Tenant(id), move |tx| tx.tenants().by_id(id)).await;
    found.map_err(Error::Store)?.ok_or(Error::NoTenant(id))
}

/// What becomes of older keys with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Older {
    /// They go on working.
    Stay,
    /// They end.
    End,
}

/// Makes a new key with this name for a tenant.
///
/// # Errors
/// If the store fails.
pub async fn new_key(app: &App, tenant: TenantId, name: &str, older: Older) -> Result<ApiKey> {
    let key = ApiKey::new(app.mint);
    let record = KeyRecord { tenant, id: app.mint.id(), name: name.to_owned() };
    let (hash, prefix, now) = (key.hash(), key.prefix().to_owned(), app.clock.now());
    let shown = NewKey { id: record.id, name, prefix: &prefix };
    let event = system_event(app, "key:create", &shown);
    let work = move |tx: &mut Tx<'_>| {
        if older == Older::End {
            tx.keys().revoke(tenant, &record.name, now)?;
        }
        tx.keys().insert(&record, hash, &prefix, now)?;
        tx.record_for(tenant, event.clone())
    };
    let written = app.store.write(Scope::System, work).await;
    written.map_err(Error::Store)?;
    app.callers.forget_all();
    Ok(key)
}

/// Makes an event that the server itself records.
pub(crate) fn system_event(app: &App, kind: &'static str, payload: &impl Serialize) -> NewEvent {
    NewEvent {
        id: app.mint.id(),
        kind: EventType::known(kind),
        at: app.clock.now(),
        source: Source {
            component: "server".to_owned(),
            instance: None,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        },
        payload: Payload::of(payload),
        metadata: Metadata { actor: Some("system".to_owned()), ..Metadata::default() },
    }
}

/// Records that the server started or stopped.
///
/// # Errors
/// If the store fails.
pub async fn record_server(app: &App, tenant: TenantId, kind: &'static str) -> Result<()> {
    #[derive(Serialize)]
    struct Process {
        pid: u32,
    }
    let event = system_event(app, kind, &Process { pid: std::process::id() });
    let scope = Scope::Tenant(tenant);
    app.store.write(scope, move |tx| Ok(tx.record(event.clone())?)).await.map(drop)
}
