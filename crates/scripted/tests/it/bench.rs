//! The fast lane.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{KEY, Stage};

const CHAT: &str = "/v1/chat/completions";

#[tokio::test]
async fn answers_have_the_size_that_is_asked_for() {
    let stage = Stage::open().await;
    let body = json!({"messages": [], "model": "bench-1024"});
    assert_eq!(stage.post(CHAT, &body).await.bytes().await.unwrap().len(), 1024);
    let path = "/v1beta/models/bench-stream-50:streamGenerateContent?alt=sse";
    assert_eq!(stage.events(path, &json!({})).await.len(), 50);
    let started = Instant::now();
    let request =
        stage.request("/v1/messages", &json!({})).header("x-scripted-bench", "bench-paced-20-10");
    let text = request.send().await.unwrap().text().await.unwrap();
    assert_eq!(crate::events(&text).len(), 20);
    assert!(started.elapsed() >= Duration::from_millis(190));
    assert_eq!(stage.scripted.stats().bench, 3);
    assert!(stage.scripted.recorded().is_empty());
}

#[tokio::test]
async fn the_fast_lane_knows_its_keys_too() {
    let stage = Stage::open().await;
    let request = stage.client.post(stage.url(CHAT)).json(&json!({"model": "bench-1024"}));
    assert_eq!(request.bearer_auth("x").send().await.unwrap().status().as_u16(), 401);
    assert_ne!(KEY, "x");
}
