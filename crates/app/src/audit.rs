//! The record of who did what: reading it, and checking that nobody altered it.

use std::collections::BTreeMap;

use godel_model::{AuditResult, Reach, TenantId, UserId, chain};
use godel_store::{Scope, StoredRow, Tx};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tracing::instrument;

use crate::{App, Call, Error, Result};

/// How many rows one page looks at, at most.
const SCAN_MAX_ROWS: usize = 5_000;
const CHUNK_ROWS: usize = 500;

/// Which rows are wanted.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Of whom.
    pub user: Option<UserId>,
    /// Of which action; a text that ends with `*` stands for all that begin so.
    pub action: Option<String>,
    /// With which result.
    pub result: Option<AuditResult>,
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Not after this time.
    pub until: Option<Timestamp>,
    /// Before which place.
    pub before: Option<i64>,
    /// How many at most.
    pub limit: usize,
}

impl Query {
    fn wants(&self, row: &StoredRow) -> bool {
        let entry = &row.row.entry;
        let action = self.action.as_deref().is_none_or(|wanted| match wanted.strip_suffix('*') {
            Some(start) => entry.action.starts_with(start),
            None => entry.action == wanted,
        });
        action
            && self.result.is_none_or(|result| result == entry.result)
            && self.until.is_none_or(|until| entry.at <= until)
    }
}

/// A page of the record.
#[derive(Debug)]
pub struct Page {
    /// The rows, newest first.
    pub rows: Vec<StoredRow>,
    /// Where the next page begins, if there may be more.
    pub next: Option<i64>,
}

/// Reads the record, newest first.
///
/// # Errors
/// If the caller may not.
#[instrument(level = "debug", name = "app.audit.query", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn query(app: &App, call: &Call, query: Query) -> Result<Page> {
    call.may("audit", "read", Reach::Team)?;
    app.store.read_long(call.scope(), move |tx| read(tx, &query)).await
}

fn read(tx: &mut Tx<'_>, query: &Query) -> Result<Page> {
    let mut page = Page { rows: Vec::new(), next: None };
    let (mut before, mut looked) = (query.before.unwrap_or(i64::MAX), 0);
    loop {
        let rows = tx.audit().backward(query.user, before, CHUNK_ROWS)?;
        let full = rows.len() == CHUNK_ROWS;
        for row in rows {
            if page.rows.len() == query.limit {
                page.next = Some(before);
                return Ok(page);
            }
            // Rows are nearly in the order of time: a request takes at most a minute.
            let slack = SignedDuration::from_secs(60);
            let early = |since: Timestamp| since.saturating_sub(slack).unwrap_or(since);
            if query.since.is_some_and(|since| row.row.entry.at < early(since)) {
                return Ok(page);
            }
            before = row.row.seq;
            looked += 1;
            let late_enough = query.since.is_none_or(|since| row.row.entry.at >= since);
            if late_enough && query.wants(&row) {
                page.rows.push(row);
            }
        }
        if !full {
            return Ok(page);
        }
        if looked >= SCAN_MAX_ROWS {
            page.next = Some(before);
            return Ok(page);
        }
    }
}

/// Records that a call was refused.
///
/// # Errors
/// If the store fails.
#[instrument(level = "debug", name = "app.audit.refused", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn refused(app: &App, call: &Call, action: &str, resource: &str) -> Result<()> {
    let entry = call.act(app, action, resource, AuditResult::Denied);
    let tenant = call.actor.tenant;
    let work = move |tx: &mut Tx<'_>| tx.record_act(tenant, entry.clone());
    app.store.write(call.scope(), work).await.map(drop).map_err(Error::Store)
}

/// What is kept outside of the database: a place in each chain that must not get lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchors(pub BTreeMap<TenantId, Anchor>);

/// A place in a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The place.
    pub seq: i64,
    /// The hash of the row there, as hexadecimal digits.
    pub mac: String,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the newest place of each chain.
///
/// # Errors
/// If the store fails.
pub async fn anchors(app: &App) -> Result<Anchors> {
    let listed = app.store.read(Scope::System, |tx| tx.tenants().list()).await;
    let mut anchors = Anchors::default();
    for tenant in listed.map_err(Error::Store)? {
        let read = app.store.read(Scope::Tenant(tenant.id), |tx| tx.audit().ends()).await;
        if let Some(ends) = read.map_err(Error::Store)? {
            let anchor = Anchor { seq: ends.newest.seq, mac: hex(&ends.newest.mac) };
            anchors.0.insert(tenant.id, anchor);
        }
    }
    Ok(anchors)
}

/// What a check of the record found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// How many rows were checked.
    pub rows: u64,
    /// The first and the last place that were checked.
    pub from: i64,
    /// The newest place.
    pub upto: i64,
    /// What is wrong, at which place.
    pub broken: Option<Broken>,
}

/// The first place at which the record was altered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The place.
    pub seq: i64,
    /// What is wrong.
    pub why: String,
}

/// Checks the whole record of the caller's tenant.
///
/// # Errors
/// If the caller may not, or the store fails. That the record was altered is an answer.
#[instrument(level = "debug", name = "app.audit.verify", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn verify(app: &App, call: &Call, anchors: &Anchors) -> Result<Verdict> {
    call.may("audit", "read", Reach::Team)?;
    verify_tenant(app, call.actor.tenant, anchors).await
}

