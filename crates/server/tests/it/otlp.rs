//! Traces leave when configured.

use std::time::Duration;

use godel_server::telemetry;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::harness::{SOON, server_with};

/// Takes one export over plain HTTP and returns its body.
async fn collect(listener: TcpListener) -> Value {
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
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        if body.contains("/api/v1/events") {
            return serde_json::from_str(&body).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_exported_as_part_of_its_callers_trace() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let guard = telemetry::init(&telemetry::Config {
        level: "warn".to_owned(),
        format: telemetry::Format::Json,
        color: false,
        otlp_endpoint: Some(endpoint),
    })
    .unwrap();
    let collected = tokio::spawn(collect(listener));
    let server = server_with(|_| {}).await;
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let request = server.request(reqwest::Method::GET, "/api/v1/events");
    request.header("traceparent", format!("00-{trace}-b7ad6b7169203331-01")).send().await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    tokio::task::spawn_blocking(move || guard.shutdown()).await.unwrap();
    let export = tokio::time::timeout(SOON, collected).await.expect("traces come").unwrap();
    let text = export.to_string();
    assert!(text.contains(trace) && text.contains("b7ad6b7169203331"), "{text}");
    assert!(text.contains("api.request") && text.contains("\"godel\""), "{text}");
    assert!(!text.contains("godel_sk_"), "{text}");
}
