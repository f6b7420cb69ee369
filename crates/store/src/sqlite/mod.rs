//! SQLite: one writer thread that groups commits, a few read connections, one process per file.

mod backup;
mod moments;
mod mover;
mod schema;
mod sound;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use godel_sound::{Checker, Damage};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::mpsc;

pub(crate) use self::backup::{backup, companion, is_empty, restore, settle};
pub(crate) use self::schema::{migrate, schema};
pub use self::sound::soundness;
use crate::hub::Hub;
use crate::job::Job;
use crate::seal::Seal;
use crate::statement::Conn;
use crate::{Config, Durability, Error, FileLock, Result, Scope, Tx};

/// How many writes may wait; beyond it callers wait before they may queue.
const QUEUE_MAX_JOBS: usize = 4_096;
const STATEMENT_CACHE: usize = 128;

/// How long a read may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Microseconds, on the caller's thread.
    Short,
    /// Any time, on a thread that may wait.
    Long,
}

/// An open SQLite database.
#[derive(Debug)]
pub(crate) struct Engine {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    readers: Vec<Mutex<Connection>>,
    next_reader: AtomicUsize,
    writer: Mutex<Option<JoinHandle<()>>>,
    checker: Mutex<Option<Checker>>,
    damage: Damage,
    durable: bool,
    lock: Mutex<Option<FileLock>>,
}

impl Engine {
    pub(crate) fn open(
        path: &Path,
        config: &Config,
        hub: Arc<Hub>,
        seal: Arc<Seal>,
    ) -> Result<Self> {
        let dir = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir)
            .map_err(|cause| Error::File { path: dir.to_owned(), cause })?;
        // A link to the file must not lead to a second lock.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let lock = FileLock::take(&real.with_extension("lock"))?;
        let checker = sound::begin(path, config.durability)?;
        let damage = checker.as_ref().map(Checker::damage).unwrap_or_default();
        let writer = schema::open_migrated(path, config.durability)?;
        let durable = is_durable(&writer)?;
        let readers = (0..config.readers.max(1))
            .map(|_| open_reader(path).map(Mutex::new))
            .collect::<Result<_>>()?;
        let mover = mover::Mover::start(path, config.durability)?;
        let (queue, jobs) = mpsc::channel(QUEUE_MAX_JOBS);
        let writer = writer::Writer::new(writer, mover, (hub, seal, Arc::clone(&damage)));
        let thread = std::thread::Builder::new()
            .name("godel-writer".to_owned())
            .spawn(move || writer.run(jobs))
            .map_err(|cause| Error::File { path: path.to_owned(), cause })?;
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            readers,
            next_reader: AtomicUsize::new(0),
            writer: Mutex::new(Some(thread)),
            checker: Mutex::new(checker),
            damage,
            durable,
            lock: Mutex::new(Some(lock)),
        })
    }

    pub(crate) fn durable(&self) -> bool {
        self.durable
    }

    /// Returns the way to the writer; after closing, one that leads nowhere.
    pub(crate) fn writer(&self) -> mpsc::Sender<Box<dyn Job>> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.clone().unwrap_or_else(|| mpsc::channel(1).0)
    }

    /// Runs a read on the calling thread.
    ///
    /// Short reads (indexed, with a small limit) take tens of microseconds from the page cache;
    /// handing them to another thread would cost more than it saves.
    pub(crate) fn read<T, E, F>(&self, scope: Scope, length: Length, mut work: F) -> Result<T, E>
    where
        E: From<Error>,
        F: FnMut(&mut Tx<'_>) -> Result<T, E>,
    {
        sound::vouch(&self.damage)?;
        let conn = self.reader(length);
        let sql = |name: &'static str, text: &str| {
            let run = conn.prepare_cached(text).and_then(|mut statement| statement.execute([]));
            run.map_err(|cause| Error::sqlite(name, cause))
        };
        sql("begin", "BEGIN")?;
        let result = catch_unwind(AssertUnwindSafe(|| {
            work(&mut Tx::new(Conn::sqlite(&conn), scope, false))
        }));
        sql("commit", "COMMIT")?;
        result.unwrap_or_else(|_| Err(Error::Panicked.into()))
    }

    /// Takes a free connection, or waits for one. Long reads never get the first one, so a short
    /// read that finds all others busy waits for short ones only.
    fn reader(&self, length: Length) -> MutexGuard<'_, Connection> {
        let allowed = match length {
            Length::Long if self.readers.len() > 1 => &self.readers[1..],
            Length::Long | Length::Short => &self.readers[..],
        };
        let start = self.next_reader.fetch_add(1, Ordering::Relaxed);
        let count = allowed.len();
        let free = (0..count).find_map(|step| allowed[(start + step) % count].try_lock().ok());
        free.unwrap_or_else(|| {
            let place = if length == Length::Short { 0 } else { start % count };
            allowed[place].lock().unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Finishes the queue, then lets go of the files.
    pub(crate) fn close(&self) {
        drop(self.checker.lock().unwrap_or_else(PoisonError::into_inner).take());
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writer thread ended unexpectedly");
        }
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn open_reader(path: &Path) -> Result<Connection> {
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|cause| Error::sqlite("open", cause))?;
    conn.execute_batch(
        "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON; PRAGMA cache_size = -4096;
         PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;",
    )
    .map_err(|cause| Error::sqlite("pragma", cause))?;
    keep_plans(&conn)?;
    Ok(conn)
}

/// Opens the connection of the writer.
fn open_writer(path: &Path, durability: Durability) -> Result<Connection> {
    let fail = |cause| Error::sqlite("open", cause);
    make_private(path)?;
    // The connection stays on one thread, so it needs no lock of its own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(fail)?;
    let synchronous = durability.synchronous();
    // Deleted bytes are overwritten: whoever was erased must not be found in the file.
    conn.execute_batch(&format!(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = {synchronous}; PRAGMA fullfsync = ON;
         PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -16384; PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = ON;"
    ))
    .map_err(fail)?;
    keep_plans(&conn)?;
    Ok(conn)
}

/// Keeps statements prepared. Without the guarantee, SQLite plans a join anew each time its parameters
/// are cleared, which costs several times as much as running it.
fn keep_plans(conn: &Connection) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    let set = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true);
    set.map(drop).map_err(|cause| Error::sqlite("config", cause))
}

