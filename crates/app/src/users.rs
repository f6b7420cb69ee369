//! Users: inviting, changing and disabling them.

use godel_model::{LoginToken, ProjectId, Reach, Role, User, UserId, UserName, UserStatus};
use godel_store::{KeyRecord, Purpose, StoredRow, Tx};
use serde::Serialize;
use tracing::instrument;

use crate::auth::login::{self, INVITE_HOURS, Password};
use crate::once::{Outcome, once};
use crate::{App, Call, Error, Result, audit};

/// What events tell of a user: nothing that would have to be erased one day.
#[derive(Serialize)]
pub(crate) struct Told {
    id: UserId,
    role: Role,
    status: UserStatus,
}

pub(crate) fn told(user: &User) -> Told {
    Told { id: user.id, role: user.role, status: user.status }
}

/// Invites somebody; the link in the result opens the account once. A repeated request gets none.
///
/// # Errors
/// If the caller may not, the name is taken, or a project does not exist.
#[instrument(level = "debug", name = "app.users.invite", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn invite(
    app: &App,
    call: &Call,
    name: UserName,
    role: Role,
    projects: Vec<ProjectId>,
) -> Result<(User, Option<LoginToken>)> {
    call.may("user", "create", Reach::Team)?;
    call.whole()?;
    let user = User {
        id: app.mint.id(),
        name,
        role,
        status: UserStatus::Invited,
        projects,
        created_at: app.clock.now(),
        seen_at: None,
    };
    let event = call.event(app, "user:create", &told(&user), ("userId", user.id));
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        check_projects(tx, &user.projects)?;
        if !tx.users().insert(call_.actor.tenant, &user)? {
            return Err(Error::UserNameTaken(user.name.to_string()));
        }
        call_.tell(&app_, tx, event.clone())?;
        // Only the id is remembered: a name might have to be erased.
        Ok(user.id)
    };
    match once(app, call, work).await? {
        Outcome::Known(id) => Ok((find(app, call, id).await?, None)),
        Outcome::Fresh(written) => {
            let user = find(app, call, written.value).await?;
            let link = login::new_link(app, call.actor.tenant, user.id, INVITE_HOURS).await?;
            Ok((user, Some(link)))
        }
    }
}

fn check_projects(tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<()> {
    for id in projects {
        if tx.projects().by_id(*id)?.is_none() {
            return Err(Error::NoProject(*id));
        }
    }
    Ok(())
}

/// Makes a new link for somebody who lost the old one, or its password. Whatever password there was
/// is gone: who comes by the link sets a new one without it.
///
/// # Errors
/// If the caller may not, or there is no such user.
#[instrument(level = "debug", name = "app.users.new_link", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn new_link(app: &App, call: &Call, id: UserId) -> Result<LoginToken> {
    call.may("user", "update", Reach::Team)?;
    call.whole()?;
    let user = find(app, call, id).await?;
    if matches!(user.status, UserStatus::Disabled | UserStatus::Erased) {
        return Err(Error::invalid("this account is closed; enable it first"));
    }
    let event = call.event(app, "user:link", &told(&user), ("userId", id));
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        tx.tokens().forget(call_.actor.tenant, id, Purpose::Link)?;
        tx.users().set_password(call_.actor.tenant, id, None)?;
        call_.tell(&app_, tx, event.clone())
    };
    app.store.write(call.scope(), work).await?;
    login::new_link(app, call.actor.tenant, id, INVITE_HOURS).await
}

/// Lists users by age.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.users.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(app: &App, call: &Call, from: Option<UserId>, limit: usize) -> Result<Vec<User>> {
    call.may("user", "read", Reach::Team)?;
    let tenant = call.actor.tenant;
    app.store.read(call.scope(), move |tx| Ok(tx.users().page(tenant, from, limit)?)).await
}

/// Finds a user; everybody may see its own account.
///
/// # Errors
/// If the caller may not, or there is no such user.
#[instrument(level = "debug", name = "app.users.get", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn get(app: &App, call: &Call, id: UserId) -> Result<User> {
    if id == call.actor.user {
        call.may("account", "read", Reach::Own)?;
    } else {
        call.may("user", "read", Reach::Team)?;
    }
    find(app, call, id).await
}

/// Finds a user by its name.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.users.by_name", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn by_name(app: &App, call: &Call, name: UserName) -> Result<Option<User>> {
    call.may("user", "read", Reach::Team)?;
    let tenant = call.actor.tenant;
    app.store.read(call.scope(), move |tx| Ok(tx.users().by_name(tenant, &name)?)).await
}

async fn find(app: &App, call: &Call, id: UserId) -> Result<User> {
    let tenant = call.actor.tenant;
    let found = app.store.read(call.scope(), move |tx| tx.users().by_id(tenant, id)).await;
    let found = found.map_err(Error::Store)?;
    found.ok_or_else(|| Error::NoUser(id.to_string()))
}

/// What may be changed of a user; `None` leaves it as it is.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// The new role.
    pub role: Option<Role>,
    /// Whether the account is closed.
    pub disabled: Option<bool>,
    /// The new projects, all of them.
    pub projects: Option<Vec<ProjectId>>,
}

