//! What Prometheus is told of the queue.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, servers};

/// Returns the value of a series, given by its beginning and something that its labels have.
fn value(text: &str, name: &str, label: &str) -> f64 {
    let found = text.lines().find(|line| line.starts_with(name) && line.contains(label));
    let found = found.unwrap_or_else(|| panic!("no {name} with {label} in\n{text}"));
    found.rsplit(' ').next().unwrap().parse().unwrap()
}

async fn metrics(server: &Running) -> String {
    server.get("/metrics").await.text().await.unwrap()
}

async fn task(server: &Running, asked: Value) -> String {
    let made = data(server.post("/api/v1/tasks", asked).await, StatusCode::CREATED).await;
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_is_counted_for_prometheus() {
    for server in servers().await {
        let new = json!({"name": "w", "pool": "ci", "capacity": 4});
        let worker = data(server.post("/api/v1/workers", new).await, StatusCode::CREATED).await;
        let worker = worker["id"].as_str().unwrap().to_owned();
        let before = metrics(&server).await;
        let counted = |text: &str, name: &str, label: &str| {
            let is_there = text.lines().any(|l| l.starts_with(name) && l.contains(label));
            if is_there { value(text, name, label) } else { 0.0 }
        };
        for number in 0..3 {
            let pool = if number == 2 { "other-pool" } else { "ci" };
            let retry = json!({"maxAttempts": 1});
            let asked = json!({"title": "t", "pool": pool, "priority": "high", "retry": retry});
            task(&server, asked).await;
        }
        let claim = json!({"free": 2, "waitMs": 0});
        let claim = server.post(&format!("/api/v1/workers/{worker}/claim"), claim).await;
        let claim = data(claim, StatusCode::OK).await;
        let given = claim["tasks"].as_array().unwrap();
        assert_eq!(given.len(), 2, "{claim}");
        let id = |place: usize| given[place]["id"].as_str().unwrap();
        let said = json!({"workerId": worker, "attempt": 1, "result": {}});
        let path = format!("/api/v1/tasks/{}/complete", id(0));
        data(server.post(&path, said).await, StatusCode::OK).await;
        let said = json!({"workerId": worker, "attempt": 1, "error": "no"});
        let path = format!("/api/v1/tasks/{}/fail", id(1));
        data(server.post(&path, said).await, StatusCode::OK).await;
        let after = metrics(&server).await;
        for (name, label, more) in [
            ("godel_tasks_queued_total", "priority=\"high\"", 3.0),
            ("godel_task_claims_total", "priority=\"high\"", 2.0),
            ("godel_tasks_ended_total", "outcome=\"succeeded\"", 1.0),
            ("godel_tasks_ended_total", "outcome=\"dead\"", 1.0),
            ("godel_task_pickup_seconds_count", "priority=\"high\"", 2.0),
            ("godel_task_duration_seconds_count", "priority=\"high\"", 1.0),
        ] {
            // Other tests of this process count too.
            let grown = value(&after, name, label) - counted(&before, name, label);
            assert!(grown >= more, "{name} {label} grew by {grown} on {}", server.engine);
        }
        assert!(after.contains("godel_task_pickup_seconds_bucket"), "{after}");
        // It was counted a moment ago and is not counted again for each look.
        let at = value(&before, "godel_queue_counted_timestamp_seconds", "");
        assert!((value(&after, "godel_queue_counted_timestamp_seconds", "") - at).abs() < 1e-9);
        assert!(value(&before, "godel_workers{", "status=\"idle\"") >= 1.0);
        assert_eq!(server.ask_as("no-key", Method::GET, "/metrics").await.status(), 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn depth_is_by_pool_priority_and_state() {
    for server in servers().await {
        for title in ["one", "two"] {
            task(&server, json!({"title": title, "pool": "deep", "requires": [title]})).await;
        }
        let first = task(&server, json!({"title": "first", "pool": "wide"})).await;
        let child = json!({"title": "child", "pool": "wide", "priority": "low", "after": [first]});
        task(&server, child).await;
        let text = metrics(&server).await;
        let depth = "godel_queue_depth{";
        let of = |pool: &str, priority: &str, state: &str| {
            let labels = format!("pool=\"{pool}\",priority=\"{priority}\",state=\"{state}\"");
            value(&text, depth, &labels)
        };
        assert!((of("deep", "medium", "ready") - 2.0).abs() < 1e-9, "{text}");
        assert!((of("wide", "medium", "ready") - 1.0).abs() < 1e-9);
        assert!((of("wide", "low", "blocked") - 1.0).abs() < 1e-9);
        let wait = value(&text, "godel_queue_oldest_wait_seconds{", "pool=\"deep\"");
        assert!(wait >= 0.0);
        let asked = server.get("/api/v1/queue/depth").await;
        assert_eq!(data(asked, StatusCode::OK).await["ready"], 3, "{}", server.engine);
    }
}

/// Waits until a series has grown by one at least.
async fn grows(server: &Running, before: &str, name: &str) {
    let of = |text: &str| {
        let is_there = text.lines().any(|line| line.starts_with(name));
        if is_there { value(text, name, "") } else { 0.0 }
    };
    let start = std::time::Instant::now();
    while of(&metrics(server).await) < of(before) + 1.0 {
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "{name} does not grow");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_counted_too() {
    for server in servers().await {
        let post = async |path: &str, body: Value, status: StatusCode| {
            data(server.post(&format!("/api/v1{path}"), body).await, status).await
        };
        let patch = async |path: &str, body: Value| {
            let sent = server.request(Method::PATCH, &format!("/api/v1{path}")).json(&body).send();
            data(sent.await.unwrap(), StatusCode::OK).await
        };
        let worker = post("/workers", json!({"name": "w"}), StatusCode::CREATED).await;
        let worker = worker["id"].as_str().unwrap().to_owned();
        patch("/queue/pools/default", json!({"deadAlert": 1})).await;
        let before = metrics(&server).await;
        let claim = async || {
            let ask = json!({"free": 1, "waitMs": 20_000});
            let given = post(&format!("/workers/{worker}/claim"), ask, StatusCode::OK).await;
            let given = &given["tasks"][0];
            (given["id"].as_str().unwrap().to_owned(), given["attempt"].clone())
        };
        let retry = json!({"maxAttempts": 2, "delayMs": 1});
        task(&server, json!({"title": "fails", "retry": retry})).await;
        for _ in 0..2 {
            let (id, attempt) = claim().await;
            let said = json!({"workerId": worker, "attempt": attempt, "error": "no"});
            post(&format!("/tasks/{id}/fail"), said, StatusCode::OK).await;
        }
        grows(&server, &before, "godel_task_retries_total").await;
        grows(&server, &before, "godel_queue_alerts_total").await;
        post("/dead-letters/replay", json!({}), StatusCode::OK).await;
        grows(&server, &before, "godel_task_replays_total").await;
        let (id, attempt) = claim().await;
        // What it has is told with each change.
        let paused = patch(&format!("/workers/{worker}"), json!({"state": "paused"})).await;
        assert_eq!((&paused["load"], &paused["status"]), (&json!(1), &json!("paused")));
        patch(&format!("/workers/{worker}"), json!({"state": "active"})).await;
        let said = json!({"workerId": worker, "attempt": attempt, "result": {}});
        post(&format!("/tasks/{id}/complete"), said, StatusCode::OK).await;
        task(&server, json!({"title": "slow", "timeoutSeconds": 1})).await;
        claim().await;
        grows(&server, &before, "godel_task_timeouts_total").await;
    }
}
