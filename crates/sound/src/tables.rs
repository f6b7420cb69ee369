//! The pages of a SQLite database, and whether what is in them adds up.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags, Result};

/// What is looked at first: the tables that tell which tasks wait and who has them.
const FIRST: [&str; 8] =
    ["tenant", "stream_head", "lane", "ready", "delayed", "blocked", "lease", "worker"];
/// A database of this size is looked at as a whole before it is used; a larger one as far as work waits in
/// it, and the rest beside all else.
const SMALL_BYTES: u64 = 8 << 20;
/// How much is told of what is wrong.
const TOLD_CHARS: usize = 200;
/// How long who closes a database waits between two words to who looks at it.
const INTERRUPT: Duration = Duration::from_millis(5);

/// What must not be found: the tables that it is about, what it means, and where to look.
struct Rule {
    tables: &'static [&'static str],
    means: &'static str,
    broken: &'static str,
}

macro_rules! waits {
    ($place:literal) => {
        Rule {
            tables: &["task", "lane", $place],
            means: concat!("a row of ", $place, " is about no task or in no line"),
            broken: concat!(
                "SELECT 1 FROM ",
                $place,
                " p WHERE p.tier NOT BETWEEN 0 AND 3
                    OR NOT EXISTS (SELECT 1 FROM task t WHERE t.tenant = p.tenant AND t.id = p.task)
                    OR NOT EXISTS (SELECT 1 FROM lane l WHERE l.tenant = p.tenant AND l.name = p.lane
                        AND l.pool = substr(p.lane, 1, instr(p.lane || ' ', ' ') - 1))"
            ),
        }
    };
}

/// Rules about what waits: they cost as much as that.
const WAITING: [Rule; 4] = [waits!("ready"), waits!("delayed"), waits!("blocked"), waits!("lease")];

/// Rules about everything.
const WHOLE: [Rule; 6] = [
    Rule {
        tables: &["task", "ready", "delayed", "blocked", "lease", "outcome"],
        means: "a task is not in exactly one place",
        broken: "SELECT 1 FROM task t WHERE 1 <>
              EXISTS (SELECT 1 FROM ready p WHERE p.tenant = t.tenant AND p.task = t.id)
            + EXISTS (SELECT 1 FROM delayed p WHERE p.tenant = t.tenant AND p.task = t.id)
            + EXISTS (SELECT 1 FROM blocked p WHERE p.tenant = t.tenant AND p.task = t.id)
            + EXISTS (SELECT 1 FROM lease p WHERE p.tenant = t.tenant AND p.task = t.id)
            + EXISTS (SELECT 1 FROM outcome p WHERE p.tenant = t.tenant AND p.task = t.id)",
    },
    Rule {
        tables: &["task", "outcome"],
        means: "the end of a task is there without the task",
        broken: "SELECT 1 FROM outcome p WHERE NOT EXISTS
            (SELECT 1 FROM task t WHERE t.tenant = p.tenant AND t.id = p.task)",
    },
    Rule {
        tables: &["event", "stream_head"],
        means: "events are missing",
        broken: "SELECT 1 FROM (SELECT tenant, COUNT(*) AS count, MIN(seq) AS low, MAX(seq) AS high
                FROM event GROUP BY tenant) e
            LEFT JOIN stream_head h ON h.tenant = e.tenant
            WHERE e.count <> e.high - e.low + 1 OR h.seq IS NULL OR h.seq > e.high
                OR h.trimmed <> e.low - 1",
    },
    Rule {
        tables: &["event", "stream_head"],
        means: "all events of a tenant are missing",
        broken: "SELECT 1 FROM stream_head h WHERE h.trimmed < h.seq
            AND NOT EXISTS (SELECT 1 FROM event e WHERE e.tenant = h.tenant)",
    },
    Rule {
        tables: &["event"],
        means: "an event cannot be read",
        broken: "SELECT 1 FROM event WHERE NOT json_valid(payload)",
    },
    Rule {
        tables: &["task"],
        means: "a task cannot be read",
        broken: "SELECT 1 FROM task WHERE NOT json_valid(asked)",
    },
];

/// Looks at a whole database; returns what is wrong.
///
/// # Errors
/// If it cannot be opened or asked.
pub fn check(path: &Path) -> Result<Option<String>> {
    look(&open(path)?, &AtomicBool::new(false), &|| {})
}

/// What is wrong with a database, as soon as somebody knows.
pub type Damage = Arc<OnceLock<String>>;

/// Looks at a database in a thread of its own, until it is done or dropped.
pub struct Checker {
    damage: Damage,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    interrupt: InterruptHandle,
}

impl std::fmt::Debug for Checker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checker").field("damage", &self.damage).finish_non_exhaustive()
    }
}

