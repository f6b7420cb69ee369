//! SQLite moves its log into the file under load, and the server dies in the middle of it, or the disk
//! does not take it.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use godel_testkit::{Database, Preload};
use serde_json::json;
use tokio::task::JoinSet;

use super::http::Way;
use super::scene::{PATIENCE, Scene, rounds};

/// How many publish events that fill the log.
const PUBLISHERS: usize = 4;
const KILLED: i32 = 9;
const ABORTED: i32 = 6;

/// Fills the log of the database until told to stop.
struct Flood {
    stop: Arc<AtomicBool>,
    publishers: JoinSet<()>,
}

impl Flood {
    fn begin(way: &Way) -> Self {
        let (stop, mut publishers) = (Arc::<AtomicBool>::default(), JoinSet::new());
        let event = json!({ "type": "test:flood", "payload": { "text": "x".repeat(60_000) } });
        for _ in 0..PUBLISHERS {
            let (way, stop, event) = (way.clone(), Arc::clone(&stop), event.clone());
            publishers.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    way.post("/events", &event).await;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            });
        }
        Self { stop, publishers }
    }

    async fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.publishers.join_all().await;
    }
}

/// Starts the server with some variables, and fills its log until it ends by a signal.
async fn dies(scene: &mut Scene, env: &[(&str, &str)], signal: i32) {
    let mut ended = scene.servers[0].again_or_ended(env).await;
    scene.find_servers();
    let (flood, start) = (Flood::begin(&scene.shop.way), Instant::now());
    let ended = loop {
        ended = ended.or_else(|| scene.servers[0].ended());
        if let Some(ended) = ended {
            break ended;
        }
        assert!(start.elapsed() < PATIENCE, "{env:?} was not reached");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    flood.end().await;
    assert_eq!(ended.signal(), Some(signal), "{env:?}: {ended}");
    scene.shop.recorder.cut();
}

/// A server on SQLite that was under load for a moment, and was killed.
async fn killed() -> Scene {
    let mut scene = Scene::set(&Database::sqlite().url(), 1).await;
    scene.wait(100, 200).await;
    scene.servers[0].kill();
    scene.shop.recorder.cut();
    scene
}

/// Lets everything come to an end on a server that is not disturbed any more.
async fn recovers(mut scene: Scene) {
    scene.servers[0].again().await;
    scene.find_servers();
    scene.wait(300, 600).await;
    let (accepted, late) = scene.end().await;
    println!("{accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_a_checkpoint_loses_and_doubles_no_task() {
    if !cfg!(debug_assertions) {
        return;
    }
    let mut scene = killed().await;
    for _ in 0..rounds().div_ceil(3) {
        for point in ["checkpoint-before", "checkpoint-moved"] {
            // The first is at the start.
            let fault = format!("{point}:{}", 1 + scene.chance.below(3));
            dies(&mut scene, &[("GODEL_FAULT", &fault)], KILLED).await;
        }
        if cfg!(target_os = "linux") {
            // Some pages of the file are of now, the others of before, and one is half and half.
            let library = Preload::disk();
            for step in ["write", "sync"] {
                let most = if step == "write" { 2_000 } else { 1 };
                let number = 1 + scene.chance.below(most);
                let disk = format!("kill {step} godel.db {number}");
                let env = [("LD_PRELOAD", library.path()), ("GODEL_TEST_DISK", &disk)];
                dies(&mut scene, &env, KILLED).await;
            }
        }
    }
    recovers(scene).await;
}

fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).unwrap().len() == 0
}

/// After a failed sync Linux says yes to the next one, whatever became of the bytes: whoever asks again
/// believes that they are safe.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_disk_does_not_sync_ends_at_once_and_recovers() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let mut scene = killed().await;
    let library = Preload::disk();
    for round in 0..rounds().div_ceil(3) {
        // Of a commit or a checkpoint; of the file in the checkpoint at the start and under load.
        let commit = 3 + scene.chance.below(40);
        for (file, number) in [("godel.db-wal", commit), ("godel.db", 1), ("godel.db", 2)] {
            let disk = format!("fail sync {file} {number}");
            let again = library.folder().join(format!("{file}-{number}-{round}"));
            let env = [
                ("LD_PRELOAD", library.path()),
                ("GODEL_TEST_DISK", &disk),
                ("GODEL_TEST_DISK_AGAIN", again.to_str().unwrap()),
            ];
            dies(&mut scene, &env, ABORTED).await;
            assert!(is_empty(&again), "{disk}: it was synced again");
        }
    }
    recovers(scene).await;
}

/// The last checkpoint is in vain: whoever closed the file now would sync again and remove the log.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_disk_does_not_sync_at_its_end_keeps_its_log() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let mut scene = killed().await;
    let library = Preload::disk();
    let again = library.folder().join("again");
    let env = [
        ("LD_PRELOAD", library.path()),
        // The first checkpoint is at the start.
        ("GODEL_TEST_DISK", "fail sync godel.db 2"),
        ("GODEL_TEST_DISK_AGAIN", again.to_str().unwrap()),
    ];
    scene.servers[0].again_with(&env).await;
    scene.find_servers();
    scene.wait(300, 600).await;
    let ended = scene.servers[0].stop().await;
    assert_eq!(ended.signal(), Some(ABORTED), "{ended}");
    assert!(is_empty(&again), "it was synced again");
    assert!(std::fs::metadata(scene.servers[0].log()).unwrap().len() > 0, "the log is gone");
    scene.shop.recorder.cut();
    recovers(scene).await;
}
