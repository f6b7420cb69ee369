//! People are told of dead letters that pile up: once, and again only after it was better.

use std::time::Duration;

use godel_app::queue::pools::PoolChange;
use godel_app::queue::workers::NewWorker;
use godel_app::queue::{Keeper, Say, dead, pools, tasks, workers};
use godel_app::{App, Call};
use godel_model::{EventFilter, NewTask, PoolName, Seq, Worker};
use godel_store::{Direction, Error as StoreError, Scope};
use godel_testkit::{World, worlds};
use serde_json::{Value, json};

use crate::stage::{app, call};

/// Lets so many tasks die.
async fn let_die(app: &App, call: &Call, worker: &Worker, count: usize) {
    for _ in 0..count {
        let asked: NewTask = serde_json::from_value(json!({
            "title": "poison", "payload": {}, "pool": "ci", "retry": {"maxAttempts": 1},
        }))
        .unwrap();
        tasks::create(app, call, asked).await.unwrap();
        let given = workers::claim(app, call, worker.id, (1, Duration::ZERO)).await.unwrap();
        let spot = &given[0].lease.spot;
        let failed = Say::Failed { error: "it broke".to_owned(), fatal: false };
        workers::say(app, call, (worker.id, spot.task, spot.attempt), failed).await.unwrap();
    }
}

/// Looks after the queue, and returns what was ever told of the pool.
async fn told(world: &World, app: &App) -> Vec<(String, u64, u64)> {
    Keeper::new(app.clone()).look().await.unwrap();
    let read = world.store.read(Scope::Tenant(world.tenant), |tx| {
        let all = EventFilter::all();
        Ok::<_, StoreError>(tx.events().page(&all, Direction::Forward, Seq(0), 1_000)?.events)
    });
    let number = |value: &Value, name: &str| value[name].as_u64().unwrap();
    read.await
        .unwrap()
        .into_iter()
        .filter(|event| matches!(event.kind.as_str(), "pool:alert" | "pool:calm"))
        .map(|event| {
            let payload: Value = event.payload.read().unwrap();
            assert_eq!(payload["pool"], "ci");
            (event.kind.to_string(), number(&payload, "dead"), number(&payload, "threshold"))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_that_pile_up_are_told_once() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let pool: PoolName = "ci".parse().unwrap();
        let (name, capabilities) = ("somebody".to_owned(), Default::default());
        let new = NewWorker { name, pool: pool.clone(), capabilities, capacity: 5 };
        let worker = workers::register(&app, &call, new).await.unwrap();
        let change = PoolChange { dead_alert: Some(4), ..PoolChange::default() };
        pools::change(&app, &call, pool.clone(), change).await.unwrap();
        let_die(&app, &call, &worker, 3).await;
        assert_eq!(told(&world, &app).await, [], "{}", world.engine);
        let_die(&app, &call, &worker, 2).await;
        let first = ("pool:alert".to_owned(), 5, 4);
        assert_eq!(told(&world, &app).await, std::slice::from_ref(&first));
        let settings = pools::list(&app, &call).await.unwrap()[0].1;
        assert!(settings.alerted);
        // More of them are not told again, nor by another server.
        let_die(&app, &call, &worker, 3).await;
        let other = crate::stage::app(&world).await;
        assert_eq!(told(&world, &other).await, std::slice::from_ref(&first));
        assert_eq!(dead::replay_all(&app, &call, Default::default()).await.unwrap(), 8);
        let calm = ("pool:calm".to_owned(), 0, 4);
        assert_eq!(told(&world, &app).await, [first.clone(), calm.clone()]);
        assert!(!pools::list(&app, &call).await.unwrap()[0].1.alerted);
        let_die(&app, &call, &worker, 4).await;
        let again = ("pool:alert".to_owned(), 4, 4);
        assert_eq!(told(&world, &app).await, [first, calm, again]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_nobody_set_up_has_an_alert_too_and_one_can_do_without() {
    for world in worlds().await {
        let (app, call) = (app(&world).await, call(&world));
        let pool: PoolName = "ci".parse().unwrap();
        let (name, capabilities) = ("somebody".to_owned(), Default::default());
        let new = NewWorker { name, pool: pool.clone(), capabilities, capacity: 5 };
        let worker = workers::register(&app, &call, new).await.unwrap();
        let_die(&app, &call, &worker, 10).await;
        let first = ("pool:alert".to_owned(), 10, 10);
        assert_eq!(told(&world, &app).await, std::slice::from_ref(&first), "{}", world.engine);
        let never = PoolChange { dead_alert: Some(0), ..PoolChange::default() };
        pools::change(&app, &call, pool, never).await.unwrap();
        let calm = ("pool:calm".to_owned(), 10, 0);
        assert_eq!(told(&world, &app).await, [first, calm]);
    }
}
