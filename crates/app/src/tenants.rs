//! Tenants, and the owner that each begins with.

use godel_model::{
    EventType, LoginToken, Metadata, NewEvent, Payload, Reach, Role, Source, Tenant, TenantId,
    TenantName, User, UserId, UserStatus,
};
use godel_store::{Scope, Tx};
use serde::Serialize;
use tracing::instrument;

use crate::auth::login::{self, INVITE_HOURS};
use crate::{App, Call, Error, Result};

/// The name of the tenant that a new server begins with.
pub const FIRST_TENANT: &str = "default";
/// The name of the user and of the key that a new tenant begins with.
pub const OWNER: &str = "owner";

/// Returns the owner of a tenant: it has the tenant's own id.
pub fn owner_of(tenant: TenantId) -> UserId {
    UserId::from_uuid(tenant.uuid())
}

/// Returns the first tenant, made at the first start. Its admins look after the whole server.
///
/// # Errors
/// If the store fails.
pub async fn ensure_first(app: &App) -> Result<Tenant> {
    let found = app.store.read(Scope::System, |tx| tx.tenants().first()).await;
    let tenant = match found.map_err(Error::Store)? {
        Some(tenant) => tenant,
        None => match make(app, FIRST_TENANT.parse()?, UserStatus::Active, None).await {
            // Another server on the same database was faster.
            Err(Error::TenantNameTaken(_)) => {
                let found = app.store.read(Scope::System, |tx| tx.tenants().first()).await;
                found.map_err(Error::Store)?.ok_or(Error::NoHome)?
            }
            other => other?,
        },
    };
    ensure_owner(app, tenant.id).await?;
    app.set_home(tenant.id);
    Ok(tenant)
}

/// Makes the owner of a tenant that has none, as one that was made by hand.
async fn ensure_owner(app: &App, tenant: TenantId) -> Result<()> {
    let find = move |tx: &mut Tx<'_>| tx.users().by_id(tenant, owner_of(tenant));
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    if found.is_some() {
        return Ok(());
    }
    let owner = owner(tenant, UserStatus::Active, app.clock.now())?;
    let insert = move |tx: &mut Tx<'_>| tx.users().insert(tenant, &owner);
    app.store.write(Scope::System, insert).await.map(drop).map_err(Error::Store)
}

/// Tells whether the owner of a tenant can log in: its account may have been closed.
///
/// # Errors
/// If the store fails.
pub async fn owner_is_active(app: &App, tenant: TenantId) -> Result<bool> {
    let find = move |tx: &mut Tx<'_>| tx.users().by_id(tenant, owner_of(tenant));
    let found = app.store.read(Scope::System, find).await.map_err(Error::Store)?;
    Ok(found.is_some_and(|owner| owner.status == UserStatus::Active))
}

fn owner(tenant: TenantId, status: UserStatus, now: jiff::Timestamp) -> Result<User> {
    Ok(User {
        id: owner_of(tenant),
        name: OWNER.parse()?,
        role: Role::Admin,
        status,
        projects: Vec::new(),
        created_at: now,
        seen_at: None,
    })
}

/// Makes a tenant with an empty log and an owner.
async fn make(
    app: &App,
    name: TenantName,
    owner: UserStatus,
    call: Option<&Call>,
) -> Result<Tenant> {
    let now = app.clock.now();
    let tenant = Tenant { id: app.mint.id(), name, created_at: now, disabled_at: None };
    let owner = self::owner(tenant.id, owner, now)?;
    let event = system_event(app, "tenant:create", &tenant);
    let resource = format!("tenant/{}", tenant.id);
    let (app_, call) = (app.clone(), call.cloned());
    let written = app.store.write(Scope::System, move |tx| {
        if !tx.tenants().insert(&tenant)? {
            return Err(Error::TenantNameTaken(tenant.name.to_string()));
        }
        tx.users().insert(tenant.id, &owner)?;
        tx.record_for(tenant.id, event.clone())?;
        // The new chain begins with its own birth, so that an empty one is never whole.
        tx.record_act(tenant.id, system_act(&app_, "tenant:create", &resource))?;
        if let Some(call) = &call {
            let result = godel_model::AuditResult::Ok;
            let act = call.act(&app_, "tenant:create", resource.as_str(), result);
            tx.record_act(call.actor.tenant, act)?;
        }
        Ok(tenant.clone())
    });
    Ok(written.await?.value)
}

