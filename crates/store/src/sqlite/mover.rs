//! Moves SQLite's log into the database beside the writer, so that nobody waits for it.
//!
//! What the writer appends meanwhile is left; the writer moves that little itself, between two
//! batches, so that the log can begin anew.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::fault::fault;
use crate::{Durability, Error, Result};

/// Above so many pages that are left, it is moved once more before the writer does the rest.
const LEFT_MAX_PAGES: i64 = 64;
const TURNS_MAX: usize = 4;
/// How long the writer waits for it.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The thread that moves the log.
#[derive(Debug)]
pub(super) struct Mover {
    wake: Option<SyncSender<()>>,
    moved: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    pub(super) fn start(path: &Path, durability: Durability) -> Result<Self> {
        let conn = open(path, durability)?;
        let (wake, woken) = sync_channel(1);
        let (done, moved) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("godel-mover".to_owned())
            .spawn(move || run(&conn, &woken, &done))
            .map_err(|cause| Error::File { path: path.to_owned(), cause })?;
        Ok(Self { wake: Some(wake), moved, thread: Some(thread) })
    }

    /// Begins to move the log, unless that is under way.
    pub(super) fn begin(&self) {
        if let Some(wake) = &self.wake {
            // If it is full, it is about to begin anyway.
            let _waits = wake.try_send(());
        }
    }

    /// Tells, once, that most of the log was moved.
    pub(super) fn has_moved(&self) -> bool {
        self.moved.try_recv().is_ok()
    }

    /// Moves the log and waits until that is over; what somebody still reads of it stays, and nobody
    /// waits for a reader.
    pub(super) fn wait(&self) {
        let _stale = self.moved.try_recv();
        self.begin();
        if self.moved.recv_timeout(WAIT_MAX).is_err() {
            tracing::warn!("the log of the database grows faster than the disk takes it");
        }
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        drop(self.wake.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that moves the log ended unexpectedly");
        }
    }
}

fn open(path: &Path, durability: Durability) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags);
    let conn = conn.map_err(|cause| Error::sqlite("open", cause))?;
    let synchronous = durability.synchronous();
    conn.execute_batch(&format!(
        "PRAGMA synchronous = {synchronous}; PRAGMA fullfsync = ON; PRAGMA busy_timeout = 5000;
         PRAGMA cache_size = -64; PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 0;"
    ))
    .map_err(|cause| Error::sqlite("pragma", cause))?;
    Ok(conn)
}

fn run(conn: &Connection, woken: &Receiver<()>, moved: &SyncSender<()>) {
    while woken.recv().is_ok() {
        for _ in 0..TURNS_MAX {
            match checkpoint(conn, "PASSIVE") {
                Ok(left) if left > LEFT_MAX_PAGES => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "a checkpoint failed; it is tried again");
                    break;
                }
            }
        }
        // If it is full, the writer has not looked yet.
        let _waits = moved.try_send(());
    }
}

/// Moves what no reader needs in the log; returns how many pages are left.
pub(super) fn checkpoint(conn: &Connection, how: &str) -> rusqlite::Result<i64> {
    fault("checkpoint-before");
    let left = conn.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
        Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?)
    });
    fault("checkpoint-moved");
    if left.as_ref().is_err_and(is_lost) {
        stop();
    }
    left
}

/// Tells whether an fsync failed.
fn is_lost(error: &rusqlite::Error) -> bool {
    const FSYNC: i32 = rusqlite::ffi::SQLITE_IOERR_FSYNC;
    const FOLDER: i32 = rusqlite::ffi::SQLITE_IOERR_DIR_FSYNC;
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(FSYNC | FOLDER))
}

/// Ends the process because the disk did not take what it was given.
///
/// After a failed fsync nobody knows which pages are on the disk, and asking again may be answered
/// with a false yes: the log would begin anew, and what it had would be nowhere. Recovery on the
/// next start is the only safe way on.
pub(super) fn stop() -> ! {
    tracing::error!("the disk failed; stopping so that the next start recovers");
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_one_who_reads_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("read.db");
        let conn = super::super::schema::open_migrated(&path, Durability::Full).unwrap();
        let reader = super::super::open_reader(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT COUNT(*) FROM tenant").unwrap();
        conn.execute_batch("CREATE TABLE filled (bytes BLOB)").unwrap();
        conn.execute("INSERT INTO filled VALUES (zeroblob(500000))", []).unwrap();
        let mover = Mover::start(&path, Durability::Full).unwrap();
        // Whoever waited for the reader would do so until it is busy no more: five seconds each time.
        let start = std::time::Instant::now();
        for _ in 0..100 {
            mover.wait();
            assert!(checkpoint(&conn, "PASSIVE").unwrap() > 100, "the reader needs what is left");
        }
        assert!(start.elapsed() < Duration::from_secs(100));
        reader.execute_batch("COMMIT").unwrap();
        mover.wait();
        assert_eq!(checkpoint(&conn, "PASSIVE").unwrap(), 0);
    }

    #[test]
    fn what_is_in_the_log_is_moved_beside_the_writer_and_the_log_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("moved.db");
        let conn = super::super::schema::open_migrated(&path, Durability::Full).unwrap();
        conn.execute_batch("CREATE TABLE filled (bytes BLOB)").unwrap();
        let fill = || conn.execute("INSERT INTO filled VALUES (zeroblob(500000))", []).unwrap();
        let size = || std::fs::metadata(dir.path().join("moved.db-wal")).unwrap().len();
        let mover = Mover::start(&path, Durability::Full).unwrap();
        fill();
        let before = size();
        for _ in 0..5 {
            mover.begin();
            while !mover.has_moved() {
                std::thread::yield_now();
            }
            assert_eq!(checkpoint(&conn, "PASSIVE").unwrap(), 0);
            fill();
        }
        assert!(size() <= before + 100_000, "{before} became {}", size());
        drop(mover);
        let filled: i64 = conn.query_row("SELECT count(*) FROM filled", [], |r| r.get(0)).unwrap();
        assert_eq!(filled, 6);
    }
}
