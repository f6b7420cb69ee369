//! Statements, locks and probes.

use godel_store::{Config, DatabaseUrl, Durability, Error, Store};
use godel_testkit::{Database, worlds};

#[tokio::test]
async fn every_statement_is_understood_by_both_engines() {
    for world in worlds().await {
        let count = world.store.check_statements().await.unwrap();
        assert!(count > 20, "{}: only {count} statements", world.engine);
    }
}

#[tokio::test]
async fn a_sqlite_file_is_used_by_one_process_at_a_time() {
    let database = Database::sqlite();
    let config = Config::new(database.url());
    let first = Store::open(&config).await.unwrap();
    let second = Store::open(&config).await;
    let Err(Error::Locked { holder, .. }) = second else { panic!("{second:?}") };
    assert_eq!(holder, format!("pid {}", std::process::id()));
    first.close().await;
    Store::open(&config).await.unwrap();
}

#[tokio::test]
async fn a_store_survives_power_cuts_unless_told_not_to() {
    for world in worlds().await {
        assert!(world.store.probe().await.unwrap().durable, "{}", world.engine);
    }
    let database = Database::sqlite();
    let mut config = Config::new(database.url());
    config.durability = Durability::Relaxed;
    assert!(!Store::open(&config).await.unwrap().is_durable());
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_not_replaced() {
    let database = Database::sqlite();
    let DatabaseUrl::Sqlite(path) = database.url() else { panic!("not SQLite") };
    std::fs::write(&path, vec![7; 8_192]).unwrap();
    let opened = Store::open(&Config::new(database.url())).await;
    assert!(matches!(opened, Err(Error::Corrupt(_))), "{opened:?}");
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 8_192]);
}

#[tokio::test]
async fn a_store_that_was_closed_says_so() {
    for world in worlds().await {
        world.store.probe().await.unwrap();
        world.store.close().await;
        let draft = world.draft("test:late", "{}");
        let late = world
            .store
            .write(godel_store::Scope::Tenant(world.tenant), move |tx| tx.record(draft.clone()))
            .await;
        assert!(matches!(late, Err(Error::Closed)), "{}: {late:?}", world.engine);
    }
}

#[tokio::test]
async fn an_unreachable_server_is_an_error_and_not_a_hang() {
    let url = "postgres://nobody@127.0.0.1:1/none".parse().unwrap();
    let opened = Store::open(&Config::new(url)).await;
    assert!(matches!(opened, Err(Error::Unavailable(_))), "{opened:?}");
}
