//! The record of acts: whole on both engines, and every way of altering it is found.

use std::sync::Arc;

use godel_app::audit::{self, Anchors};
use godel_app::{App, Call, erasure, projects, users};
use godel_model::Role;
use godel_store::{DatabaseUrl, Error as StoreError, Scope};
use godel_testkit::{World, worlds};
use jiff::SignedDuration;

use crate::stage::{app, call};

/// Runs SQL behind Godel's back, as somebody with the password of the database could.
async fn tamper(world: &World, sql: &str) {
    let (url, sql) = (world.config.url.clone(), sql.to_owned());
    let done = tokio::task::spawn_blocking(move || match url {
        DatabaseUrl::Sqlite(path) => {
            let conn = rusqlite::Connection::open(path).unwrap();
            conn.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
            conn.execute_batch(&sql).unwrap();
        }
        DatabaseUrl::Postgres(url) => {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            client.batch_execute(&sql).unwrap();
        }
    });
    done.await.unwrap();
}

async fn make(app: &App, call: &Call, count: usize) {
    for number in 0..count {
        let name = format!("project {number}").parse().unwrap();
        let made = projects::create(app, call, projects::NewProject::named(name)).await;
        made.unwrap();
    }
}

async fn broken(app: &App, call: &Call, anchors: &Anchors) -> Option<(i64, String)> {
    let verdict = audit::verify(app, call, anchors).await.unwrap();
    verdict.broken.map(|broken| (broken.seq, broken.why))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_altered_row_is_named() {
    for (sql, seq, part) in [
        ("UPDATE audit SET action = 'project:delete' WHERE seq = 4", 4, "altered"),
        ("UPDATE audit SET result = 'denied' WHERE seq = 4", 4, "altered"),
        ("UPDATE audit SET resource = 'project/x' WHERE seq = 1", 1, "altered"),
        ("UPDATE audit SET at = at - 1 WHERE seq = 7", 7, "altered"),
        ("UPDATE audit SET detail = '{}' WHERE seq = 2", 2, "altered"),
        ("UPDATE audit SET person = NULL WHERE seq = 2", 2, "altered"),
        ("UPDATE audit SET trace = 'x' WHERE seq = 2", 2, "altered"),
        ("UPDATE audit SET personal = '{\"name\":\"user:eve\"}' WHERE seq = 3", 3, "who acted"),
        ("UPDATE audit SET personal = NULL WHERE seq = 3", 3, "without an erasure"),
        ("DELETE FROM audit WHERE seq = 5", 5, "missing"),
        ("DELETE FROM audit WHERE seq > 7", 8, "missing"),
        ("DELETE FROM audit", 1, "missing"),
        ("UPDATE audit SET seq = seq + 1 WHERE seq = 10", 10, "missing"),
        // The end moved back to an older row, with the hash that the row itself has.
        (
            "DELETE FROM audit WHERE seq > 6;
             UPDATE audit_head SET seq = 6, mac = (SELECT mac FROM audit WHERE seq = 6)",
            7,
            "moved",
        ),
        (
            "DELETE FROM audit WHERE seq <= 3;
             UPDATE audit_head SET trimmed = 3, trimmed_mac = mac",
            3,
            "beginning",
        ),
        ("DELETE FROM audit; DELETE FROM audit_head", 0, "end of the record is missing"),
    ] {
        for world in worlds().await {
            let (app, call) = (app(&world).await, call(&world));
            make(&app, &call, 10).await;
            assert_eq!(broken(&app, &call, &Anchors::default()).await, None);
            tamper(&world, sql).await;
            let found = broken(&app, &call, &Anchors::default()).await;
            let (at, why) =
                found.unwrap_or_else(|| panic!("{}: {sql} was not found", world.engine));
            assert_eq!(at, seq, "{}: {sql}: {why}", world.engine);
            assert!(why.contains(part), "{}: {sql}: {why}", world.engine);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_copy_of_the_database_is_found_by_the_anchor() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        make(&app, &call, 5).await;
        let copy = "CREATE TABLE old_head AS SELECT * FROM audit_head";
        tamper(&world, copy).await;
        for number in 5..9 {
            let name = format!("project {number}").parse().unwrap();
            projects::create(&app, &call, projects::NewProject::named(name)).await.unwrap();
        }
        let anchors = audit::anchors(&app).await.unwrap();
        assert_eq!(broken(&app, &call, &anchors).await, None);
        let back = "DELETE FROM audit WHERE seq > 5; DELETE FROM audit_head;
                    INSERT INTO audit_head SELECT * FROM old_head";
        tamper(&world, back).await;
        assert_eq!(broken(&app, &call, &Anchors::default()).await, None, "it is whole by itself");
        let (seq, why) = broken(&app, &call, &anchors).await.unwrap();
        assert_eq!((seq, why.as_str()), (6, "the newest rows were cut off"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_removes_the_person_and_keeps_the_chain() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        // Two admins, so that one may go.
        for name in ["boss", "Zebulon Quux"] {
            users::invite(&app, &call, name.parse().unwrap(), Role::Admin, vec![]).await.unwrap();
        }
        let user = users::by_name(&app, &call, "Zebulon Quux".parse().unwrap()).await.unwrap();
        let boss = users::by_name(&app, &call, "boss".parse().unwrap()).await.unwrap().unwrap();
        let mut theirs = call.clone();
        Arc::make_mut(&mut theirs.actor).user = user.unwrap().id;
        Arc::make_mut(&mut theirs.actor).name = "user:Zebulon Quux".to_owned();
        make(&app, &theirs, 3).await;
        let activate = |id: godel_model::UserId| {
            let tenant = world.tenant;
            world.store.write(Scope::Tenant(tenant), move |tx| {
                let mut user = tx.users().by_id(tenant, id)?.unwrap();
                user.status = godel_model::UserStatus::Active;
                tx.users().update(tenant, &user)?;
                Ok::<_, StoreError>(())
            })
        };
        activate(boss.id).await.unwrap();
        let left = erasure::erase(&app, &call, theirs.actor.user).await.unwrap();
        assert_eq!(broken(&app, &call, &Anchors::default()).await, None, "{}", world.engine);
        let page = audit::query(&app, &call, audit::Query { limit: 100, ..Default::default() });
        let page = page.await.unwrap();
        assert!(!format!("{page:?}").contains("Zebulon"), "{}", world.engine);
        assert!(page.rows.iter().any(|row| row.row.entry.user == Some(theirs.actor.user)));
        let log = world.log(world.tenant).await;
        assert!(!format!("{log:?}").contains("Zebulon"), "{}", world.engine);
        let listed = users::list(&app, &call, None, 100).await.unwrap();
        assert!(!format!("{listed:?}").contains("Zebulon"), "{}", world.engine);
        // Requests that were let in before, here or by another server, come to their end.
        assert!(!left.remove(&app).await.unwrap(), "there was nothing to clear up");
        let late = "late".parse().unwrap();
        projects::create(&app, &theirs, projects::NewProject::named(late)).await.unwrap();
        assert!(format!("{:?}", world.log(world.tenant).await).contains("Zebulon"));
        assert!(left.remove(&app).await.unwrap());
        assert!(!format!("{:?}", world.log(world.tenant).await).contains("Zebulon"));
        let page = audit::query(&app, &call, audit::Query { limit: 100, ..Default::default() });
        assert!(!format!("{:?}", page.await.unwrap()).contains("Zebulon"), "{}", world.engine);
        assert_eq!(broken(&app, &call, &Anchors::default()).await, None, "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_rows_go_and_the_rest_is_whole() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        make(&app, &call, 6).await;
        world.clock.advance(SignedDuration::from_hours(24 * 10));
        let late = "late".parse().unwrap();
        projects::create(&app, &call, projects::NewProject::named(late)).await.unwrap();
        let gone = audit::trim(&app, world.tenant, SignedDuration::from_hours(24)).await.unwrap();
        assert_eq!(gone, 6, "{}", world.engine);
        let verdict = audit::verify(&app, &call, &Anchors::default()).await.unwrap();
        assert_eq!((verdict.broken, verdict.rows, verdict.from), (None, 1, 7), "{}", world.engine);
        tamper(&world, "DELETE FROM audit").await;
        assert!(broken(&app, &call, &Anchors::default()).await.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acts_of_many_at_once_are_one_chain() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let mut tasks = tokio::task::JoinSet::new();
        for writer in 0..16 {
            let (app, call) = (app.clone(), call.clone());
            tasks.spawn(async move {
                for number in 0..10 {
                    let name = format!("{writer}-{number}").parse().unwrap();
                    let made = projects::create(&app, &call, projects::NewProject::named(name));
                    made.await.unwrap();
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let verdict = audit::verify(&app, &call, &Anchors::default()).await.unwrap();
        assert_eq!((verdict.broken, verdict.rows), (None, 160), "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_change_leaves_no_act() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        make(&app, &call, 1).await;
        let name = || "project 0".parse().unwrap();
        for _ in 0..3 {
            let again = projects::create(&app, &call, projects::NewProject::named(name())).await;
            again.unwrap_err();
        }
        let verdict = audit::verify(&app, &call, &Anchors::default()).await.unwrap();
        assert_eq!((verdict.broken, verdict.rows), (None, 1), "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_admin_stays_with_its_name_even_on_two_servers() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let mut ids = Vec::new();
        for name in ["one", "two"] {
            let made = users::invite(&app, &call, name.parse().unwrap(), Role::Admin, vec![]);
            ids.push(made.await.unwrap().0.id);
        }
        let (tenant, both) = (world.tenant, ids.clone());
        let come = world.store.write(Scope::Tenant(tenant), move |tx| {
            both.iter().try_for_each(|id| tx.users().came(tenant, *id, jiff::Timestamp::UNIX_EPOCH))
        });
        come.await.map_err(|error: StoreError| error).unwrap();
        // A second server, where the engine can have one.
        let there = match world.config.url {
            DatabaseUrl::Sqlite(_) => world.store.clone(),
            DatabaseUrl::Postgres(_) => godel_store::Store::open(&world.config).await.unwrap(),
        };
        let clock = std::sync::Arc::clone(&world.clock);
        let master = godel_app::vault::MasterKey::new(crate::stage::MASTER);
        let config = godel_app::AppConfig::default();
        let two = App::open(there.clone(), None, clock, config, &master).await.unwrap();
        let shut = || users::UserChange { disabled: Some(true), ..Default::default() };
        let (a, b) = tokio::join!(
            users::update(&app, &call, ids[0], shut()),
            users::update(&two, &call, ids[1], shut()),
        );
        assert!(a.is_ok() != b.is_ok(), "{}: {a:?} {b:?}", world.engine);
        let last = ids[usize::from(a.is_ok())];
        let mut theirs = call.clone();
        Arc::make_mut(&mut theirs.actor).user = last;
        Arc::make_mut(&mut theirs.actor).name =
            format!("user:{}", ["one", "two"][usize::from(a.is_ok())]);
        make(&app, &theirs, 1).await;
        erasure::erase(&app, &call, last).await.unwrap_err();
        let log = world.log(world.tenant).await;
        let named =
            log.iter().filter(|event| event.metadata.actor == Some(theirs.actor.name.clone()));
        assert_eq!(named.count(), 1, "{}: who stays keeps its name", world.engine);
        there.close().await;
    }
}

/// Returns how often PostgreSQL had to end a transaction because two waited for each other.
async fn deadlocks(url: String) -> i64 {
    let ask = move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        let asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        client.query_one(asked, &[]).unwrap().get(0)
    };
    tokio::task::spawn_blocking(ask).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn trimming_and_recording_on_two_servers_never_wait_for_each_other() {
    const CHANGES: usize = 60;
    let Some(server) = godel_testkit::postgres_url() else { return };
    let world = World::on(godel_testkit::Database::postgres(server)).await;
    let DatabaseUrl::Postgres(url) = world.config.url.clone() else { panic!("not PostgreSQL") };
    let there = godel_store::Store::open(&world.config).await.unwrap();
    let clock = Arc::clone(&world.clock);
    let master = godel_app::vault::MasterKey::new(crate::stage::MASTER);
    let (one, call) = (app(&world).await, call(&world));
    let two = App::open(there.clone(), None, clock, godel_app::AppConfig::default(), &master);
    let two = two.await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for (number, app) in [&one, &two].into_iter().enumerate() {
        for writer in 0..4 {
            let (app, call, clock) = (app.clone(), call.clone(), Arc::clone(&world.clock));
            tasks.spawn(async move {
                for change in 0..CHANGES {
                    clock.advance(SignedDuration::from_millis(1));
                    let name = format!("{number} {writer} {change}").parse().unwrap();
                    let made = projects::create(&app, &call, projects::NewProject::named(name));
                    made.await.unwrap();
                }
            });
        }
        let (app, tenant) = (app.clone(), world.tenant);
        tasks.spawn(async move {
            for _ in 0..CHANGES {
                audit::trim(&app, tenant, SignedDuration::ZERO).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(broken(&one, &call, &Anchors::default()).await, None);
    there.close().await;
    world.store.close().await;
    assert_eq!(deadlocks(url).await, 0);
}
