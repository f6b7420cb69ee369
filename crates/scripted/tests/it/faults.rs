//! Failing on request.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{KEY, Stage};

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const GEMINI: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

fn chat(prompt: &str) -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": prompt}]})
}

fn messages(prompt: &str) -> Value {
    let mut body = chat(prompt);
    body["max_tokens"] = 100.into();
    body
}

fn gemini(prompt: &str) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]})
}

#[tokio::test]
async fn a_status_comes_in_the_shape_of_the_dialect_and_passes() {
    let stage = Stage::open().await;
    let prompt = "[[fault 429 retry-after=7 times=2 should-retry=false]]";
    for _ in 0..2 {
        let response = stage.post(CHAT, &chat(prompt)).await;
        assert_eq!(response.status().as_u16(), 429);
        assert_eq!(response.headers()["retry-after"], "7");
        assert_eq!(response.headers()["x-should-retry"], "false");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"]["code"], "rate_limit_exceeded");
    }
    assert_eq!(stage.post(CHAT, &chat(prompt)).await.status().as_u16(), 200);

    let (status, body) = stage.refused(MESSAGES, &messages("[[fault 529]]")).await;
    assert_eq!((status, body["error"]["type"].as_str()), (529, Some("overloaded_error")));
    let (_, body) = stage.refused(GEMINI, &gemini("[[fault 429 retry-after=3]]")).await;
    assert_eq!(body["error"]["details"][0]["retryDelay"], "3s");
    let (_, body) = stage.refused(MESSAGES, &messages("[[fault 400 overflow]]")).await;
    assert!(body["error"]["message"].as_str().unwrap().starts_with("prompt is too long"));
}

#[tokio::test]
async fn a_clean_end_comes_too_early() {
    let stage = Stage::open().await;
    let events = stage.events(CHAT, &chat("[[words 9]] [[fault eof-after=3]]")).await;
    assert_eq!(events.len(), 3);
    let events = stage.events(MESSAGES, &messages("[[words 9]] [[error-after=4]]")).await;
    assert_eq!((events.len(), events[4].name.as_str()), (5, "error"));
}

#[tokio::test]
async fn a_reset_shows_as_one_after_what_was_sent() {
    let stage = Stage::open().await;
    let mut response = stage.post(CHAT, &chat("[[words 9]] [[reset-after=3]]")).await;
    let mut got = Vec::new();
    let error = loop {
        match response.chunk().await {
            Ok(Some(bytes)) => got.extend_from_slice(&bytes),
            Ok(None) => panic!("it ended cleanly"),
            Err(error) => break error,
        }
    };
    assert_eq!(crate::events(&String::from_utf8(got).unwrap()).len(), 3);
    let text = format!("{error:?}");
    assert!(text.contains("ConnectionReset"), "{text}");
}

#[tokio::test]
async fn pieces_are_small_and_make_up_the_whole() {
    let stage = Stage::open().await;
    let whole = stage.events(CHAT, &chat("[[words 9]]")).await.len();
    let mut response = stage.post(CHAT, &chat("[[words 9]] [[split=7]]")).await;
    let (mut all, mut pieces) = (Vec::new(), 0);
    while let Some(bytes) = response.chunk().await.unwrap() {
        all.extend_from_slice(&bytes);
        pieces += 1;
    }
    assert_eq!(crate::events(&String::from_utf8(all).unwrap()).len(), whole);
    assert!(pieces > whole * 5, "{pieces} pieces");
}

#[tokio::test]
async fn lies_holes_and_giants() {
    let stage = Stage::open().await;
    let mut plain = chat("hi [[lie-length]]");
    plain["stream"] = false.into();
    let response = stage.post(CHAT, &plain).await;
    assert!(response.bytes().await.is_err());
    assert!(stage.post(CHAT, &chat("[[empty]]")).await.bytes().await.unwrap().is_empty());
    let events = stage.events(CHAT, &chat("[[words 5]] [[malformed]]")).await;
    let broken = events.iter().filter(|event| event.json().is_null()).count();
    assert_eq!(broken, 2, "the broken one and the end mark");
    let giants =
        |events: Vec<crate::Event>| events.iter().filter(|e| e.data.len() > 300_000).count();
    let prompt = chat("[[say x]] [[huge-event=300000 times=1]]");
    assert_eq!(giants(stage.events(CHAT, &prompt).await), 1);
    assert_eq!(giants(stage.events(CHAT, &prompt).await), 0);
}

#[tokio::test]
async fn hanging_and_slowness_are_felt() {
    let stage = Stage::open().await;
    let short = Duration::from_millis(1500);
    let hang = stage.request(CHAT, &chat("[[hang]]")).timeout(short).send().await;
    assert!(hang.unwrap_err().is_timeout());
    let response = stage.request(CHAT, &chat("[[words 5]] [[hang-after=2]]")).timeout(short);
    let response = response.send().await.unwrap();
    assert!(response.text().await.is_err());
    let started = Instant::now();
    stage.post(CHAT, &chat("[[slow-first-byte=200]]")).await;
    assert!(started.elapsed() >= Duration::from_millis(200));
    let started = Instant::now();
    stage.events(CHAT, &chat("[[words 8]] [[pace 20]]")).await;
    assert!(started.elapsed() >= Duration::from_millis(160));
}

#[tokio::test]
async fn foreign_keys_are_refused_in_every_dialect() {
    let stage = Stage::open().await;
    for (path, body, header) in [
        (CHAT, chat("hi"), "authorization"),
        ("/v1/responses", json!({"model": "m", "input": "hi"}), "authorization"),
        (MESSAGES, messages("hi"), "x-api-key"),
        (GEMINI, gemini("hi"), "x-goog-api-key"),
    ] {
        let request = stage.client.post(stage.url(path)).json(&body);
        let response = request.header(header, "gdl_token").send().await.unwrap();
        assert_eq!(response.status().as_u16(), 401, "{path}");
        let refusal: Value = response.json().await.unwrap();
        assert!(refusal["error"]["message"].is_string(), "{path}: {refusal}");
        // A second key beside the right one is a leak.
        let request = stage.request(path, &body).header("cookie", "x");
        let other = if header == "x-api-key" { "x-goog-api-key" } else { "x-api-key" };
        let response = request.header(other, "gdl_token").send().await.unwrap();
        assert_eq!(response.status().as_u16(), 401, "{path}");
        assert_eq!(stage.post(path, &body).await.status().as_u16(), 200, "{path}");
    }
    assert_eq!(stage.scripted.stats().strangers, 8);
    assert_eq!(stage.scripted.key(), KEY);
}
