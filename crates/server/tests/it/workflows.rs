//! Workflows over HTTP: what their steps are, and the longest way that is still ahead of a run.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

/// Two ways of different length to one end, and a step of its own.
const WAYS: &str = "
name: ways
steps:
  - { id: short, timer: 1h }
  - { id: long, timer: 3h }
  - { id: gate, dependsOn: [long], approval: { by: [role:admin] } }
  - { id: last, dependsOn: [short, gate], timer: 30m }
  - { id: alone }
";

async fn get(server: &Running, path: &str) -> Value {
    data(server.get(&format!("/api/v1{path}")).await, StatusCode::OK).await
}

async fn post(server: &Running, path: &str, body: Value, status: StatusCode) -> Value {
    data(server.post(&format!("/api/v1{path}"), body).await, status).await
}

/// Waits until a run is so.
async fn until(server: &Running, run: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut found = Value::Null;
    for _ in 0..400 {
        found = get(server, &format!("/runs/{run}")).await;
        if is_so(&found) {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("{}: {found}", server.engine)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_a_workflow_are_listed_with_the_wave_in_which_each_can_run() {
    for server in servers().await {
        let new = json!({ "source": WAYS });
        let made = post(&server, "/workflows", new, StatusCode::CREATED).await;
        let by_name = get(&server, "/workflows/ways/steps").await;
        let step = |id: &str, kind: &str, depends_on: &[&str], wave: u32| json!({ "id": id, "kind": kind, "dependsOn": depends_on, "wave": wave });
        let steps = json!({ "name": "ways", "steps": [
            step("short", "timer", &[], 1),
            step("long", "timer", &[], 1),
            step("gate", "approval", &["long"], 2),
            step("last", "timer", &["short", "gate"], 3),
            step("alone", "task", &[], 1),
        ] });
        assert_eq!(by_name, steps, "{}", server.engine);
        let path = format!("/workflows/{}/steps", made["id"].as_str().unwrap());
        assert_eq!(get(&server, &path).await, steps);
        // They are those of the text that is stored now.
        let changed = json!({ "source": "name: ways\nsteps:\n  - { id: one }\n" });
        let patch = server.request(reqwest::Method::PATCH, "/api/v1/workflows/ways").json(&changed);
        data(patch.send().await.unwrap(), StatusCode::OK).await;
        let now = get(&server, "/workflows/ways/steps").await;
        assert_eq!(now, json!({ "name": "ways", "steps": [step("one", "task", &[], 1)] }));
        let none = server.get("/api/v1/workflows/nobody/steps").await;
        failure(none, 404, "workflow_not_found").await;
        let other = server.other_tenant().await;
        let hidden = server.ask_as(&other, reqwest::Method::GET, "/api/v1/workflows/ways/steps");
        failure(hidden.await, 404, "workflow_not_found").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_tells_the_longest_way_that_is_ahead_and_how_long_that_is() {
    for server in servers().await {
        let new = json!({ "source": WAYS });
        let run = post(&server, "/runs", new, StatusCode::CREATED).await;
        let run = run["id"].as_str().unwrap().to_owned();
        let stands = get(&server, &format!("/runs/{run}")).await;
        assert_eq!(stands["criticalPath"], json!(["long", "gate", "last"]), "{}", server.engine);
        // Two timers, and a minute for a gate of which nobody knows how long it takes; a generous minute has
        // passed.
        let seconds = stands["remainingSeconds"].as_u64().unwrap();
        assert!((12_600..=12_660).contains(&seconds), "{seconds}");
        assert_eq!(stands["progress"], json!(0.0));
        // A step that is done is no way ahead.
        let worker = post(&server, "/workers", json!({ "name": "w" }), StatusCode::CREATED).await;
        let worker = worker["id"].as_str().unwrap();
        let ask = json!({ "free": 1, "waitMs": 10_000 });
        let given = post(&server, &format!("/workers/{worker}/claim"), ask, StatusCode::OK).await;
        let given = &given["tasks"][0];
        let said = json!({ "workerId": worker, "attempt": given["attempt"], "result": {} });
        let path = format!("/tasks/{}/complete", given["id"].as_str().unwrap());
        post(&server, &path, said, StatusCode::OK).await;
        let stands = until(&server, &run, |run| run["counts"]["succeeded"] == 1).await;
        assert_eq!(stands["criticalPath"], json!(["long", "gate", "last"]));
        assert_eq!(stands["progress"], json!(0.2));
        // What is over has nothing ahead.
        post(&server, &format!("/runs/{run}/cancel"), json!({}), StatusCode::OK).await;
        let over = until(&server, &run, |run| run["state"] == "cancelled").await;
        assert_eq!((&over["criticalPath"], &over["remainingSeconds"]), (&json!([]), &json!(0)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_ahead_becomes_shorter_with_each_step() {
    const CHAIN: &str = "
name: chain
steps:
  - { id: first, timer: 1ms }
  - { id: gate, dependsOn: [first], approval: {} }
  - { id: last, dependsOn: [gate], timer: 2h }
";
    for server in servers().await {
        let new = json!({ "source": CHAIN });
        let run = post(&server, "/runs", new, StatusCode::CREATED).await;
        let run = run["id"].as_str().unwrap().to_owned();
        let asked = until(&server, &run, |run| {
            run["counts"]["waiting"] == 1 && run["counts"]["succeeded"] == 1
        })
        .await;
        assert_eq!(asked["criticalPath"], json!(["gate", "last"]), "{}", server.engine);
        let said = json!({ "step": "gate", "approve": true });
        post(&server, &format!("/runs/{run}/answer"), said, StatusCode::OK).await;
        let stands = until(&server, &run, |run| run["counts"]["succeeded"] == 2).await;
        assert_eq!(stands["criticalPath"], json!(["last"]));
        let seconds = stands["remainingSeconds"].as_u64().unwrap();
        assert!((7_140..=7_200).contains(&seconds), "{seconds}");
    }
}
