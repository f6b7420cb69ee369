//! Checks of the master key.

use std::path::Path;

use godel_app::vault;
use godel_console::{Error, Result};
use godel_server::{MASTER_KEY_FILE, find_master_key, read_master_key};
use godel_store::{Config, DatabaseUrl, Store};

use super::{Finding, failed};

const NAME: &str = "master key";

/// Checks that the master key is there, is private, and opens the database; changes nothing.
pub(super) async fn key(
    data: &Path,
    server: &godel_server::Config,
    store: &Config,
    running: bool,
) -> Finding {
    let given = server.master_key.is_some();
    let kept = match read_master_key(data) {
        _ if given => true,
        Ok(kept) => kept.is_some(),
        Err(error) => return failed(NAME, &error.into()),
    };
    let place = match given {
        true => "the one of the settings".to_owned(),
        false => data.join(MASTER_KEY_FILE).display().to_string(),
    };
    match opens(data, server, store, running).await {
        Ok(None) if kept && running => {
            Finding::ok(NAME, format!("{place} is yours alone; the server has opened the database"))
        }
        Ok(None) if kept => Finding::ok(NAME, format!("{place} is yours alone")),
        Ok(None) => Finding::ok(NAME, "will be made at the first start"),
        Ok(Some(true)) => Finding::ok(NAME, format!("{place} opens the database")),
        Ok(Some(false)) => Finding::fail(
            NAME,
            format!("{place} does not open the database"),
            "`godel explain master_key_wrong` tells what to do",
        ),
        Err(error) => failed(NAME, &error),
    }
}

/// Tells whether the key opens the database; `None` if that cannot be seen without a change.
async fn opens(
    data: &Path,
    server: &godel_server::Config,
    config: &Config,
    running: bool,
) -> Result<Option<bool>> {
    let in_use = running && matches!(config.url, DatabaseUrl::Sqlite(_));
    let Ok(schema) = Store::schema(config).await else {
        // The check of the database has told already.
        return Ok(None);
    };
    // Opening an older one would bring it forward.
    if in_use || schema.found != schema.known {
        return Ok(None);
    }
    let store = Store::open(config).await?;
    let found = async {
        match find_master_key(server.master_key.as_ref(), data, &store).await? {
            Some(key) => Ok::<_, Error>(vault::opens(&store, &key).await?),
            None => Ok(None),
        }
    };
    let found = found.await;
    store.close().await;
    found
}