impl Checker {
    /// Begins to look, and waits for some time until enough was looked at to begin work.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub fn start(path: &Path, patience: Duration) -> Result<Self> {
        let conn = open(path)?;
        let (damage, stop) = (Damage::default(), Arc::<AtomicBool>::default());
        let interrupt = conn.get_interrupt_handle();
        let is_small = path.metadata().is_ok_and(|file| file.len() <= SMALL_BYTES);
        let (done, is_done) = channel::<()>();
        let (path, damage_, stop_) = (path.to_owned(), Arc::clone(&damage), Arc::clone(&stop));
        let run = move || {
            // Whoever waits hears of what waits in a large one, else of the end.
            let first = || {
                if !is_small {
                    // Nobody may wait any more.
                    let _ = done.send(());
                }
            };
            find(&path, &conn, (&damage_, &stop_), &first);
            drop(done);
        };
        let thread = std::thread::Builder::new().name("godel-checker".to_owned()).spawn(run);
        if let Err(error) = &thread {
            tracing::warn!(%error, "the database is not checked");
        }
        let checker = Self { damage, stop, thread: thread.ok(), interrupt };
        checker.wait(&is_done, patience);
        Ok(checker)
    }

    fn wait(&self, is_done: &Receiver<()>, patience: Duration) {
        if is_done.recv_timeout(patience) != Err(RecvTimeoutError::Disconnected) {
            tracing::info!("the database is large; it is checked while the server works");
        }
    }

    /// Returns where it is told what is wrong.
    pub fn damage(&self) -> Damage {
        Arc::clone(&self.damage)
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        // It may just be between two statements.
        while !thread.is_finished() {
            self.interrupt.interrupt();
            std::thread::sleep(INTERRUPT);
        }
        if thread.join().is_err() {
            tracing::error!("the check of the database ended unexpectedly");
        }
    }
}

fn find(
    path: &Path,
    conn: &Connection,
    (damage, stop): (&OnceLock<String>, &AtomicBool),
    first: &dyn Fn(),
) {
    match look(conn, stop, first) {
        Ok(None) => tracing::debug!("the database is sound"),
        Ok(Some(why)) => {
            tracing::error!(database = %path.display(), %why, "the database is damaged");
            damage.get_or_init(|| why);
        }
        Err(_) if stop.load(Ordering::Relaxed) => {}
        Err(error) => tracing::warn!(%error, "the database could not be checked"),
    }
}

fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.execute_batch(
        "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON; PRAGMA cache_size = -8192;
         PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;",
    )?;
    // Whoever finds damage leaves everything as it is.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

/// Looks at everything, what matters most first, and says so when that is sound; returns what is wrong.
fn look(conn: &Connection, stop: &AtomicBool, first: &dyn Fn()) -> Result<Option<String>> {
    let found = look_at_all(conn, stop, first);
    // What cannot even be asked for has another schema than it should.
    let damaged = [ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase, ErrorCode::Unknown];
    match found {
        Err(error) if error.sqlite_error_code().is_some_and(|code| damaged.contains(&code)) => {
            Ok(Some(error.to_string()))
        }
        found => found,
    }
}

