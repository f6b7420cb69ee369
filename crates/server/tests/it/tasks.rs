//! Tasks over HTTP: one that is meant for one worker alone, and dead letters that are removed.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

async fn post(server: &Running, path: &str, body: Value, status: StatusCode) -> Value {
    data(server.post(&format!("/api/v1{path}"), body).await, status).await
}

async fn worker(server: &Running, name: &str, pool: &str) -> String {
    let new = json!({ "name": name, "pool": pool, "capacity": 4 });
    let made = post(server, "/workers", new, StatusCode::CREATED).await;
    made["id"].as_str().unwrap().to_owned()
}

async fn task(server: &Running, new: Value) -> String {
    let made = post(server, "/tasks", new, StatusCode::CREATED).await;
    made["id"].as_str().unwrap().to_owned()
}

async fn show(server: &Running, task: &str) -> Value {
    data(server.get(&format!("/api/v1/tasks/{task}")).await, StatusCode::OK).await
}

/// The ids of what a worker gets now.
async fn claim(server: &Running, worker: &str) -> Vec<String> {
    let ask = json!({ "free": 4, "waitMs": 0 });
    let given = post(server, &format!("/workers/{worker}/claim"), ask, StatusCode::OK).await;
    let id = |task: &Value| task["id"].as_str().unwrap().to_owned();
    given["tasks"].as_array().unwrap().iter().map(id).collect()
}

