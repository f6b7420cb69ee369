//! Intents over HTTP, on both engines: planned, asked back, started once, put aside.

use std::process::Command;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

/// Makes a repository with two things of one name, and lets a server know it.
async fn known(server: &Running) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
        let mut git = Command::new("git");
        assert!(
            git.current_dir(folder.path()).args(who).args(arguments).status().unwrap().success()
        );
    };
    git(&["init", "-q", "-b", "main"]);
    for path in
        ["cmd/mailer/main.go", "internal/mailer/mailer.go", "internal/store/store.go", "go.mod"]
    {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "package main // and more of it\n".repeat(40)).unwrap();
    }
    git(&["add", "--all"]);
    git(&["commit", "-q", "-m", "first"]);
    let body = json!({ "name": "app", "repository": folder.path() });
    data(server.post("/api/v1/projects", body).await, StatusCode::CREATED).await;
    folder
}

async fn ask(server: &Running, body: Value) -> Value {
    data(server.post("/api/v1/intents", body).await, StatusCode::CREATED).await
}

async fn count(server: &Running, path: &str) -> usize {
    data(server.get(path).await, StatusCode::OK).await["items"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_shown_and_started_once_and_tells_of_itself() {
    for server in servers().await {
        let _folder = known(&server).await;
        let text = "Fix the crash in the store, then document it";
        let intent =
            ask(&server, json!({ "text": text, "rules": true, "budgetMicros": 9_000_000 })).await;
        assert_eq!((&intent["state"], &intent["type"]), (&json!("planned"), &json!("custom")));
        let plan = &intent["plan"];
        assert_eq!(
            (&plan["by"], &plan["waves"]),
            (&json!("rules"), &json!([["b1"], ["b2"], ["b3"]]))
        );
        assert!(plan["beads"][0]["title"].as_str().unwrap().contains("failing test"), "{plan:#}");
        let repository = &intent["repository"];
        assert_eq!(
            (&repository["files"], &repository["testCommand"]),
            (&json!(4), &json!("go test ./..."))
        );
        assert_eq!(intent["complexity"]["factors"].as_object().unwrap().len(), 5);
        assert_eq!(intent["team"]["strategy"], "pipeline");
        let range = &intent["estimate"]["cost"];
        assert!(
            range["low"].as_u64() <= range["middle"].as_u64()
                && range["middle"].as_u64() <= range["high"].as_u64()
        );
        assert!(intent["convoy"].is_null(), "{intent:#}");
        assert_eq!(
            (count(&server, "/api/v1/beads").await, count(&server, "/api/v1/agents").await),
            (0, 0)
        );
        let path = format!("/api/v1/intents/{}", intent["id"].as_str().unwrap());
        let begin = async || {
            let body = json!({ "model": "nobody-has-it" });
            data(server.post(&format!("{path}/start"), body).await, StatusCode::OK).await
        };
        let (one, two) = tokio::join!(begin(), begin());
        assert_eq!((&one["state"], &one["convoy"]), (&json!("started"), &two["convoy"]));
        assert_eq!(begin().await["convoy"], one["convoy"]);
        assert_eq!(
            (count(&server, "/api/v1/beads").await, count(&server, "/api/v1/convoys").await),
            (3, 1)
        );
        let convoy = format!("/api/v1/convoys/{}/waves", one["convoy"].as_str().unwrap());
        let waves = data(server.get(&convoy).await, StatusCode::OK).await;
        let ids: Vec<&Value> =
            waves["waves"].as_array().unwrap().iter().map(|wave| &wave[0]["id"]).collect();
        let planned: Vec<&Value> =
            plan["beads"].as_array().unwrap().iter().map(|bead| &bead["bead"]).collect();
        assert_eq!(ids, planned);
        let gone = server.request(Method::DELETE, &path).send().await.unwrap();
        failure(gone, 409, "intent_state").await;
        let events = r#"/api/v1/events?limit=100&filter={"type":["intent:*"]}"#;
        let events = data(server.get(events).await, StatusCode::OK).await;
        let kinds: Vec<&Value> =
            events["items"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
        assert_eq!(kinds, [&json!("intent:started"), &json!("intent:planned")]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_plain_is_one_question_and_what_is_wrong_is_refused() {
    for server in servers().await {
        let _folder = known(&server).await;
        let intent = ask(&server, json!({ "text": "Fix the mailer", "rules": true })).await;
        assert_eq!(
            (&intent["state"], &intent["question"]["about"]),
            (&json!("asking"), &json!("part"))
        );
        let path = format!("/api/v1/intents/{}", intent["id"].as_str().unwrap());
        failure(server.post(&format!("{path}/start"), json!({})).await, 409, "intent_state").await;
        let place = format!("{path}/answer");
        let answer = |value: &str| server.post(&place, json!({ "answer": value }));
        failure(answer("neither").await, 400, "invalid_field").await;
        let settled = data(answer("internal/mailer").await, StatusCode::OK).await;
        assert_eq!(settled["state"], "planned", "{settled:#}");
        assert_eq!(settled["plan"]["beads"][0]["files"], json!(["internal/mailer"]));
        failure(answer("internal/mailer").await, 409, "intent_state").await;
        let gone = server.request(Method::DELETE, &path).send().await.unwrap();
        assert_eq!(data(gone, StatusCode::OK).await["state"], "cancelled");
        failure(server.post(&format!("{path}/start"), json!({})).await, 409, "intent_state").await;
        for text in ["".to_owned(), " \u{200b}\n".to_owned(), "x".repeat(40_000)] {
            failure(
                server.post("/api/v1/intents", json!({ "text": text })).await,
                400,
                "invalid_field",
            )
            .await;
        }
        let wide = json!({ "text": "Fix the store", "tools": ["*"] });
        failure(server.post("/api/v1/intents", wide).await, 400, "invalid_field").await;
        failure(server.get("/api/v1/intents/nothing").await, 404, "intent_not_found").await;
        // What a text says of agents and money is less than what is allowed, or counts for nothing.
        let text = "Use 500 agents to fix the store for $90000";
        let greedy =
            ask(&server, json!({ "text": text, "rules": true, "budgetMicros": 2_000_000 })).await;
        assert_eq!(
            (&greedy["budgetMicros"], &greedy["team"]["size"]),
            (&json!(2_000_000), &json!(1)),
            "{greedy:#}"
        );
        let poor =
            ask(&server, json!({ "text": "Fix the store", "rules": true, "budgetMicros": 1 }))
                .await;
        let path = format!("/api/v1/intents/{}/start", poor["id"].as_str().unwrap());
        failure(server.post(&path, json!({})).await, 409, "budget_too_small").await;
        let said = ask(&server, json!({ "text": "What is going on?" })).await;
        assert_eq!(said["state"], "answered");
        assert!(said["words"][0].as_str().unwrap().contains("nothing is going on"), "{said:#}");
        assert_eq!(
            (count(&server, "/api/v1/beads").await, count(&server, "/api/v1/agents").await),
            (0, 0)
        );
    }
}
