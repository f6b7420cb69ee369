//! Settings that go from one tenant to another, and errors that name their field.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

const IMPORT: &str = "/api/v1/settings/import";

async fn import(server: &Running, settings: &Value, dry_run: bool) -> Value {
    let body = json!({ "settings": settings, "dryRun": dry_run });
    data(server.post(IMPORT, body).await, StatusCode::OK).await
}

fn document(projects: Value, budgets: Value) -> Value {
    json!({ "format": "godel-settings/1", "projects": projects, "budgets": budgets })
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_written_shown_as_changes_and_taken_in_once() {
    for server in servers().await {
        server.user("ann", "developer").await;
        let wanted = document(
            json!([{ "name": "web", "description": "The site", "limits": { "maxAgents": 3 } }]),
            json!([
                { "scope": "tenant", "period": "monthly", "capMicros": 200_000_000 },
                { "scope": "project:web", "period": "daily", "capMicros": 5_000_000, "warnPercent": 50 },
                { "scope": "user:ann", "period": "total", "capMicros": 1_000_000 },
            ]),
        );
        // A dry run tells everything and does nothing.
        let told = import(&server, &wanted, true).await;
        assert_eq!(told["applied"], json!(false));
        let names = |told: &Value| -> Vec<String> {
            let changes = told["changes"].as_array().unwrap().iter();
            changes.map(|change| change["name"].as_str().unwrap().to_owned()).collect()
        };
        let all = ["web", "tenant, monthly", "project:web, daily", "user:ann, total"];
        assert_eq!(names(&told), all);
        let before = data(server.get("/api/v1/settings").await, StatusCode::OK).await;
        assert_eq!((&before["projects"], &before["budgets"]), (&json!([]), &json!([])));
        let told = import(&server, &wanted, false).await;
        assert_eq!(
            (&told["applied"], names(&told)),
            (&json!(true), all.map(String::from).to_vec())
        );
        let after = data(server.get("/api/v1/settings").await, StatusCode::OK).await;
        assert_eq!(after["projects"], wanted["projects"], "{}", server.engine);
        assert_eq!(after["budgets"].as_array().unwrap().len(), 3);
        // What came out goes in and changes nothing.
        assert_eq!(names(&import(&server, &after, false).await), Vec::<String>::new());
        // A change names its fields, before and after; what is not named stays.
        let less = document(
            json!([{ "name": "web", "description": "The site", "limits": { "models": ["claude-*"] } }]),
            json!([]),
        );
        let told = import(&server, &less, false).await;
        assert_eq!(
            told["changes"],
            json!([{ "kind": "project", "name": "web", "isNew": false, "fields": [
                { "name": "maxAgents", "before": "3", "after": null },
                { "name": "models", "before": null, "after": "claude-*" },
            ] }])
        );
        let kept = data(server.get("/api/v1/budgets").await, StatusCode::OK).await;
        assert_eq!(kept["items"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_makes_no_sense_changes_nothing_and_holds_no_secret() {
    let server = servers().await.remove(0);
    let good = json!({ "name": "web" });
    let secret = json!({ "value": "sk-very-secret" });
    let path = "/api/v1/secrets/anthropic";
    let set = server.request(Method::PUT, path).json(&secret).send().await.unwrap();
    data(set, StatusCode::OK).await;
    for (settings, field) in [
        (json!({ "format": "other/1" }), "settings.format"),
        (document(json!([good, { "name": " x" }]), json!([])), "settings.projects"),
        (document(json!([good, good]), json!([])), "settings.projects"),
        (
            document(json!([good, { "name": "y", "limits": { "maxAgents": 0 } }]), json!([])),
            "settings.projects",
        ),
        (
            document(
                json!([good]),
                json!([{ "scope": "project:none", "period": "daily", "capMicros": 1 }]),
            ),
            "settings.budgets",
        ),
        (
            document(
                json!([good]),
                json!([{ "scope": "token:x", "period": "daily", "capMicros": 1 }]),
            ),
            "settings.budgets",
        ),
        (
            document(
                json!([good]),
                json!([{ "scope": "tenant", "period": "daily", "capMicros": 0 }]),
            ),
            "settings.budgets",
        ),
        (json!({ "format": "godel-settings/1", "secrets": [] }), "settings.secrets"),
    ] {
        let said = server.post(IMPORT, json!({ "settings": settings })).await;
        assert_eq!(said.status(), StatusCode::BAD_REQUEST, "{settings}");
        let said: Value = said.json().await.unwrap();
        assert_eq!(said["error"]["field"], json!(field), "{said}");
    }
    let after = data(server.get("/api/v1/settings").await, StatusCode::OK).await;
    assert_eq!(after["projects"], json!([]), "all of it is checked before the first change");
    assert!(!after.to_string().contains("very-secret"), "{after}");
    let (_, operator) = server.user("olga", "operator").await;
    failure(server.ask_as(&operator, Method::GET, "/api/v1/settings").await, 403, "forbidden")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_names_the_field_that_it_is_about() {
    let server = servers().await.remove(0);
    let project = |more: Value| {
        let mut whole = json!({ "name": "web" });
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        whole
    };
    let budget = json!({ "scope": "tenant", "period": "daily", "capMicros": 1 });
    let with = |name: &str, value: Value| {
        let mut budget = budget.clone();
        budget[name] = value;
        budget
    };
    data(server.post("/api/v1/projects", json!({ "name": "taken" })).await, StatusCode::CREATED)
        .await;
    for (method, path, body, field) in [
        (Method::POST, "/api/v1/projects", json!({ "name": " " }), json!("name")),
        (Method::POST, "/api/v1/projects", json!({ "name": "taken" }), json!("name")),
        (Method::POST, "/api/v1/projects", json!({}), json!("name")),
        (Method::POST, "/api/v1/projects", json!({ "name": 5 }), json!("name")),
        (Method::POST, "/api/v1/projects", project(json!({ "colour": 1 })), json!("colour")),
        (
            Method::POST,
            "/api/v1/projects",
            project(json!({ "limits": { "maxAgents": 0 } })),
            json!("limits.maxAgents"),
        ),
        (
            Method::POST,
            "/api/v1/projects",
            project(json!({ "limits": { "maxAgents": "many" } })),
            json!("limits.maxAgents"),
        ),
        (
            Method::POST,
            "/api/v1/projects",
            project(json!({ "repository": "not/absolute" })),
            json!("repository"),
        ),
        (Method::PUT, "/api/v1/budgets", with("scope", json!("nobody")), json!("scope")),
        (Method::PUT, "/api/v1/budgets", with("period", json!("hourly")), json!("period")),
        (Method::PUT, "/api/v1/budgets", with("capMicros", json!(0)), json!("capMicros")),
        (Method::PUT, "/api/v1/budgets", with("warnPercent", json!(101)), json!("warnPercent")),
        (Method::POST, "/api/v1/users", json!({ "name": "ann", "role": "boss" }), json!("role")),
        (
            Method::POST,
            "/api/v1/keys",
            json!({ "name": "ci", "scopes": ["everything"] }),
            json!("scopes"),
        ),
        (Method::PUT, "/api/v1/secrets/x", json!({ "value": "" }), json!("value")),
        (Method::POST, "/api/v1/agents", json!({}), json!("task")),
        // What is about no field names none.
        (Method::POST, "/api/v1/projects", json!([]), Value::Null),
    ] {
        let said = server.request(method, path).json(&body).send().await.unwrap();
        assert!(said.status().is_client_error(), "{path} {body}");
        let said: Value = said.json().await.unwrap();
        assert_eq!(said["error"]["field"], field, "{path} {body}: {said}");
    }
}
