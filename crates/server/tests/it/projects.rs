//! Projects over HTTP.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::harness::{data, failure, servers};

#[tokio::test(flavor = "multi_thread")]
async fn a_project_lives_with_versions_that_guard_against_lost_changes() {
    for server in servers().await {
        let answer = server
            .post("/api/v1/projects", json!({ "name": "payments" }))
            .await;
        assert_eq!(answer.headers()["etag"], "\"1\"");
        let place = answer.headers()["location"].to_str().unwrap().to_owned();
        let project = data(answer, StatusCode::CREATED).await;
        assert_eq!(
            place,
            format!("/api/v1/projects/{}", project["id"].as_str().unwrap())
        );
        let patch = |tag: &'static str, body| {
            server
                .request(Method::PATCH, &place)
                .header("if-match", tag)
                .json(&body)
                .send()
        };
        let changed = patch("\"1\"", json!({ "description": "money" }))
            .await
            .unwrap();
        assert_eq!(changed.headers()["etag"], "\"2\"");
        assert_eq!(data(changed, StatusCode::OK).await["description"], "money");
        failure(
            patch("\"1\"", json!({ "description": "late" }))
                .await
                .unwrap(),
            412,
            "version_mismatch",
        )
        .await;
        failure(
            patch("nonsense", json!({})).await.unwrap(),
            400,
            "invalid_header",
        )
        .await;
        let same = server
            .request(Method::GET, &place)
            .header("if-none-match", "\"2\"")
            .send()
            .await
            .unwrap();
        assert_eq!(same.status(), 304);
        assert_eq!(same.bytes().await.unwrap().len(), 0);
        data(
            server
                .post("/api/v1/projects", json!({ "name": "billing" }))
                .await,
            StatusCode::CREATED,
        )
        .await;
        let taken = server
            .request(Method::PATCH, &place)
            .json(&json!({ "name": "billing" }))
            .send()
            .await
            .unwrap();
        failure(taken, 409, "project_name_taken").await;
        let found = data(
            server
                .get(r#"/api/v1/projects?filter={"name":"billing"}"#)
                .await,
            StatusCode::OK,
        )
        .await;
        assert_eq!(found["items"].as_array().unwrap().len(), 1);
        let page = data(
            server.get("/api/v1/projects?limit=1&sort=-createdAt").await,
            StatusCode::OK,
        )
        .await;
        assert_eq!(page["items"][0]["name"], "billing");
        let cursor = page["pagination"]["cursor"].as_str().unwrap();
        let next = server
            .get(&format!(
                "/api/v1/projects?limit=1&sort=-createdAt&cursor={cursor}"
            ))
            .await;
        assert_eq!(
            data(next, StatusCode::OK).await["items"][0]["name"],
            "payments"
        );
        failure(
            server
                .get(&format!("/api/v1/projects?limit=1&cursor={cursor}"))
                .await,
            400,
            "invalid_cursor",
        )
        .await;
        let gone = server.request(Method::DELETE, &place).send().await.unwrap();
        assert_eq!(gone.status(), 204, "{}", server.engine);
        failure(server.get(&place).await, 404, "project_not_found").await;
        let log = data(
            server
                .get(r#"/api/v1/events?filter={"type":"project:*"}"#)
                .await,
            StatusCode::OK,
        )
        .await;
        let kinds: Vec<_> = log["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            [
                "project:delete",
                "project:create",
                "project:update",
                "project:create"
            ]
        );
    }
}
