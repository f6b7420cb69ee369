//! Servers are killed under load, again and again: nothing is lost, nothing is doubled, and nobody is
//! heard who came too late.

use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};

use super::scene::{Scene, rounds};

/// One server that is killed and started again.
async fn killed(database: &DatabaseUrl) {
    let mut scene = Scene::set(database, 1).await;
    for _ in 0..rounds() {
        scene.kill(0).await;
        scene.silence();
    }
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    println!("{} kills, {accepted} tasks accepted, {late} answers came too late", rounds());
    assert!(accepted > 0 && late > 0);
}

/// A database of its own on the server of all tests, if there is one.
pub(super) async fn postgres() -> Option<Database> {
    let server = postgres_url()?;
    Some(tokio::task::spawn_blocking(|| Database::postgres(server)).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_loses_and_doubles_no_task_on_sqlite() {
    killed(&Database::sqlite().url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_loses_and_doubles_no_task_on_postgres() {
    let Some(database) = postgres().await else { return };
    killed(&database.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_a_queue_and_either_can_die() {
    let Some(database) = postgres().await else { return };
    let mut scene = Scene::set(&database.url(), 2).await;
    for round in 0..rounds() {
        scene.kill(usize::from(round % 2 == 0)).await;
        scene.silence();
    }
    // One of them never comes back.
    scene.wait(300, 600).await;
    scene.servers[0].kill();
    scene.shop.recorder.cut();
    let left = scene.servers[1].url.clone();
    scene.shop.way.lead_to(vec![left]);
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    println!("{} kills, {accepted} tasks accepted, {late} answers came too late", rounds() + 1);
    assert!(accepted > 0 && late > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_to_the_database_that_are_cut_lose_and_double_no_task() {
    let Some(database) = postgres().await else { return };
    let mut scene = Scene::set(&database.url(), 1).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..rounds() * 2 {
        scene.wait(100, 500).await;
        scene.tables.change(cut);
    }
    let (accepted, late) = scene.end().await;
    println!("{} cuts, {accepted} tasks accepted, {late} answers came too late", rounds() * 2);
    assert!(accepted > 0);
}
