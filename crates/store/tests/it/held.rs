//! Somebody holds on to an old state of PostgreSQL: what is gone stays on disk, and must not be walked
//! over by what goes on.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use godel_model::{Lane, Mint, Mood, NewTask, PoolName, Seq, Task, UserId, Worker, WorkerId};
use godel_store::{DatabaseUrl, Done, Fence, Ready, Scope, Store, Tx};
use godel_testkit::{Database, World, change, postgres_url, worlds};
use jiff::Timestamp;
use postgres::{Client, NoTls};
use serde_json::json;
use uuid::Uuid;

/// How many rows of what is over are still on disk.
const GONE: i64 = 20_000;
/// How many tasks come and go.
const TASKS: i64 = 60;
/// How often all that is over may be looked at; each of the two connections does so when it hears of the
/// worker for the first time.
const LOOKS_MAX: i64 = 4;

/// Gives a worker many tasks and takes them away again.
const COME_AND_GO: &str = "
    INSERT INTO lease (tenant, task, attempt, last, lane, tier, worker, started_at)
    SELECT tenant.tenant, gen_random_uuid(), 1, 3, 'default', 2, worker.id, n
    FROM tenant, worker, generate_series(1, 20000) AS n;
    DELETE FROM lease";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn worker() -> WorkerId {
    WorkerId::from_uuid(Uuid::from_u128(7))
}

fn somebody() -> Worker {
    Worker {
        id: worker(),
        name: "somebody".parse().unwrap(),
        pool: PoolName::default(),
        capabilities: Default::default(),
        capacity: 1,
        mood: Mood::Active,
        error: None,
        user: UserId::from_uuid(Uuid::nil()),
        registered_at: at(0),
        seen_at: at(0),
        expires_at: at(30),
    }
}

/// Holds on to the present state until this value is dropped.
fn hold(url: &str) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    let (began, begun) = mpsc::channel();
    let url = url.to_owned();
    std::thread::spawn(move || {
        let mut client = Client::connect(&url, NoTls).unwrap();
        client
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT COUNT(*) FROM ready")
            .unwrap();
        began.send(()).unwrap();
        released.recv().ok();
    });
    begun.recv().unwrap();
    release
}

/// Lets one task go from its enqueue to its end, with two commits.
async fn one(world: &World, number: i64) {
    let asked: NewTask = serde_json::from_value(json!({"title": "x", "payload": {}})).unwrap();
    let lane = asked.check().unwrap();
    let task = Task { id: Mint::system().id(), asked, created_at: at(number), created_by: None };
    let (scope, draft) = (Scope::Tenant(world.tenant), world.draft("test:write", "{}"));
    let begin = move |tx: &mut Tx<'_>| {
        let batch: [(&Task, &Lane); 1] = [(&task, &lane)];
        tx.tasks().enqueue(&batch, Ready::InLine, at(number))?;
        let heads = tx.tasks().heads(&[&lane], 1)?;
        let given: Vec<_> = heads.into_iter().map(|head| (head, worker())).collect();
        tx.record(draft.clone())?;
        tx.tasks().hand_out(&given, at(number))
    };
    let lease = world.store.write(scope, begin).await.unwrap().value.remove(0);
    let (task, attempt) = (lease.spot.task, lease.spot.attempt);
    let done = Done { fence: Fence { task, attempt, worker: worker() }, result: None };
    let draft = world.draft("test:write", "{}");
    let end = move |tx: &mut Tx<'_>| {
        tx.record(draft.clone())?;
        tx.tasks().succeed(std::slice::from_ref(&done), at(number))
    };
    assert!(world.store.write(scope, end).await.unwrap().value[0].is_some());
}

