//! The meter: what machines and storage cost, in the same sums as what models cost.
//!
//! # Invariants
//! - Each moment is paid once: up to when was paid is written in the transaction that pays.
//! - Nothing is paid where no rate is set, and nothing for the time before one was.
//! - An agent is paid for while it is at work; one that stands still or has ended costs nothing.
//! - What snapshots are paid for together is the room that they take on disk, and no more.
//! - Looking does not take longer with the years: agents are looked at that are at work, or were since the last
//!   time.

mod due;
mod machines;
mod mark;
mod storage;

use std::sync::Arc;
use std::time::Duration;

use godel_fleet::{Fleet, Result};
use godel_model::TenantId;
use godel_proxy::Rates;
use godel_store::Scope;
use jiff::Timestamp;

/// Once in so many turns the room is measured that snapshots take: it takes longer.
const MEASURE_TURNS: u32 = 60;
/// How often it is looked whether somebody has set a rate.
const SET_EVERY: Duration = Duration::from_secs(2);

/// Pays for machines and storage from now on, in the background.
pub fn keep_going(fleet: &Fleet) {
    let fleet = fleet.clone();
    fleet.crew().clone().spawn(async move {
        let stopping = fleet.crew().stopping();
        let (mut turns, mut known) = ((0..MEASURE_TURNS).cycle(), None::<Arc<Rates>>);
        loop {
            let rates = Arc::new(fleet.app().switchboard.config().rates.clone());
            // Who never sets a rate has nothing of all this.
            if !rates.is_empty() || known.as_ref() != Some(&rates) {
                let paid = known.as_ref().map(|known| known.storage_gb_month);
                let with_storage = turns.next() == Some(0) || paid != Some(rates.storage_gb_month);
                match look(&fleet, &rates, with_storage).await {
                    Ok(()) => known = Some(Arc::clone(&rates)),
                    Err(error) => tracing::warn!(%error, "not all is paid for; it will be later"),
                }
            }
            let wait = if rates.is_empty() { SET_EVERY } else { rates.every };
            if tokio::time::timeout(wait, stopping.cancelled()).await.is_ok() {
                return;
            }
        }
    });
}

/// Pays for what was used since the last time, with the room that snapshots take or without. What could not be
/// paid is paid the next time.
async fn look(fleet: &Fleet, rates: &Arc<Rates>, with_storage: bool) -> Result<()> {
    let tenants = tenants(fleet, rates).await?;
    // What goes wrong with one must not keep the others from paying.
    let mut done = Ok(());
    for tenant in &tenants {
        let paid = machines::pay(fleet, *tenant, Arc::clone(rates)).await;
        done = done.and(paid);
    }
    if with_storage {
        done = done.and(storage::pay(fleet, &tenants, rates).await);
    }
    done
}

/// Tells whether enough time has gone by since a mark: half a turn at least, since other servers look, too.
fn is_time(rates: &Rates, (from, now): (Timestamp, Timestamp)) -> bool {
    let gone = Duration::try_from(now.duration_since(from)).unwrap_or_default();
    gone >= rates.every / 2
}

/// Lists those who pay, or who paid until somebody took the rates away.
async fn tenants(fleet: &Fleet, rates: &Rates) -> Result<Vec<TenantId>> {
    let none = rates.is_empty();
    let read = fleet.app().store.read(Scope::System, move |tx| match none {
        true => mark::payers(tx),
        false => Ok(tx.tenants().list()?.into_iter().map(|tenant| tenant.id).collect()),
    });
    read.await
}
