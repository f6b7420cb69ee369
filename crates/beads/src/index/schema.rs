//! The tables of the index.

use rusqlite::{Connection, OptionalExtension as _};

/// Changes with the tables; an index of another version is made anew.
const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE beads (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    blob BLOB NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    status INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    rank TEXT,
    agent TEXT,
    parent TEXT,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    defer INTEGER,
    leased INTEGER,
    failed INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    blocked INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX beads_ready ON beads (priority, created, id)
    WHERE status = 0 AND blocked = 0 AND deleted = 0;
CREATE INDEX beads_leased ON beads (leased) WHERE leased IS NOT NULL;
CREATE INDEX beads_priority ON beads (priority, created, id) WHERE deleted = 0;
CREATE INDEX beads_created ON beads (created, id) WHERE deleted = 0;
CREATE INDEX beads_updated ON beads (updated, id) WHERE deleted = 0;
CREATE INDEX beads_status ON beads (status, priority, created, id) WHERE deleted = 0;
CREATE INDEX beads_agent ON beads (agent) WHERE agent IS NOT NULL;
CREATE INDEX beads_parent ON beads (parent) WHERE parent IS NOT NULL;
CREATE TABLE labels (label TEXT, bead TEXT, PRIMARY KEY (label, bead)) WITHOUT ROWID;
CREATE INDEX labels_bead ON labels (bead);
CREATE TABLE links (
    bead TEXT, kind TEXT, target TEXT, blocks INTEGER NOT NULL,
    PRIMARY KEY (bead, kind, target)
) WITHOUT ROWID;
CREATE INDEX links_target ON links (target, kind);
CREATE TABLE aliases (alias TEXT, bead TEXT, PRIMARY KEY (alias, bead)) WITHOUT ROWID;
CREATE INDEX aliases_bead ON aliases (bead);
CREATE TABLE convoys (
    id TEXT PRIMARY KEY,
    blob BLOB NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE members (convoy TEXT, bead TEXT, PRIMARY KEY (convoy, bead)) WITHOUT ROWID;
CREATE INDEX members_bead ON members (bead);
CREATE TABLE damaged (path TEXT PRIMARY KEY, why TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (body, content='', contentless_delete=1);
";

/// Makes the tables if they are not there, or are of another version.
pub(super) fn make(connection: &Connection) -> rusqlite::Result<()> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // Another process may have made them while this one waited.
    if version(connection)? != VERSION {
        clear(connection)?;
        connection.execute_batch(TABLES)?;
        connection.pragma_update(None, "user_version", VERSION)?;
    }
    connection.execute_batch("COMMIT")
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Removes all tables of an older version.
fn clear(connection: &Connection) -> rusqlite::Result<()> {
    let next = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
                AND name NOT LIKE 'words_%' LIMIT 1";
    while let Some(name) =
        connection.query_row(next, [], |row| row.get::<_, String>(0)).optional()?
    {
        connection.execute_batch(&format!("DROP TABLE \"{name}\""))?;
    }
    Ok(())
}

/// Empties all tables.
pub(super) fn empty(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DELETE FROM beads; DELETE FROM labels; DELETE FROM links; DELETE FROM aliases;
         DELETE FROM convoys; DELETE FROM members; DELETE FROM damaged; DELETE FROM meta;
         INSERT INTO words (words) VALUES ('delete-all');",
    )
}
