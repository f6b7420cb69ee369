//! The schema of a SQLite file.

use std::path::Path;

use rusqlite::{Connection, params};

use super::{mover, open_writer, sound};
use crate::fault::fault;
use crate::migrate::{self, Migration, Migrator, SchemaStatus};
use crate::{Durability, Error, FileLock, Result};

pub(super) struct Steps<'c>(pub(super) &'c mut Connection);

impl Migrator for Steps<'_> {
    const ENGINE: &'static str = "sqlite";

    fn applied(&mut self) -> Result<Vec<(i64, String)>> {
        let fail = |cause| Error::sqlite("migration_list", cause);
        self.0
            .execute_batch(
                "CREATE TABLE IF NOT EXISTS migration (
                     version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
            )
            .map_err(fail)?;
        Ok(applied(self.0).map_err(fail)?.unwrap_or_default())
    }

    fn step(&mut self, migration: &Migration, script: &str, checksum: Option<&str>) -> Result<()> {
        let fail = |cause: rusqlite::Error| Error::Migration {
            version: migration.version,
            name: migration.name.to_owned(),
            why: cause.to_string(),
        };
        fault("migration-before-begin");
        let tx = self.0.transaction().map_err(fail)?;
        tx.execute_batch(script).map_err(fail)?;
        fault("migration-ran");
        match checksum {
            Some(checksum) => tx.execute(
                "INSERT INTO migration (version, name, checksum) VALUES (?1, ?2, ?3)",
                params![migration.version, migration.name, checksum],
            ),
            None => {
                tx.execute("DELETE FROM migration WHERE version = ?1", params![migration.version])
            }
        }
        .map_err(fail)?;
        fault("migration-before-commit");
        tx.commit().map_err(fail)?;
        fault("migration-committed");
        Ok(())
    }
}

/// Reads which migrations were applied; `None` if this is no database of Godel.
pub(super) fn applied(conn: &Connection) -> rusqlite::Result<Option<Vec<(i64, String)>>> {
    let list = conn.prepare("SELECT version, checksum FROM migration ORDER BY version");
    let mut list = match list {
        Err(error) if error.to_string().contains("no such table") => return Ok(None),
        list => list?,
    };
    let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect::<rusqlite::Result<_>>().map(Some)
}

/// Opens the writer's connection with the newest schema.
pub(super) fn open_migrated(path: &Path, durability: Durability) -> Result<Connection> {
    let mut conn = open_writer(path, durability)?;
    migrate::migrate(&mut Steps(&mut conn), migrate::newest())?;
    // What a power cut left behind the last change must not be taken for a later one some day.
    if let Err(error) = mover::checkpoint(&conn, "TRUNCATE") {
        tracing::warn!(%error, "the first checkpoint failed; it is tried again");
    }
    Ok(conn)
}

/// Reads the version of a database file; 0 if there is none.
pub(crate) fn schema(path: &Path) -> Result<SchemaStatus> {
    if !path.exists() {
        return Ok(SchemaStatus { found: 0, known: migrate::newest() });
    }
    let fail = |cause| Error::sqlite("schema_version", cause);
    let conn = super::open_reader(path)?;
    let found = match conn.query_row("SELECT MAX(version) FROM migration", [], |row| row.get(0)) {
        Ok(found) => Option::<i64>::unwrap_or_default(found),
        Err(error) if error.to_string().contains("no such table") => 0,
        Err(error) => return Err(fail(error)),
    };
    Ok(SchemaStatus { found, known: migrate::newest() })
}

/// Migrates a database file that no server uses.
pub(crate) fn migrate(path: &Path, to: i64) -> Result<SchemaStatus> {
    let _lock = FileLock::take(&path.with_extension("lock"))?;
    sound::log(path, Durability::Full)?;
    let mut conn = open_writer(path, Durability::Full)?;
    migrate::migrate(&mut Steps(&mut conn), to)
}
