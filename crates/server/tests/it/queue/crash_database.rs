//! The database itself dies or freezes under load.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use godel_engines::{Binaries, Places, Postgres};
use godel_testkit::{Database, postgres_url};

use super::scene::{Scene, rounds};

/// A PostgreSQL of its own, and a database on it.
pub(super) async fn own_postgres() -> Option<(Postgres, Database)> {
    postgres_url()?;
    let start = || {
        let engine = Postgres::start(&Binaries::find(&Places::from_env())).unwrap();
        let database = Database::postgres(engine.url("postgres"));
        (engine, database)
    };
    Some(tokio::task::spawn_blocking(start).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_postmaster_loses_and_doubles_no_task() {
    let Some((mut engine, database)) = own_postgres().await else { return };
    let mut scene = Scene::set(&database.url(), 1).await;
    for _ in 0..rounds() {
        scene.wait(300, 900).await;
        engine.kill_postmaster().unwrap();
        scene.shop.recorder.cut();
        scene.wait(100, 400).await;
        tokio::task::block_in_place(|| engine.restart().unwrap());
        scene.wait(100, 200).await;
        scene.silence();
    }
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    println!("{} kills, {accepted} tasks accepted, {late} answers came too late", rounds());
    assert!(accepted > 0);
    drop(database);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_freezes_loses_and_doubles_no_task() {
    /// Longer than a server waits for its database, if there is time for it.
    const LONG: Duration = Duration::from_secs(30);
    const SHORT: Duration = Duration::from_secs(3);
    let Some((mut engine, database)) = own_postgres().await else { return };
    let mut scene = Scene::set(&database.url(), 1).await;
    let long = rounds() > 3;
    for _ in 0..rounds().div_ceil(10) {
        scene.wait(400, 900).await;
        engine.pause().unwrap();
        tokio::time::sleep(if long { LONG } else { SHORT }).await;
        engine.resume().unwrap();
    }
    scene.wait(300, 600).await;
    let hung = Arc::clone(&scene.shop.way.hung);
    let (accepted, late) = scene.end().await;
    // Whoever asks when the database is back, or just before, is answered.
    assert!(long || hung.load(Ordering::Relaxed) == 0, "requests were forgotten");
    println!("{accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
    drop(database);
}