/// Returns how often the head of a log was written, and how many rows were looked at by index.
fn counts(url: &str) -> (i64, Vec<(String, i64)>) {
    let mut client = Client::connect(url, NoTls).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let number = |client: &mut Client, sql: &str| client.query_one(sql, &[]).unwrap().get(0);
    // What a connection has counted is told when it ends.
    loop {
        let ended: i64 = number(
            &mut client,
            "SELECT n_tup_del FROM pg_stat_user_tables WHERE relname = 'lease'",
        );
        if ended == GONE + TASKS {
            break;
        }
        assert!(Instant::now() < deadline, "only {ended} were told");
        std::thread::sleep(Duration::from_millis(100));
    }
    let heads = number(
        &mut client,
        "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'stream_head'",
    );
    let read = "SELECT indexrelname::text, idx_tup_read FROM pg_stat_user_indexes
                WHERE relname IN ('lease', 'event', 'stream_head')";
    let rows = client.query(read, &[]).unwrap();
    (heads, rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_is_not_walked_over() {
    let Some(server) = postgres_url() else {
        eprintln!("skipped: no PostgreSQL (run `cargo xtask test`)");
        return;
    };
    let world = World::on(Database::postgres(server)).await;
    let DatabaseUrl::Postgres(url) = world.database.url() else { panic!("no PostgreSQL") };
    let scope = Scope::Tenant(world.tenant);
    world.store.write(scope, |tx| tx.workers().insert(&somebody())).await.unwrap();
    assert_eq!(Store::oldest_holder(&world.database.url()).await.unwrap(), None);
    let held = hold(&url);
    // Whoever owns the tables sees all rows.
    change(&world.database.url(), COME_AND_GO);
    for number in 0..TASKS {
        one(&world, number).await;
    }
    let holder = Store::oldest_holder(&world.database.url()).await.unwrap().unwrap();
    assert!(holder.who.starts_with("process "), "{holder:?}");
    world.store.close().await;
    let counted = tokio::task::spawn_blocking(move || counts(&url)).await.unwrap();
    drop(held);
    let (heads, read) = counted;
    assert_eq!(heads, 0, "a version of the head of the log is left behind by each commit");
    for (index, rows) in read {
        assert!(rows < GONE * LOOKS_MAX, "{rows} rows of {index} for {TASKS} tasks");
    }
}

#[tokio::test]
async fn a_position_is_given_once_even_if_no_event_is_left() {
    for world in worlds().await {
        for _ in 0..3 {
            world.append(world.tenant, "test:write").await;
        }
        let scope = Scope::Tenant(world.tenant);
        let trim = |tx: &mut Tx<'_>| {
            assert_eq!(tx.events().lock_bounds()?, (Seq(3), Seq(0)));
            tx.events().trim(Seq(3))
        };
        assert_eq!(world.store.write(scope, trim).await.unwrap().value, 3);
        let bounds = world.store.read(scope, |tx| tx.events().bounds()).await.unwrap();
        assert_eq!(bounds, (Seq(3), Seq(3)), "{}", world.engine);
        let next = world.append(world.tenant, "test:write").await;
        assert_eq!(next.seq, Seq(4), "{}", world.engine);
    }
}

/// Gives the worker whatever is there.
async fn give(store: Store, tenant: godel_model::TenantId, lane: Lane) -> usize {
    let work = move |tx: &mut Tx<'_>| {
        let heads = tx.tasks().heads(&[&lane], 1)?;
        let given: Vec<_> = heads.into_iter().map(|head| (head, worker())).collect();
        tx.tasks().hand_out(&given, at(1))
    };
    store.write(Scope::Tenant(tenant), work).await.unwrap().value.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_together_give_a_worker_no_more_than_it_can_have() {
    let Some(server) = postgres_url() else {
        eprintln!("skipped: no PostgreSQL (run `cargo xtask test`)");
        return;
    };
    let world = World::on(Database::postgres(server)).await;
    let other = Store::open(&world.config).await.unwrap();
    let scope = Scope::Tenant(world.tenant);
    world.store.write(scope, |tx| tx.workers().insert(&somebody())).await.unwrap();
    for round in 0..60 {
        let asked: NewTask = serde_json::from_value(json!({"title": "x", "payload": {}})).unwrap();
        let lane = asked.check().unwrap();
        let tasks: Vec<Task> = (0..4)
            .map(|_| Task {
                id: Mint::system().id(),
                asked: asked.clone(),
                created_at: at(round),
                created_by: None,
            })
            .collect();
        let line = lane.clone();
        let add = move |tx: &mut Tx<'_>| {
            let batch: Vec<_> = tasks.iter().map(|task| (task, &line)).collect();
            tx.tasks().enqueue(&batch, Ready::InLine, at(round)).map(drop)
        };
        world.store.write(scope, add).await.unwrap();
        let mut givers = tokio::task::JoinSet::new();
        for store in [world.store.clone(), other.clone(), world.store.clone(), other.clone()] {
            givers.spawn(give(store, world.tenant, lane.clone()));
        }
        let given: usize = givers.join_all().await.into_iter().sum();
        assert_eq!(given, 1, "round {round}: it can have one");
        change(&world.database.url(), "DELETE FROM lease; DELETE FROM ready");
    }
    other.close().await;
}
