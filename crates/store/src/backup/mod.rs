//! Backups: a consistent copy of the whole database in one file that any engine can restore.
//!
//! What is in the database is asked of the database itself, so a new table is in the next backup
//! without a line here. How the file looks is told in `format.rs`, why in `docs/adr/0015-backup.md`.

mod file;
pub(crate) mod format;
mod reader;
mod restore;

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use jiff::Timestamp;

pub use self::file::BackupFile;
use self::format::{Column, Header, Kind, Table, Writer};
pub(crate) use self::reader::{Chunk, Reader};
pub(crate) use self::restore::{Loader, fill};
pub use self::restore::{Restoring, restore};
use crate::store::blocking;
use crate::{DatabaseUrl, Error, Result, migrate, postgres, sqlite};

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The version of the Godel that made it.
    pub godel: String,
    /// The engine it was made on.
    pub engine: String,
    /// When it was begun: what was answered before is in it.
    pub made_at: Timestamp,
    /// The version of its schema.
    pub schema: i64,
    /// Its tables, each with its number of rows.
    pub tables: Vec<(String, u64)>,
    /// Its size.
    pub bytes: u64,
}

impl Contents {
    fn new(header: Header, rows: &[u64], bytes: u64) -> Self {
        let names = header.tables.into_iter().map(|table| table.name);
        Self {
            godel: header.godel,
            engine: header.engine,
            made_at: header.made_at,
            schema: header.schema,
            tables: names.zip(rows.iter().copied()).collect(),
            bytes,
        }
    }

    /// Returns how many rows a table has; 0 if there is none.
    pub fn rows(&self, table: &str) -> u64 {
        self.tables.iter().find(|(name, _)| name == table).map_or(0, |(_, rows)| *rows)
    }

    /// Returns how many rows there are in all.
    pub fn all_rows(&self) -> u64 {
        self.tables.iter().map(|(_, rows)| rows).sum()
    }
}

/// Writes a backup of a database into `sink`; whoever writes to the database goes on.
///
/// # Errors
/// If the database cannot be read, or `sink` does not take it.
pub async fn write<W>(url: &DatabaseUrl, at: Timestamp, sink: W) -> Result<Contents>
where
    W: Write + Send + 'static,
{
    let url = url.clone();
    blocking(move || write_blocking(&url, at, sink)).await
}

/// Like [`write()`], on the calling thread.
///
/// # Errors
/// If the database cannot be read, or `sink` does not take it.
pub fn write_blocking(url: &DatabaseUrl, at: Timestamp, sink: impl Write) -> Result<Contents> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::backup(path, at, sink),
        DatabaseUrl::Postgres(url) => postgres::backup(url, at, sink),
    }
}

/// Reads a whole backup and checks it, without touching a database.
///
/// # Errors
/// If it is damaged, cut off, or cannot be read.
pub async fn verify(path: &Path) -> Result<Contents> {
    let path = path.to_owned();
    blocking(move || verify_blocking(open(&path)?)).await
}

/// Like [`verify()`], of any source and on the calling thread.
///
/// # Errors
/// If it is damaged, cut off, or cannot be read.
pub fn verify_blocking(source: impl std::io::Read) -> Result<Contents> {
    let mut reader = Reader::open(source)?;
    let tables = reader.header.tables.clone();
    while let Some(chunk) = reader.next()? {
        chunk.each(&tables[chunk.table].columns, |_| Ok(()))?;
    }
    let (header, rows, bytes) = reader.counts();
    Ok(Contents::new(header, &rows, bytes))
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path);
    let file = file.map_err(|cause| Error::File { path: path.to_owned(), cause })?;
    Ok(BufReader::with_capacity(256 * 1024, file))
}

/// Makes the header of a backup; a schema that this Godel does not know is refused.
pub(crate) fn header(
    engine: &str,
    made_at: Timestamp,
    migrations: Vec<(i64, String)>,
    tables: Vec<Table>,
) -> Result<Header> {
    let (found, known) = (migrations.last().map_or(0, |(version, _)| *version), migrate::newest());
    if found > known {
        return Err(Error::SchemaNewer { found, known });
    }
    Ok(Header {
        godel: env!("CARGO_PKG_VERSION").to_owned(),
        engine: engine.to_owned(),
        made_at,
        schema: found,
        migrations,
        tables,
    })
}

/// Ends a backup.
pub(crate) fn finish<W: Write>(writer: Writer<W>, header: Header) -> Result<Contents> {
    let (rows, bytes) = writer.finish()?;
    Ok(Contents::new(header, &rows, bytes))
}

/// Quotes a name for SQL, as both engines do.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Puts a list of tables, columns and types, in order, together to tables.
pub(crate) fn grouped(rows: Vec<(String, String, String)>) -> Result<Vec<Table>> {
    let mut tables: Vec<Table> = Vec::new();
    for (table, name, declared) in rows {
        let kind = Kind::of(&table, &name, &declared)?;
        if tables.last().is_none_or(|last| last.name != table) {
            tables.push(Table { name: table, columns: Vec::new() });
        }
        if let Some(last) = tables.last_mut() {
            last.columns.push(Column { name, kind });
        }
    }
    Ok(tables)
}
