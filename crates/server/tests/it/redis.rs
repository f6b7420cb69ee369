//! Redis: shared where loss is harmless, missed by nobody when it is gone.

use std::time::Duration;

use godel_app::vault::MasterKey;
use godel_decide::Limit;
use godel_engines::{Binaries, Places, Redis};
use godel_server::RedisUrl;
use godel_testkit::Database;
use serde_json::Value;

use crate::harness::{Running, server_with};

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_a_callers_rate_and_go_on_without_redis() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let Some(postgres) = godel_testkit::postgres_url() else {
        return;
    };
    let start = || Redis::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut redis = tokio::task::spawn_blocking(start).await.unwrap();
    let (url, limit) = (redis.url(), Limit { per_minute: 60, burst: 10, sockets: None });
    let database = Database::postgres(postgres);
    let shared = database.url();
    let change = |config: &mut godel_server::Config| {
        config.redis = Some(RedisUrl(url.clone()));
        config.app.rates.limit = limit;
        config.database = Some(shared.clone());
        config.master_key = Some(MasterKey::new([6; 32]));
    };
    let one = Running::on(database, &change).await;
    let two = server_with(change).await;
    // The second server has a key of its own; either key opens both servers.
    let ask = |server: &Running| {
        server.http.get(format!("{}/api/v1/events", server.url)).bearer_auth(&one.key).send()
    };
    let (mut served, start) = (0, std::time::Instant::now());
    for _ in 0..10 {
        for server in [&one, &two] {
            served += u32::from(ask(server).await.unwrap().status() == 200);
        }
    }
    // One token a second comes back while the requests are made.
    let most = 11 + u32::try_from(start.elapsed().as_secs()).unwrap();
    assert!((10..=most).contains(&served), "{served} of 20 were served with a burst of 10");
    assert_eq!(health(&one).await, ("healthy".to_owned(), "healthy".to_owned()));
    redis.kill().unwrap();
    assert_eq!(ask(&one).await.unwrap().status(), 200, "each server counts for itself");
    assert_eq!(health(&one).await, ("degraded".to_owned(), "degraded".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_hangs_costs_one_wait_and_then_nothing() {
    if std::env::var("GODEL_TEST_REDIS_URL").is_err() {
        assert!(std::env::var("CI").is_err(), "redis is missing: run `cargo xtask test`");
        return;
    }
    let start = || Redis::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut redis = tokio::task::spawn_blocking(start).await.unwrap();
    let url = redis.url();
    let server = server_with(|config| config.redis = Some(RedisUrl(url.clone()))).await;
    assert_eq!(server.get("/api/v1/events").await.status(), 200);
    // Frozen, not dead: a dead one refuses connections at once, this one answers nothing.
    redis.pause().unwrap();
    let timed = async || {
        let start = std::time::Instant::now();
        assert_eq!(server.get("/api/v1/events").await.status(), 200);
        start.elapsed()
    };
    let first = timed().await;
    assert!(first < Duration::from_secs(4), "the first request waits a little: {first:?}");
    let start = std::time::Instant::now();
    for _ in 0..20 {
        timed().await;
    }
    let rest = start.elapsed();
    assert!(rest < Duration::from_secs(2), "20 requests without redis took {rest:?}");
    redis.resume().unwrap();
}

/// Returns the health of the whole, and of Redis.
async fn health(server: &Running) -> (String, String) {
    let answer = server.http.get(format!("{}/health", server.url)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let health: Value = answer.json().await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&health["status"]), text(&health["checks"]["redis"]["status"]))
}
