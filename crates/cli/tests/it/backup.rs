//! The drill: everything is lost but the backups, and comes back from them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use godel_api::{Client, NewEvent};
use godel_model::{
    Clock as _, Metadata, Mint, NewEvent as Draft, Payload, Source, SystemClock, Tenant,
};
use godel_store::{Config, DatabaseUrl, Scope, Store, known_migrations};
use godel_testkit::{Database, postgres_url};
use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::home::Home;

const PATIENCE: Duration = Duration::from_secs(60);

fn client(home: &Home, url: &str) -> Client {
    let key = std::fs::read_to_string(home.data().join("owner.key")).unwrap();
    Client::new(url, Some(key.trim().parse().unwrap())).unwrap()
}

/// Returns the backups in a directory, oldest first.
fn backups(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "backup")).collect();
    found.sort();
    found
}

/// Publishes until told to stop or the server is gone; returns positions with when each was answered.
async fn publish(
    client: Client,
    stop: Arc<AtomicBool>,
    acked: Arc<Mutex<Vec<(Timestamp, i64, String)>>>,
) {
    while !stop.load(Ordering::Relaxed) {
        let payload = RawValue::from_string("{\"drill\":true}".to_owned()).unwrap();
        let kind = "drill:write".to_owned();
        let event = NewEvent { kind, payload: Some(payload), metadata: None, instance: None };
        let Ok(event) = client.publish(&event, None).await else { return };
        let answered = (SystemClock.now(), event.sequence, event.id.to_string());
        acked.lock().unwrap().push(answered);
    }
}

/// Loses a server with its data under load, and brings it back from the newest backup.
async fn drill(home: Home, spare: Option<Home>) {
    let dir = home.path().join("backups");
    let server = home.up();
    let (stop, acked) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
    let mut writers = JoinSet::new();
    for _ in 0..4 {
        let client = client(&home, server.url());
        writers.spawn(publish(client, Arc::clone(&stop), Arc::clone(&acked)));
    }
    let started = Instant::now();
    while backups(&dir).len() < 3 {
        assert!(started.elapsed() < PATIENCE, "no backups: {}", home.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::task::spawn_blocking(|| server.kill()).await.unwrap();
    let lost = SystemClock.now();
    writers.join_all().await;
    // The one thing that a backup does not hold, and that its owner keeps elsewhere.
    let master = std::fs::read(home.data().join("master.key")).unwrap();
    std::fs::remove_dir_all(home.data()).unwrap();
    let newest = backups(&dir).pop().unwrap();
    let clock = Instant::now();
    let home = spare.as_ref().unwrap_or(&home);
    let file = newest.to_str().unwrap();
    let restored = home.run(&["restore", file, "--json"]).expect(0).json();
    std::fs::create_dir_all(home.data()).unwrap();
    let place = home.data().join("master.key");
    std::fs::write(&place, master).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let server = home.up();
    let took = clock.elapsed();
    let begun: Timestamp = restored["backup"]["madeAt"].as_str().unwrap().parse().unwrap();
    let log = read_log(&client(home, server.url())).await;
    let acked = std::mem::take(&mut *acked.lock().unwrap());
    let safe = acked.iter().filter(|(at, _, _)| *at < begun);
    let mut count = 0;
    for (_, sequence, id) in safe {
        let found = log.get(usize::try_from(*sequence).unwrap() - 1);
        assert_eq!(found, Some(id), "event {sequence} was answered before the backup began");
        count += 1;
    }
    assert!(count > 0, "nothing was answered before {begun}");
    println!(
        "{count} of {} answered events were answered before the newest backup began, {:.2} s before \
         the loss; all of them are back after {:.2} s",
        acked.len(),
        lost.duration_since(begun).as_secs_f64(),
        took.as_secs_f64()
    );
    assert_eq!(server.stop().code(), Some(0));
    home.run(&["db", "check"]).expect(0);
}

/// Reads the whole log: the id at each position, from 1 on.
async fn read_log(client: &Client) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut query = vec![("limit", "100".to_owned()), ("sort", "sequence".to_owned())];
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page = client.events(&query).await.unwrap();
        for event in &page.items {
            ids.push(event.id.to_string());
            assert_eq!(event.sequence, ids.len() as i64, "the log has a gap");
        }
        cursor = page.pagination.cursor;
        if cursor.is_none() {
            return ids;
        }
    }
}

