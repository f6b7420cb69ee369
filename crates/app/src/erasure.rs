//! Erasing a person: what tells who it was goes, what it did stays.

use std::sync::Arc;

use godel_model::{Reach, Role, Seq, User, UserId, UserStatus};
use godel_store::{Purpose, Tx};
use tracing::instrument;

use crate::users::{keep_an_admin, open_account, told};
use crate::{App, Call, Error, Result};

/// The event that tells of an erasure; on hearing it, other servers forget what they have in memory.
const ERASED: &str = "user:erase";

/// What of an erased person may still come in: requests that were let in before, here or by a
/// server that had not heard of it.
#[derive(Debug)]
#[must_use]
pub struct Leftover {
    call: Call,
    user: User,
    old: String,
    new: String,
    from: Seq,
}

/// Erases a person: what tells who it was goes, and so does every way in. What it did stays, under
/// an id that leads nowhere. What is returned is to be removed once nobody acts for it any more.
///
/// # Errors
/// If the caller may not, there is no such user, or it is the last admin.
#[instrument(level = "debug", name = "app.erasure.erase", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn erase(app: &App, call: &Call, id: UserId) -> Result<Leftover> {
    call.may("user", "delete", Reach::Team)?;
    let tenant = call.actor.tenant;
    let look = move |tx: &mut Tx<'_>| {
        let user = tx.users().by_id(tenant, id)?;
        let last = tx.users().admins(tenant)? == 1;
        Ok::<_, Error>(user.map(|user| (user, last)))
    };
    let found = app.store.read(call.scope(), look).await?;
    let found = found.filter(|(user, _)| user.status != UserStatus::Erased);
    let (known, last) = found.ok_or_else(|| Error::NoUser(id.to_string()))?;
    // Asked before anything is renamed; it is asked again when the account goes.
    if last && known.role == Role::Admin && known.status == UserStatus::Active {
        return Err(Error::LastAdmin);
    }
    let (old, new) = (format!("user:{}", known.name.as_str()), format!("user:{}", nobody(id)));
    // The long part comes first, while the account still has its name: what is cut off in the
    // middle can be done again.
    let from = rename_in_events(app, call, &old, &new).await?;
    let mut call = call.clone();
    if id == call.actor.user {
        // Who erases itself must not leave its name behind by doing so.
        Arc::make_mut(&mut call.actor).name.clone_from(&new);
        call.origin = crate::Origin::default();
    }
    let user = User {
        name: nobody(id).parse()?,
        role: Role::Viewer,
        status: UserStatus::Erased,
        projects: Vec::new(),
        seen_at: None,
        ..known
    };
    let left = Leftover { call, user, old, new, from };
    close(app, &left).await?;
    app.forget_callers();
    left.forget(app).await?;
    Ok(left)
}

/// Closes the account and takes the name out of all that is left, in one transaction.
async fn close(app: &App, left: &Leftover) -> Result<()> {
    let Leftover { call, user, old, new, from } = left;
    let (app_, call_, user, from, now) =
        (app.clone(), call.clone(), user.clone(), *from, app.clock.now());
    let (old, new, tenant, id) = (old.clone(), new.clone(), call.actor.tenant, user.id);
    let work = move |tx: &mut Tx<'_>| {
        tx.tenants().lock(tenant)?;
        tx.events().lock_bounds()?;
        open_account(tx, &call_, id)?;
        tx.events().rename_actor((from.0, i64::MAX), &old, &new)?;
        tx.users().update(tenant, &user)?;
        tx.users().set_password(tenant, id, None)?;
        tx.keys().revoke_of(tenant, id, None, now)?;
        tx.keys().rename_of(tenant, id, &"erased".parse()?)?;
        tx.sessions().end_of(tenant, id, now)?;
        tx.tokens().forget(tenant, id, Purpose::Link)?;
        keep_an_admin(tx, &call_)?;
        tx.audit().erase(id)?;
        call_.tell(&app_, tx, call_.event(&app_, ERASED, &told(&user), ("userId", id)))
    };
    app.store.write(call.scope(), work).await.map(drop)
}

impl Leftover {
    /// Takes the name out of what came in after the erasure; tells whether anything had.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn remove(&self, app: &App) -> Result<bool> {
        let Self { call, user, old, new, from } = self;
        let (app_, call_, user, from) = (app.clone(), call.clone(), user.clone(), *from);
        let (old, new, id) = (old.clone(), new.clone(), user.id);
        let work = move |tx: &mut Tx<'_>| {
            tx.events().lock_bounds()?;
            let events = tx.events().rename_actor((from.0, i64::MAX), &old, &new)?;
            let acts = tx.audit().erase(id)?;
            if events + acts == 0 {
                return Ok(false);
            }
            // The record is whole only if an erasure comes behind each row that lost its name.
            call_.tell(&app_, tx, call_.event(&app_, ERASED, &told(&user), ("userId", id)))?;
            Ok::<_, Error>(true)
        };
        let found = app.store.write(call.scope(), work).await?.value;
        self.forget(app).await?;
        Ok(found)
    }

    /// Forgets the events in memory, which still have the name.
    async fn forget(&self, app: &App) -> Result<()> {
        let read = app.store.read(self.call.scope(), |tx| tx.events().bounds()).await;
        app.store.forget(self.call.actor.tenant, read.map_err(Error::Store)?.0);
        Ok(())
    }
}

/// The name of somebody who was erased.
fn nobody(id: UserId) -> String {
    format!("erased-{}", id.uuid().simple())
}

/// Takes a name out of the events, some thousands at a time so that other writes come in between;
/// returns up to where.
async fn rename_in_events(app: &App, call: &Call, old: &str, new: &str) -> Result<Seq> {
    const CHUNK_EVENTS: i64 = 20_000;
    let read = app.store.read(call.scope(), |tx| tx.events().bounds()).await;
    let (head, trimmed) = read.map_err(Error::Store)?;
    let mut from = trimmed.0;
    while from < head.0 {
        let (upto, old, new) = (from + CHUNK_EVENTS, old.to_owned(), new.to_owned());
        let work = move |tx: &mut Tx<'_>| {
            // Locked first, as retention does, which removes the same rows.
            tx.events().lock_bounds()?;
            tx.events().rename_actor((from, upto), &old, &new)
        };
        app.store.write(call.scope(), work).await.map_err(Error::Store)?;
        from = upto;
    }
    Ok(head)
}