/// Makes a tenant; the link in the result opens its owner's account once.
///
/// # Errors
/// If the caller may not, or the name is taken.
#[instrument(level = "debug", name = "app.tenants.create", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn create(app: &App, call: &Call, name: TenantName) -> Result<(Tenant, LoginToken)> {
    call.may("tenant", "create", Reach::All)?;
    call.whole()?;
    let tenant = make(app, name, UserStatus::Invited, Some(call)).await?;
    let link = login::new_link(app, tenant.id, owner_of(tenant.id), INVITE_HOURS).await?;
    Ok((tenant, link))
}

/// Lists all tenants.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.tenants.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(app: &App, call: &Call) -> Result<Vec<Tenant>> {
    call.may("tenant", "read", Reach::All)?;
    app.store.read(Scope::System, |tx| Ok(tx.tenants().list()?)).await
}

/// Closes a tenant for all its users, or opens it again.
///
/// # Errors
/// If the caller may not, there is no such tenant, or it is the caller's own.
#[instrument(level = "debug", name = "app.tenants.disable", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn disable(app: &App, call: &Call, id: TenantId, disabled: bool) -> Result<Tenant> {
    call.may("tenant", "update", Reach::All)?;
    if id == call.actor.tenant {
        return Err(Error::invalid(
            "the first tenant cannot be closed: nobody could open it again",
        ));
    }
    let since = disabled.then(|| app.clock.now());
    let action = if disabled { "tenant:disable" } else { "tenant:enable" };
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        if !tx.tenants().disable(id, since)? {
            return Err(Error::NoTenant(id));
        }
        let tenant = tx.tenants().by_id(id)?.ok_or(Error::NoTenant(id))?;
        let event = call_.event(&app_, action, &tenant, ("tenantId", id));
        call_.tell(&app_, tx, event)?;
        Ok(tenant)
    };
    let tenant = app.store.write(Scope::System, work).await?.value;
    app.forget_callers();
    Ok(tenant)
}

/// Finds the tenant of a call.
///
/// # Errors
/// If it is not there.
#[instrument(level = "debug", name = "app.tenants.own", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn own(app: &App, call: &Call) -> Result<Tenant> {
    call.may("account", "read", Reach::Own)?;
    get(app, call.actor.tenant).await
}

/// Finds a tenant.
///
/// # Errors
/// If it is not there.
pub(crate) async fn get(app: &App, id: TenantId) -> Result<Tenant> {
    let found = app.store.read(Scope::Tenant(id), move |tx| tx.tenants().by_id(id)).await;
    found.map_err(Error::Store)?.ok_or(Error::NoTenant(id))
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

/// Makes an entry for the record of acts about something that the server itself did.
fn system_act(app: &App, action: &str, resource: &str) -> godel_model::AuditEntry {
    godel_model::AuditEntry {
        at: app.clock.now(),
        user: None,
        action: action.to_owned(),
        resource: resource.to_owned(),
        result: godel_model::AuditResult::Ok,
        trace_id: None,
        detail: "{}".to_owned(),
        personal: None,
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
    let act = system_act(app, kind, "server");
    let work = move |tx: &mut Tx<'_>| {
        tx.record_act(tenant, act.clone())?;
        Ok(tx.record(event.clone())?)
    };
    app.store.write(Scope::Tenant(tenant), work).await.map(drop)
}
