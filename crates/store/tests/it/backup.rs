//! Backups: consistent under load, the same on both engines, and refused when damaged.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use godel_model::{Clock as _, Limits, Mint, Payload, Project, Seq, TenantId, TenantState};
use godel_store::backup::{self, BackupFile, Contents};
use godel_store::{Claim, Config, DatabaseUrl, Error, Scope, Store, known_migrations};
use godel_testkit::{Database, World, postgres_url, worlds};
use jiff::Timestamp;
use tempfile::TempDir;

fn now() -> Timestamp {
    "2026-01-15T10:30:00Z".parse().unwrap()
}

/// Fresh databases on both engines, to restore into.
fn targets() -> Vec<Database> {
    let mut targets = vec![Database::sqlite()];
    targets.extend(postgres_url().map(Database::postgres));
    targets
}

async fn back_up(url: &DatabaseUrl, path: &Path) -> Contents {
    let file = BackupFile::create(path, false).unwrap();
    let url = url.clone();
    let run = move || {
        let mut file = file;
        let written = backup::write_blocking(&url, now(), &mut file).unwrap();
        assert_eq!(file.finish().unwrap(), written, "it is read back as it was written");
        written
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

async fn restore(file: &Path, url: DatabaseUrl) -> Store {
    let config = Config::new(url);
    let restoring = backup::restore(&config, file, now(), false).await.unwrap();
    tokio::task::spawn_blocking(move || restoring.finish().unwrap()).await.unwrap();
    Store::open(&config).await.unwrap()
}

/// Writes a project and the event that tells of it, as a use case does.
async fn add_project(world: &World, tenant: TenantId, name: String) -> Seq {
    let id = Mint::system().id();
    let project =
        Project::new(id, name.parse().unwrap(), "x".into(), Limits::default(), world.clock.now())
            .unwrap();
    let mut event = world.draft("project:create", "{}");
    event.payload = Payload::of(&project);
    let written = world.store.write(Scope::Tenant(tenant), move |tx| {
        assert!(tx.projects().insert(&project)?);
        let mut event = event.clone();
        event.id = Mint::system().id();
        tx.record(event)
    });
    written.await.map_err(|error: Error| error).unwrap().events[0].event.seq
}

/// Checks that a log is whole and adds up to the tables; returns its end.
async fn check(store: &Store, tenant: TenantId) -> Seq {
    let all = godel_model::EventFilter::all();
    let work = move |tx: &mut godel_store::Tx<'_>| {
        let (head, trimmed) = tx.events().bounds()?;
        assert_eq!(trimmed, Seq::START);
        let mut state = TenantState::default();
        loop {
            let page = tx.events().page(&all, godel_store::Direction::Forward, state.seq, 1_000)?;
            page.events.iter().for_each(|event| state.apply(event).expect("no gap"));
            if let Some(last) = page.events.last() {
                assert_eq!(tx.events().by_id(last.id)?.as_ref(), Some(last));
            }
            if !page.more {
                break;
            }
        }
        assert_eq!(state.seq, head, "the head is the newest event");
        let stored = tx.projects().page(false, None, 10_000)?;
        assert!(stored.iter().eq(state.projects.values()), "projects are the fold of the log");
        Ok::<_, Error>(head)
    };
    store.read_long(Scope::Tenant(tenant), work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_under_load_is_one_moment_of_the_log() {
    let dir = TempDir::new().unwrap();
    for world in worlds().await {
        let world = Arc::new(world);
        let second = world.new_tenant("second").await;
        let (stop, acked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..6 {
            let (world, stop, acked) = (Arc::clone(&world), Arc::clone(&stop), Arc::clone(&acked));
            let tenant = if writer % 3 == 0 { second } else { world.tenant };
            writers.spawn(async move {
                let mut number = 0;
                while !stop.load(Ordering::Relaxed) {
                    number += 1;
                    let seq = if number % 3 == 0 {
                        add_project(&world, tenant, format!("p-{writer}-{number}")).await
                    } else {
                        world.append(tenant, "test:load").await.seq
                    };
                    if tenant == world.tenant {
                        acked.fetch_max(seq.0, Ordering::SeqCst);
                    }
                }
            });
        }
        let mut heads = Vec::new();
        for round in 0..4 {
            while acked.load(Ordering::SeqCst) < (round + 1) * 60 {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            let before = Seq(acked.load(Ordering::SeqCst));
            let file = dir.path().join(format!("{}-{round}.backup", world.engine));
            back_up(world.store.url(), &file).await;
            heads.push((file, before, Seq(acked.load(Ordering::SeqCst))));
        }
        stop.store(true, Ordering::Relaxed);
        writers.join_all().await;
        let log = world.log(world.tenant).await;
        for (file, before, after) in heads {
            let target = Database::sqlite();
            let store = restore(&file, target.url()).await;
            let head = check(&store, world.tenant).await;
            check(&store, second).await;
            assert!(head >= before, "{}: {head} lost what was answered by {before}", world.engine);
            // Of each writer one write may be committed and not answered yet.
            assert!(head.0 <= after.0 + 6, "{}: {head} is from after {after}", world.engine);
            let restored = World { store, ..World::on(Database::sqlite()).await };
            let copy = restored.log(world.tenant).await;
            assert_eq!(copy[..], log[..copy.len()], "{}: a prefix of the log", world.engine);
        }
    }
}

/// Returns every row of every table of a SQLite file, as text.
fn dump(url: &DatabaseUrl) -> Vec<String> {
    let DatabaseUrl::Sqlite(path) = url else { panic!("not SQLite") };
    let conn = rusqlite::Connection::open(path).unwrap();
    // Where events are follows from them, and is found anew.
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'event_moment'";
    let mut list = conn.prepare(tables).unwrap();
    let names: Vec<String> =
        list.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut rows = Vec::new();
    for name in names {
        let mut select = conn.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
        let columns = select.column_count();
        let mut found = select.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let values = (0..columns).map(|place| format!("{:?}", row.get_ref(place).unwrap()));
            rows.push(format!("{name}: {}", values.collect::<Vec<_>>().join(", ")));
        }
    }
    rows.sort();
    rows
}

/// Writes a bit into every table that can be reached.
async fn furnish(world: &World) {
    let odd = world.draft("test:odd", r#"{"text":"é \" \\u0000 😀","big":9007199254740993}"#);
    let second = world.new_tenant("second").await;
    world.append(second, "test:other").await;
    add_project(world, world.tenant, "payments".to_owned()).await;
    let now = world.clock.now();
    let work = move |tx: &mut godel_store::Tx<'_>| {
        tx.idempotency().settle("once", &[0, 255, 1], "{\"a\":null}", now)?;
        tx.snapshots().save(&TenantState::default())?;
        tx.record(odd.clone())
    };
    world.store.write(Scope::Tenant(world.tenant), work).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_one_engine_is_restored_on_the_other_and_comes_back_the_same() {
    let dir = TempDir::new().unwrap();
    let world = World::on(Database::sqlite()).await;
    furnish(&world).await;
    let first = dir.path().join("first.backup");
    let contents = back_up(world.store.url(), &first).await;
    assert_eq!((contents.rows("tenant"), contents.rows("event")), (2, 3), "{contents:?}");
    assert_eq!(contents.engine, "sqlite");
    let claim = |tx: &mut godel_store::Tx<'_>| tx.idempotency().claim("once", &[0, 255, 1]);
    for (number, target) in targets().into_iter().enumerate() {
        let store = restore(&first, target.url()).await;
        check(&store, world.tenant).await;
        let found = store.read(Scope::Tenant(world.tenant), claim).await.unwrap();
        assert_eq!(found, Claim::Known("{\"a\":null}".to_owned()));
        // What is written afterwards goes on where the log ended.
        store.check_statements().await.unwrap();
        let second = dir.path().join(format!("second-{number}.backup"));
        let again = back_up(store.url(), &second).await;
        assert_eq!(again.tables, contents.tables);
        let home = Database::sqlite();
        restore(&second, home.url()).await.close().await;
        assert_eq!(dump(&home.url()), dump(world.store.url()), "through {}", store.url().engine());
        let restored = World { store, ..World::on(Database::sqlite()).await };
        let next = restored.append(world.tenant, "test:next").await.seq;
        assert_eq!(next.0, 3, "behind the project and the odd one");
        restored.store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_or_cut_backup_is_refused_wherever_it_is_damaged() {
    let dir = TempDir::new().unwrap();
    let world = World::on(Database::sqlite()).await;
    furnish(&world).await;
    let file = dir.path().join("whole.backup");
    back_up(world.store.url(), &file).await;
    let whole = std::fs::read(&file).unwrap();
    backup::verify_blocking(whole.as_slice()).unwrap();
    for place in 0..whole.len() {
        let cut = backup::verify_blocking(&whole[..place]);
        let Err(Error::BackupDamaged(why)) = &cut else { panic!("cut at {place}: {cut:?}") };
        assert!(why.contains("cut off"), "cut at {place}: {why}");
        for bit in [0x01, 0x80, 0xff] {
            let mut flipped = whole.clone();
            flipped[place] ^= bit;
            let read = backup::verify_blocking(flipped.as_slice());
            assert!(matches!(read, Err(Error::BackupDamaged(_))), "{place} ^ {bit}: {read:?}");
        }
    }
    let longer = [whole.as_slice(), b"x"].concat();
    assert!(matches!(backup::verify_blocking(&longer[..]), Err(Error::BackupDamaged(_))));
    // A restore refuses it before it touches anything.
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&file, flipped).unwrap();
    for target in targets() {
        let config = Config::new(target.url());
        let refused = backup::restore(&config, &file, now(), true).await;
        assert!(matches!(refused, Err(Error::BackupDamaged(_))), "{refused:?}");
        assert_eq!(Store::schema(&config).await.unwrap().found, 0, "nothing was made");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_is_not_overwritten_and_a_forced_file_is_kept_aside() {
    let dir = TempDir::new().unwrap();
    for world in worlds().await {
        world.append(world.tenant, "test:old").await;
        let file = dir.path().join(format!("{}.backup", world.engine));
        back_up(world.store.url(), &file).await;
        world.append(world.tenant, "test:later").await;
        let running = backup::restore(&world.config, &file, now(), true).await;
        assert!(matches!(running, Err(Error::Locked { .. } | Error::InUse)), "{running:?}");
        world.store.close().await;
        let refused = backup::restore(&world.config, &file, now(), false).await;
        assert!(matches!(refused, Err(Error::NotEmpty { .. })), "{refused:?}");
        let forced = backup::restore(&world.config, &file, now(), true).await;
        if world.engine == "postgres" {
            assert!(matches!(forced, Err(Error::NotEmpty { .. })), "{forced:?}");
            continue;
        }
        // Dropped before its end, as after a failed check: the old data is untouched.
        drop(forced.unwrap());
        let old = dump(&world.config.url);
        assert_eq!(old.iter().filter(|row| row.starts_with("event:")).count(), 2);
        let forced = backup::restore(&world.config, &file, now(), true).await.unwrap();
        let aside: PathBuf = forced.finish().unwrap().unwrap();
        assert_eq!(dump(&DatabaseUrl::Sqlite(aside)), old, "the old file is whole");
        let store = Store::open(&world.config).await.unwrap();
        assert_eq!(check(&store, world.tenant).await, Seq(1));
        let names = std::fs::read_dir(store.directory().unwrap()).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().contains("restoring")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_each_older_schema_is_brought_up_to_date() {
    let dir = TempDir::new().unwrap();
    let newest = known_migrations().last().unwrap().version;
    for source in targets() {
        let config = Config::new(source.url());
        for version in 1..=newest {
            Store::migrate(&config, version).await.unwrap();
            let name = format!("{}-{version}.backup", config.url.engine());
            let file = dir.path().join(name);
            assert_eq!(back_up(&config.url, &file).await.schema, version);
            for target in targets() {
                let store = restore(&file, target.url()).await;
                store.check_statements().await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_version_back_and_forward_again_keeps_the_data_of_the_older_one() {
    let dir = TempDir::new().unwrap();
    let newest = known_migrations().last().unwrap().version;
    for world in worlds().await {
        furnish(&world).await;
        world.store.close().await;
        let mut dumps = Vec::new();
        for (step, version) in [newest - 1, newest, newest - 1, newest].into_iter().enumerate() {
            Store::migrate(&world.config, version).await.unwrap();
            let file = dir.path().join(format!("{}-{step}.backup", world.engine));
            let contents = back_up(&world.config.url, &file).await;
            assert_eq!(contents.schema, version);
            assert_eq!((contents.rows("event"), contents.rows("project")), (3, 1));
            let target = Database::sqlite();
            let store = restore(&file, target.url()).await;
            check(&store, world.tenant).await;
            store.close().await;
            dumps.push(dump(&target.url()));
        }
        assert!(dumps.iter().all(|dump| *dump == dumps[0]), "{}", world.engine);
        let store = Store::open(&world.config).await.unwrap();
        check(&store, world.tenant).await;
    }
}

/// Adds a later migration to a SQLite file, as a newer Godel would.
fn pretend_newer(url: &DatabaseUrl) {
    let DatabaseUrl::Sqlite(path) = url else { panic!("not SQLite") };
    let note = "INSERT INTO migration (version, name, checksum) VALUES (9999, 'later', 'x')";
    rusqlite::Connection::open(path).unwrap().execute_batch(note).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_database_or_a_newer_one_is_not_backed_up() {
    for empty in targets() {
        let made = backup::write(&empty.url(), now(), std::io::sink()).await;
        assert!(matches!(made, Err(Error::NoDatabase(_))), "{made:?}");
    }
    let world = World::on(Database::sqlite()).await;
    world.store.close().await;
    pretend_newer(&world.config.url);
    let made = backup::write(&world.config.url, now(), std::io::sink()).await;
    assert!(matches!(made, Err(Error::SchemaNewer { found: 9999, .. })), "{made:?}");
}

/// Counts what is written, and how much at once.
#[derive(Clone, Default)]
struct Counting {
    all: Arc<AtomicUsize>,
    largest: Arc<AtomicUsize>,
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.all.fetch_add(bytes.len(), Ordering::Relaxed);
        self.largest.fetch_max(bytes.len(), Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_times_the_data_comes_in_more_chunks_and_not_in_larger_ones() {
    for world in worlds().await {
        let mut sizes = Vec::new();
        for events in [1_000, 9_000] {
            for _ in 0..events / 500 {
                let noise = Mint::system().id::<godel_model::EventId>().to_string().repeat(10);
                let draft = world.draft("test:fill", &format!("{{\"noise\":\"{noise}\"}}"));
                let work = move |tx: &mut godel_store::Tx<'_>| {
                    (0..500).try_for_each(|_| {
                        tx.record(godel_model::NewEvent {
                            id: Mint::system().id(),
                            ..draft.clone()
                        })
                    })
                };
                world.store.write(Scope::Tenant(world.tenant), work).await.unwrap();
            }
            let sink = Counting::default();
            backup::write(world.store.url(), now(), sink.clone()).await.unwrap();
            let (all, largest) = (sink.all, sink.largest);
            sizes.push((all.load(Ordering::Relaxed), largest.load(Ordering::Relaxed)));
        }
        let [(few, _), (many, largest)] = sizes[..] else { panic!("{sizes:?}") };
        assert!(many > few * 5, "{}: {sizes:?}", world.engine);
        assert!(largest < 300 * 1024, "{}: {sizes:?}", world.engine);
    }
}

#[tokio::test]
async fn a_backup_file_is_private_whole_and_not_overwritten() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = TempDir::new().unwrap();
    let world = World::on(Database::sqlite()).await;
    let path = dir.path().join("a.backup");
    let part = dir.path().join("a.backup.part");
    std::fs::write(&part, "left over").unwrap();
    back_up(world.store.url(), &path).await;
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!part.exists());
    let again = BackupFile::create(&path, false);
    assert!(matches!(again, Err(Error::FileExists(_))), "{again:?}");
    // One that is not whole never gets the name, and leaves the old one alone.
    let before = std::fs::read(&path).unwrap();
    let mut half = BackupFile::create(&path, true).unwrap();
    half.write_all(&before[..before.len() / 2]).unwrap();
    assert!(matches!(half.finish(), Err(Error::BackupDamaged(_))));
    assert!(!part.exists());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Runs a statement as the first user of a PostgreSQL server.
async fn as_admin(url: &str, statement: String) {
    let url = url.to_owned();
    let run = move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute(&statement).unwrap();
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_owner_of_a_postgres_database_backs_up_and_restores_every_row() {
    let Some(server) = postgres_url() else { return };
    let dir = TempDir::new().unwrap();
    let world = World::on(Database::postgres(server.clone())).await;
    furnish(&world).await;
    let wanted = dir.path().join("wanted.backup");
    let contents = back_up(world.store.url(), &wanted).await;
    // Row-level security binds this one, which it does not do to the administrator.
    let name = format!("plain_{}", Mint::system().id::<godel_model::EventId>().uuid().simple());
    let (base, _) = server.rsplit_once('/').unwrap();
    let place = base.rsplit_once('@').map_or(base, |(_, place)| place);
    as_admin(&server, format!("CREATE ROLE {name} LOGIN PASSWORD 'plain'")).await;
    as_admin(&server, format!("GRANT godel_app, godel_system TO {name}")).await;
    as_admin(&server, format!("CREATE DATABASE {name} OWNER {name}")).await;
    let url: DatabaseUrl = format!("postgres://{name}:plain@{place}/{name}").parse().unwrap();
    let store = restore(&wanted, url.clone()).await;
    check(&store, world.tenant).await;
    let again = back_up(&url, &dir.path().join("again.backup")).await;
    assert_eq!(again.tables, contents.tables);
    store.close().await;
    drop(store);
    as_admin(&server, format!("DROP DATABASE {name} WITH (FORCE)")).await;
    as_admin(&server, format!("DROP ROLE {name}")).await;
}

/// Runs statements on a database, past Godel.
async fn run(url: &DatabaseUrl, statements: &'static str) {
    match url.clone() {
        DatabaseUrl::Sqlite(path) => {
            rusqlite::Connection::open(path).unwrap().execute_batch(statements).unwrap();
        }
        DatabaseUrl::Postgres(url) => as_admin(&url, statements.to_owned()).await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_nobody_told_of_is_in_the_backup_too() {
    const MAKE: &str =
        "CREATE TABLE extra (id INTEGER NOT NULL, flag BOOLEAN, note TEXT, parent BIGINT)";
    let dir = TempDir::new().unwrap();
    for world in worlds().await {
        run(&world.config.url, MAKE).await;
        let rows = "INSERT INTO extra VALUES (1, true, 'a', 2), (2, false, NULL, NULL)";
        run(&world.config.url, rows).await;
        let file = dir.path().join(format!("{}.backup", world.engine));
        assert_eq!(back_up(&world.config.url, &file).await.rows("extra"), 2);
        // No schema of ours has it, so it is not silently left out.
        let target = Database::sqlite();
        let config = Config::new(target.url());
        let refused = backup::restore(&config, &file, now(), false).await.unwrap_err();
        assert!(refused.to_string().contains("extra"), "{refused}");
        if let Some(server) = postgres_url() {
            let target = Database::postgres(server);
            run(&target.url(), MAKE).await;
            let store = restore(&file, target.url()).await;
            let again = dir.path().join(format!("{}-again.backup", world.engine));
            assert_eq!(back_up(store.url(), &again).await.rows("extra"), 2);
            let check = "DO $$ BEGIN ASSERT (SELECT count(*) FROM extra WHERE
                 (id = 1 AND flag AND note = 'a' AND parent = 2)
                 OR (id = 2 AND NOT flag AND note IS NULL AND parent IS NULL)) = 2; END $$";
            run(&target.url(), check).await;
            store.close().await;
        }
        run(&world.config.url, "ALTER TABLE extra ADD COLUMN price NUMERIC").await;
        let refused = backup::write(&world.config.url, now(), std::io::sink()).await.unwrap_err();
        let cause = std::error::Error::source(&refused).unwrap().to_string();
        assert!(cause.to_lowercase().contains("extra.price has the type numeric"), "{cause}");
    }
}
