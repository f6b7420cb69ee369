//! Somebody holds on to an old state of PostgreSQL for too long: people are told of it, once, and when it is over.

use std::sync::Arc;
use std::time::Duration;

use godel_app::queue::{HoldWatch, Say, tasks, workers};
use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, Call, Crew, health, queue, tenants};
use godel_decide::Health;
use godel_model::{EventFilter, NewTask, Seq, TenantId};
use godel_store::{DatabaseUrl, Direction, Error as StoreError, Scope};
use godel_testkit::{Database, World, postgres_url};
use postgres::{Client, NoTls};
use serde_json::{Value, json};

use crate::stage::{MASTER, call};

const PATIENCE: Duration = Duration::from_secs(60);
/// From when on a state counts as held for too long; nothing of a server itself takes so long.
const LONGEST_SECS: u64 = 3;

/// Holds on to the present state until this value is dropped.
fn hold(url: &str) -> std::sync::mpsc::Sender<()> {
    let (release, released) = std::sync::mpsc::channel();
    let (began, begun) = std::sync::mpsc::channel();
    let url =
        format!("{url}{}application_name=reporter", if url.contains('?') { '&' } else { '?' });
    std::thread::spawn(move || {
        let mut client = Client::connect(&url, NoTls).unwrap();
        let look = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT COUNT(*) FROM ready";
        client.batch_execute(look).unwrap();
        began.send(()).unwrap();
        released.recv().ok();
    });
    begun.recv().unwrap();
    release
}

/// A server on a database that others use, too.
async fn server(world: &World, crew: &Crew) -> App {
    let hold = HoldWatch { every: Duration::from_millis(100), longest_secs: LONGEST_SECS };
    let config = AppConfig { hold, ..AppConfig::default() };
    let (clock, master) = (Arc::clone(&world.clock), MasterKey::new(MASTER));
    let app = App::open(world.store.clone(), None, clock, config, &master).await.unwrap();
    assert_eq!(tenants::ensure_first(&app).await.unwrap().id, world.tenant);
    queue::start(&app, crew).await.unwrap();
    app
}

/// Waits until each server finds its database so.
async fn come_to(servers: &[App], health: Health) {
    for app in servers {
        let mut looks = 0;
        loop {
            let probe = health::database(app).await;
            let says = probe.message.as_deref().unwrap_or_default();
            let held = says.contains("holds on to an old state");
            if probe.verdict.health == health && held == (health == Health::Degraded) {
                break;
            }
            looks += 1;
            assert!(looks < 600, "the database does not become {health:?}: {probe:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// What was told of who holds and lets go, as kind and payload.
async fn told(world: &World, tenant: TenantId) -> Vec<(String, Value)> {
    let read = world.store.read(Scope::Tenant(tenant), |tx| {
        let patterns = vec!["server:database:*".parse().unwrap()];
        let filter = EventFilter::new(patterns, Default::default()).unwrap();
        Ok::<_, StoreError>(tx.events().page(&filter, Direction::Forward, Seq(0), 100)?.events)
    });
    let events = read.await.unwrap().into_iter();
    events.map(|one| (one.kind.as_str().to_owned(), one.payload.read().unwrap())).collect()
}

/// Lets a task go from its beginning to its end.
async fn work(app: &App, call: &Call) {
    let (name, pool) = ("w".to_owned(), Default::default());
    let capabilities = Default::default();
    let new = workers::NewWorker { name, pool, capabilities, capacity: 1 };
    let worker = workers::register(app, call, new).await.unwrap();
    let asked: NewTask = serde_json::from_value(json!({"title": "t", "payload": {}})).unwrap();
    let made = tasks::create(app, call, asked).await.unwrap();
    let given = workers::claim(app, call, worker.id, (1, PATIENCE)).await.unwrap();
    assert_eq!(given[0].lease.spot.task, made.id);
    workers::say(app, call, (worker.id, made.id, 1), Say::Done(None)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_on_to_an_old_state_is_told_once_and_so_is_that_it_let_go() {
    let Some(server_url) = postgres_url() else {
        eprintln!("skipped: no PostgreSQL (run `cargo xtask test`)");
        return;
    };
    let database = tokio::task::spawn_blocking(|| Database::postgres(server_url)).await.unwrap();
    let world = World::on(database).await;
    let (call, crew) = (call(&world), Crew::default());
    let other = world.new_tenant("other").await;
    let servers = [server(&world, &crew).await, server(&world, &crew).await];
    come_to(&servers, Health::Healthy).await;
    let DatabaseUrl::Postgres(url) = world.database.url() else { panic!("no PostgreSQL") };
    let mut expected = Vec::new();
    for _ in 0..2 {
        let url = url.clone();
        let held = tokio::task::spawn_blocking(move || hold(&url)).await.unwrap();
        come_to(&servers, Health::Degraded).await;
        expected.push("server:database:held");
        let events = told(&world, world.tenant).await;
        let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, expected, "of two servers one tells it");
        let (_, about) = events.last().unwrap();
        let who = about["who"].as_str().unwrap();
        assert!(who.starts_with("process ") && who.ends_with(" (reporter)"), "{who}");
        assert!(about["seconds"].as_u64().unwrap() >= LONGEST_SECS, "{about}");
        // The queue goes on meanwhile.
        work(&servers[0], &call).await;
        drop(held);
        come_to(&servers, Health::Healthy).await;
        expected.push("server:database:freed");
        let events = told(&world, world.tenant).await;
        let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, expected);
        assert_eq!(events.last().unwrap().1, json!({ "who": who }));
    }
    assert_eq!(told(&world, other).await, [], "it is no business of other tenants");
    assert!(crew.stop(PATIENCE).await);
}
