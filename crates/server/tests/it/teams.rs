//! Teams over HTTP: their numbers, who works for them, and what can be changed while they work.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

async fn post(server: &Running, path: &str, body: Value, status: StatusCode) -> Value {
    data(server.post(&format!("/api/v1{path}"), body).await, status).await
}

/// Waits until a team has come to a state.
async fn becomes(server: &Running, path: &str, state: &str) {
    for _ in 0..400 {
        let team = data(server.get(path).await, StatusCode::OK).await;
        if team["state"] == state {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("{}: the team does not become {state}", server.engine)
}

/// Takes one piece of work and says that it cost so much.
async fn work(server: &Running, worker: &str, micros: i64) {
    let claim = json!({ "free": 1, "waitMs": 10_000 });
    let given = post(server, &format!("/workers/{worker}/claim"), claim, StatusCode::OK).await;
    let given = &given["tasks"][0];
    let path = format!("/tasks/{}/complete", given["id"].as_str().unwrap());
    let result = json!({ "costMicros": micros });
    let said = json!({ "workerId": worker, "attempt": given["attempt"], "result": result });
    post(server, &path, said, StatusCode::OK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_numbers_of_a_team_are_true_and_its_budget_can_be_raised() {
    for server in servers().await {
        let new = json!({ "name": "somebody" });
        let worker = post(&server, "/workers", new, StatusCode::CREATED).await;
        let worker = worker["id"].as_str().unwrap();
        let team = json!({
            "name": "sum", "roles": [{ "name": "adder" }], "size": 1,
            "items": [1, 2, 3, 4], "budgetMicros": 10,
        });
        let made = post(&server, "/teams", team, StatusCode::CREATED).await;
        let id = made["id"].as_str().unwrap();
        let path = format!("/api/v1/teams/{id}");
        post(&server, &format!("/teams/{id}/start"), json!({}), StatusCode::OK).await;
        work(&server, worker, 12).await;
        becomes(&server, &path, "paused").await;
        let numbers = data(server.get(&format!("{path}/metrics")).await, StatusCode::OK).await;
        assert_eq!(numbers["teamId"], id, "{}", server.engine);
        assert_eq!((&numbers["state"], &numbers["progress"]), (&json!("paused"), &json!(0.25)));
        assert_eq!((&numbers["spentMicros"], &numbers["fallbacks"]), (&json!(12), &json!(0)));
        assert_eq!(numbers["counts"]["succeeded"], 1);
        let refused = server.post(&format!("{path}/resume"), json!({})).await;
        let refused = failure(refused, 409, "run_state").await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("12 of 10"), "{refused}");
        let patch = |body: Value| server.request(Method::PATCH, &path).json(&body).send();
        failure(patch(json!({ "goal": "another" })).await.unwrap(), 409, "run_state").await;
        let raised = patch(json!({ "budgetMicros": 1_000 })).await.unwrap();
        let raised = data(raised, StatusCode::OK).await;
        assert_eq!((&raised["budgetMicros"], &raised["state"]), (&json!(1_000), &json!("paused")));
        post(&server, &format!("/teams/{id}/resume"), json!({}), StatusCode::OK).await;
        for _ in 0..3 {
            work(&server, worker, 1).await;
        }
        becomes(&server, &path, "completed").await;
        let later = json!({ "name": "later", "roles": [{ "name": "a" }], "size": 1, "items": [1] });
        post(&server, "/teams", later, StatusCode::CREATED).await;
        let newest = data(server.get("/api/v1/metrics/teams?limit=1").await, StatusCode::OK).await;
        assert_eq!(newest["items"][0]["name"], "later", "{newest}");
        let cursor = newest["pagination"]["cursor"].as_str().unwrap();
        let rest = format!("/api/v1/metrics/teams?limit=1&cursor={cursor}");
        let all = data(server.get(&rest).await, StatusCode::OK).await;
        let [numbers] = all["items"].as_array().unwrap().as_slice() else { panic!("{all}") };
        assert_eq!((&numbers["teamId"], &numbers["state"]), (&json!(id), &json!("completed")));
        assert_eq!((&numbers["spentMicros"], &numbers["progress"]), (&json!(15), &json!(1.0)));
        assert_eq!(numbers["counts"]["succeeded"], 4);
    }
}

/// What is told of a team, the first first.
async fn told(server: &Running, team: &str) -> Vec<String> {
    let path = r#"/api/v1/events?limit=100&sort=sequence&filter={"type":"team:*"}"#;
    let found = data(server.get(path).await, StatusCode::OK).await;
    let about = |event: &&Value| event["payload"]["team"] == team;
    let events = found["items"].as_array().unwrap().iter().filter(about);
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

/// Registers a worker.
async fn worker(server: &Running, name: &str) -> String {
    let new = json!({ "name": name, "capacity": 8 });
    let made = post(server, "/workers", new, StatusCode::CREATED).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Takes as many pieces of work as there are, up to a number.
async fn take(server: &Running, worker: &str, most: usize, wait_ms: u64) -> Vec<Value> {
    let claim = json!({ "free": most, "waitMs": wait_ms });
    let given = post(server, &format!("/workers/{worker}/claim"), claim, StatusCode::OK).await;
    given["tasks"].as_array().unwrap().clone()
}

/// Makes a team with so many pieces of work, of which some go on at once, and lets it begin.
async fn begun(server: &Running, items: usize, size: usize) -> String {
    let team = json!({ "name": "sum", "roles": [{ "name": "adder" }], "size": size,
        "items": (0..items).collect::<Vec<_>>() });
    let made = post(server, "/teams", team, StatusCode::CREATED).await;
    let id = made["id"].as_str().unwrap().to_owned();
    post(server, &format!("/teams/{id}/start"), json!({}), StatusCode::OK).await;
    id
}

/// Refuses all that a team which is over cannot do.
async fn is_over(server: &Running, id: &str, state: &str) {
    for verb in ["start", "pause", "resume", "complete", "cancel"] {
        let refused = server.post(&format!("/api/v1/teams/{id}/{verb}"), json!({})).await;
        let refused = failure(refused, 409, "run_state").await;
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.starts_with(&format!("a team that is {state} cannot be ")), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_team_begins_nothing_new_until_it_is_resumed() {
    for server in servers().await {
        let worker = worker(&server, "one").await;
        let id = begun(&server, 3, 1).await;
        let given = take(&server, &worker, 8, 10_000).await;
        assert_eq!(given.len(), 1, "{}: one works at once", server.engine);
        let paused = post(&server, &format!("/teams/{id}/pause"), json!({}), StatusCode::OK).await;
        assert_eq!((&paused["state"], &paused["id"]), (&json!("paused"), &json!(id)));
        let again = server.post(&format!("/api/v1/teams/{id}/pause"), json!({})).await;
        failure(again, 409, "run_state").await;
        // What has begun goes on.
        let said = json!({ "workerId": worker, "attempt": given[0]["attempt"], "result": {} });
        let path = format!("/tasks/{}/complete", given[0]["id"].as_str().unwrap());
        post(&server, &path, said, StatusCode::OK).await;
        let path = format!("/api/v1/teams/{id}");
        let mut looks = 0;
        while data(server.get(&path).await, StatusCode::OK).await["counts"]["succeeded"] != 1 {
            looks += 1;
            assert!(looks < 400, "{}: nobody notices that a piece is done", server.engine);
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        assert_eq!(take(&server, &worker, 8, 0).await, [] as [Value; 0], "it is paused");
        let resumed =
            post(&server, &format!("/teams/{id}/resume"), json!({}), StatusCode::OK).await;
        assert_eq!(resumed["state"], "running");
        assert_eq!(take(&server, &worker, 8, 10_000).await.len(), 1, "it goes on");
        let said = ["team:created", "team:started", "team:paused", "team:resumed"];
        assert_eq!(told(&server, &id).await, said);
        let nobody = format!("/api/v1/teams/{}/pause", uuid::Uuid::from_u128(7));
        failure(server.post(&nobody, json!({})).await, 404, "team_not_found").await;
        let (_, viewer) = server.user("viewer", "viewer").await;
        let refused = server.ask_as(&viewer, Method::POST, &format!("{path}/pause")).await;
        failure(refused, 403, "forbidden").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_is_said_to_be_done_or_is_cancelled_and_its_workers_are_told_to_stop() {
    for server in servers().await {
        let worker = worker(&server, "one").await;
        for (verb, state) in [("complete", "completed"), ("cancel", "cancelled")] {
            let id = begun(&server, 4, 2).await;
            assert_eq!(take(&server, &worker, 8, 10_000).await.len(), 2, "{}", server.engine);
            let path = format!("/teams/{id}/{verb}");
            let over = post(&server, &path, json!({}), StatusCode::OK).await;
            assert_eq!((&over["state"], &over["id"]), (&json!(state), &json!(id)));
            assert_eq!(over["counts"]["cancelled"], 4, "{over}");
            // What waited is called off; what runs is to stop.
            assert_eq!(take(&server, &worker, 8, 0).await, [] as [Value; 0]);
            let path = format!("/workers/{worker}/heartbeat");
            let beat = post(&server, &path, json!({}), StatusCode::OK).await;
            let held = beat["tasks"].as_array().unwrap();
            assert_eq!(held.len(), 2, "{beat}");
            for task in held {
                assert!(task["stop"].is_string(), "{task}");
                let said = json!({ "workerId": worker, "attempt": task["attempt"], "error": "x" });
                let path = format!("/tasks/{}/fail", task["taskId"].as_str().unwrap());
                let ended = post(&server, &path, said, StatusCode::OK).await;
                assert_eq!(ended["state"], "cancelled");
            }
            let run = over["runId"].as_str().unwrap();
            becomes(&server, &format!("/api/v1/runs/{run}"), "cancelled").await;
            is_over(&server, &id, state).await;
            let last = format!("team:{state}");
            assert_eq!(told(&server, &id).await, ["team:created", "team:started", &last]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agents_of_a_team_are_the_workers_that_have_its_tasks_now() {
    for server in servers().await {
        let (one, other) = (worker(&server, "one").await, worker(&server, "other").await);
        let idle = worker(&server, "idle").await;
        let id = begun(&server, 3, 3).await;
        let path = format!("/api/v1/teams/{id}/agents");
        let agents = async || data(server.get(&path).await, StatusCode::OK).await["items"].clone();
        assert_eq!(agents().await, json!([]), "{}", server.engine);
        let given = take(&server, &one, 2, 10_000).await;
        assert_eq!(given.len(), 2);
        assert_eq!(take(&server, &other, 2, 10_000).await.len(), 1);
        // Work for nobody's team is not counted.
        post(&server, "/tasks", json!({ "title": "alone" }), StatusCode::CREATED).await;
        assert_eq!(take(&server, &idle, 1, 10_000).await.len(), 1);
        let mut workers = [(&one, 2), (&other, 1)];
        workers.sort();
        let rows = workers.map(|(worker, tasks)| json!({ "workerId": worker, "tasks": tasks }));
        assert_eq!(agents().await, json!(rows));
        for piece in &given {
            let said = json!({ "workerId": one, "attempt": piece["attempt"], "result": {} });
            let path = format!("/tasks/{}/complete", piece["id"].as_str().unwrap());
            post(&server, &path, said, StatusCode::OK).await;
        }
        assert_eq!(agents().await, json!([{ "workerId": other, "tasks": 1 }]));
        let nobody = format!("/api/v1/teams/{}/agents", uuid::Uuid::from_u128(7));
        failure(server.get(&nobody).await, 404, "team_not_found").await;
        let stranger = server.other_tenant().await;
        let hidden = server.ask_as(&stranger, Method::GET, &path).await;
        failure(hidden, 404, "team_not_found").await;
    }
}
