//! Workers that lost their task speak of it, over HTTP.

use std::time::{Duration, Instant};

use godel_store::DatabaseUrl;
use serde_json::{Value, json};

use super::dump::Tables;
use crate::harness::{Running, SOON, data, failure, servers};

async fn register(server: &Running) -> String {
    let made = server.post("/api/v1/workers", json!({ "name": "somebody", "capacity": 5 })).await;
    data(made, reqwest::StatusCode::CREATED).await["id"].as_str().unwrap().to_owned()
}

async fn make(server: &Running, new: Value) -> String {
    let made = server.post("/api/v1/tasks", new).await;
    data(made, reqwest::StatusCode::CREATED).await["id"].as_str().unwrap().to_owned()
}

async fn claim(server: &Running, worker: &str) -> Vec<Value> {
    let path = format!("/api/v1/workers/{worker}/claim");
    let given = server.post(&path, json!({ "waitMs": 500 })).await;
    data(given, reqwest::StatusCode::OK).await["tasks"].as_array().unwrap().clone()
}

async fn state(server: &Running, task: &str) -> Value {
    let found = server.get(&format!("/api/v1/tasks/{task}")).await;
    data(found, reqwest::StatusCode::OK).await
}

/// Lets a worker have been silent for too long.
fn silence(tables: &Tables, worker: &str) {
    let own = match tables {
        Tables::Sqlite(_) => format!("hex(id) = upper(replace('{worker}', '-', ''))"),
        Tables::Postgres(_) => format!("id = '{worker}'"),
    };
    tables.change(&format!("UPDATE worker SET expires_at = 1 WHERE {own}"));
}

/// Everything that a worker can say of a task.
fn words(worker: &str, attempt: u32) -> [(&'static str, Value); 6] {
    let with = |name: &str, value: Value| {
        let mut body = json!({ "workerId": worker, "attempt": attempt });
        if !name.is_empty() {
            body[name] = value;
        }
        body
    };
    [
        ("complete", with("", Value::Null)),
        ("complete", with("next", json!({ "free": 1, "waitMs": 60_000 }))),
        ("fail", with("error", json!("it broke"))),
        ("progress", with("progress", json!({}))),
        ("release", with("", Value::Null)),
        ("spawn", with("task", json!({ "title": "child" }))),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn who_gave_a_task_back_is_not_heard_any_more() {
    for server in servers().await {
        let (one, two) = (register(&server).await, register(&server).await);
        let task = make(&server, json!({ "title": "one" })).await;
        assert_eq!(claim(&server, &one).await.len(), 1);
        let path = |word: &str| format!("/api/v1/tasks/{task}/{word}");
        let release = json!({ "workerId": one, "attempt": 1 });
        data(server.post(&path("release"), release).await, reqwest::StatusCode::OK).await;
        assert_eq!(claim(&server, &two).await[0]["attempt"], 2, "{}", server.engine);
        for (word, body) in words(&one, 1) {
            failure(server.post(&path(word), body).await, 409, "task_lease_lost").await;
        }
        // Not even with the number of the attempt that another has.
        for (word, body) in words(&one, 2) {
            failure(server.post(&path(word), body).await, 409, "task_lease_lost").await;
        }
        let next = make(&server, json!({ "title": "next" })).await;
        let done = json!({ "workerId": two, "attempt": 2, "next": { "free": 1 } });
        let said = data(server.post(&path("complete"), done).await, reqwest::StatusCode::OK).await;
        assert_eq!(state(&server, &task).await["state"], "succeeded");
        assert_eq!((&said["state"], &said["tasks"][0]["id"]), (&json!("succeeded"), &json!(next)));
        assert_eq!(claim(&server, &one).await.len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_silent_for_too_long_is_not_heard_any_more() {
    for server in servers().await {
        let tables = match server.app.store.url() {
            DatabaseUrl::Sqlite(path) => Tables::Sqlite(path.clone()),
            DatabaseUrl::Postgres(url) => Tables::Postgres(url.clone()),
        };
        let (one, two) = (register(&server).await, register(&server).await);
        let retry = json!({ "maxAttempts": 2, "delayMs": 0 });
        let task = make(&server, json!({ "title": "one", "retry": retry })).await;
        assert_eq!(claim(&server, &one).await.len(), 1);
        // Half a minute later; a moment ago it may still have been heard of.
        let start = Instant::now();
        loop {
            silence(&tables, &one);
            let given = claim(&server, &two).await;
            if let Some(given) = given.first() {
                assert_eq!(given["attempt"], 2, "{}", server.engine);
                break;
            }
            assert!(start.elapsed() < SOON, "{}", state(&server, &task).await);
        }
        for (word, body) in words(&one, 1) {
            let answer = server.post(&format!("/api/v1/tasks/{task}/{word}"), body).await;
            let status = answer.status().as_u16();
            let code = if status == 404 { "worker_not_found" } else { "task_lease_lost" };
            failure(answer, status, code).await;
            assert!([404, 409].contains(&status), "{word}: {status}");
        }
        // It kills its worker each time, so it is a dead letter then.
        let start = Instant::now();
        while state(&server, &task).await["state"] != "dead" {
            silence(&tables, &two);
            assert!(start.elapsed() < SOON, "{}", state(&server, &task).await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(state(&server, &task).await["attempt"], 2);
    }
}
