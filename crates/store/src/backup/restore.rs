//! Restoring: the whole backup or nothing of it.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::file::sync_parent;
use super::format::{Header, Table};
use super::reader::{Chunk, Reader};
use super::{Contents, open, verify_blocking};
use crate::store::blocking;
use crate::{Config, DatabaseUrl, Error, FileLock, Result, migrate, postgres, sqlite};

/// What a restore needs from an engine, inside one transaction.
pub(crate) trait Loader {
    /// Returns the tables that the schema has.
    fn tables(&mut self) -> Result<Vec<Table>>;

    /// Adds rows to a table.
    fn load(&mut self, table: &Table, chunk: &Chunk<'_>) -> Result<()>;

    /// Counts the rows of a table.
    fn count(&mut self, table: &Table) -> Result<u64>;
}

/// A backup that was loaded. It takes the place of the database with [`Restoring::finish`].
///
/// On SQLite it is a file beside the database until then. On PostgreSQL it is there already.
#[derive(Debug)]
pub struct Restoring {
    /// What the backup holds.
    pub contents: Contents,
    config: Config,
    swap: Option<Swap>,
}

/// A loaded file that waits beside the one it replaces.
#[derive(Debug)]
struct Swap {
    part: PathBuf,
    path: PathBuf,
    at: Timestamp,
    done: bool,
    _lock: FileLock,
}

/// Loads a backup; what was there before stays until [`Restoring::finish`].
///
/// With `force` a SQLite file that holds data is moved aside; a PostgreSQL database must be empty.
///
/// # Errors
/// If the backup is damaged or too new, the database is in use or not empty, or the database fails.
pub async fn restore(
    config: &Config,
    file: &Path,
    at: Timestamp,
    force: bool,
) -> Result<Restoring> {
    let (config, file) = (config.clone(), file.to_owned());
    blocking(move || restore_blocking(config, &file, at, force)).await
}

fn restore_blocking(config: Config, file: &Path, at: Timestamp, force: bool) -> Result<Restoring> {
    // Checked to its end first: a damaged backup is refused before anything is touched.
    let contents = verify_blocking(open(file)?)?;
    let mut reader = Reader::open(open(file)?)?;
    refuse_unknown_schema(&reader.header)?;
    match &config.url {
        DatabaseUrl::Postgres(url) => {
            postgres::restore(url, &mut reader)?;
            Ok(Restoring { contents, config, swap: None })
        }
        DatabaseUrl::Sqlite(path) => {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            make_private_parent(&real)?;
            let lock = FileLock::take(&real.with_extension("lock"))?;
            if !force && !sqlite::is_empty(&real) {
                let remedy = "choose another place with --data DIR, or add --force: the old file \
                              is then moved aside, not deleted";
                let database = config.url.shown();
                return Err(Error::NotEmpty { database, remedy: remedy.to_owned() });
            }
            let part = real.with_extension("restoring.db");
            let swap = Swap { part: part.clone(), path: real, at, done: false, _lock: lock };
            swap.remove_part();
            sqlite::restore(&part, &mut reader)?;
            let config = Config { url: DatabaseUrl::Sqlite(part), ..config };
            Ok(Restoring { contents, config, swap: Some(swap) })
        }
    }
}

fn make_private_parent(path: &Path) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|cause| Error::File { path: dir.to_owned(), cause })
}

/// Refuses a backup whose migrations are not those of this Godel.
fn refuse_unknown_schema(header: &Header) -> Result<()> {
    let known = migrate::newest();
    if header.schema > known {
        let (godel, found) = (header.godel.clone(), header.schema);
        return Err(Error::BackupNewer { godel, found, known });
    }
    migrate::check(&header.migrations)
}

impl Restoring {
    /// Returns how to open what was loaded, to look at it before it is used.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Puts what was loaded into its place; returns where the file from before is now.
    ///
    /// Every store on it must be closed and dropped.
    ///
    /// # Errors
    /// If a file cannot be moved; then the old state is still there.
    pub fn finish(self) -> Result<Option<PathBuf>> {
        match self.swap {
            None => Ok(None),
            Some(swap) => swap.finish(),
        }
    }
}

impl Swap {
    fn finish(mut self) -> Result<Option<PathBuf>> {
        sqlite::settle(&self.part)?;
        let aside = self.path.exists().then(|| self.move_aside()).transpose()?;
        let fail = |cause| Error::File { path: self.path.clone(), cause };
        // From one moment to the next: before it there is the old database, after it the new one.
        std::fs::rename(&self.part, &self.path).map_err(fail)?;
        sync_parent(&self.path)?;
        self.done = true;
        std::fs::remove_file(self.part.with_extension("lock")).ok();
        Ok(aside)
    }

