//! What keeps the ledger going: its writer, signs of life, and the file of providers.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use godel_model::{CallId, TenantId};
use godel_proxy::{BadConfig, Config};
use godel_store::{DatabaseUrl, Scope, Tx};
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{App, Crew, Error, Result};

/// How often a server says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// How often it is looked whether a file has changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it is told what was spent meanwhile.
const TELL_EVERY: Duration = Duration::from_secs(2);
/// How often old attempts are removed.
const TRIM_EVERY: Duration = Duration::from_secs(600);
/// How long the last words of the ledger may take.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How many attempts one transaction removes.
const TRIM_AT_ONCE: usize = 1_000;

/// Reads the file of providers; none is as good as an empty one.
///
/// # Errors
/// If it makes no sense, or cannot be read.
pub fn load(path: &Path) -> std::result::Result<Config, BadConfig> {
    match std::fs::read_to_string(path) {
        Ok(text) => Config::read(&text),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Config::read(""),
        Err(cause) => Err(BadConfig::unreadable(path, &cause)),
    }
}

/// Settles what a server that died left open, and then keeps the ledger going: on the runtime of those
/// who wait for it.
///
/// # Errors
/// If the database fails.
pub async fn start(app: &App, crew: &Crew, (file, at): (PathBuf, &Handle)) -> Result<()> {
    godel_proxy::metrics::describe();
    let ledger = app.switchboard.ledger().clone();
    // A file has one server; whoever left something open in it is dead.
    let alone = matches!(app.store.url(), DatabaseUrl::Sqlite(_));
    while ledger.keep(alone).await? {}
    let writer = ledger.clone();
    app.last.spawn_on(at, async move { writer.run().await });
    let (stopping, keeper, switchboard) = (crew.stopping(), ledger, app.switchboard.clone());
    crew.spawn(async move {
        while tokio::time::timeout(ALIVE_EVERY, stopping.cancelled()).await.is_err() {
            switchboard.close_idle();
            if let Err(error) = keeper.keep(false).await {
                tracing::warn!(%error, "this server could not say that it is alive");
            }
        }
    });
    let (stopping, teller) = (crew.stopping(), app.switchboard.ledger().clone());
    crew.spawn(async move {
        while tokio::time::timeout(TELL_EVERY, stopping.cancelled()).await.is_err() {
            teller.tell_spent();
        }
    });
    let (stopping, board) = (crew.stopping(), app.switchboard.clone());
    crew.spawn(async move {
        tokio::select! {
            () = stopping.cancelled() => {}
            () = board.tend() => {}
        }
    });
    let (stopping, app_) = (crew.stopping(), app.clone());
    crew.spawn(async move {
        let mut seen = stamps(&app_, &file);
        while tokio::time::timeout(LOOK_EVERY, stopping.cancelled()).await.is_err() {
            let now = stamps(&app_, &file);
            if now != seen {
                reload(&app_, &file);
                seen = stamps(&app_, &file);
                // What changed while it was read is seen the next time.
                if seen.iter().map(|(path, _)| path).eq(now.iter().map(|(path, _)| path)) {
                    seen = now;
                }
            }
        }
    });
    let (stopping, app_) = (crew.stopping(), app.clone());
    crew.spawn(async move {
        while tokio::time::timeout(TRIM_EVERY, stopping.cancelled()).await.is_err() {
            if let Err(error) = trim(&app_).await {
                tracing::warn!(%error, "old requests to models were not removed");
            }
        }
    });
    Ok(())
}

/// Writes what is left and says that this server is gone.
pub async fn stop(app: &App) {
    app.switchboard.tidy().await;
    let ledger = app.switchboard.ledger();
    ledger.tell_spent();
    ledger.stop();
    if !app.last.stop(LAST_WORDS).await {
        tracing::warn!("the ledger was not written to its end in time");
    }
    if let Err(error) = ledger.leave().await {
        tracing::warn!(%error, "this server could not say that it is gone");
    }
}

/// When a file was changed, and how long it is.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(file: &Path) -> Stamp {
    let meta = std::fs::metadata(file).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// Looks at the file of providers, and at the list of models and the keys that it names.
fn stamps(app: &App, file: &Path) -> Vec<(PathBuf, Stamp)> {
    let config = app.switchboard.config();
    let files = std::iter::once(file).chain(config.files());
    files.map(|path| (path.to_owned(), stamp(path))).collect()
}

/// Takes the files anew; what makes no sense changes nothing.
fn reload(app: &App, file: &Path) {
    match load(file) {
        Ok(config) => {
            app.switchboard.reload(config);
            app.askers.forget_keys();
            tracing::info!(file = %file.display(), "the providers were read anew");
        }
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "the providers stay as they are");
        }
    }
}

/// Removes attempts that are older than is kept, and what was said in them; their sums stay.
///
/// # Errors
/// If the database fails.
pub async fn trim(app: &App) -> Result<u64> {
    let days = app.switchboard.config().keep_days;
    let now = app.clock.now();
    let keep = SignedDuration::from_hours(24 * i64::from(days));
    let before = oldest(now.saturating_sub(keep).unwrap_or(Timestamp::UNIX_EPOCH));
    let tenants = app.store.read(Scope::System, |tx| tx.tenants().list()).await;
    let tenants = tenants.map_err(Error::Store)?;
    let mut removed = 0;
    for tenant in tenants {
        loop {
            let gone = trim_some(app, tenant.id, before).await?;
            removed += gone;
            if gone == 0 {
                break;
            }
        }
        while trim_bodies(app, tenant.id).await? > 0 {}
    }
    Ok(removed)
}

/// Removes what was said when its time is over.
async fn trim_bodies(app: &App, tenant: TenantId) -> Result<u64> {
    let now = app.clock.now();
    let work = move |tx: &mut Tx<'_>| tx.bodies().trim(tenant, now, TRIM_AT_ONCE);
    Ok(app.store.write(Scope::System, work).await.map_err(Error::Store)?.value)
}

async fn trim_some(app: &App, tenant: TenantId, before: CallId) -> Result<u64> {
    let work = move |tx: &mut Tx<'_>| tx.calls().trim(tenant, before, TRIM_AT_ONCE);
    Ok(app.store.write(Scope::System, work).await.map_err(Error::Store)?.value)
}

/// Returns an id that is smaller than all that were made since a time.
pub fn oldest(at: Timestamp) -> CallId {
    let millis = u128::try_from(at.as_millisecond()).unwrap_or(0);
    CallId::from_uuid(Uuid::from_u128(millis << 80))
}

#[cfg(test)]
mod tests {
    use godel_model::{Clock as _, Mint, SystemClock};

    use super::*;

    #[test]
    fn an_id_of_a_time_lies_between_those_before_and_after_it() {
        let now = SystemClock.now();
        let id: CallId = Mint::system().id();
        let second = |by| now.checked_add(SignedDuration::from_secs(by)).unwrap();
        assert!(oldest(second(-1)) < id && id < oldest(second(1)));
    }
}
