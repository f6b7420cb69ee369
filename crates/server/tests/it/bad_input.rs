//! Bad input: a 4xx with the right code, never a 5xx, never a hang.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{SOON, failure, server_with, servers};

/// Bodies of an event that must be refused, each with its status and code.
fn bad_events() -> Vec<(Vec<u8>, u16, &'static str)> {
    let nested = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let event = |payload: String| format!(r#"{{"type":"a:b","payload":{payload}}}"#).into_bytes();
    let text = |chars: usize| format!(r#"{{"x":"{}"}}"#, "y".repeat(chars));
    vec![
        (b"".to_vec(), 400, "invalid_json"),
        (b"{".to_vec(), 400, "invalid_json"),
        (b"nonsense".to_vec(), 400, "invalid_json"),
        (b"{\"type\":\"a:b\xff\"}".to_vec(), 400, "invalid_json"),
        (b"{\"type\":\"a:b\"} trailing".to_vec(), 400, "invalid_json"),
        (b"[]".to_vec(), 400, "invalid_field"),
        (b"{}".to_vec(), 400, "invalid_field"),
        (br#"{"type":1}"#.to_vec(), 400, "invalid_field"),
        (br#"{"type":"a:b","unknown":1}"#.to_vec(), 400, "invalid_field"),
        (event("[]".to_owned()), 400, "invalid_field"),
        (event("\"text\"".to_owned()), 400, "invalid_field"),
        (br#"{"type":"a:b","instance":"\u0000"}"#.to_vec(), 400, "invalid_field"),
        (br#"{"type":"a:b","metadata":{"refs":{"a b":"c"}}}"#.to_vec(), 400, "invalid_field"),
        (br#"{"type":"a:b","metadata":{"causationId":"x"}}"#.to_vec(), 400, "invalid_field"),
        (event(r#"{"a":"\ud800"}"#.to_owned()), 400, "invalid_field"),
        (event(r#"{"a":1e999}"#.to_owned()), 400, "invalid_field"),
        (br#"{"type":"Bad Type"}"#.to_vec(), 400, "invalid_event_type"),
        (br#"{"type":"project:create"}"#.to_vec(), 400, "event_type_reserved"),
        (event(format!(r#"{{"x":{nested}}}"#)), 400, "invalid_json"),
        (event(text(70_000)), 400, "invalid_field"),
        (event(text(2 * 1024 * 1024)), 413, "body_too_large"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_bodies_are_refused_with_the_reason() {
    for server in servers().await {
        let send = |media: &'static str, body: Vec<u8>| {
            let request = server.request(Method::POST, "/api/v1/events");
            request.header("content-type", media).body(body).send()
        };
        for (body, status, code) in bad_events() {
            failure(send("application/json", body).await.unwrap(), status, code).await;
        }
        let plain = send("text/plain", b"{}".to_vec()).await.unwrap();
        failure(plain, 415, "unsupported_media_type").await;
        for name in ["", " ", "a\u{0}b", &"n".repeat(101)] {
            let answer = server.post("/api/v1/projects", json!({ "name": name })).await;
            failure(answer, 400, "invalid_name").await;
        }
        let long = json!({ "name": "long", "description": "d".repeat(2_001) });
        failure(server.post("/api/v1/projects", long).await, 400, "invalid_field").await;
    }
}

#[tokio::test]
async fn malformed_queries_ids_and_cursors_are_refused_with_the_reason() {
    let server = server_with(|_| {}).await;
    for (path, code) in [
        ("/api/v1/events?limit=0", "invalid_query"),
        ("/api/v1/events?limit=101", "invalid_query"),
        ("/api/v1/beads?limit=1001", "invalid_query"),
        ("/api/v1/landings?past=501", "invalid_query"),
        ("/api/v1/landings/x-1?waitSeconds=21", "invalid_query"),
        ("/api/v1/events?limit=-1", "invalid_query"),
        ("/api/v1/events?limit=x", "invalid_query"),
        ("/api/v1/events?limit=99999999999999999999", "invalid_query"),
        ("/api/v1/events?unknown=1", "invalid_query"),
        ("/api/v1/events?sort=payload", "invalid_query"),
        ("/api/v1/events?filter=x", "invalid_query"),
        ("/api/v1/events?filter={\"type\":1}", "invalid_query"),
        ("/api/v1/events?filter={\"actor\":[\"a\",\"b\"]}", "invalid_query"),
        ("/api/v1/events?filter={\"type\":\"Bad\"}", "invalid_pattern"),
        ("/api/v1/events?cursor=x", "invalid_cursor"),
        ("/api/v1/events?cursor=%00%ff", "invalid_cursor"),
        ("/api/v1/events?limit=%ff", "invalid_query"),
        ("/api/v1/events/not-a-uuid", "invalid_id"),
        ("/api/v1/events/%ff", "invalid_id"),
        ("/api/v1/projects/..%2f..", "invalid_id"),
        ("/api/v1/projects?filter={\"color\":\"red\"}", "invalid_query"),
        ("/api/v1/events/stream?after=x", "invalid_query"),
        ("/api/v1/events/stream?after=-1", "invalid_query"),
        ("/api/v1/events/stream?pattern=Bad", "invalid_pattern"),
        ("/api/v1/events/stream?other=1", "invalid_query"),
        ("/events", "invalid_request"),
    ] {
        let body = failure(server.get(path).await, 400, code).await;
        assert!(body["error"]["message"].as_str().unwrap().len() > 10, "{path}");
    }
}

/// Sends raw bytes and returns the first line of the answer.
async fn raw(url: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
    // The server may close early, which is an answer too.
    drop(stream.write_all(bytes).await);
    let mut answer = Vec::new();
    let read = tokio::time::timeout(SOON, stream.read_to_end(&mut answer)).await;
    drop(read.expect("the server does not hang"));
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn broken_http_is_refused_and_hurts_nobody() {
    let server = server_with(|_| {}).await;
    let huge = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    let many = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "a: b\r\n".repeat(500));
    let long = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "p".repeat(100_000));
    for bytes in [
        b"nonsense\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"\x00\xff\xfe\x16\x03\x01".to_vec(),
        b"GET / HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n".to_vec(),
        b"POST /api/v1/events HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n".to_vec(),
        huge.into_bytes(),
        many.into_bytes(),
        long.into_bytes(),
    ] {
        let line = raw(&server.url, &[&bytes[..], b"\r\n\r\n"].concat()).await;
        assert!(line.is_empty() || line.contains(" 4"), "{line}");
    }
    server.publish("test:alive").await;
}

#[tokio::test]
async fn a_body_that_never_comes_ends_in_time() {
    let server = server_with(|config| config.request_timeout = Duration::from_millis(500)).await;
    let head = format!(
        "POST /api/v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{{",
        server.key
    );
    let line = raw(&server.url, head.as_bytes()).await;
    assert!(line.contains(" 504"), "{line}");
}