/// Changes a user. Who is disabled is logged out at once, and has no password afterwards.
///
/// # Errors
/// If the caller may not, there is no such user, or it is the last admin.
#[instrument(level = "debug", name = "app.users.update", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn update(app: &App, call: &Call, id: UserId, change: UserChange) -> Result<User> {
    call.may("user", "update", Reach::Team)?;
    call.whole()?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let tenant = call.actor.tenant;
    let work = move |tx: &mut Tx<'_>| {
        tx.tenants().lock(tenant)?;
        let mut user = open_account(tx, &call_, id)?;
        if let Some(role) = change.role {
            user.role = role;
        }
        if let Some(projects) = &change.projects {
            check_projects(tx, projects)?;
            user.projects.clone_from(projects);
        }
        match change.disabled {
            Some(true) => {
                // Whoever is let in again begins with a new link: what leaked stays useless.
                user.status = UserStatus::Disabled;
                tx.sessions().end_of(tenant, id, now)?;
                tx.tokens().forget(tenant, id, Purpose::Link)?;
                tx.users().set_password(tenant, id, None)?;
            }
            Some(false) if user.status == UserStatus::Disabled => {
                user.status = UserStatus::Active;
            }
            _ => {}
        }
        tx.users().update(tenant, &user)?;
        keep_an_admin(tx, &call_)?;
        let event = call_.event(&app_, "user:update", &told(&user), ("userId", id));
        call_.tell(&app_, tx, event)?;
        Ok::<_, Error>(user)
    };
    let user = app.store.write(call.scope(), work).await?.value;
    app.forget_callers();
    Ok(user)
}

/// Returns a user that was not erased.
pub(crate) fn open_account(tx: &mut Tx<'_>, call: &Call, id: UserId) -> Result<User> {
    let found = tx.users().by_id(call.actor.tenant, id)?;
    let found = found.filter(|user| user.status != UserStatus::Erased);
    found.ok_or_else(|| Error::NoUser(id.to_string()))
}

/// A tenant without an admin could never be looked after again.
pub(crate) fn keep_an_admin(tx: &mut Tx<'_>, call: &Call) -> Result<()> {
    if tx.users().admins(call.actor.tenant)? == 0 {
        return Err(Error::LastAdmin);
    }
    Ok(())
}

/// Sets the password of the caller's own account; its other logins end. Where there is one, it must
/// be given: whoever finds a browser open must not keep the account.
///
/// # Errors
/// If the password is too short, the current one is wrong or was not given, or the caller is a key
/// that may less than its user.
#[instrument(level = "debug", name = "app.users.set_password", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn set_password(
    app: &App,
    call: &Call,
    current: Option<Password>,
    password: Password,
) -> Result<()> {
    call.may("account", "update", Reach::Own)?;
    call.whole()?;
    prove_password(app, call, current).await?;
    let hash = app.passwords.hash(password.0, app.mint).await?;
    let (tenant, id, now) = (call.actor.tenant, call.actor.user, app.clock.now());
    #[derive(Serialize)]
    struct Changed {
        id: UserId,
    }
    let event = call.event(app, "user:password", &Changed { id }, ("userId", id));
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        tx.users().set_password(tenant, id, Some(&hash))?;
        tx.sessions().end_others(tenant, id, call_.actor.session, now)?;
        call_.tell(&app_, tx, event.clone())
    };
    app.store.write(call.scope(), work).await?;
    app.forget_callers();
    Ok(())
}

/// Lets the call go on if it knows the password of its account, or there is none.
async fn prove_password(app: &App, call: &Call, current: Option<Password>) -> Result<()> {
    let (tenant, id) = (call.actor.tenant, call.actor.user);
    let look = move |tx: &mut Tx<'_>| {
        Ok::<_, Error>((tx.users().by_id(tenant, id)?, tx.users().password(tenant, id)?))
    };
    let (user, hash) = app.store.read(call.scope(), look).await?;
    let Some(hash) = hash else { return Ok(()) };
    let current = current.ok_or(Error::NoCurrentPassword)?;
    let name = user.map(|user| user.name.to_string()).unwrap_or_default();
    let place = (call.origin.address, format!("{tenant}/{name}"));
    if login::compare(app, (place.0, &place.1), current.0, Some(hash)).await? {
        return Ok(());
    }
    audit::refused(app, call, "auth:failure", "password").await?;
    Err(Error::WrongPassword)
}

/// What the server knows of a person.
#[derive(Debug)]
pub struct Export {
    /// The account.
    pub user: User,
    /// Its keys, without the secrets, which nobody has.
    pub keys: Vec<KeyRecord>,
    /// The newest acts on record, newest first.
    pub acts: Vec<StoredRow>,
}

/// Returns what the server knows of a person; everybody may have its own.
///
/// # Errors
/// If the caller may not, or there is no such user.
#[instrument(level = "debug", name = "app.users.export", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn export(app: &App, call: &Call, id: UserId) -> Result<Export> {
    const ACTS_MAX: usize = 10_000;
    let user = get(app, call, id).await?;
    let tenant = call.actor.tenant;
    let work = move |tx: &mut Tx<'_>| {
        let keys = tx.keys().page(tenant, Some(id), None, 1_000)?;
        let acts = tx.audit().backward(Some(id), i64::MAX, ACTS_MAX)?;
        Ok::<_, Error>((keys, acts))
    };
    let (keys, acts) = app.store.read_long(call.scope(), work).await?;
    let event = call.event(app, "user:export", &told(&user), ("userId", id));
    let (app_, call_) = (app.clone(), call.clone());
    let tell = move |tx: &mut Tx<'_>| call_.tell(&app_, tx, event.clone());
    app.store.write(call.scope(), tell).await?;
    Ok(Export { user, keys, acts })
}
