//! Who gets a task, and who cannot have one: placement as it is wired, moods, and what is told of
//! workers.

use std::time::Duration;

use godel_app::queue::pools::{self, PoolChange};
use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Say, tasks, workers};
use godel_app::{App, Call};
use godel_model::{EventFilter, Mood, NewTask, Placement, PoolName, Seq, WorkerId};
use godel_store::{Direction, Scope};
use godel_testkit::{World, worlds};
use serde_json::json;
use tokio::task::JoinSet;

use crate::stage::{app, call};

fn asked(title: &str) -> NewTask {
    serde_json::from_value(json!({"title": title, "payload": {}})).unwrap()
}

async fn worker(app: &App, call: &Call, name: &str, capacity: u32) -> WorkerId {
    let (pool, capabilities) = (Default::default(), Default::default());
    let new = NewWorker { name: name.to_owned(), pool, capabilities, capacity };
    workers::register(app, call, new).await.unwrap().id
}

/// Lets two wait, the second one with more room, and returns who got the one task that came.
async fn served(app: &App, call: &Call, asks: [(WorkerId, u32); 2]) -> WorkerId {
    let mut waiting = JoinSet::new();
    for (worker, free) in asks {
        let (app, call) = (app.clone(), call.clone());
        waiting.spawn(async move {
            let wait = Duration::from_secs(20);
            (worker, workers::claim(&app, &call, worker, (free, wait)).await.unwrap())
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tasks::create(app, call, asked("one")).await.unwrap();
    let (worker, given) = waiting.join_next().await.unwrap().unwrap();
    let spot = &given[0].lease.spot;
    workers::say(app, call, (worker, spot.task, spot.attempt), Say::Done(None)).await.unwrap();
    worker
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pool_says_whether_room_or_patience_counts() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        for placement in [Placement::RoundRobin, Placement::LeastLoaded] {
            let change = PoolChange { placement: Some(placement), ..PoolChange::default() };
            pools::change(&app, &call, PoolName::default(), change).await.unwrap();
            let (patient, free) =
                (worker(&app, &call, "patient", 9).await, worker(&app, &call, "free", 9).await);
            let expected = if placement == Placement::RoundRobin { patient } else { free };
            let got = served(&app, &call, [(patient, 1), (free, 9)]).await;
            assert_eq!(got, expected, "{placement:?} on {}", world.engine);
        }
    }
}

async fn told(world: &World, worker: WorkerId) -> Vec<(String, Option<String>)> {
    let read = world.store.read(Scope::Tenant(world.tenant), |tx| {
        tx.events().page(&EventFilter::all(), Direction::Forward, Seq::START, 1_000)
    });
    let page = read.await.unwrap();
    let own = page.events.iter().filter(|event| {
        event.kind.as_str().starts_with("worker:")
            && event.metadata.refs.get("workerId") == Some(&worker.to_string())
    });
    own.map(|event| {
        let payload: serde_json::Value = serde_json::from_str(event.payload.as_str()).unwrap();
        (event.kind.as_str().to_owned(), payload["mood"].as_str().map(str::to_owned))
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_cannot_work_gets_nothing_until_it_can() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let id = worker(&app, &call, "w", 1).await;
        tasks::create(&app, &call, asked("one")).await.unwrap();
        let why = Some("the disk is full".to_owned());
        let said = workers::set_mood(&app, &call, id, Mood::Error, why.clone()).await.unwrap();
        assert_eq!((said.mood, &said.error), (Mood::Error, &why));
        let given = workers::claim(&app, &call, id, (1, Duration::from_millis(100))).await.unwrap();
        assert!(given.is_empty(), "{}", world.engine);
        let (found, held) = workers::find(&app, &call, id).await.unwrap();
        assert_eq!((found.error, held.len()), (why, 0));
        let well = workers::set_mood(&app, &call, id, Mood::Active, None).await.unwrap();
        assert_eq!(well.error, None);
        let given = workers::claim(&app, &call, id, (1, Duration::from_secs(20))).await.unwrap();
        assert_eq!(given.len(), 1, "{}", world.engine);
        workers::leave(&app, &call, id).await.unwrap();
        let expected = [
            ("worker:registered", None),
            ("worker:changed", Some("error")),
            ("worker:changed", Some("active")),
            ("worker:offline", None),
        ];
        let expected = expected.map(|(kind, mood)| (kind.to_owned(), mood.map(str::to_owned)));
        assert_eq!(told(&world, id).await, expected, "{}", world.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_finds_its_worker_after_a_restart() {
    for world in worlds().await {
        let (before, call) = (app(&world).await, call(&world));
        let change = PoolChange { placement: Some(Placement::Affinity), ..PoolChange::default() };
        pools::change(&before, &call, PoolName::default(), change).await.unwrap();
        let of = |title: &str| NewTask { session: Some("s".to_owned()), ..asked(title) };
        let first = worker(&before, &call, "first", 9).await;
        let other = worker(&before, &call, "other", 9).await;
        tasks::create(&before, &call, of("one")).await.unwrap();
        let given = workers::claim(&before, &call, first, (1, Duration::from_secs(20))).await;
        assert_eq!(given.unwrap().len(), 1, "{}", world.engine);
        // Another server knows nothing but what is in the database.
        let after = app(&world).await;
        let mut waiting = JoinSet::new();
        for (worker, free) in [(other, 9), (first, 1)] {
            let (app, call) = (after.clone(), call.clone());
            waiting.spawn(async move {
                let wait = Duration::from_secs(20);
                (worker, workers::claim(&app, &call, worker, (free, wait)).await.unwrap().len())
            });
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tasks::create(&after, &call, of("two")).await.unwrap();
        let served = waiting.join_next().await.unwrap().unwrap();
        assert_eq!(served, (first, 1), "{}", world.engine);
    }
}
