//! Backup and restore of a SQLite file.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use uuid::Uuid;

use super::schema::{self, Steps};
use super::{make_private, moments, open_reader};
use crate::backup::format::{Column, Kind, Table, Writer};
use crate::backup::{self, Chunk, Contents, Loader, Reader, quoted};
use crate::statement::Param;
use crate::{Durability, Error, Result, migrate};

/// The first schema in which moments of the log are noted; the step to it finds those that there are.
const MOMENTS_SINCE: i64 = 14;

/// Writes a backup from one read transaction on a connection of its own.
///
/// The writer goes on. Until the end its log grows, since SQLite cannot begin it anew.
pub(crate) fn backup(path: &Path, at: Timestamp, sink: impl Write) -> Result<Contents> {
    let nothing = || Error::NoDatabase(format!("sqlite://{}", path.display()));
    if !path.exists() {
        return Err(nothing());
    }
    let fail = |cause| Error::sqlite("backup", cause);
    let conn = open_reader(path)?;
    // Ends with the connection. The first read below fixes what it sees.
    conn.execute_batch("BEGIN").map_err(fail)?;
    let migrations = schema::applied(&conn).map_err(fail)?.ok_or_else(nothing)?;
    let header = backup::header("sqlite", at, migrations, tables(&conn)?)?;
    let mut writer = Writer::begin(sink, &header)?;
    for (index, table) in header.tables.iter().enumerate() {
        writer.table(index)?;
        let names: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let text = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
        let mut select = conn.prepare(&text).map_err(fail)?;
        let mut rows = select.query([]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            for (place, column) in table.columns.iter().enumerate() {
                let value = row.get_ref(place).map_err(fail)?;
                let value = typed(value, column.kind).ok_or_else(|| misfit(table, column))?;
                writer.value(value);
            }
            writer.end_row()?;
        }
    }
    backup::finish(writer, header)
}

/// Takes a value as its column declares it; SQLite itself lets any value into any column.
fn typed(value: ValueRef<'_>, kind: Kind) -> Option<Param<'_>> {
    match (value, kind) {
        (ValueRef::Null, _) => Some(Param::Null),
        (ValueRef::Integer(int), Kind::Int | Kind::Bool) => Some(Param::Int(int)),
        (ValueRef::Text(text), Kind::Text) => std::str::from_utf8(text).ok().map(Param::Text),
        (ValueRef::Blob(bytes), Kind::Bytes) => Some(Param::Bytes(bytes)),
        (ValueRef::Blob(bytes), Kind::Uuid) => Uuid::from_slice(bytes).ok().map(Param::Uuid),
        _ => None,
    }
}

fn misfit(table: &Table, column: &Column) -> Error {
    let cause = format!("{}.{} is not {:?}", table.name, column.name, column.kind).into();
    Error::Unreadable { what: "value", cause }
}

/// Asks the database for its tables and their columns.
fn tables(conn: &Connection) -> Result<Vec<Table>> {
    let fail = |cause| Error::sqlite("backup_tables", cause);
    let mut list = conn
        .prepare(
            "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_xinfo(t.name) c
             WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
               AND t.name NOT IN ('migration', 'event_moment') AND c.hidden = 0
             ORDER BY t.name, c.cid",
        )
        .map_err(fail)?;
    let rows = list
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<(String, String, String)>>>)
        .map_err(fail)?;
    backup::grouped(rows)
}

/// Tells whether a file has no row, or is not there; one that cannot be read is not empty.
pub(crate) fn is_empty(path: &Path) -> bool {
    if !path.exists() {
        return true;
    }
    let look = || -> Result<bool> {
        let conn = open_reader(path)?;
        for table in tables(&conn)? {
            let text = format!("SELECT EXISTS (SELECT 1 FROM {})", quoted(&table.name));
            let found = conn.query_row(&text, [], |row| row.get::<_, bool>(0));
            if found.map_err(|cause| Error::sqlite("is_empty", cause))? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    look().unwrap_or(false)
}

/// Loads a backup into a new file.
pub(crate) fn restore<R: Read>(part: &Path, reader: &mut Reader<R>) -> Result<()> {
    let fail = |cause| Error::sqlite("restore", cause);
    make_private(part)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(part, flags).map_err(fail)?;
    // Nobody else knows the file yet, and a half one is thrown away: it needs no journal, and it
    // goes to the disk once, at the end.
    conn.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
         PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;",
    )
    .map_err(fail)?;
    migrate::migrate(&mut Steps(&mut conn), reader.header.schema)?;
    conn.execute_batch("BEGIN").map_err(fail)?;
    backup::fill(reader, &mut Load(&conn))?;
    if reader.header.schema >= MOMENTS_SINCE {
        moments::rebuild(&conn)?;
    }
    conn.execute_batch("COMMIT; PRAGMA foreign_keys = ON;").map_err(fail)?;
    let broken = conn.prepare("PRAGMA foreign_key_check").and_then(|mut check| check.exists([]));
    if broken.map_err(fail)? {
        let why = "a row refers to another one that is not in the backup";
        return Err(Error::BackupDamaged(why.to_owned()));
    }
    migrate::migrate(&mut Steps(&mut conn), migrate::newest())?;
    conn.close().map_err(|(_, cause)| fail(cause))
}

struct Load<'c>(&'c Connection);

impl Loader for Load<'_> {
    fn tables(&mut self) -> Result<Vec<Table>> {
        tables(self.0)
    }

    fn load(&mut self, table: &Table, chunk: &Chunk<'_>) -> Result<()> {
        let fail = |cause| Error::sqlite("restore_insert", cause);
        let names: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let places = vec!["?"; names.len()].join(", ");
        let text =
            format!("INSERT INTO {} ({}) VALUES ({places})", quoted(&table.name), names.join(", "));
        let mut insert = self.0.prepare_cached(&text).map_err(fail)?;
        chunk.each(&table.columns, |values| {
            insert.execute(params_from_iter(values)).map(drop).map_err(fail)
        })
    }

    fn count(&mut self, table: &Table) -> Result<u64> {
        let text = format!("SELECT COUNT(*) FROM {}", quoted(&table.name));
        let count: rusqlite::Result<i64> = self.0.query_row(&text, [], |row| row.get(0));
        Ok(count.map_err(|cause| Error::sqlite("restore_count", cause))?.unsigned_abs())
    }
}

/// Brings the log of a file that nobody uses into the file, and the file to the disk.
pub(crate) fn settle(path: &Path) -> Result<()> {
    let fail = |cause| Error::sqlite("settle", cause);
    // One that lost something is kept as it is.
    super::sound::log(path, Durability::Full)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(fail)?;
    conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;").map_err(fail)?;
    let busy = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    if busy.map_err(fail)? != 0 {
        return Err(Error::Corrupt("its log could not be brought into the file".to_owned()));
    }
    // The last one to close the file removes its log.
    conn.close().map_err(|(_, cause)| fail(cause))?;
    let log = companion(path, "-wal");
    if log.metadata().is_ok_and(|log| log.len() > 0) {
        return Err(Error::Corrupt("its log is still there".to_owned()));
    }
    let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|cause| Error::File { path: path.to_owned(), cause })?;
    for empty in ["-wal", "-shm"] {
        std::fs::remove_file(companion(path, empty)).ok();
    }
    Ok(())
}

/// Returns the name of a file that SQLite keeps beside a database.
pub(crate) fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