/// Makes the file before SQLite does, readable by its user only; its companions inherit that.
fn make_private(path: &Path) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|cause| Error::File { path: path.to_owned(), cause })
}

/// Asks the engine itself whether a commit waits for the disk.
fn is_durable(conn: &Connection) -> Result<bool> {
    let fail = |cause| Error::sqlite("pragma", cause);
    let journal: String =
        conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(fail)?;
    let synchronous: i64 =
        conn.query_row("PRAGMA synchronous", [], |row| row.get(0)).map_err(fail)?;
    // 2 is FULL: the log is synced before a commit returns.
    Ok(journal == "wal" && synchronous >= 2)
}

/// Lets SQLite check every statement, and that parameters first appear in the order of their
/// numbers, since SQLite numbers them by appearance; returns how many statements there are.
pub(crate) fn check_statements(path: &Path) -> Result<usize> {
    let conn = open_reader(path)?;
    let mut count = 0;
    for statement in crate::tables::statements() {
        let prepared =
            conn.prepare(statement.sqlite).map_err(|cause| Error::sqlite(statement.name, cause))?;
        for place in 1..=prepared.parameter_count() {
            if prepared.parameter_name(place) != Some(&format!("${place}")) {
                let cause = format!("parameter ${place} does not come in order").into();
                return Err(Error::Failed { statement: statement.name, cause });
            }
        }
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn nothing_is_read_or_written_once_damage_was_found() {
        let folder = TempDir::with_prefix("godel-test-").unwrap();
        let path = folder.path().join("godel.db");
        let config = Config::new(crate::DatabaseUrl::Sqlite(path.clone()));
        let open = || Engine::open(&path, &config, Arc::default(), Arc::default()).unwrap();
        open().close();
        let engine = open();
        let read = || engine.read(Scope::System, Length::Short, |tx| tx.tenants().count());
        let write = || {
            let (job, answer) = crate::job::job(Scope::System, |tx| tx.tenants().count());
            engine.writer().blocking_send(job).ok().unwrap();
            answer.blocking_recv().unwrap().map(|(count, _)| count)
        };
        assert_eq!((read().unwrap(), write().unwrap()), (0, 0));
        engine.damage.set("a page is gone".to_owned()).unwrap();
        for refused in [read(), write()] {
            assert!(
                matches!(&refused, Err(Error::Corrupt(why)) if why.contains("gone")),
                "{refused:?}"
            );
        }
        engine.close();
    }

    #[test]
    fn a_statement_is_planned_once() {
        let folder = TempDir::with_prefix("godel-test-").unwrap();
        let path = folder.path().join("godel.db");
        let writer = schema::open_migrated(&path, Durability::Full).unwrap();
        let reader = open_reader(&path).unwrap();
        let reads = crate::tables::statements().filter(|one| one.sqlite.starts_with("SELECT"));
        let mut count = 0;
        for statement in reads {
            count += 1;
            for conn in [&reader, &writer] {
                for _ in 0..3 {
                    let mut prepared = conn.prepare_cached(statement.sqlite).unwrap();
                    let values = vec![1; prepared.parameter_count()];
                    let mut rows = prepared.query(rusqlite::params_from_iter(values)).unwrap();
                    while rows.next().unwrap().is_some() {}
                }
                let prepared = conn.prepare_cached(statement.sqlite).unwrap();
                let again = prepared.get_status(StatementStatus::RePrepare);
                assert_eq!(again, 0, "{} is planned each time", statement.name);
            }
        }
        assert!(count >= 30, "only {count} statements were looked at");
    }
}
