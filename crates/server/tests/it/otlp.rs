//! Traces leave when configured.

use std::sync::{Arc, Mutex};

use godel_server::telemetry;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::harness::server_with;

/// Takes exports over plain HTTP, and keeps the spans in them.
async fn collect(listener: TcpListener, spans: Arc<Mutex<Vec<Value>>>) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        let body = loop {
            let mut chunk = [0; 8_192];
            let read = stream.read(&mut chunk).await.unwrap();
            bytes.extend_from_slice(&chunk[..read]);
            let text = String::from_utf8_lossy(&bytes);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                assert!(head.starts_with("POST /v1/traces"), "{head}");
                let length = head.lines().find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
                });
                if length.is_some_and(|length| body.len() >= length.parse().unwrap()) {
                    break body.to_owned();
                }
            }
        };
        crate::emitted::keep("spans", body.as_bytes());
        let export: Value = serde_json::from_str(&body).unwrap();
        assert!(body.contains("\"godel\""), "{body}");
        for resource in export["resourceSpans"].as_array().unwrap() {
            for scope in resource["scopeSpans"].as_array().unwrap() {
                spans.lock().unwrap().extend(scope["spans"].as_array().unwrap().clone());
            }
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    }
}

/// The spans of a name in a trace.
fn named<'a>(spans: &'a [Value], trace: &str, name: &str) -> Vec<&'a Value> {
    spans.iter().filter(|span| span["traceId"] == trace && span["name"] == name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_exported_as_part_of_its_trace() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let guard = telemetry::init(&telemetry::Config {
        level: "warn".to_owned(),
        format: telemetry::Format::Json,
        color: false,
        otlp_endpoint: Some(endpoint),
    })
    .unwrap();
    let spans = Arc::new(Mutex::new(Vec::new()));
    tokio::spawn(collect(listener, Arc::clone(&spans)));
    let server = server_with(|_| {}).await;
    let given = "0af7651916cd43dd8448eb211c80319c";
    let request = server.request(reqwest::Method::GET, "/api/v1/events");
    request.header("traceparent", format!("00-{given}-b7ad6b7169203331-01")).send().await.unwrap();
    // Nobody gave a trace: the one that the answer names is the one that is exported.
    let answer = server.get("/api/v1/projects").await;
    let told = answer.headers()["traceparent"].to_str().unwrap().to_owned();
    let told: Vec<&str> = told.split('-').collect();
    let event = server.publish("test:traced").await;
    tokio::task::spawn_blocking(move || guard.shutdown()).await.unwrap();
    let spans = spans.lock().unwrap().clone();
    let all = serde_json::to_string(&spans).unwrap();
    let [request] = named(&spans, given, "api.request")[..] else { panic!("{all}") };
    assert_eq!(request["parentSpanId"], "b7ad6b7169203331", "{all}");
    let [request] = named(&spans, told[1], "api.request")[..] else { panic!("{told:?}: {all}") };
    assert_eq!(request["parentSpanId"], told[2], "{all}");
    assert!(request.to_string().contains("/api/v1/projects"), "{request}");
    let recorded = event["metadata"]["traceId"].as_str().unwrap();
    assert_eq!(named(&spans, recorded, "api.request").len(), 1, "{recorded}: {all}");
    // Below each request are the use cases that it asked for.
    for (trace, name) in [
        (given, "app.events.newest"),
        (told[1], "app.projects.list"),
        (recorded, "app.events.publish"),
    ] {
        let [request] = named(&spans, trace, "api.request")[..] else { panic!("{all}") };
        let [work] = named(&spans, trace, name)[..] else { panic!("no {name} in {all}") };
        assert_eq!(work["parentSpanId"], request["spanId"], "{all}");
        assert!(work.to_string().contains("\"tenant\""), "{work}");
    }
    let [publish] = named(&spans, recorded, "app.events.publish")[..] else { panic!("{all}") };
    assert!(publish.to_string().contains("test:traced"), "{publish}");
    assert!(!all.contains("godel_sk_") && !all.contains(&server.key), "{all}");
}
