//! A server is killed at each named point of the path of a task.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use godel_store::DatabaseUrl;
use godel_testkit::Database;

use super::crash::postgres;
use super::scene::{PATIENCE, Scene, rounds};

/// Where a server dies, and at which pass from the first up to which.
const POINTS: [(&str, usize, usize); 13] = [
    // What a start writes goes by first.
    ("store-before-begin", 40, 80),
    ("store-begun", 40, 80),
    ("store-before-commit", 40, 80),
    ("store-committed", 40, 80),
    // In the transaction: workers have reported, tasks are stored, tasks are handed out.
    ("queue-reported", 1, 20),
    ("queue-added", 1, 20),
    ("queue-given", 1, 20),
    // It is on disk, and nobody knows.
    ("queue-committed", 10, 40),
    ("queue-handing-over", 1, 20),
    // Tasks whose time has come, before and after the commit.
    ("queue-promoting", 1, 4),
    ("queue-promoted", 1, 4),
    // Workers that fell silent, before and after the commit.
    ("queue-burying", 1, 2),
    ("queue-buried", 1, 2),
];

/// Lets a server die at a point, and waits until it has.
async fn die_at(scene: &mut Scene, (point, least, most): (&str, usize, usize)) {
    let pass = least + scene.chance.below(most - least + 1);
    let fault = format!("{point}:{pass}");
    // What is due may be so at once.
    let mut ended = scene.servers[0].again_or_ended(&[("GODEL_FAULT", &fault)]).await;
    scene.find_servers();
    let start = Instant::now();
    let ended = loop {
        ended = ended.or_else(|| scene.servers[0].ended());
        if let Some(ended) = ended {
            break ended;
        }
        assert!(start.elapsed() < PATIENCE, "{fault} was not reached");
        scene.silence();
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(ended.signal(), Some(9), "{fault}: {ended}");
    scene.shop.recorder.cut();
}

async fn killed_at_each_point(database: &DatabaseUrl) {
    if !cfg!(debug_assertions) {
        return;
    }
    let mut scene = Scene::set(database, 1).await;
    scene.wait(100, 200).await;
    scene.servers[0].kill();
    scene.shop.recorder.cut();
    let times = rounds().div_ceil(POINTS.len() as u64);
    for _ in 0..times {
        for point in POINTS {
            die_at(&mut scene, point).await;
        }
    }
    scene.servers[0].again().await;
    scene.find_servers();
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    let kills = times * POINTS.len() as u64;
    println!("{kills} kills, {accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0 && late > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_each_point_loses_and_doubles_no_task_on_sqlite() {
    killed_at_each_point(&Database::sqlite().url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_each_point_loses_and_doubles_no_task_on_postgres() {
    let Some(database) = postgres().await else { return };
    killed_at_each_point(&database.url()).await;
}
