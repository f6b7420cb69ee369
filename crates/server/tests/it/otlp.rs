//! Traces leave when configured.

use std::sync::{Arc, Mutex};

use godel_llm::Dialect;
use godel_telemetry as telemetry;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::harness::server_with;
use crate::models::world::{Asked, World};

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

/// Returns an attribute of a span as text.
fn attribute(span: &Value, name: &str) -> String {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == name).map(|one| &one["value"]);
    let Some(value) = found else { return String::new() };
    match (&value["stringValue"], &value["intValue"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (_, number) => number.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_to_a_model_and_each_attempt_are_part_of_its_trace() {
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
    let world = World::one("").await;
    let given = "1af7651916cd43dd8448eb211c80319c";
    for stream in [false, true] {
        // It fails once and is asked once more.
        let prompt = format!("[[fault 503 times=1]] [[say {stream}]]");
        let asked = Asked { stream, ..Asked::new(Dialect::Chat, &prompt) };
        let request = world.ask(&asked);
        let request = request.header("traceparent", format!("00-{given}-b7ad6b7169203331-01"));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.text().await.unwrap();
    }
    assert_eq!(world.rows().await.len(), 4);
    tokio::task::spawn_blocking(move || guard.shutdown()).await.unwrap();
    let spans = spans.lock().unwrap().clone();
    let all = serde_json::to_string(&spans).unwrap();
    let requests = named(&spans, given, "models.request");
    assert_eq!(requests.len(), 2, "{all}");
    for request in requests {
        assert_eq!(request["parentSpanId"], "b7ad6b7169203331", "{request}");
        let told = ["model", "dialect", "url.path", "http.response.status_code"];
        let told = told.map(|name| attribute(request, name));
        assert_eq!(told, ["m-1", "chat", "/proxy/v1/chat/completions", "200"], "{request}");
        let mut attempts = named(&spans, given, "models.attempt");
        attempts.retain(|attempt| attempt["parentSpanId"] == request["spanId"]);
        attempts.sort_by_key(|attempt| attribute(attempt, "attempt"));
        let told = |attempt: &Value| {
            ["provider", "model", "status", "outcome"].map(|name| attribute(attempt, name))
        };
        let told: Vec<_> = attempts.iter().map(|attempt| told(attempt)).collect();
        let expected = [["stage", "m-1", "503", "failed"], ["stage", "m-1", "200", "ok"]];
        assert_eq!(told, expected, "{attempts:?}");
    }
    assert!(!all.contains(world.stage.key()) && !all.contains(&world.token), "{all}");
}
