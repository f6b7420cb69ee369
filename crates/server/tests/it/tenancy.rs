//! Two tenants on every route: no leak.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Running, data, servers};

/// A text that only the first tenant's data holds.
const MARK: &str = "zebra-crossing-7391";

/// Fills in the path of an operation with ids of the first tenant.
fn fill(path: &str, event: &str, project: &str) -> String {
    let id = if path.contains("/projects/") { project } else { event };
    path.replace("{id}", id)
}

async fn ask(server: &Running, method: &Method, path: &str, key: &str) -> (StatusCode, String) {
    let mut request = server
        .http
        .request(method.clone(), format!("{}{path}", server.url))
        .header("x-api-key", key)
        .timeout(std::time::Duration::from_secs(2));
    if *method == Method::POST || *method == Method::PATCH {
        let body = if path.contains("/projects") {
            json!({ "name": "theirs" })
        } else {
            json!({ "type": "test:theirs" })
        };
        request = request.json(&body);
    }
    match request.send().await {
        Ok(mut answer) => {
            let status = answer.status();
            let mut text = String::new();
            // A stream does not end: what comes within the time is looked at.
            while let Ok(Some(chunk)) = answer.chunk().await {
                text.push_str(&String::from_utf8_lossy(&chunk));
            }
            (status, text)
        }
        Err(error) => panic!("{method} {path}: {error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_shows_one_tenant_what_another_one_has() {
    for server in servers().await {
        let other = server.other_tenant().await;
        let project = json!({ "name": MARK, "description": MARK });
        let project =
            data(server.post("/api/v1/projects", project).await, StatusCode::CREATED).await;
        let event = json!({ "type": "test:mine", "payload": { "mark": MARK } });
        let event = data(server.post("/api/v1/events", event).await, StatusCode::CREATED).await;
        let (event, project) = (event["id"].as_str().unwrap(), project["id"].as_str().unwrap());
        let document: Value = serde_json::from_str(&godel_server::openapi_json()).unwrap();
        let mut walked = 0;
        for (template, item) in document["paths"].as_object().unwrap() {
            for (verb, operation) in item.as_object().unwrap() {
                let method: Method = verb.to_uppercase().parse().unwrap();
                let mut path = fill(template, event, project);
                if template.ends_with("/stream") {
                    path.push_str("?after=0");
                }
                let (status, text) = ask(&server, &method, &path, &other).await;
                assert!(!text.contains(MARK), "{}: {method} {path} leaks: {text}", server.engine);
                if template.contains("{id}") {
                    assert_eq!(status, 404, "{}: {method} {path}: {text}", server.engine);
                }
                let public = operation["security"] == json!([{}]);
                let (nobody, _) = ask(&server, &method, &path, "godel_sk_nobody").await;
                assert_eq!(nobody == 401, !public, "{method} {path} for a stranger: {nobody}");
                walked += 1;
            }
        }
        assert!(walked >= 25, "only {walked} operations were walked");
        // And the first tenant's data is still as it was.
        let still =
            data(server.get(&format!("/api/v1/projects/{project}")).await, StatusCode::OK).await;
        assert_eq!((still["name"].as_str(), still["version"].as_i64()), (Some(MARK), Some(1)));
    }
}
