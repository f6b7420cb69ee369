//! The schema of a PostgreSQL database.

use std::time::Duration;

use postgres::{Client, GenericClient};

use super::roles;
use super::session::{connect, connect_first};
use crate::fault::fault;
use crate::migrate::{self, Migration, Migrator, SchemaStatus};
use crate::{Error, Result};

/// Two servers that start at the same time migrate one after the other.
const MIGRATION_LOCK: i64 = 0x676f_6465_6c00;

/// Every running server holds this lock, shared.
pub(super) const SERVER_LOCK: i64 = MIGRATION_LOCK + 1;

pub(super) struct Steps<'c, C>(pub(super) &'c mut C);

impl<C: GenericClient> Migrator for Steps<'_, C> {
    const ENGINE: &'static str = "postgres";

    fn applied(&mut self) -> Result<Vec<(i64, String)>> {
        let fail = |cause| Error::postgres("migration_list", cause);
        self.0
            .batch_execute(
                "CREATE TABLE IF NOT EXISTS migration (
                     version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
            )
            .map_err(fail)?;
        Ok(applied(self.0)?.unwrap_or_default())
    }

    fn step(&mut self, migration: &Migration, script: &str, checksum: Option<&str>) -> Result<()> {
        let fail = |cause: postgres::Error| Error::Migration {
            version: migration.version,
            name: migration.name.to_owned(),
            why: cause.as_db_error().map_or_else(|| cause.to_string(), ToString::to_string),
        };
        fault("migration-before-begin");
        let mut tx = self.0.transaction().map_err(fail)?;
        tx.batch_execute(script).map_err(fail)?;
        fault("migration-ran");
        tx.batch_execute(roles::SECURE_TABLES).map_err(fail)?;
        match checksum {
            Some(checksum) => tx.execute(
                "INSERT INTO migration (version, name, checksum) VALUES ($1, $2, $3)",
                &[&migration.version, &migration.name, &checksum],
            ),
            None => tx.execute("DELETE FROM migration WHERE version = $1", &[&migration.version]),
        }
        .map_err(fail)?;
        fault("migration-before-commit");
        tx.commit().map_err(fail)?;
        fault("migration-committed");
        Ok(())
    }
}

/// Reads which migrations were applied; `None` if this is no database of Godel.
pub(super) fn applied(client: &mut impl GenericClient) -> Result<Option<Vec<(i64, String)>>> {
    let fail = |cause| Error::postgres("migration_list", cause);
    let there = "SELECT to_regclass('migration') IS NOT NULL";
    if !client.query_one(there, &[]).map_err(fail)?.get::<_, bool>(0) {
        return Ok(None);
    }
    let list = "SELECT version, checksum FROM migration ORDER BY version";
    let rows = client.query(list, &[]).map_err(fail)?;
    Ok(Some(rows.iter().map(|row| (row.get(0), row.get(1))).collect()))
}

/// Brings the schema up to date; returns whether a commit on this server waits for the disk.
pub(super) fn open_migrated(url: &str) -> Result<bool> {
    migrate(url, migrate::newest())?;
    let row = connect(url)?
        .query_one("SELECT current_setting('fsync') = 'on'", &[])
        .map_err(|cause| Error::postgres("fsync_setting", cause))?;
    Ok(row.get(0))
}

/// Brings the schema to a version.
pub(crate) fn migrate(url: &str, to: i64) -> Result<SchemaStatus> {
    let mut client = connect_first(url)?;
    roles::ensure(&mut client)?;
    lock(&mut client)?;
    if to < migrate::newest() {
        refuse_running_servers(&mut client)?;
    }
    // The locks go with the connection.
    migrate::migrate(&mut Steps(&mut client), to)
}

/// Waits until nobody else migrates, and keeps it so for as long as the connection lives.
pub(super) fn lock(client: &mut Client) -> Result<()> {
    let locked = client.execute("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]);
    locked.map(drop).map_err(|cause| Error::postgres("migration_lock", cause))
}

/// Going back takes tables away, so no server may be working with them.
pub(super) fn refuse_running_servers(client: &mut Client) -> Result<()> {
    // The connections of a server that has just stopped may take a moment to end.
    for _ in 0..20 {
        let row = client
            .query_one("SELECT pg_try_advisory_lock($1)", &[&SERVER_LOCK])
            .map_err(|cause| Error::postgres("server_lock", cause))?;
        if row.get(0) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(Error::InUse)
}

/// Reads the version of a database; 0 if it is empty.
pub(crate) fn schema(url: &str) -> Result<SchemaStatus> {
    let mut client = connect_first(url)?;
    let found = match client.query_one("SELECT MAX(version) FROM migration", &[]) {
        Ok(row) => row.get::<_, Option<i64>>(0).unwrap_or_default(),
        Err(error) if error.code() == Some(&postgres::error::SqlState::UNDEFINED_TABLE) => 0,
        Err(error) => return Err(Error::postgres("schema_version", error)),
    };
    Ok(SchemaStatus { found, known: migrate::newest() })
}