fn drilled(home: Home) -> Home {
    let dir = home.path().join("backups");
    home.with("GODEL_BACKUP_EVERY", "1s")
        .with("GODEL_BACKUP_DIR", dir.to_str().unwrap())
        .with("GODEL_RATE_PER_MINUTE", "100000000")
        .with("GODEL_RATE_BURST", "1000000")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_lost_data_directory_comes_back_from_the_newest_backup() {
    drill(drilled(Home::new()), None).await;
}

async fn postgres() -> Option<(Database, String)> {
    let server = postgres_url()?;
    let database = tokio::task::spawn_blocking(|| Database::postgres(server)).await.unwrap();
    let DatabaseUrl::Postgres(url) = database.url() else { panic!("another engine") };
    Some((database, url))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_lost_postgres_database_comes_back_in_a_new_one() {
    let (Some((lost, from)), Some((spare, to))) = (postgres().await, postgres().await) else {
        return;
    };
    let home = drilled(Home::new()).with("GODEL_DATABASE_URL", &from);
    let other = Home::new().with("GODEL_DATABASE_URL", &to).with("GODEL_RATE_BURST", "1000000");
    drill(home, Some(other)).await;
    tokio::task::spawn_blocking(|| drop((lost, spare))).await.unwrap();
}

/// Makes a backup of a log with many events.
async fn large_backup(dir: &Path, events: usize) -> PathBuf {
    let path = dir.join("large.db");
    let store = Store::open(&Config::new(DatabaseUrl::Sqlite(path))).await.unwrap();
    let now = SystemClock.now();
    let tenant = Tenant {
        id: Mint::system().id(),
        name: "default".parse().unwrap(),
        created_at: now,
        disabled_at: None,
    };
    let id = tenant.id;
    let insert = move |tx: &mut godel_store::Tx<'_>| tx.tenants().insert(&tenant);
    store.write::<_, godel_store::Error, _>(Scope::System, insert).await.unwrap();
    for _ in 0..events / 1_000 {
        let fill = move |tx: &mut godel_store::Tx<'_>| {
            (0..1_000).try_for_each(|_| {
                tx.record(Draft {
                    id: Mint::system().id(),
                    kind: "test:fill".parse().unwrap(),
                    at: now,
                    source: Source::component("test"),
                    payload: Payload::of(&"x".repeat(300)),
                    metadata: Metadata::default(),
                })
            })
        };
        store.write(Scope::Tenant(id), fill).await.unwrap();
    }
    let file = dir.join("large.backup");
    let sink = std::fs::File::create(&file).unwrap();
    godel_store::backup::write(store.url(), now, sink).await.unwrap();
    store.close().await;
    file
}

/// Starts a restore and kills it after a while; returns whether it had ended by itself.
fn killed_restore(home: &Home, arguments: &[&str], after: Duration) -> bool {
    let mut command = home.command(&["restore", "--json"]);
    command.args(arguments).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while started.elapsed() < after {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_restore_leaves_the_old_state_or_the_new_one_and_can_be_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let file = large_backup(dir.path(), 8_000).await;
    let file = file.to_str().unwrap();
    let home = Home::new();
    let server = home.up();
    home.run(&["events", "publish", "test:old"]).expect(0);
    assert_eq!(server.stop().code(), Some(0));
    let events = || {
        let checked = home.run(&["db", "check", "--json"]).expect(0).json();
        checked["tenants"][0]["events"].as_u64().unwrap()
    };
    let old = events();
    let mut kills = 0;
    for round in 0.. {
        let after = Duration::from_millis(5 + round * 40);
        let ended = killed_restore(&home, &[file, "--force"], after);
        let found = events();
        assert!(found == old || found == 8_000, "{found} events after {after:?}");
        if ended {
            break;
        }
        kills += 1;
    }
    assert!(kills > 2, "only {kills} were killed");
    assert_eq!(events(), 8_000);
    println!("{kills} restores were killed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_restore_leaves_postgres_empty_and_can_be_repeated() {
    let Some((database, url)) = postgres().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = large_backup(dir.path(), 8_000).await;
    let file = file.to_str().unwrap();
    let home = Home::new().with("GODEL_DATABASE_URL", &url);
    let mut kills = 0;
    for round in 0.. {
        let ended = killed_restore(&home, &[file], Duration::from_millis(5 + round * 60));
        let found = home.run(&["db", "status", "--json"]).expect(0).json()["found"].clone();
        if ended || found != 0 {
            break;
        }
        kills += 1;
    }
    assert!(kills > 1, "only {kills} were killed");
    let checked = home.run(&["db", "check", "--json"]).expect(0).json();
    assert_eq!(checked["tenants"][0]["events"], 8_000);
    home.run(&["restore", file]).refused(4, &["is not empty", "createdb", "database_not_empty"]);
    tokio::task::spawn_blocking(|| drop(database)).await.unwrap();
}

#[test]
fn one_version_back_and_forward_again_keeps_the_data() {
    let home = Home::new();
    let newest = known_migrations().last().unwrap().version;
    let server = home.up();
    home.run(&["events", "publish", "test:kept", "--payload", "{\"n\":7}"]).expect(0);
    let before = home.run(&["events", "list", "--type", "test:*", "--json"]).expect(0).json();
    assert_eq!(server.stop().code(), Some(0));
    let previous = (newest - 1).to_string();
    home.run(&["backup", "before.backup"]).expect(0);
    home.run(&["db", "migrate", "--to", &previous]).refused(2, &["godel backup FILE", "--yes"]);
    home.run(&["db", "migrate", "--to", &previous, "--yes"]).expect(0);
    home.run(&["backup", "previous.backup"]).expect(0);
    home.run(&["db", "migrate", "--to", &newest.to_string()]).expect(0);
    let server = home.up();
    let after = home.run(&["events", "list", "--type", "test:*", "--json"]).expect(0).json();
    assert_eq!(before["items"], after["items"]);
    assert_eq!(before["items"].as_array().unwrap().len(), 1);
    assert_eq!(server.stop().code(), Some(0));
    home.run(&["db", "check"]).expect(0);
    // A backup of the older schema is brought up to date by a restore.
    home.run(&["restore", "previous.backup", "--data", "older"]).expect(0);
    home.run(&["db", "check", "--data", "older"]).expect(0);
}

#[test]
fn what_would_harm_is_refused_with_a_reason() {
    let home = Home::new();
    home.run(&["backup", "x.backup"]).refused(1, &["there is no godel database at", "--data DIR"]);
    let server = home.up();
    let made = home.run(&["backup", "x.backup"]).expect(0).stdout;
    assert!(made.contains("written and checked") && made.contains("confidential"), "{made}");
    home.run(&["backup", "x.backup"]).refused(4, &["is there already", "--force", "file_exists"]);
    home.run(&["backup", "x.backup", "--force"]).expect(0);
    home.run(&["restore", "x.backup", "--force"]).refused(4, &["data_dir_locked"]);
    assert_eq!(server.stop().code(), Some(0));
    // Without a server it reads the database itself.
    home.run(&["backup", "y.backup"]).expect(0);
    let piped = home.command(&["backup", "-"]).output().unwrap();
    assert!(piped.status.success());
    std::fs::write(home.path().join("piped.backup"), piped.stdout).unwrap();
    home.run(&["backup", "--verify", "piped.backup"]).expect(0);
    home.run(&["restore", "x.backup"]).refused(4, &["is not empty", "moved aside"]);
    let restored = home.run(&["restore", "x.backup", "--data", "elsewhere"]).expect(0).stdout;
    assert!(restored.contains("master.key") && restored.contains("newest event"), "{restored}");
    let mut bytes = std::fs::read(home.path().join("x.backup")).unwrap();
    let half = bytes.len() / 2;
    std::fs::write(home.path().join("cut.backup"), &bytes[..half]).unwrap();
    bytes[half] ^= 1;
    std::fs::write(home.path().join("x.backup"), bytes).unwrap();
    for command in [&["backup", "--verify", "x.backup"][..], &["restore", "x.backup", "--force"]] {
        home.run(command).refused(1, &["the backup is damaged", "backup_damaged"]);
    }
    home.run(&["backup", "--verify", "cut.backup"]).refused(1, &["cut off"]);
    home.run(&["backup", "--verify", "none"]).refused(1, &["none could not be used"]);
}
