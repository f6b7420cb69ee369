//! Servers wake each other over Redis.

use std::sync::Arc;
use std::time::Duration;

use godel_app::queue::workers::NewWorker;
use godel_app::queue::{tasks, wake, workers};
use godel_app::vault::MasterKey;
use godel_app::{App, AppConfig, Crew};
use godel_engines::{Binaries, Places, Redis};
use godel_hints::Hints;
use godel_model::NewTask;
use godel_testkit::{World, worlds};
use serde_json::json;

use crate::stage::{MASTER, call};

/// An application of its own on a world: it hears nothing of another one but over Redis.
async fn server(world: &World, redis: &str) -> (App, Crew) {
    let hints = Some(Hints::connect(redis).await.unwrap());
    let (clock, master) = (Arc::clone(&world.clock), MasterKey::new(MASTER));
    let store = world.store.clone();
    let app = App::open(store, hints, clock, AppConfig::default(), &master).await.unwrap();
    let crew = Crew::default();
    wake::start(&app, &crew);
    (app, crew)
}

fn asked() -> NewTask {
    serde_json::from_value(json!({"title": "t", "payload": {}})).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_at_one_server_gets_what_comes_to_another_over_redis() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let start = || Redis::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut redis = tokio::task::spawn_blocking(start).await.unwrap();
    for world in worlds().await {
        let call = call(&world);
        let ((one, first), (two, second)) =
            (server(&world, &redis.url()).await, server(&world, &redis.url()).await);
        let (pool, capabilities) = (Default::default(), Default::default());
        let new = NewWorker { name: "w".to_owned(), pool, capabilities, capacity: 99 };
        let worker = workers::register(&two, &call, new).await.unwrap().id;
        // The third time Redis was away for a moment.
        for round in 1..=3 {
            if round == 3 {
                redis = tokio::task::spawn_blocking(move || {
                    redis.kill().unwrap();
                    redis.restart().unwrap();
                    redis
                })
                .await
                .unwrap();
            }
            let (two_, call_) = (two.clone(), call.clone());
            let mut waiting = tokio::task::JoinSet::new();
            waiting.spawn(async move {
                let patience = Duration::from_secs(60);
                workers::claim(&two_, &call_, worker, (1, patience)).await.unwrap()
            });
            let given = loop {
                // The other one may not listen yet, so it is told again.
                tasks::create(&one, &call, asked()).await.unwrap();
                let soon = Duration::from_millis(500);
                if let Ok(given) = tokio::time::timeout(soon, waiting.join_next()).await {
                    break given.unwrap().unwrap();
                }
            };
            assert_eq!(given.len(), 1, "round {round} on {}", world.engine);
            // Nothing is left for the next round.
            loop {
                let rest = workers::claim(&two, &call, worker, (9, Duration::ZERO)).await.unwrap();
                if rest.is_empty() {
                    break;
                }
            }
        }
        assert!(first.stop(Duration::from_secs(5)).await);
        assert!(second.stop(Duration::from_secs(5)).await);
    }
}
