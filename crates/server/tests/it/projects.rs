//! Projects over HTTP.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, failure, servers};

/// Makes a project and returns its path.
async fn make(server: &Running, name: &str) -> String {
    let answer = server.post("/api/v1/projects", json!({ "name": name })).await;
    assert_eq!(answer.headers()["etag"], "\"1\"");
    let place = answer.headers()["location"].to_str().unwrap().to_owned();
    let project = data(answer, StatusCode::CREATED).await;
    assert_eq!(place, format!("/api/v1/projects/{}", project["id"].as_str().unwrap()));
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_guard_against_lost_changes() {
    for server in servers().await {
        let place = make(&server, "payments").await;
        let patch = |tag: &'static str, body| {
            server.request(Method::PATCH, &place).header("if-match", tag).json(&body).send()
        };
        let changed = patch("\"1\"", json!({ "description": "money" })).await.unwrap();
        assert_eq!(changed.headers()["etag"], "\"2\"");
        assert_eq!(data(changed, StatusCode::OK).await["description"], "money");
        let late = patch("\"1\"", json!({ "description": "late" })).await.unwrap();
        failure(late, 412, "version_mismatch").await;
        failure(patch("nonsense", json!({})).await.unwrap(), 400, "invalid_header").await;
        let same = server.request(Method::GET, &place).header("if-none-match", "\"2\"");
        let same = same.send().await.unwrap();
        assert_eq!(same.status(), 304);
        assert_eq!(same.bytes().await.unwrap().len(), 0);
        make(&server, "billing").await;
        let taken = server.request(Method::PATCH, &place).json(&json!({ "name": "billing" }));
        failure(taken.send().await.unwrap(), 409, "project_name_taken").await;
        let gone = server.request(Method::DELETE, &place).send().await.unwrap();
        assert_eq!(gone.status(), 204, "{}", server.engine);
        failure(server.get(&place).await, 404, "project_not_found").await;
        let log = server.get(r#"/api/v1/events?filter={"type":"project:*"}"#).await;
        let log = data(log, StatusCode::OK).await;
        let kinds: Vec<_> = log["items"].as_array().unwrap().iter().map(|e| &e["type"]).collect();
        let told = ["project:delete", "project:create", "project:update", "project:create"];
        assert_eq!(kinds, told.map(Value::from).iter().collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_are_compared_as_http_says() {
    for server in servers().await {
        let place = make(&server, "payments").await;
        let patch = |tag: &'static str, body| {
            server.request(Method::PATCH, &place).header("if-match", tag).json(&body).send()
        };
        assert_eq!(patch("\"1\"", json!({})).await.unwrap().status(), 200);
        for foreign in ["W/\"2\"", "\"1\", \"7\"", "\"another-server\"", "\"\"", "W/\"x\",\"02\""] {
            let refused = patch(foreign, json!({ "description": "late" })).await.unwrap();
            failure(refused, 412, "version_mismatch").await;
        }
        for malformed in ["nonsense", "2", "\"2", "*, \"2\"", ""] {
            failure(patch(malformed, json!({})).await.unwrap(), 400, "invalid_header").await;
        }
        for fine in ["*", "\"1\", \"3\"", "\"x\" , \"4\""] {
            assert_eq!(patch(fine, json!({})).await.unwrap().status(), 200, "{fine}");
        }
        let now = server.get(&place).await.headers()["etag"].to_str().unwrap().to_owned();
        for same in [now.clone(), format!("\"x\", W/{now}"), "*".to_owned()] {
            let saved = server.request(Method::GET, &place).header("if-none-match", same);
            assert_eq!(saved.send().await.unwrap().status(), 304);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn projects_are_listed_by_name_and_by_age() {
    for server in servers().await {
        make(&server, "payments").await;
        make(&server, "billing").await;
        let found = server.get(r#"/api/v1/projects?filter={"name":"billing"}"#).await;
        let found = data(found, StatusCode::OK).await;
        assert_eq!(found["items"].as_array().unwrap().len(), 1);
        let page = server.get("/api/v1/projects?limit=1&sort=-createdAt").await;
        let page = data(page, StatusCode::OK).await;
        assert_eq!(page["items"][0]["name"], "billing");
        let cursor = page["pagination"]["cursor"].as_str().unwrap();
        let next = format!("/api/v1/projects?limit=1&sort=-createdAt&cursor={cursor}");
        let next = data(server.get(&next).await, StatusCode::OK).await;
        assert_eq!(next["items"][0]["name"], "payments");
        assert_eq!(next["pagination"]["hasMore"], false);
        let other_order = format!("/api/v1/projects?limit=1&cursor={cursor}");
        failure(server.get(&other_order).await, 400, "invalid_cursor").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_monthly_budget_of_a_project_is_one_thing_wherever_it_is_set() {
    for server in servers().await {
        let new = json!({ "name": "pay", "limits": { "monthlyBudgetMicros": 5_000_000 } });
        let project = data(server.post("/api/v1/projects", new).await, StatusCode::CREATED).await;
        let id = project["id"].as_str().unwrap();
        let path = format!("/api/v1/projects/{id}");
        let budgets = async || {
            let found = data(server.get("/api/v1/budgets").await, StatusCode::OK).await;
            found["items"].as_array().unwrap().clone()
        };
        assert_eq!(budgets().await[0]["capMicros"], 5_000_000);
        let set = json!({ "scope": format!("project:{id}"), "period": "monthly", "capMicros": 7_000_000 });
        let set = server.request(Method::PUT, "/api/v1/budgets").json(&set).send().await.unwrap();
        let set = data(set, StatusCode::OK).await;
        let project = data(server.get(&path).await, StatusCode::OK).await;
        assert_eq!(project["limits"]["monthlyBudgetMicros"], 7_000_000);
        // A change of something else leaves it.
        let patch = server.request(Method::PATCH, &path).json(&json!({ "description": "x" }));
        data(patch.send().await.unwrap(), StatusCode::OK).await;
        assert_eq!(budgets().await[0]["capMicros"], 7_000_000);
        let gone = format!("/api/v1/budgets/{}", set["id"].as_str().unwrap());
        let gone = server.request(Method::DELETE, &gone).send().await.unwrap();
        assert_eq!(gone.status(), StatusCode::NO_CONTENT);
        let project = data(server.get(&path).await, StatusCode::OK).await;
        assert_eq!(project["limits"]["monthlyBudgetMicros"], json!(null));
        assert!(budgets().await.is_empty());
    }
}
