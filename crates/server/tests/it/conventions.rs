//! The conventions that hold for every path.

use godel_decide::Limit;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{data, failure, server_with, servers};

#[tokio::test(flavor = "multi_thread")]
async fn events_are_published_found_and_listed_page_by_page() {
    for server in servers().await {
        let mut ids = Vec::new();
        for n in 0..45 {
            let kind = if n % 2 == 0 { "agent:start" } else { "crew:start" };
            let body = json!({ "type": kind, "payload": { "n": n }, "metadata": { "correlationId": "c1", "refs": { "agentId": "a1" } }, "instance": "i1" });
            ids.push(data(server.post("/api/v1/events", body).await, StatusCode::CREATED).await);
        }
        let one = data(
            server.get(&format!("/api/v1/events/{}", ids[7]["id"].as_str().unwrap())).await,
            StatusCode::OK,
        )
        .await;
        assert_eq!(one, ids[7], "{}", server.engine);
        assert_eq!(one["payload"], json!({ "n": 7 }));
        assert_eq!(one["metadata"]["agentId"], "a1");
        assert_eq!(one["metadata"]["actor"], "user:owner");
        assert_eq!(one["source"], json!({ "component": "api", "instance": "i1" }));
        let query = r#"/api/v1/events?sort=sequence&filter={"type":["agent:*","crew:*"],"correlationId":"c1"}"#;
        let mut listed: Vec<Value> = Vec::new();
        let mut path = query.to_owned();
        loop {
            let page = data(server.get(&path).await, StatusCode::OK).await;
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= 20);
            listed.extend(items.iter().cloned());
            match page["pagination"]["cursor"].as_str() {
                Some(cursor) => path = format!("{query}&cursor={cursor}"),
                None => break assert_eq!(page["pagination"]["hasMore"], false),
            }
        }
        assert_eq!(listed, ids, "{}", server.engine);
        let newest = data(server.get("/api/v1/events?limit=1").await, StatusCode::OK).await;
        assert_eq!(newest["items"][0], ids[44]);
        assert_eq!(newest["pagination"]["hasMore"], true);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_with_an_idempotency_key_is_carried_out_once() {
    for server in servers().await {
        let publish = |key: &str, n: i64| {
            server
                .request(Method::POST, "/api/v1/events")
                .header("idempotency-key", key)
                .json(&json!({ "type": "test:once", "payload": { "n": n } }))
                .send()
        };
        let first = data(publish("k1", 1).await.unwrap(), StatusCode::CREATED).await;
        let again = data(publish("k1", 1).await.unwrap(), StatusCode::CREATED).await;
        assert_eq!(first, again, "{}", server.engine);
        failure(publish("k1", 2).await.unwrap(), 409, "idempotency_key_reused").await;
        // Many at the same moment: one event all the same.
        let mut racing = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let request = publish("k2", 3);
            racing.spawn(async move {
                data(request.await.unwrap(), StatusCode::CREATED).await["id"].clone()
            });
        }
        let ids = racing.join_all().await;
        assert!(ids.iter().all(|id| *id == ids[0]), "{}: {ids:?}", server.engine);
        let project = |key: &str| {
            let request =
                server.request(Method::POST, "/api/v1/projects").header("idempotency-key", key);
            request.json(&json!({ "name": "once" })).send()
        };
        let made = data(project("p1").await.unwrap(), StatusCode::CREATED).await;
        assert_eq!(data(project("p1").await.unwrap(), StatusCode::CREATED).await, made);
        failure(project("p2").await.unwrap(), 409, "project_name_taken").await;
        let too_long = server
            .request(Method::POST, "/api/v1/events")
            .header("idempotency-key", "x".repeat(201));
        failure(
            too_long.json(&json!({ "type": "a:b" })).send().await.unwrap(),
            400,
            "invalid_header",
        )
        .await;
    }
}

#[tokio::test]
async fn the_older_path_is_the_same_and_says_that_it_goes() {
    let server = server_with(|_| {}).await;
    server.publish("test:one").await;
    let (new, old) = (server.get("/api/v1/events").await, server.get("/api/events").await);
    assert!(new.headers().get("deprecation").is_none());
    assert!(old.headers()["deprecation"].to_str().unwrap().starts_with('@'));
    assert!(old.headers()["sunset"].to_str().unwrap().ends_with("GMT"));
    assert_eq!(old.headers()["link"], "</api/v1/events>; rel=\"successor-version\"");
    assert_eq!(new.text().await.unwrap(), old.text().await.unwrap());
    for path in
        ["/api/v1/openapi.json", "/api/openapi.json", "/api/v1/health", "/api/health", "/health"]
    {
        assert_eq!(
            server.http.get(format!("{}{path}", server.url)).send().await.unwrap().status(),
            200,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_request_keeps_its_name_and_its_trace() {
    let server = server_with(|_| {}).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let answer = server
        .request(Method::POST, "/api/v1/events")
        .header("x-request-id", "my-request.1")
        .header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"))
        .json(&json!({ "type": "test:traced" }))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["x-request-id"], "my-request.1");
    let traceparent = answer.headers()["traceparent"].to_str().unwrap().to_owned();
    assert!(
        traceparent.starts_with(&format!("00-{trace}-"))
            && !traceparent.contains("00f067aa0ba902b7")
    );
    assert_eq!(data(answer, StatusCode::CREATED).await["metadata"]["traceId"], trace);
    let hostile = server
        .request(Method::GET, "/api/v1/events")
        .header("x-request-id", "a b\"c")
        .send()
        .await
        .unwrap();
    assert_ne!(hostile.headers()["x-request-id"], "a b\"c");
}

#[tokio::test]
async fn a_caller_beyond_its_rate_is_told_when_to_come_back() {
    let slow = Limit { per_minute: 6, burst: 3, sockets: Some(1) };
    let server = server_with(|config| config.app.rates.limit = slow).await;
    for left in ["2", "1", "0"] {
        let answer = server.get("/api/v1/events").await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["x-ratelimit-limit"], "3");
        assert_eq!(answer.headers()["x-ratelimit-remaining"], left);
        let reset: i64 = answer.headers()["x-ratelimit-reset"].to_str().unwrap().parse().unwrap();
        assert!(reset >= server.app.clock.now().as_second());
    }
    let refused = server.get("/api/v1/events").await;
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=10).contains(&wait), "{wait}");
    failure(refused, 429, "rate_limited").await;
    let health = server.http.get(format!("{}/health", server.url)).send().await.unwrap();
    assert_eq!(health.status(), 200, "health is not limited");
}

#[tokio::test]
async fn large_answers_are_compressed_when_the_client_can() {
    let server = server_with(|_| {}).await;
    for _ in 0..20 {
        server.publish("test:bulk").await;
    }
    for coding in ["gzip", "br"] {
        let answer = server
            .request(Method::GET, "/api/v1/events")
            .header("accept-encoding", coding)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.headers()["content-encoding"], coding);
        assert!(answer.bytes().await.unwrap().len() < 2_500);
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_answered_in_the_same_form() {
    let server = server_with(|_| {}).await;
    for path in ["/nothing", "/api/v1/nothing", "/api/nothing", "/api/v2/events"] {
        failure(server.get(path).await, 404, "route_not_found").await;
    }
    let answer = server.request(Method::PUT, "/api/v1/events").send().await.unwrap();
    assert!(answer.headers().contains_key("allow"));
    failure(answer, 405, "method_not_allowed").await;
}
