//! Anthropic Messages.

use serde_json::{Value, json};

use crate::Stage;

const PATH: &str = "/v1/messages?beta=true";

fn ask(prompt: &str) -> Value {
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 1000,
        "messages": [{"role": "user", "content": prompt}],
        "tools": [{"name": "Bash", "input_schema": {
            "type": "object", "properties": {"command": {"type": "string"}},
            "required": ["command"]}}],
    })
}

fn thinking(prompt: &str) -> Value {
    let mut body = ask(prompt);
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    body
}

/// The second request of a tool round.
fn back(mut body: Value, content: &Value) -> Value {
    let id =
        content.as_array().unwrap().iter().find(|b| b["type"] == "tool_use").unwrap()["id"].clone();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": content}));
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
    let remark = json!({"type": "text", "text": "<system-reminder>be brief</system-reminder>"});
    messages.push(json!({"role": "user", "content": [result, remark]}));
    body
}

#[tokio::test]
async fn a_thinking_round_must_bring_its_signature_back() {
    let stage = Stage::open().await;
    let body = thinking("[[shell touch x]]");
    let answer = stage.json(PATH, &body).await;
    assert_eq!(answer["stop_reason"], "tool_use");
    let content = answer["content"].clone();
    assert_eq!(content[0]["type"], "thinking");
    assert_eq!(content[1]["input"], json!({"command": "touch x"}));

    let whole = stage.json(PATH, &back(body.clone(), &content)).await;
    assert_eq!(whole["content"][1]["text"], "The tool said: done");
    assert_eq!(stage.scripted.stats().seals_kept, 1);

    let without = json!([content[1]]);
    let (status, refusal) = stage.refused(PATH, &back(body.clone(), &without)).await;
    assert_eq!((status, refusal["error"]["type"].as_str()), (400, Some("invalid_request_error")));
    assert!(refusal["error"]["message"].as_str().unwrap().contains("missing signature"));

    for (field, value) in [("signature", "c29tZXRoaW5nIGVsc2U="), ("thinking", "other words")] {
        let mut changed = content.clone();
        changed[0][field] = value.into();
        let (status, refusal) = stage.refused(PATH, &back(body.clone(), &changed)).await;
        assert_eq!(status, 400, "{field}");
        assert!(refusal["error"]["message"].as_str().unwrap().contains("invalid signature"));
    }
    assert_eq!(stage.scripted.stats().seals_broken, 3);
}

#[tokio::test]
async fn state_of_another_server_is_refused() {
    let (one, other) = (Stage::open().await, Stage::open().await);
    let body = thinking("[[shell ls]]");
    let content = one.json(PATH, &body).await["content"].clone();
    assert_eq!(other.refused(PATH, &back(body, &content)).await.0, 400);
}

#[tokio::test]
async fn a_stream_has_every_event_in_order() {
    let stage = Stage::open().await;
    let mut body = thinking("[[shell ls]] [[say now]] [[usage input=10 cache_write=5 output=9]]");
    body["stream"] = true.into();
    let events = stage.events(PATH, &body).await;
    for event in &events {
        assert_eq!(event.json()["type"], event.name.as_str());
        assert!(event.data.starts_with(r#"{"type":"#), "{}", event.data);
    }
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names[..3], ["message_start", "ping", "content_block_start"]);
    assert_eq!(names[names.len() - 2..], ["message_delta", "message_stop"]);
    let starts: Vec<Value> = events
        .iter()
        .filter(|event| event.name == "content_block_start")
        .map(|event| event.json()["content_block"]["type"].clone())
        .collect();
    assert_eq!(starts, ["thinking", "text", "tool_use"]);
    let delta = events[events.len() - 2].json();
    assert_eq!(delta["delta"]["stop_reason"], "tool_use");
    assert_eq!(delta["usage"]["output_tokens"], 9);
    assert_eq!(events[0].json()["message"]["usage"]["cache_creation_input_tokens"], 5);
}

#[tokio::test]
async fn tokens_are_counted_and_models_listed_in_this_shape() {
    let stage = Stage::open().await;
    let count = stage.json("/v1/messages/count_tokens", &ask("hi")).await;
    assert!(count["input_tokens"].as_u64().unwrap() > 10);
    let list = stage.client.get(stage.url("/v1/models")).header("x-api-key", crate::KEY);
    let list: Value =
        list.header("anthropic-version", "x").send().await.unwrap().json().await.unwrap();
    assert_eq!(list["data"][0]["type"], "model");
}

#[tokio::test]
async fn a_structured_answer_fits_its_schema_and_limits_are_needed() {
    let stage = Stage::open().await;
    let mut body = ask("hi");
    body["output_config"] = json!({"format": {"type": "json_schema", "schema":
        {"type": "object", "properties": {"title": {"type": "string"}}}}});
    let answer = stage.json(PATH, &body).await;
    assert_eq!(answer["content"][0]["text"], r#"{"title":"Scripted answer"}"#);
    body["max_tokens"] = Value::Null;
    assert_eq!(stage.refused(PATH, &body).await.0, 400);
}
