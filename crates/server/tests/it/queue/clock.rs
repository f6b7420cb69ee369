//! The clock of a real server is set by an hour, back and forth, under load.

use std::io::{Seek as _, Write as _};
use std::time::Duration;

use godel_referee::{Begin, Recorder};
use godel_store::DatabaseUrl;
use godel_testkit::{Database, Preload};

use super::crash::postgres;
use super::process::Process;
use super::scene::{Scene, rounds};

const HOUR_SECS: i64 = 3_600;
/// Longer than it takes a server to notice.
const A_WHILE: Duration = Duration::from_millis(1_500);

async fn clock_is_set(database: &DatabaseUrl) {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let clock = Preload::clock();
    let file = clock.folder().join("clock");
    let mut hands = std::fs::File::create(&file).unwrap();
    // Written over what is there, so that nobody reads half of it.
    let mut set = |seconds: i64| {
        hands.rewind().unwrap();
        hands.write_all(format!("{seconds:+06}").as_bytes()).unwrap();
    };
    set(0);
    let env = [("LD_PRELOAD", clock.path()), ("GODEL_TEST_CLOCK", file.to_str().unwrap())];
    let server = Process::start_with(database, &env).await;
    let recorder = Recorder::in_memory();
    recorder.begin(Begin { skew: 3 * HOUR_SECS * 1_000_000, ..Begin::default() });
    let mut scene = Scene::with(vec![server], recorder, database);
    for _ in 0..rounds().div_ceil(10) {
        // Last of all it is ahead, so that whatever waits for a time is due.
        for seconds in [-HOUR_SECS, 0, HOUR_SECS] {
            scene.wait(300, 600).await;
            set(seconds);
            tokio::time::sleep(A_WHILE).await;
        }
    }
    let lost = "SELECT CAST(count(*) AS TEXT) FROM event WHERE kind = 'task:lost'";
    // Everybody was heard of all the time.
    assert_eq!(scene.tables.text(lost), "0", "attempts were lost");
    let (accepted, late) = scene.end().await;
    println!("{accepted} tasks accepted, {late} answers came too late");
    assert!(accepted > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_takes_no_task_from_anybody_on_sqlite() {
    clock_is_set(&Database::sqlite().url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_takes_no_task_from_anybody_on_postgres() {
    let Some(database) = postgres().await else { return };
    clock_is_set(&database.url()).await;
}