/// What was told of a task, the first first.
async fn told(server: &Running, task: &str) -> Vec<String> {
    let path = r#"/api/v1/events?limit=100&sort=sequence&filter={"type":"task:*"}"#;
    let found = data(server.get(path).await, StatusCode::OK).await;
    let about = |event: &&Value| event["payload"]["task"] == task;
    let events = found["items"].as_array().unwrap().iter().filter(about);
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_assigned_goes_to_that_worker_alone() {
    for server in servers().await {
        let one = worker(&server, "one", "ci").await;
        // Also to one that works in another pool.
        let other = worker(&server, "other", "gpu").await;
        let (meant, free) = (
            task(&server, json!({ "title": "meant", "pool": "ci" })).await,
            task(&server, json!({ "title": "free", "pool": "ci" })).await,
        );
        let assign = format!("/tasks/{meant}/assign");
        let to = |worker: &str| json!({ "workerId": worker });
        let assigned = post(&server, &assign, to(&other), StatusCode::OK).await;
        assert_eq!(
            (&assigned["id"], &assigned["state"], &assigned["attempt"]),
            (&json!(meant), &json!("ready"), &json!(0)),
            "{}",
            server.engine
        );
        assert_eq!(claim(&server, &one).await, [free], "the other task is not for it");
        assert_eq!(claim(&server, &other).await, [meant.as_str()]);
        assert_eq!(show(&server, &meant).await["workerId"], json!(other));
        let events = ["task:queued", "task:assigned", "task:started"];
        assert_eq!(told(&server, &meant).await, events);
        // One that runs is not taken away.
        let path = format!("/api/v1{assign}");
        let refused = failure(server.post(&path, to(&one)).await, 409, "task_state").await;
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("is running; only one that is ready or delayed"), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_goes_back_to_all_when_its_worker_leaves_before_it_has_it() {
    for server in servers().await {
        let (one, leaver) = (worker(&server, "one", "ci").await, worker(&server, "l", "ci").await);
        let later = json!({ "title": "later", "pool": "ci", "startAt": "2100-01-01T00:00:00Z" });
        let (ready, later) = (
            task(&server, json!({ "title": "ready", "pool": "ci" })).await,
            task(&server, later).await,
        );
        for (task, state) in [(&ready, "ready"), (&later, "delayed")] {
            let path = format!("/tasks/{task}/assign");
            let assigned =
                post(&server, &path, json!({ "workerId": leaver }), StatusCode::OK).await;
            assert_eq!(assigned["state"], state, "{}", server.engine);
        }
        assert_eq!(claim(&server, &one).await, [] as [&str; 0]);
        let left = server.request(Method::DELETE, &format!("/api/v1/workers/{leaver}"));
        assert!(left.send().await.unwrap().status().is_success());
        assert_eq!(claim(&server, &one).await, [ready.as_str()]);
        let events = ["task:queued", "task:assigned", "task:unassigned", "task:started"];
        assert_eq!(told(&server, &ready).await, events);
        // Who has left gets nothing more.
        let path = format!("/api/v1/tasks/{later}/assign");
        let gone = server.post(&path, json!({ "workerId": leaver })).await;
        failure(gone, 404, "worker_not_found").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_assigned_that_is_not_there_or_by_who_may_not() {
    for server in servers().await {
        let one = worker(&server, "one", "ci").await;
        let id = task(&server, json!({ "title": "one", "pool": "ci" })).await;
        let path = format!("/api/v1/tasks/{id}/assign");
        let nobody = uuid::Uuid::from_u128(7);
        let none = format!("/api/v1/tasks/{nobody}/assign");
        failure(server.post(&none, json!({ "workerId": one })).await, 404, "task_not_found").await;
        let refused = server.post(&path, json!({ "workerId": nobody })).await;
        failure(refused, 404, "worker_not_found").await;
        assert_eq!(server.post(&path, json!({})).await.status(), StatusCode::BAD_REQUEST);
        let (_, viewer) = server.user("viewer", "viewer").await;
        let other = server.other_tenant().await;
        for (key, status, code) in [(&viewer, 403, "forbidden"), (&other, 404, "worker_not_found")]
        {
            let asked = server.http.post(format!("{}{path}", server.url)).bearer_auth(key);
            let refused = asked.json(&json!({ "workerId": one })).send().await.unwrap();
            failure(refused, status, code).await;
        }
        assert_eq!(claim(&server, &one).await, [id.as_str()], "{}", server.engine);
        assert_eq!(told(&server, &id).await, ["task:queued", "task:started"]);
    }
}

/// Lets a task die; returns its id.
async fn let_die(server: &Running, worker: &str, title: &str) -> String {
    let new = json!({ "title": title, "pool": "ci", "retry": { "maxAttempts": 1 } });
    let id = task(server, new).await;
    assert_eq!(claim(server, worker).await, [id.as_str()]);
    let said = json!({ "workerId": worker, "attempt": 1, "error": "no" });
    post(server, &format!("/tasks/{id}/fail"), said, StatusCode::OK).await;
    id
}

async fn dead(server: &Running) -> Vec<String> {
    let found = data(server.get("/api/v1/dead-letters").await, StatusCode::OK).await;
    let id = |task: &Value| task["id"].as_str().unwrap().to_owned();
    found["items"].as_array().unwrap().iter().map(id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_is_removed_for_good_by_who_may_and_that_is_on_record() {
    for server in servers().await {
        let one = worker(&server, "one", "ci").await;
        let (kept, gone) =
            (let_die(&server, &one, "kept").await, let_die(&server, &one, "gone").await);
        let path = format!("/api/v1/dead-letters/{gone}");
        let (_, developer) = server.user("dev", "developer").await;
        let (_, operator) = server.user("operator", "operator").await;
        let stranger = server.other_tenant().await;
        for (key, status, code) in
            [(&developer, 403, "forbidden"), (&stranger, 404, "task_not_found")]
        {
            failure(server.ask_as(key, Method::DELETE, &path).await, status, code).await;
        }
        assert_eq!(dead(&server).await, [gone.as_str(), kept.as_str()], "{}", server.engine);
        let answer = server.ask_as(&operator, Method::DELETE, &path).await;
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
        assert_eq!(dead(&server).await, [kept.as_str()]);
        let again = server.ask_as(&operator, Method::DELETE, &path).await;
        failure(again, 404, "task_not_found").await;
        let found = server.get(&format!("/api/v1/tasks/{gone}")).await;
        failure(found, 404, "task_not_found").await;
        let events = ["task:queued", "task:started", "task:dead", "task:deleted"];
        assert_eq!(told(&server, &gone).await, events);
        let acts = server.get(r#"/api/v1/audit?filter={"action":"task:deleted"}"#).await;
        let acts = data(acts, StatusCode::OK).await;
        let [act] = acts["items"].as_array().unwrap().as_slice() else { panic!("{acts}") };
        assert_eq!(act["resource"], json!(format!("task/{gone}")), "{act}");
        // What is no dead letter stays where it is.
        let id = task(&server, json!({ "title": "waits", "pool": "ci" })).await;
        let refused = server.request(Method::DELETE, &format!("/api/v1/dead-letters/{id}"));
        let refused = failure(refused.send().await.unwrap(), 409, "task_state").await;
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.ends_with("is ready; only one that is dead can be removed"), "{why}");
        assert_eq!(show(&server, &id).await["state"], "ready");
    }
}