/// Checks the whole record of a tenant.
///
/// # Errors
/// If the store fails.
pub async fn verify_tenant(app: &App, tenant: TenantId, anchors: &Anchors) -> Result<Verdict> {
    let (key, anchor) = (app.vault.audit_key()?, anchors.0.get(&tenant).cloned());
    let work = move |tx: &mut Tx<'_>| check(tx, tenant, &key, anchor.as_ref());
    app.store.read_long(Scope::Tenant(tenant), work).await
}

fn check(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    key: &chain::AuditKey,
    anchor: Option<&Anchor>,
) -> Result<Verdict> {
    let mut verdict = Verdict { rows: 0, from: 1, upto: 0, broken: None };
    let broken = |seq: i64, why: &str| Some(Broken { seq, why: why.to_owned() });
    let Some(ends) = tx.audit().ends()? else {
        verdict.broken = broken(0, "the end of the record is missing");
        return Ok(verdict);
    };
    verdict.from = ends.trimmed.seq + 1;
    verdict.upto = ends.newest.seq;
    if key.seal(tenant, chain::End::Trimmed, &ends.trimmed) != ends.trimmed_seal {
        verdict.broken = broken(ends.trimmed.seq, "the beginning of the record was moved");
        return Ok(verdict);
    }
    let mut nameless = Nameless::default();
    let mut last = ends.trimmed;
    loop {
        let rows = tx.audit().forward(last.seq, CHUNK_ROWS)?;
        let full = rows.len() == CHUNK_ROWS;
        for stored in rows {
            if let Some(why) = fault(key, tenant, &last, &stored, &mut nameless) {
                verdict.broken = broken(last.seq + 1, why);
                return Ok(verdict);
            }
            verdict.rows += 1;
            last = chain::Link { seq: stored.row.seq, mac: stored.row.mac };
            if anchor.is_some_and(|anchor| anchor.seq == last.seq && anchor.mac != hex(&last.mac)) {
                verdict.broken = broken(last.seq, "this row replaced another one");
                return Ok(verdict);
            }
        }
        if !full {
            break;
        }
    }
    if let Some(seq) = nameless.0.values().min() {
        verdict.broken = broken(*seq, "who acted was removed from this row without an erasure");
    } else if last != ends.newest {
        verdict.broken = broken(last.seq + 1, "the newest rows are missing");
    } else if key.seal(tenant, chain::End::Newest, &last) != ends.seal {
        verdict.broken = broken(last.seq + 1, "the end of the record was moved");
    } else if anchor.is_some_and(|anchor| anchor.seq > last.seq) {
        verdict.broken = broken(last.seq + 1, "the newest rows were cut off");
    }
    Ok(verdict)
}

/// People whose names are gone, with the first place; an erasure later in the chain explains it.
#[derive(Default)]
struct Nameless(BTreeMap<UserId, i64>);

/// Tells what is wrong with a row, if anything is.
fn fault(
    key: &chain::AuditKey,
    tenant: TenantId,
    before: &chain::Link,
    stored: &StoredRow,
    nameless: &mut Nameless,
) -> Option<&'static str> {
    let row = &stored.row;
    if row.seq != before.seq + 1 {
        return Some("a row is missing");
    }
    if key.mac(tenant, before, &row.entry, &row.digest) != row.mac {
        return Some("this row was altered");
    }
    if let Some(user) = row.entry.resource.strip_prefix("user/")
        && row.entry.action == "user:erase"
        && let Ok(user) = user.parse::<UserId>()
    {
        nameless.0.remove(&user);
    }
    if !key.is_personal_whole(tenant, row, stored.personal.as_deref()) {
        match row.entry.user.filter(|_| stored.personal.is_none()) {
            Some(user) => drop(nameless.0.entry(user).or_insert(row.seq)),
            None => return Some("who acted was altered in this row"),
        }
    }
    None
}

/// Removes rows that are older than is kept; returns how many.
///
/// # Errors
/// If the store fails.
pub async fn trim(app: &App, tenant: TenantId, keep: SignedDuration) -> Result<u64> {
    let now = app.clock.now();
    let before = now.saturating_sub(keep).unwrap_or(now);
    let mut removed = 0;
    loop {
        let key = app.vault.audit_key()?;
        let work = move |tx: &mut Tx<'_>| -> Result<u64, godel_store::Error> {
            // Everybody locks the end of the log first and that of the record second; the other way
            // round, this and an append of another server would wait for each other.
            tx.events().lock_bounds()?;
            let Some(ends) = tx.audit().ends()? else { return Ok(0) };
            let oldest = tx.audit().forward(ends.trimmed.seq, CHUNK_ROWS)?;
            let old = oldest.iter().take_while(|row| row.row.entry.at < before).last();
            let Some(last) = old.filter(|last| last.row.seq < ends.newest.seq) else {
                return Ok(0);
            };
            let link = chain::Link { seq: last.row.seq, mac: last.row.mac };
            tx.audit().trim(&link, &key.seal(tenant, chain::End::Trimmed, &link))
        };
        let gone = app.store.write(Scope::Tenant(tenant), work).await.map_err(Error::Store)?.value;
        removed += gone;
        if gone == 0 {
            return Ok(removed);
        }
    }
}