    /// Gives the old file a second name, under which it stays.
    fn move_aside(&self) -> Result<PathBuf> {
        let time = self.at.strftime("%Y%m%dT%H%M%S%.3fZ");
        let aside = self.path.with_extension(format!("before-{time}.db"));
        let fail = |cause| Error::File { path: aside.clone(), cause };
        // A log of the old file must never meet the new one: SQLite would apply it.
        if sqlite::settle(&self.path).is_err() {
            for companion in ["-wal", "-shm"] {
                let old = sqlite::companion(&self.path, companion);
                if old.exists() {
                    std::fs::rename(&old, sqlite::companion(&aside, companion)).map_err(fail)?;
                }
            }
        }
        match std::fs::hard_link(&self.path, &aside) {
            Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => Err(fail(cause)),
            Err(_) => std::fs::rename(&self.path, &aside).map_err(fail),
            Ok(()) => Ok(()),
        }?;
        sync_parent(&aside)?;
        Ok(aside)
    }

    /// Removes what an earlier restore may have left.
    fn remove_part(&self) {
        for companion in ["", "-wal", "-shm", "-journal"] {
            std::fs::remove_file(sqlite::companion(&self.part, companion)).ok();
        }
        std::fs::remove_file(self.part.with_extension("lock")).ok();
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        if !self.done {
            self.remove_part();
        }
    }
}

/// Loads all rows, and counts them again afterwards.
pub(crate) fn fill<R: Read>(reader: &mut Reader<R>, loader: &mut impl Loader) -> Result<()> {
    let there = loader.tables()?;
    let there: HashMap<&str, &Table> =
        there.iter().map(|table| (table.name.as_str(), table)).collect();
    let tables = reader.header.tables.clone();
    for table in &tables {
        if let Some(target) = there.get(table.name.as_str()) {
            same_columns(table, target)?;
        }
    }
    let mut rows = vec![0; tables.len()];
    while let Some(chunk) = reader.next()? {
        let table = &tables[chunk.table];
        if !there.contains_key(table.name.as_str()) {
            let why = format!("its schema has no table {}, of which it has rows", table.name);
            return Err(Error::BackupDamaged(why));
        }
        loader.load(table, &chunk)?;
        rows[chunk.table] += chunk.rows();
    }
    for (table, rows) in tables.iter().zip(rows).filter(|(_, rows)| *rows > 0) {
        let found = loader.count(table)?;
        if found != rows {
            let why = format!("{} has {found} rows after the restore, not {rows}", table.name);
            return Err(Error::Corrupt(why));
        }
    }
    Ok(())
}

/// A table of the backup must be the one that its schema version makes here.
fn same_columns(table: &Table, target: &Table) -> Result<()> {
    let sorted = |table: &Table| {
        let mut columns = table.columns.clone();
        columns.sort_by(|a, b| a.name.cmp(&b.name));
        columns
    };
    if sorted(table) == sorted(target) {
        return Ok(());
    }
    let why = format!("the columns of {} are not those of its schema version", table.name);
    Err(Error::BackupDamaged(why))
}

#[cfg(test)]
mod tests {
    use super::super::format::Writer;
    use super::*;

    /// Writes a backup without rows, of a schema with these migrations.
    fn backup(dir: &Path, migrations: Vec<(i64, String)>) -> PathBuf {
        let header = Header {
            godel: "9.9.9".to_owned(),
            engine: "sqlite".to_owned(),
            made_at: Timestamp::UNIX_EPOCH,
            schema: migrations.last().map_or(0, |(version, _)| *version),
            migrations,
            tables: vec![],
        };
        let file = dir.join("x.backup");
        let sink = std::fs::File::create(&file).unwrap();
        Writer::begin(sink, &header).unwrap().finish().unwrap();
        file
    }

    #[tokio::test]
    async fn a_schema_that_is_newer_or_not_ours_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::new(DatabaseUrl::Sqlite(dir.path().join("godel.db")));
        let newer = backup(dir.path(), vec![(9_999, "x".to_owned())]);
        let refused = restore(&config, &newer, Timestamp::UNIX_EPOCH, false).await.unwrap_err();
        assert!(refused.to_string().contains("made by godel 9.9.9"), "{refused}");
        assert!(matches!(refused, Error::BackupNewer { found: 9_999, .. }), "{refused:?}");
        let other = backup(dir.path(), vec![(1, "changed".to_owned())]);
        let refused = restore(&config, &other, Timestamp::UNIX_EPOCH, false).await.unwrap_err();
        assert!(matches!(refused, Error::Migration { version: 1, .. }), "{refused:?}");
        assert!(!dir.path().join("godel.db").exists());
    }
}
