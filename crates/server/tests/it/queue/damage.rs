//! A disk loses bytes while the server is away: whatever is missing is noticed at the next start, and
//! never are there silently fewer tasks than were accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use godel_model::{Report as _, code};
use godel_store::{Config, DatabaseUrl, Error, Store};
use godel_testkit::Database;
use tempfile::TempDir;

use super::dump::Tables;
use super::load::Chance;
use super::scene::{Scene, rounds};

const FILE: &str = "godel.db";
const LOG: &str = "godel.db-wal";
const INDEX: &str = "godel.db-shm";

/// The files that a killed server left.
#[derive(Clone)]
struct Left(BTreeMap<&'static str, Vec<u8>>);

impl Left {
    /// Lets a server work for a moment and kills it.
    async fn of_a_killed_server() -> Self {
        let mut scene = Scene::set(&Database::sqlite().url(), 1).await;
        scene.wait(1_200, 1_500).await;
        scene.servers[0].kill();
        let read = |name| (name, std::fs::read(scene.servers[0].file().with_file_name(name)));
        let files = [FILE, LOG, INDEX].map(read);
        Self(files.into_iter().map(|(name, bytes)| (name, bytes.unwrap())).collect())
    }

    /// The same with the log moved into the file.
    fn settled(&self) -> Self {
        let (folder, path) = self.write();
        let db = rusqlite::Connection::open(&path).unwrap();
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        drop(db);
        let file = std::fs::read(&path).unwrap();
        drop(folder);
        Self(BTreeMap::from([(FILE, file)]))
    }

    fn write(&self) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for (name, bytes) in &self.0 {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let path = folder.path().join(FILE);
        (folder, path)
    }

    /// Returns how much of the log counts; behind it may be what a checkpoint has left over.
    fn end_of_log(&self) -> usize {
        let number = |name, at: usize| -> [u8; 4] { self.0[name][at..at + 4].try_into().unwrap() };
        let page = u32::from_be_bytes(number(LOG, 8)) as usize;
        let frames = u32::from_ne_bytes(number(INDEX, 16)) as usize;
        32 + frames * (24 + page)
    }

    fn flip(&mut self, name: &'static str, at: usize, bit: usize) {
        self.0.get_mut(name).unwrap()[at] ^= 1 << bit;
    }
}

/// The tasks that are in exactly one place.
fn tasks(path: &Path) -> BTreeSet<String> {
    let place = |table: &str| format!("SELECT hex(tenant) || hex(task) AS id FROM {table}");
    let places = ["ready", "delayed", "blocked", "lease", "outcome"].map(place);
    let sql = format!(
        "SELECT hex(tenant) || hex(id) FROM task WHERE 1 =
            (SELECT COUNT(*) FROM ({}) WHERE id = hex(tenant) || hex(task.id))",
        places.join(" UNION ALL ")
    );
    let rows = Tables::Sqlite(path.to_owned()).rows(&sql, 1);
    rows.into_iter().map(|mut row| row.remove(0).unwrap()).collect()
}

/// Starts on what is left; `true` if that was refused. Who starts has all tasks.
async fn is_refused(left: &Left, all: &BTreeSet<String>, what: &str) -> bool {
    let (_folder, path) = left.write();
    let opened = Store::open(&Config::new(DatabaseUrl::Sqlite(path.clone()))).await;
    match opened {
        Ok(store) => {
            store.close().await;
            let found = tasks(&path);
            assert!(found == *all, "{what}: {} of {} tasks are there", found.len(), all.len());
            false
        }
        Err(error) => {
            assert!(
                matches!(error, Error::Corrupt(_) | Error::Migration { .. }),
                "{what}: {error}"
            );
            // It was left as it is, for whoever wants to save what can be saved.
            for (name, bytes) in left.0.iter().filter(|(name, _)| **name != INDEX) {
                assert!(
                    std::fs::read(path.with_file_name(name)).unwrap() == *bytes,
                    "{what}: {name}"
                );
            }
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_lost_something_is_refused() {
    let whole = Left::of_a_killed_server().await;
    let all = tasks(&whole.write().1);
    assert!(all.len() > 20, "only {} tasks", all.len());
    assert!(!is_refused(&whole, &all, "untouched").await);
    let mut chance = Chance::of(u64::from(std::process::id()));
    let length = whole.end_of_log();
    assert!((1..=whole.0[LOG].len()).contains(&length));
    let mut refused = 0;
    for _ in 0..rounds() * 10 {
        let (at, bit) = (chance.below(length), chance.below(8));
        let mut left = whole.clone();
        left.flip(LOG, at, bit);
        refused += u64::from(is_refused(&left, &all, &format!("bit {bit} of byte {at}")).await);
        // A power cut takes the index along: then the last change alone may be gone.
        left.0.remove(INDEX);
        if at < length / 2 {
            assert!(is_refused(&left, &all, &format!("no index, byte {at}")).await);
        }
        let mut left = whole.clone();
        left.0.get_mut(LOG).unwrap().truncate(at);
        assert!(is_refused(&left, &all, &format!("{at} bytes of {length}")).await);
    }
    let mut left = whole.clone();
    left.0.remove(LOG);
    assert!(is_refused(&left, &all, "no log").await);
    println!("{refused} bits of {} were noticed", rounds() * 10);
    assert!(refused > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_lost_a_bit_never_makes_silently_fewer_tasks() {
    let whole = Left::of_a_killed_server().await.settled();
    let (folder, path) = whole.write();
    let all = tasks(&path);
    let own = "'task', 'ready', 'ready_by_task', 'delayed', 'blocked', 'lease', 'outcome', 'event', \
               'event_moment', 'lane', 'stream_head', 'dependency'";
    let sql = format!("SELECT CAST(pageno AS TEXT) FROM dbstat WHERE name IN ({own})");
    let pages: Vec<usize> = Tables::Sqlite(path)
        .rows(&sql, 1)
        .into_iter()
        .map(|mut row| row.remove(0).unwrap().parse().unwrap())
        .collect();
    drop(folder);
    assert!(!is_refused(&whole, &all, "untouched").await);
    let mut chance = Chance::of(u64::from(std::process::id()));
    let (mut refused, flips) = (0, rounds() * 40);
    for _ in 0..flips {
        let page = pages[chance.below(pages.len())];
        // Half of them hit what tells where rows are.
        let within = if chance.percent(50) { chance.below(100) } else { chance.below(4_096) };
        let (at, bit) = ((page - 1) * 4_096 + within, chance.below(8));
        let mut left = whole.clone();
        left.flip(FILE, at, bit);
        let what = format!("bit {bit} of byte {within} of page {page}");
        refused += u64::from(is_refused(&left, &all, &what).await);
    }
    println!("{refused} bits of {flips} were noticed, the others changed no number of tasks");
    assert!(refused > flips / 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_takes_the_place_of_damaged_data_which_is_kept_as_it_is() {
    let mut left = Left::of_a_killed_server().await;
    let (_folder, path) = left.write();
    let all = tasks(&path);
    let (folder, path) = left.write();
    let (config, file) =
        (Config::new(DatabaseUrl::Sqlite(path.clone())), folder.path().join("x.backup"));
    let at = jiff::Timestamp::UNIX_EPOCH;
    godel_store::backup::write(&config.url, at, std::fs::File::create(&file).unwrap())
        .await
        .unwrap();
    let length = left.0[LOG].len();
    left.flip(LOG, length / 3, 3);
    for (name, bytes) in &left.0 {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    assert!(matches!(Store::open(&config).await, Err(Error::Corrupt(_))));
    let restoring = godel_store::backup::restore(&config, &file, at, true).await.unwrap();
    let aside = tokio::task::spawn_blocking(|| restoring.finish()).await.unwrap().unwrap().unwrap();
    Store::open(&config).await.unwrap().close().await;
    assert!(tasks(&path) == all, "the backup has other tasks");
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", aside.display()));
    assert!(std::fs::read(&aside).unwrap() == left.0[FILE], "the file was changed");
    assert!(std::fs::read(beside("-wal")).unwrap() == left.0[LOG], "the log was changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_starts_on_damaged_data_is_told_what_to_do() {
    let mut left = Left::of_a_killed_server().await;
    let length = left.0[LOG].len();
    left.flip(LOG, length / 3, 3);
    let (folder, _) = left.write();
    let config = godel_server::Config::new(folder.path().into(), "127.0.0.1:0".parse().unwrap());
    let refused = godel_server::Server::start(config).await.unwrap_err();
    assert_eq!(refused.code(), code::DATABASE_CORRUPT, "{refused}");
    let said = refused.to_string();
    assert!(said.contains("the database is damaged") && said.contains(LOG), "{said}");
    assert!(refused.hint().is_some_and(|hint| hint.contains("godel restore")), "{said}");
}
