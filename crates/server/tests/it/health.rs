//! Health, metrics and pages.

use std::time::Duration;

use godel_decide::DiskMarks;
use godel_engines::{Binaries, Places, Postgres};
use godel_testkit::{Database, postgres_url};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Running, data, server_with, servers, servers_with};

#[tokio::test(flavor = "multi_thread")]
async fn health_probes_what_the_server_needs() {
    for server in servers().await {
        let open = |path: &str| server.http.get(format!("{}{path}", server.url)).send();
        let health: Value = open("/health").await.unwrap().json().await.unwrap();
        assert_eq!(health["checks"]["database"]["status"], "healthy", "{health}");
        assert!(health["checks"]["database"]["latencyMs"].as_f64().unwrap() > 0.0);
        assert!(health["checks"]["disk"]["freeBytes"].as_u64().unwrap() > 0);
        let live: Value = open("/health/live").await.unwrap().json().await.unwrap();
        assert_eq!(live["status"], "alive");
        let ready: Value = open("/health/ready").await.unwrap().json().await.unwrap();
        assert_eq!(ready["status"], "ready");
        assert_eq!(open("/health/detailed").await.unwrap().status(), 401);
        let detailed: Value = server.get("/health/detailed").await.json().await.unwrap();
        assert_eq!(detailed["pid"], std::process::id());
        assert!(!detailed.to_string().contains("postgres@"), "{detailed}");
        let can: Value = open("/capabilities").await.unwrap().json().await.unwrap();
        assert_eq!(can["eventProtocols"][0], "godel-events-v1");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_makes_the_server_unhealthy_until_it_is_back() {
    if postgres_url().is_none() {
        return;
    }
    let start = || Postgres::start(&Binaries::find(&Places::from_env())).unwrap();
    let mut engine = tokio::task::spawn_blocking(start).await.unwrap();
    let server = Running::on(Database::postgres(engine.url("postgres")), &|_| {}).await;
    server.publish("test:before").await;
    engine.kill_postmaster().unwrap();
    let health = server.http.get(format!("{}/health", server.url)).send().await.unwrap();
    assert_eq!(health.status(), 503);
    let body: Value = health.json().await.unwrap();
    assert_eq!(body["status"], "unhealthy", "{body}");
    let ready = server.http.get(format!("{}/health/ready", server.url)).send().await.unwrap();
    assert_eq!(ready.status(), 503);
    engine.restart().unwrap();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if server.http.get(format!("{}/health/ready", server.url)).send().await.unwrap().status()
            == 200
        {
            server.publish("test:after").await;
            return;
        }
    }
    panic!("the server does not find its database again");
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let server = server_with(|_| {}).await;
    server.publish("test:counted").await;
    let text = server.get("/metrics").await.text().await.unwrap();
    let line = r#"godel_api_requests_total{method="POST",route="/api/v1/events",status="201"}"#;
    assert!(text.contains(line), "{text}");
    assert!(text.contains("godel_api_request_duration_seconds_bucket"));
    assert!(text.contains("godel_memory_usage_bytes"));
    let system = data(server.get("/api/v1/metrics/system").await, StatusCode::OK).await;
    assert!(system["memoryBytes"].as_u64().unwrap() > 1_000_000);
    assert!(system["eventHead"].as_i64().unwrap() >= 2);
}

#[tokio::test]
async fn pages_work_without_the_network_and_under_a_strict_policy() {
    let server = server_with(|_| {}).await;
    for path in ["/docs", "/docs/docs.js", "/docs/docs.css", "/dashboard/"] {
        let page = server.http.get(format!("{}{path}", server.url)).send().await.unwrap();
        assert_eq!(page.status(), 200, "{path}");
        assert!(
            page.headers()["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("default-src 'none'")
        );
        let text = page.text().await.unwrap();
        assert!(
            !text.contains("https://cdn") && !text.contains("//unpkg"),
            "{path} loads from elsewhere"
        );
    }
    let policy = server.http.get(format!("{}/docs", server.url)).send().await.unwrap();
    let policy = policy.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(!policy.contains("data:") && !policy.contains("unsafe"), "{policy}");
    let home = server.http.get(&server.url).send().await.unwrap();
    assert_eq!(
        (home.status().as_u16(), &home.headers()["location"]),
        (307, &"/dashboard/".parse().unwrap())
    );
    let lost = server.http.get(format!("{}/docs/nothing.js", server.url)).send().await.unwrap();
    assert_eq!(lost.status(), 404);
}

#[tokio::test]
async fn a_page_that_a_browser_has_is_not_sent_again() {
    let server = server_with(|_| {}).await;
    let get = async |path: &str, coding: &str, known: &str| {
        let request = server.http.get(format!("{}{path}", server.url));
        let request = request.header("accept-encoding", coding).header("if-none-match", known);
        request.send().await.unwrap()
    };
    let tag = |page: &reqwest::Response| page.headers()["etag"].to_str().unwrap().to_owned();
    for path in ["/docs", "/docs/docs.js", "/dashboard/"] {
        let mut tags = Vec::new();
        for coding in ["identity", "gzip", "br"] {
            let page = get(path, coding, "\"old\"").await;
            assert_eq!(page.status(), 200, "{path}");
            let (etag, sent_as) = (tag(&page), page.headers().get("content-encoding").cloned());
            assert!(etag.starts_with('"') && etag.len() > 30, "a strong tag: {etag}");
            for known in [etag.clone(), format!("\"old\", W/{etag}"), "*".to_owned()] {
                let saved = get(path, coding, &known).await;
                assert_eq!((saved.status().as_u16(), tag(&saved)), (304, etag.clone()), "{path}");
                assert!(saved.headers().contains_key("cache-control"));
                assert!(!saved.headers().contains_key("content-encoding"));
                assert!(saved.bytes().await.unwrap().is_empty());
            }
            // Other bytes, other tag; a small page is sent as it is.
            tags.push((sent_as, etag));
        }
        for (one, other) in [(0, 1), (1, 2), (0, 2)].map(|(one, other)| (&tags[one], &tags[other]))
        {
            assert_eq!(one.0 == other.0, one.1 == other.1, "{path}: {one:?} {other:?}");
        }
        let malformed = get(path, "identity", "nonsense").await;
        assert_eq!(malformed.status(), 200);
    }
    assert_eq!(get("/docs/nothing.js", "identity", "*").await.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fills_up_shows_in_the_health() {
    const MORE_THAN_ANY: u64 = u64::MAX;
    for (low_bytes, out_bytes, status, health) in [
        (0, 0, 200, "healthy"),
        (MORE_THAN_ANY, 0, 200, "degraded"),
        (MORE_THAN_ANY, MORE_THAN_ANY, 503, "unhealthy"),
    ] {
        let marks = DiskMarks { low_bytes, out_bytes };
        for server in servers_with(|config| config.app.disk = marks).await {
            let answer = server.http.get(format!("{}/health", server.url)).send().await.unwrap();
            assert_eq!(answer.status(), status, "{}", server.engine);
            let body: Value = answer.json().await.unwrap();
            let disk = &body["checks"]["disk"];
            assert_eq!((&body["status"], &disk["status"]), (&json!(health), &json!(health)));
            assert_eq!(disk["message"].is_string(), health != "healthy", "{body}");
            assert!(disk["freeBytes"].as_u64().unwrap() > 0, "{body}");
        }
    }
}