fn look_at_all(conn: &Connection, stop: &AtomicBool, said: &dyn Fn()) -> Result<Option<String>> {
    let mut list =
        conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let tables: Vec<String> = list.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    let (first, rest): (Vec<&str>, Vec<&str>) =
        tables.iter().map(String::as_str).partition(|name| FIRST.contains(name));
    let steps: [(&[&str], &[Rule]); 2] = [(&first, &WAITING), (&rest, &WHOLE)];
    for (names, rules) in steps {
        for name in names {
            if let Some(why) = pages(conn, name)? {
                return Ok(Some(why));
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        // An older schema may not have all of them yet.
        let has = |name: &&str| tables.iter().any(|table| table == name);
        for rule in rules.iter().filter(|rule| rule.tables.iter().all(has)) {
            if conn.prepare(rule.broken)?.exists([])? {
                return Ok(Some(rule.means.to_owned()));
            }
        }
        said();
    }
    Ok(None)
}

/// Looks at the pages of a table and of its indexes.
fn pages(conn: &Connection, table: &str) -> Result<Option<String>> {
    let quoted = table.replace('\'', "''");
    let text = format!("PRAGMA integrity_check('{quoted}')");
    let said: String = conn.query_row(&text, [], |row| row.get(0))?;
    let told: String = said.chars().take(TOLD_CHARS).collect();
    Ok((said != "ok").then(|| format!("table {table}: {told}")))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const SCHEMA: &str = "
        CREATE TABLE lane (tenant, pool, name, PRIMARY KEY (tenant, pool, name)) WITHOUT ROWID;
        CREATE TABLE task (tenant, id, asked TEXT, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
        CREATE TABLE ready (tenant, lane, tier, task, PRIMARY KEY (tenant, task)) WITHOUT ROWID;
        CREATE TABLE delayed (tenant, lane, tier, task, PRIMARY KEY (tenant, task)) WITHOUT ROWID;
        CREATE TABLE blocked (tenant, lane, tier, task, PRIMARY KEY (tenant, task)) WITHOUT ROWID;
        CREATE TABLE lease (tenant, lane, tier, task, PRIMARY KEY (tenant, task)) WITHOUT ROWID;
        CREATE TABLE outcome (tenant, task, PRIMARY KEY (tenant, task)) WITHOUT ROWID;
        CREATE TABLE stream_head (tenant PRIMARY KEY, seq, trimmed);
        CREATE TABLE event (tenant, seq, payload TEXT, PRIMARY KEY (tenant, seq)) WITHOUT ROWID;
        INSERT INTO lane VALUES (1, 'p', 'p'), (1, 'p', 'p gpu');
        INSERT INTO task VALUES (1, 1, '{}'), (1, 2, '{}'), (1, 3, '{}');
        INSERT INTO ready VALUES (1, 'p gpu', 2, 1);
        INSERT INTO lease VALUES (1, 'p', 3, 2);
        INSERT INTO outcome VALUES (1, 3);
        INSERT INTO event VALUES (1, 3, '{}'), (1, 4, '{}'), (1, 5, '{}');
        INSERT INTO stream_head VALUES (1, 5, 2), (2, 7, 7);";

    fn said(change: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(SCHEMA).unwrap();
        conn.execute_batch(change).unwrap();
        let checker = Checker::start(&path, Duration::from_secs(20)).unwrap();
        assert_eq!(checker.damage().get(), check(&path).unwrap().as_ref());
        checker.damage().get().cloned()
    }

    #[test]
    fn what_does_not_add_up_is_found() {
        assert_eq!(said(""), None);
        for (change, expected) in [
            ("DELETE FROM ready", "not in exactly one place"),
            ("INSERT INTO outcome VALUES (1, 1)", "not in exactly one place"),
            ("UPDATE ready SET tenant = 3", "a row of ready"),
            ("UPDATE ready SET lane = 'p gpt'", "a row of ready"),
            ("UPDATE lease SET tier = 67", "a row of lease"),
            ("UPDATE outcome SET task = 9", "not in exactly one place"),
            ("INSERT INTO outcome VALUES (1, 9)", "without the task"),
            ("DELETE FROM event WHERE seq = 4", "events are missing"),
            ("DELETE FROM event WHERE seq = 5", "events are missing"),
            ("DELETE FROM event", "all events of a tenant"),
            ("UPDATE event SET payload = '{' WHERE seq = 4", "an event cannot be read"),
            ("UPDATE task SET asked = 'x' WHERE id = 1", "a task cannot be read"),
        ] {
            let said = said(change);
            assert!(said.as_ref().is_some_and(|why| why.contains(expected)), "{change}: {said:?}");
        }
    }

    #[test]
    fn a_large_one_is_used_once_what_waits_is_known_to_be_sound() {
        let large = format!(
            "UPDATE event SET payload = '\"' || hex(zeroblob({SMALL_BYTES})) || '\"' WHERE seq = 3;"
        );
        let start = |change: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.db");
            let conn = Connection::open(&path).unwrap();
            conn.execute_batch(&format!("{SCHEMA} {large} {change}")).unwrap();
            (Checker::start(&path, Duration::from_secs(20)).unwrap(), folder)
        };
        // It is known before anybody works with it.
        let (checker, _folder) = start("UPDATE lease SET tier = 67");
        assert!(checker.damage().get().is_some_and(|why| why.contains("a row of lease")));
        // It is found in time.
        let (checker, _folder) = start("DELETE FROM event WHERE seq = 4");
        let began = Instant::now();
        while checker.damage().get().is_none() {
            assert!(began.elapsed() < Duration::from_secs(20), "nothing was found");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_damaged_page_is_found_and_nobody_waits_for_who_looks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(SCHEMA).unwrap();
        drop(conn);
        let mut bytes = std::fs::read(&path).unwrap();
        // How many rows the last page has.
        let last = bytes.len() - 4_096;
        bytes[last + 4] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let checker = Checker::start(&path, Duration::ZERO).unwrap();
        let (damage, start) = (checker.damage(), Instant::now());
        while damage.get().is_none() {
            assert!(start.elapsed() < Duration::from_secs(20), "nothing was found");
            std::thread::yield_now();
        }
        drop(Checker::start(&path, Duration::ZERO).unwrap());
    }
}
