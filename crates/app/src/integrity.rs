//! Integrity: does the log add up to the tables?

use godel_model::{EventFilter, TenantId, TenantState};
use godel_store::{Direction, Scope, Store, Tx};
use tracing::instrument;

use crate::{Error, Result};

const PAGE: usize = 1_000;

/// Compares a tenant's tables with its snapshot plus the fold of its log, on one consistent view;
/// returns how many events were folded.
///
/// # Errors
/// If they differ, or the log has a hole.
#[instrument(level = "debug", name = "app.integrity.check", skip_all, fields(%tenant))]
pub async fn check(store: &Store, tenant: TenantId) -> Result<u64> {
    store.read_long(Scope::Tenant(tenant), move |tx| compare(tx, tenant)).await
}

fn compare(tx: &mut Tx<'_>, tenant: TenantId) -> Result<u64> {
    let differ = |why: String| Error::Disagreement { tenant, why };
    let (head, trimmed) = tx.events().bounds()?;
    let mut state = tx.snapshots().load()?;
    if state.seq != trimmed {
        return Err(differ(format!(
            "the snapshot ends at {}, the log begins behind {trimmed}",
            state.seq
        )));
    }
    let mut folded = 0;
    loop {
        let page = tx.events().page(&EventFilter::all(), Direction::Forward, state.seq, PAGE)?;
        for event in &page.events {
            state.apply(event).map_err(|illegal| differ(illegal.to_string()))?;
            folded += 1;
        }
        if !page.more {
            break;
        }
    }
    if state.seq != head {
        return Err(differ(format!("the log ends at {}, its head is {head}", state.seq)));
    }
    let stored = tables(tx, &state)?;
    if stored != state {
        return Err(differ(format!(
            "{} projects by the log, {} in the table",
            state.projects.len(),
            stored.projects.len()
        )));
    }
    Ok(folded)
}

/// Reads the state as the tables have it.
fn tables(tx: &mut Tx<'_>, folded: &TenantState) -> Result<TenantState> {
    let mut state = TenantState { seq: folded.seq, ..TenantState::default() };
    let mut from = None;
    loop {
        let page = tx.projects().page(false, from, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(state);
        };
        from = Some(last.id);
        state.projects.extend(page.into_iter().map(|project| (project.id, project)));
    }
}
