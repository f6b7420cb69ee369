//! Papers with a type: read whole, changed whole, and never over somebody else's change.

use godel_app::App;
use godel_model::TenantId;
use godel_store::{Error as StoreError, Paper, Scope, Tx};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{Error, Result};

/// How often a change is repeated because another server was faster.
const TRIES: usize = 20;
/// How many are read at least where some are left out.
const PAGE_MIN: usize = 100;

/// Something that is kept as a paper.
pub trait Filed: Serialize + DeserializeOwned + Clone + Send + 'static {
    /// The kind of paper.
    const KIND: &'static str;

    /// Returns its id.
    fn uuid(&self) -> Uuid;

    /// Returns the name that no other has.
    fn label(&self) -> Option<&str> {
        None
    }

    /// Returns whom it belongs to.
    fn owner(&self) -> String;

    /// Returns the state it is in.
    fn state(&self) -> &str;

    /// Says that there is none.
    fn missing(what: String) -> Error;
}

fn paper<T: Filed>(value: &T, version: i64) -> Result<Paper> {
    let doc = serde_json::to_string(value).map_err(|cause| Error::Paper(cause.to_string()))?;
    Ok(Paper {
        id: value.uuid(),
        label: value.label().map(ToOwned::to_owned),
        owner: value.owner(),
        state: value.state().to_owned(),
        doc,
        version,
    })
}

fn read<T: Filed>(paper: &Paper) -> Result<T> {
    serde_json::from_str(&paper.doc).map_err(|cause| {
        Error::Store(StoreError::Unreadable { what: T::KIND, cause: cause.into() })
    })
}

fn read_all<T: Filed>(papers: &[Paper]) -> Result<Vec<T>> {
    papers.iter().map(read).collect()
}

/// Adds one; `false` if its id or name is taken.
pub fn insert<T: Filed>(tx: &mut Tx<'_>, value: &T) -> Result<bool> {
    Ok(tx.papers(T::KIND).insert(&paper(value, 1)?)?)
}

/// Finds one.
pub fn by_id<T: Filed>(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<T>> {
    tx.papers(T::KIND).by_id(id)?.as_ref().map(read).transpose()
}

/// Finds the one with a name.
pub fn by_label<T: Filed>(tx: &mut Tx<'_>, label: &str) -> Result<Option<T>> {
    tx.papers(T::KIND).by_label(label)?.as_ref().map(read).transpose()
}

/// Lists those before an id, the newest first.
pub fn page<T: Filed>(tx: &mut Tx<'_>, before: Option<Uuid>, limit: usize) -> Result<Vec<T>> {
    read_all(&tx.papers(T::KIND).page(before, limit)?)
}

/// Lists those of an owner, the newest first.
pub fn of<T: Filed>(
    tx: &mut Tx<'_>,
    owner: &str,
    before: Option<Uuid>,
    limit: usize,
) -> Result<Vec<T>> {
    read_all(&tx.papers(T::KIND).of(owner, before, limit)?)
}

/// Lists those in a state, the newest first.
pub fn in_state<T: Filed>(
    tx: &mut Tx<'_>,
    state: &str,
    before: Option<Uuid>,
    limit: usize,
) -> Result<Vec<T>> {
    read_all(&tx.papers(T::KIND).in_state(state, before, limit)?)
}

/// Reads all that are in a state; for states in which there are never many.
pub fn all_in_state<T: Filed>(tx: &mut Tx<'_>, state: &str) -> Result<Vec<T>> {
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = in_state::<T>(tx, state, before, PAGE_MIN)?;
        before = page.last().map(Filed::uuid);
        let full = page.len() == PAGE_MIN;
        found.extend(page);
        if !full {
            return Ok(found);
        }
    }
}

/// Collects those that are wanted from pages of all, up to a limit.
pub fn gather<T: Filed>(
    (before, limit): (Option<Uuid>, usize),
    mut page: impl FnMut(Option<Uuid>, usize) -> Result<Vec<T>>,
    wanted: impl Fn(&T) -> bool,
) -> Result<Vec<T>> {
    let (mut found, mut from) = (Vec::new(), before);
    while found.len() < limit {
        let next = page(from, limit.max(PAGE_MIN))?;
        let Some(last) = next.last() else { break };
        from = Some(last.uuid());
        found.extend(next.into_iter().filter(&wanted));
    }
    found.truncate(limit);
    Ok(found)
}

/// Changes one in an open transaction of [`write`], which begins anew if another server was faster.
pub fn change_in<T: Filed, R>(
    tx: &mut Tx<'_>,
    id: Uuid,
    work: impl FnOnce(&mut Tx<'_>, &mut T) -> Result<R>,
) -> Result<(T, R)> {
    let found = tx.papers(T::KIND).by_id(id)?.ok_or_else(|| T::missing(id.to_string()))?;
    let mut value: T = read(&found)?;
    let done = work(tx, &mut value)?;
    let fresh = paper(&value, found.version)?;
    if fresh.doc == found.doc || tx.papers(T::KIND).update(&fresh)? {
        return Ok((value, done));
    }
    Err(Error::Raced(T::KIND))
}

/// Writes with the rights of a tenant; begins anew while other servers are faster.
pub async fn write<R: Send + 'static>(
    app: &App,
    tenant: TenantId,
    work: impl Fn(&mut Tx<'_>) -> Result<R> + Send + Sync + Clone + 'static,
) -> Result<R> {
    for _ in 1..TRIES {
        match app.store.write(Scope::Tenant(tenant), work.clone()).await {
            Err(Error::Raced(_)) => {}
            other => return Ok(other?.value),
        }
    }
    Ok(app.store.write(Scope::Tenant(tenant), work).await?.value)
}

/// Changes one; what `work` records is in the same transaction.
pub async fn change<T: Filed, R: Send + 'static>(
    app: &App,
    tenant: TenantId,
    id: Uuid,
    work: impl Fn(&mut Tx<'_>, &mut T) -> Result<R> + Send + Sync + Clone + 'static,
) -> Result<(T, R)> {
    write(app, tenant, move |tx| change_in::<T, R>(tx, id, |tx, value| work(tx, value))).await
}

/// Reads with the rights of a tenant.
pub async fn look<R: Send + 'static>(
    app: &App,
    tenant: TenantId,
    work: impl FnMut(&mut Tx<'_>) -> Result<R> + Send + 'static,
) -> Result<R> {
    app.store.read(Scope::Tenant(tenant), work).await
}
