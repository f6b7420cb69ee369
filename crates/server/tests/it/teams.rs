//! Teams over HTTP: their numbers, and what can be changed while they work.

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
