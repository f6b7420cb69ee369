//! Redis loses everything, hangs and dies under load: that costs time, and no task.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use godel_engines::{Binaries, Places, Redis};
use godel_referee::{Begin, Recorder};

use super::crash::postgres;
use super::process::{Process, REDIS};
use super::scene::{SKEW_US, Scene, rounds};

/// Lets Redis forget everything.
fn flush(redis: &Redis) {
    let mut stream = TcpStream::connect(("127.0.0.1", redis.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"FLUSHALL\r\n").unwrap();
    let mut said = [0; 5];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"+OK\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_that_forgets_hangs_and_dies_costs_no_task() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let Some(database) = postgres().await else { return };
    let start = || Redis::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut redis = tokio::task::spawn_blocking(start).await.unwrap();
    let url = redis.url();
    let mut servers = Vec::new();
    for _ in 0..2 {
        servers.push(Process::start_with(&database.url(), &[(REDIS, &url)]).await);
    }
    let recorder = Recorder::in_memory();
    recorder.begin(Begin { skew: SKEW_US, ..Begin::default() });
    let mut scene = Scene::with(servers, recorder, &database.url());
    for _ in 0..rounds() {
        scene.wait(200, 500).await;
        tokio::task::block_in_place(|| flush(&redis));
        scene.wait(200, 500).await;
        redis.pause().unwrap();
        scene.wait(1_000, 2_000).await;
        redis.resume().unwrap();
        scene.wait(200, 500).await;
        tokio::task::block_in_place(|| redis.kill().unwrap());
        scene.wait(200, 500).await;
        tokio::task::block_in_place(|| redis.restart().unwrap());
    }
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    println!("{accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
    drop(database);
}
