//! Restoring a backup, and looking at what came of it before it counts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use godel_model::{Clock, EventFilter};
use godel_store::backup::{self, Contents};
use godel_store::{Config, Direction, Durability, Error as StoreError, Scope, Store};
use jiff::Timestamp;

use crate::{Error, Result, integrity};

/// What a restore brought back.
#[derive(Debug, Clone)]
pub struct Restored {
    /// What the backup holds.
    pub contents: Contents,
    /// The tenants, each with how many events of its log were checked.
    pub tenants: Vec<(String, u64)>,
    /// When the newest event happened.
    pub newest_event: Option<Timestamp>,
    /// Where the file from before is now.
    pub aside: Option<PathBuf>,
}

/// Restores a backup into a database, and checks that each log adds up to the tables.
///
/// # Errors
/// If the backup is damaged or too new, the database is in use or not empty, or the log of a tenant
/// does not add up. On SQLite the old state is then still there.
pub async fn restore(
    config: &Config,
    file: &Path,
    clock: Arc<dyn Clock>,
    force: bool,
) -> Result<Restored> {
    let restoring = backup::restore(config, file, clock.now(), force).await?;
    let contents = restoring.contents.clone();
    // A file that is thrown away after a crash need not survive one yet.
    let relaxed = Config { durability: Durability::Relaxed, ..restoring.config().clone() };
    // What is not sound a moment after it was loaded was not so in the backup.
    let store = Store::open(&relaxed).await.map_err(|error| match error {
        StoreError::Corrupt(why) => StoreError::BackupDamaged(why),
        other => other,
    })?;
    let looked = look(&store).await;
    store.close().await;
    // Its last connections end with it, and they must, before the file moves.
    drop(store);
    let (tenants, newest_event) = looked?;
    let finished = tokio::task::spawn_blocking(move || restoring.finish()).await;
    let aside = finished.unwrap_or(Err(StoreError::Panicked))?;
    Ok(Restored { contents, tenants, newest_event, aside })
}

type Looked = (Vec<(String, u64)>, Option<Timestamp>);

/// Checks the log of each tenant.
async fn look(store: &Store) -> Result<Looked> {
    let listed = store.read(Scope::System, |tx| tx.tenants().list()).await;
    let (mut tenants, mut newest) = (Vec::new(), None);
    for tenant in listed.map_err(Error::Store)? {
        let folded = integrity::check(store, tenant.id).await?;
        tenants.push((tenant.name.to_string(), folded));
        let last = store.read(Scope::Tenant(tenant.id), |tx| {
            let (head, _) = tx.events().bounds()?;
            let all = EventFilter::all();
            let page = tx.events().page(&all, Direction::Backward, head.next(), 1)?;
            Ok::<_, StoreError>(page.events.first().map(|event| event.at))
        });
        newest = newest.max(last.await?);
    }
    Ok((tenants, newest))
}
