//! `godel secret rotate-master` and `reset-master`: a new master key for the database.

use std::sync::Arc;

use godel_app::vault::{self, MasterKey};
use godel_app::{App, AppConfig, tenants};
use godel_args::DatabaseFlag;
use godel_console::{Context, Error, Exit, Result};
use godel_model::{Clock as _, Mint, SystemClock};
use godel_server::{LOCK_FILE, MASTER_KEY_FILE, NewMasterKey, OLD_MASTER_KEY_FILE, SafeError};
use godel_store::{FileLock, Store};
use serde_json::json;

/// What the record says of a rotation.
const ACT: &str = "server:rotate";

/// Makes a new master key, and lets it wrap the keys in the database.
pub(crate) async fn rotate(context: &Context, database: &DatabaseFlag) -> Result<Exit> {
    let (_lock, store) = open(context, database).await?;
    let result = replace(context, &store).await;
    store.close().await;
    let (old, new) = result?;
    tell(context, &old, &new)
}

/// Gives up a lost master key.
pub(crate) async fn reset(context: &Context, database: &DatabaseFlag, yes: bool) -> Result<Exit> {
    if !yes {
        return Err(Error::usage(
            "all secrets of all tenants would go",
            "if the master key is really lost, run it again with --yes",
        ));
    }
    let (_lock, store) = open(context, database).await?;
    let result = give_up(context, &store).await;
    store.close().await;
    let (new, gone) = result?;
    let file = context.data.join(MASTER_KEY_FILE);
    if context.output.is_json() {
        context.output.value(&json!({ "master": new.id(), "secretsRemoved": gone }))?;
    } else {
        context.output.line(format_args!(
            "master key {} is in {}; {gone} secrets were removed",
            new.id(),
            file.display()
        ))?;
        context.output.note("keep a copy of it somewhere else, and set the secrets again");
    }
    Ok(Exit::Done)
}

async fn give_up(context: &Context, store: &Store) -> Result<(MasterKey, u64)> {
    let dir = &context.data;
    match godel_server::find_master_key(None, dir, store).await {
        Ok(Some(key)) if vault::opens(store, &key).await? == Some(false) => {}
        Ok(Some(_)) => {
            return Err(Error::usage(
                "the master key in the data directory opens the database",
                "there is nothing to give up; `godel secret rotate-master` replaces it",
            ));
        }
        Ok(None) | Err(SafeError::NoMasterKey { .. }) => {}
        // A key that cannot be read is not lost.
        Err(error) => return Err(error.into()),
    }
    keep_aside(dir)?;
    let new = NewMasterKey::prepare(dir)?;
    let now = SystemClock.now();
    let gone = vault::reset_master(store, new.key(), Mint::system(), now).await?;
    let key = new.key().clone();
    new.replace()?;
    record(store, &key, "server:reset").await?;
    Ok((key, gone))
}

/// Keeps a key that opens something else, perhaps an older backup.
fn keep_aside(dir: &std::path::Path) -> Result<()> {
    let (file, aside) = (dir.join(MASTER_KEY_FILE), dir.join(OLD_MASTER_KEY_FILE));
    if !file.exists() {
        return Ok(());
    }
    if aside.exists() {
        return Err(Error::usage(
            format!("{} is there already", aside.display()),
            "move it to where you keep backups, and try again",
        ));
    }
    std::fs::rename(&file, &aside).map_err(|cause| Error::file(&file.display(), "moved", cause))
}

/// Opens the database of a server that does not run, and keeps others from starting one.
async fn open(context: &Context, database: &DatabaseFlag) -> Result<(FileLock, Store)> {
    let loaded = context.settings(database.flags())?;
    let (server, config) = (loaded.server()?, loaded.store()?);
    if server.master_key.is_some() {
        return Err(Error::usage(
            "the master key is set by `master.key` or `master.key_file`, so it cannot be replaced",
            "put it into master.key in the data directory, take the setting away, and try again",
        ));
    }
    if !context.data.is_dir() {
        return Err(nothing());
    }
    // Held to the end: no server starts on this directory in between.
    let lock = FileLock::take(&context.data.join(LOCK_FILE))?;
    let schema = Store::schema(&config).await?;
    if schema.found != schema.known {
        return Err(nothing());
    }
    Ok((lock, Store::open(&config).await?))
}

fn nothing() -> Error {
    Error::usage(
        "there is no database of this version of godel",
        "start `godel up` once, and stop it again",
    )
}

async fn replace(context: &Context, store: &Store) -> Result<(MasterKey, MasterKey)> {
    let dir = &context.data;
    godel_server::find_master_key(None, dir, store).await?.ok_or_else(nothing)?;
    // A rotation that was interrupted is finished first.
    let old = godel_server::settle_master_key(None, dir, store).await?;
    let old_file = dir.join(OLD_MASTER_KEY_FILE);
    if old_file.exists() {
        return Err(Error::usage(
            format!("{} is there, from an earlier rotation", old_file.display()),
            "backups from before it need it: move it to where you keep them, or remove it",
        ));
    }
    let new = NewMasterKey::prepare(dir)?;
    if let Err(error) = vault::rotate_master(store, &old, new.key(), Mint::system()).await {
        // A commit whose answer was lost may have happened: then both files are needed.
        if vault::opens(store, &old).await.is_ok_and(|opens| opens == Some(true)) {
            new.withdraw()?;
        }
        return Err(error.into());
    }
    let key = new.key().clone();
    new.take_over(&old)?;
    record(store, &key, ACT).await?;
    Ok((old, key))
}

/// Puts the rotation on record; that the new key opens the database is seen on the way.
async fn record(store: &Store, key: &MasterKey, act: &'static str) -> Result<()> {
    let clock = Arc::new(SystemClock);
    let app = App::open(store.clone(), None, clock, AppConfig::default(), key).await?;
    let tenant = tenants::ensure_first(&app).await?.id;
    Ok(tenants::record_server(&app, tenant, act).await?)
}

fn tell(context: &Context, old: &MasterKey, new: &MasterKey) -> Result<Exit> {
    let kept = context.data.join(OLD_MASTER_KEY_FILE);
    if context.output.is_json() {
        context.output.value(&json!({
            "master": new.id(),
            "was": old.id(),
            "oldKeyFile": kept,
        }))?;
        return Ok(Exit::Done);
    }
    let file = context.data.join(MASTER_KEY_FILE);
    context.output.line(format_args!(
        "master key {} took over from {}; it is in {}",
        new.id(),
        old.id(),
        file.display()
    ))?;
    context.output.note(format_args!(
        "the old one is in {}: backups from before need it; keep it with them, then remove it here",
        kept.display()
    ));
    Ok(Exit::Done)
}
