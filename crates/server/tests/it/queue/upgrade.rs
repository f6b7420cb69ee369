//! A newer Godel brings the schema up to date: it is killed in the middle of that, and an older one may be
//! at work meanwhile.

use std::os::unix::process::ExitStatusExt as _;

use godel_store::{Config, DatabaseUrl, Store, known_migrations};
use godel_testkit::{Database, change};

use super::crash::postgres;
use super::process::Process;
use super::scene::{Scene, rounds};

/// Where a server dies that brings the schema up to date.
const POINTS: [&str; 4] =
    ["migration-before-begin", "migration-ran", "migration-before-commit", "migration-committed"];
/// The oldest schema with a queue.
const OLDEST: i64 = 6;

fn newest() -> i64 {
    known_migrations().last().unwrap().version
}

/// Brings the schema back to how it was long ago, and lets a server die at each point of each step on its
/// way up.
async fn dies_on_its_way_up(scene: &mut Scene, config: &Config) {
    assert_eq!(Store::migrate(config, OLDEST).await.unwrap().found, OLDEST);
    for version in OLDEST..newest() {
        for point in POINTS {
            let ended = scene.servers[0].again_or_ended(&[("GODEL_FAULT", point)]).await;
            let ended = ended.unwrap_or_else(|| panic!("{point} was not reached"));
            assert_eq!(ended.signal(), Some(9), "{point} of step {}: {ended}", version + 1);
            // The step is whole or has not begun.
            let whole = version + i64::from(point == "migration-committed");
            assert_eq!(Store::schema(config).await.unwrap().found, whole, "{point}");
        }
    }
}

async fn killed_in_migrations(database: &DatabaseUrl) {
    if !cfg!(debug_assertions) {
        return;
    }
    let mut scene = Scene::set(database, 1).await;
    scene.wait(300, 600).await;
    scene.servers[0].kill();
    scene.shop.recorder.cut();
    let url = match database {
        DatabaseUrl::Sqlite(_) => DatabaseUrl::Sqlite(scene.servers[0].file()),
        DatabaseUrl::Postgres(_) => database.clone(),
    };
    for _ in 0..rounds().div_ceil(10) {
        dies_on_its_way_up(&mut scene, &Config::new(url.clone())).await;
        scene.servers[0].again().await;
        scene.find_servers();
        scene.wait(300, 600).await;
        scene.servers[0].kill();
        scene.shop.recorder.cut();
    }
    scene.servers[0].again().await;
    scene.find_servers();
    let (accepted, late) = scene.end().await;
    println!("{accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_a_migration_loses_and_doubles_no_task_on_sqlite() {
    killed_in_migrations(&Database::sqlite().url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_a_migration_loses_and_doubles_no_task_on_postgres() {
    let Some(database) = postgres().await else { return };
    killed_in_migrations(&database.url()).await;
}

/// Makes the schema that of an older Godel while a server is at work: what the last six steps brought
/// is not needed by it.
const OLDER: &str = "
    DROP TABLE usage_quarter;
    DROP INDEX usage_by_agent;
    DROP INDEX lease_by_worker;
    CREATE INDEX lease_by_worker ON lease (tenant, worker);
    ALTER TABLE budget DROP COLUMN stops, DROP COLUMN grace_percent, DROP COLUMN tell;
    DROP TABLE model_ended;
    CREATE TABLE model_call (tenant uuid, id uuid, request uuid, attempt bigint, at bigint, node uuid,
        person uuid, project uuid, agent text, bead text, convoy text, agent_token uuid,
        client_session text, dialect text, asked text, provider text, model text, streamed bigint,
        worst bigint, held bytea, paid_by text, outcome text, status bigint, input bigint,
        cache_read bigint, cache_write_5m bigint, cache_write_1h bigint, output bigint,
        reasoning bigint, server_tools bigint, cost bigint, estimated bigint, first_byte bigint,
        ended_at bigint, error text, PRIMARY KEY (tenant, id));
    GRANT SELECT ON model_call TO godel_app, godel_system;
    ALTER TABLE usage_day DROP COLUMN saved_by_cache, DROP COLUMN saved_by_routing;
    DELETE FROM migration WHERE version IN (11, 12, 13, 14, 15, 16)";

#[tokio::test(flavor = "multi_thread")]
async fn an_older_server_works_on_while_a_newer_one_brings_the_schema_up_to_date() {
    if !cfg!(debug_assertions) {
        return;
    }
    let Some(database) = postgres().await else { return };
    let (url, config) = (database.url(), Config::new(database.url()));
    let mut scene = Scene::set(&url, 1).await;
    let mut newer = Process::start(&url).await;
    newer.kill();
    for point in POINTS {
        scene.wait(200, 400).await;
        tokio::task::block_in_place(|| change(&url, OLDER));
        assert_eq!(Store::schema(&config).await.unwrap().found, 10);
        let fault = format!("{point}:{}", 1 + scene.chance.below(2));
        let ended = newer.again_or_ended(&[("GODEL_FAULT", &fault)]).await;
        assert_eq!(ended.and_then(|ended| ended.signal()), Some(9), "{fault}");
        newer.again().await;
        assert_eq!(Store::schema(&config).await.unwrap().found, newest());
        newer.kill();
        assert!(scene.servers[0].ended().is_none(), "the older server ended");
    }
    // One day the schema is of a Godel that this one does not know: who is there goes on, and who comes
    // is refused.
    let note = "INSERT INTO migration (version, name, checksum) VALUES (9999, 'later', 'x')";
    tokio::task::block_in_place(|| change(&url, note));
    let ended = newer.again_or_ended(&[]).await;
    assert!(ended.is_some_and(|ended| ended.code().is_some()), "{ended:?}");
    scene.wait(300, 600).await;
    assert!(scene.servers[0].ended().is_none(), "the older server ended");
    let (accepted, late) = scene.end().await;
    println!("{accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
    drop(database);
}
