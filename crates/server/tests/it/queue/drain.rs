//! Servers that are asked to end under load: no attempt is burnt, and nothing is lost or doubled.

use std::time::{Duration, Instant};

use godel_store::DatabaseUrl;
use godel_testkit::Database;

use super::crash::postgres;
use super::scene::{Scene, rounds};

/// How long a server lets requests end unless told otherwise.
const DRAIN: Duration = Duration::from_secs(10);

async fn drained(database: &DatabaseUrl, servers: usize) {
    let mut scene = Scene::set(database, servers).await;
    for round in 0..rounds() {
        let number = usize::try_from(round).unwrap() % servers;
        scene.wait(200, 900).await;
        let start = Instant::now();
        assert!(scene.servers[number].stop().await.success());
        // Those who wait for tasks are sent home; nobody waits until patience runs out.
        assert!(start.elapsed() < DRAIN / 2, "it took {:?}", start.elapsed());
        scene.servers[number].again().await;
        scene.find_servers();
    }
    scene.wait(300, 600).await;
    let lost =
        scene.tables.rows("SELECT CAST(number AS TEXT) FROM attempt WHERE ending = 'lost'", 1);
    assert_eq!(lost.len(), 0, "attempts were lost although their workers live");
    let (accepted, late) = scene.end().await;
    println!("{} ends, {accepted} tasks accepted, {late} answers came too late", rounds());
    assert!(accepted > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_under_load_burns_no_attempt_on_sqlite() {
    drained(&Database::sqlite().url(), 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_end_under_load_burn_no_attempt_on_postgres() {
    let Some(database) = postgres().await else { return };
    drained(&database.url(), 2).await;
}
