//! The index: everything that lists and the ready queue need, in a file that can be thrown away.
//!
//! It knows the commit it was built from. Whoever opens it brings it up to date first, so that it
//! never answers from the past.

mod apply;
mod blocked;
mod query;
mod ready;
mod schema;
mod terms;

use std::path::Path;

use gix::ObjectId;
use rusqlite::{Connection, OptionalExtension as _};

pub(crate) use query::Table;
pub use query::{Filter, Page, Row, Sort};
pub use ready::{Reason, Waiting};
pub use terms::{Asker, Query};

use crate::Result;

/// How long one waits for another that changes the index.
const BUSY: std::time::Duration = std::time::Duration::from_secs(30);

/// What the index was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Built {
    /// The commit.
    pub(crate) commit: Option<ObjectId>,
}

/// The index of one shelf.
#[derive(Debug)]
pub struct Index {
    pub(crate) connection: Connection,
    /// Tells whether it is kept in memory only, because the repository cannot be written.
    pub(crate) fleeting: bool,
    /// The file with what was not yet written into the index itself.
    journal: std::path::PathBuf,
}

/// From this size on, the journal of the index is emptied, in bytes.
///
/// Every command opens the index anew and reads the whole journal first.
const JOURNAL_MAX_BYTES: u64 = 1024 * 1024;

impl Index {
    /// Opens the index in a folder, or one in memory if that is not possible.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("index.db");
        let kept = std::fs::create_dir_all(folder).is_ok();
        if kept {
            for _ in 0..2 {
                match Self::kept(&path) {
                    Ok(index) => return Ok(index),
                    Err(error) if is_damaged(&error) => {
                        for ending in ["db", "db-wal", "db-shm"] {
                            std::fs::remove_file(path.with_extension(ending)).ok();
                        }
                    }
                    Err(error) if is_refused(&error) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let connection = Connection::open_in_memory()?;
        schema::make(&connection)?;
        Ok(Self { connection, fleeting: true, journal: std::path::PathBuf::new() })
    }

    fn kept(path: &Path) -> rusqlite::Result<Self> {
        if !path.exists() {
            // What belonged to a file that was thrown away would damage the next one.
            for ending in ["db-wal", "db-shm"] {
                std::fs::remove_file(path.with_extension(ending)).ok();
            }
        }
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(64);
        // A crash may cost the last changes, which the next catch-up brings back; never the rest.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        // Nobody but `commit` empties the journal: a part of it written by each command would be
        // written again by the next, which cannot know how far the last one came.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        // Every command opens and closes the file; none should pay for a checkpoint each time.
        connection
            .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // Otherwise a plan is made anew whenever a value changes that a partial index might know.
        connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        schema::make(&connection)?;
        Ok(Self { connection, fleeting: false, journal: path.with_extension("db-wal") })
    }

    /// Returns the commit that the index was built from.
    pub(crate) fn built(&self) -> Result<Built> {
        let mut statement =
            self.connection.prepare_cached("SELECT value FROM meta WHERE key = 'commit'")?;
        let text: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
        let commit = text.and_then(|text| ObjectId::from_hex(text.as_bytes()).ok());
        Ok(Built { commit })
    }

    /// Remembers the commit that the index is built from.
    pub(crate) fn set_built(&self, commit: ObjectId) -> Result<()> {
        let mut statement = self
            .connection
            .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES ('commit', ?1)")?;
        statement.execute([commit.to_string()])?;
        Ok(())
    }

    /// Begins a change; everything until [`Index::commit`] can still be undone.
    pub(crate) fn begin(&self) -> Result<()> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
    }

    pub(crate) fn commit(&self) -> Result<()> {
        self.connection.execute_batch("COMMIT")?;
        if self.journal.metadata().is_ok_and(|meta| meta.len() > JOURNAL_MAX_BYTES) {
            self.empty_journal().ok();
        }
        Ok(())
    }

    /// Writes the journal into the index, unless somebody reads it at this moment.
    fn empty_journal(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(std::time::Duration::ZERO)?;
        let done = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        self.connection.busy_timeout(BUSY)?;
        done
    }

    pub(crate) fn rollback(&self) {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").ok();
        }
    }

    /// Runs a part of a change that is undone if it fails.
    pub(crate) fn mark(&self) -> Result<()> {
        self.connection.prepare_cached("SAVEPOINT job")?.execute([])?;
        Ok(())
    }

    pub(crate) fn release(&self) -> Result<()> {
        self.connection.prepare_cached("RELEASE job")?.execute([])?;
        Ok(())
    }

    pub(crate) fn undo(&self) -> Result<()> {
        Ok(self.connection.execute_batch("ROLLBACK TO job; RELEASE job")?)
    }
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

fn is_refused(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    matches!(
        error.sqlite_error_code(),
        Some(CannotOpen | DiskFull | PermissionDenied | ReadOnly | SystemIoFailure)
    )
}
