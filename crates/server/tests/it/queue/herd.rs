//! Many workers come back at the same moment, and all that waits is due at the same moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use godel_referee::{Ask, Begin, Recorder, What};
use godel_store::{Config, DatabaseUrl};
use godel_testkit::Database;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio::task::JoinSet;

use super::crash::postgres;
use super::dump::{TENANT, Tables};
use super::http::{Heard, Way};
use super::load::POOLS;
use super::process::Process;
use super::scene::{PATIENCE, SKEW_US, judge, rounds};
use super::worker::{self, Shop, made};

pub(super) const HERD: usize = 1_000;
const TASKS: usize = 1_200;
/// How many add tasks at once.
const CLIENTS: usize = 16;

/// Adds tasks that are due at one time.
async fn add(shop: Shop, next: Arc<AtomicUsize>, due: Timestamp) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= TASKS {
            return;
        }
        let (key, pool) = (format!("task {number}"), POOLS[number % POOLS.len()]);
        let new = json!({ "title": key, "key": key, "pool": pool, "startAt": due,
            "retry": { "maxAttempts": 5, "delayMs": 40 } });
        let ask = Ask {
            key,
            tenant: shop.tenant.clone(),
            pool: pool.to_owned(),
            tier: 2,
            parents: Vec::new(),
            max_attempts: 5,
            delay: None,
            start_at: Some(godel_model::micros(due)),
            backoff: None,
        };
        loop {
            let op = shop.recorder.invoke("client", What::Enqueue(ask.clone()));
            // On a busy machine an answer may come too late; asking again is safe.
            if made(op, shop.way.post("/tasks", &new).await).is_some() {
                break;
            }
        }
    }
}

/// How many connections the server has to its database.
pub(super) fn connections(tables: &Tables, server: &Process) -> usize {
    match tables {
        Tables::Postgres(_) => {
            let sql = "SELECT CAST(count(*) AS TEXT) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()";
            tables.text(sql).parse().unwrap()
        }
        Tables::Sqlite(file) => {
            let open = std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap();
            let is_ours = |entry: &std::fs::DirEntry| {
                std::fs::read_link(entry.path()).is_ok_and(|link| link == *file)
            };
            open.flatten().filter(is_ours).count()
        }
    }
}

/// How many connections may be there at most: as many as a server has threads for it, and a few that listen
/// and look after things; those of a server that was killed may still be there.
pub(super) fn bound(database: &DatabaseUrl) -> usize {
    let Config { readers, lanes, .. } = Config::new(database.clone());
    2 * (readers + lanes + 4)
}

async fn stampede(database: &DatabaseUrl) {
    let mut server = Process::start(database).await;
    let tables = match database {
        DatabaseUrl::Sqlite(_) => Tables::Sqlite(server.file()),
        DatabaseUrl::Postgres(url) => Tables::Postgres(url.clone()),
    };
    let recorder = Recorder::in_memory();
    recorder.begin(Begin { skew: SKEW_US, ..Begin::default() });
    let shop = Shop {
        way: Way::new(server.key(), vec![server.url.clone()]),
        recorder,
        tenant: TENANT.to_owned(),
        // They do what they get: there is chaos enough.
        drains: Arc::new(true.into()),
        closed: Arc::default(),
        wait_ms: 5_000,
        pace: Duration::ZERO,
        served: Arc::default(),
    };
    let now = godel_model::Clock::now(&godel_model::SystemClock);
    let due = now.checked_add(SignedDuration::from_secs(8)).unwrap();
    let (next, mut clients) = (Arc::default(), JoinSet::new());
    for _ in 0..CLIENTS {
        clients.spawn(add(shop.clone(), Arc::clone(&next), due));
    }
    clients.join_all().await;
    let mut workers = JoinSet::new();
    for number in 0..HERD {
        workers.spawn(worker::work(shop.clone(), number));
    }
    let registered =
        || tables.text("SELECT CAST(count(*) AS TEXT) FROM worker") == HERD.to_string();
    while !registered() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // All of them lose their server, and find it again at the same moment.
    server.kill();
    shop.recorder.cut();
    shop.served.lock().unwrap().clear();
    server.again().await;
    shop.way.lead_to(vec![server.url.clone()]);
    let (start, mut most) = (Instant::now(), 0);
    let depth = loop {
        most = most.max(connections(&tables, &server));
        let late = start.elapsed() > PATIENCE;
        assert!(!late, "the queue does not run dry, or somebody is not heard");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let Heard::Yes(depth) = shop.way.get("/queue/depth").await else { continue };
        let heard = shop.served.lock().unwrap().len();
        if ["ready", "delayed", "running"].iter().all(|state| depth[*state] == 0) && heard == HERD {
            break depth;
        }
    };
    shop.closed.store(true, Ordering::Relaxed);
    assert_eq!(workers.join_all().await.len(), HERD);
    shop.recorder.drained();
    server.kill();
    judge(&tables, &shop.recorder, &depth);
    println!("{HERD} workers, {TASKS} tasks, at most {most} connections");
    assert!(most <= bound(database), "{most} connections");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stampede_of_workers_is_served_on_sqlite() {
    for _ in 0..rounds().div_ceil(20) {
        stampede(&Database::sqlite().url()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stampede_of_workers_is_served_on_postgres() {
    let Some(database) = postgres().await else { return };
    stampede(&database.url()).await;
}
