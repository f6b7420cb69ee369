//! OpenAI chat completions.

use serde_json::{Value, json};

use crate::Stage;

const PATH: &str = "/v1/chat/completions";

fn ask(prompt: &str) -> Value {
    json!({"model": "gpt-4o", "messages": [{"role": "user", "content": prompt}]})
}

fn with_tools(prompt: &str) -> Value {
    let mut body = ask(prompt);
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    body["tools"] = json!([
        {"type": "function", "function": {"name": "weather", "parameters": parameters}},
        {"type": "function", "function": {"name": "time", "parameters": parameters}},
    ]);
    body
}

fn streamed(mut body: Value) -> Value {
    body["stream"] = true.into();
    body["stream_options"] = json!({"include_usage": true});
    body
}

#[tokio::test]
async fn a_question_is_quoted() {
    let answer = Stage::open().await.json(PATH, &ask("hello there")).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "You said: hello there");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["object"], "chat.completion");
}

#[tokio::test]
async fn a_tool_round_ends_with_the_results_in_order() {
    let stage = Stage::open().await;
    let prompt = r#"[[call weather {"city":"Rome"}]] [[call time {"city":"Oslo"}]]"#;
    let mut body = with_tools(prompt);
    let answer = stage.json(PATH, &body).await;
    let message = answer["choices"][0]["message"].clone();
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    let calls = message["tool_calls"].as_array().unwrap().clone();
    assert_eq!(calls[0]["function"]["arguments"], r#"{"city":"Rome"}"#);
    assert_eq!(calls[1]["function"]["name"], "time");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(message);
    for (call, result) in calls.iter().zip(["sunny", "noon"]) {
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
    }
    let answer = stage.json(PATH, &body).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "The tool said: sunny | noon");
    // Without the last result it is refused.
    body["messages"].as_array_mut().unwrap().pop();
    let (status, refusal) = stage.refused(PATH, &body).await;
    assert_eq!(status, 400);
    assert!(refusal["error"]["message"].as_str().unwrap().contains("has no tool result"));
}

#[tokio::test]
async fn a_stream_brings_text_calls_usage_and_the_end() {
    let stage = Stage::open().await;
    let prompt = r#"[[call weather {"city":"Rome"}]] [[say one two]]
        [[usage input=100 cache_read=40 cache_write=20 output=7 reasoning=3]]"#;
    let events = stage.events(PATH, &streamed(with_tools(prompt))).await;
    assert_eq!(events.last().unwrap().data, "[DONE]");
    let chunks: Vec<Value> = events.iter().map(crate::Event::json).collect();
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let all = |path: &str| -> String {
        chunks.iter().filter_map(|chunk| chunk.pointer(path)?.as_str()).collect()
    };
    assert_eq!(all("/choices/0/delta/content"), "one two");
    let arguments = all("/choices/0/delta/tool_calls/0/function/arguments");
    assert_eq!(arguments, r#"{"city":"Rome"}"#);
    let usage = &chunks[chunks.len() - 2]["usage"];
    assert_eq!(usage["prompt_tokens"], 160);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 40);
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 3);
    assert_eq!(all("/choices/0/finish_reason"), "tool_calls");
}

#[tokio::test]
async fn usage_is_streamed_only_if_asked_for() {
    let mut body = streamed(ask("hi"));
    body["stream_options"] = Value::Null;
    let events = Stage::open().await.events(PATH, &body).await;
    assert!(events.iter().all(|event| event.json().get("usage").is_none()));
}

#[tokio::test]
async fn schemas_images_limits_and_forced_tools_are_obeyed() {
    let stage = Stage::open().await;
    let mut body = ask("[[shell ls]]");
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "t", "schema":
        {"type": "object", "properties": {"title": {"type": "string"}}}}});
    let answer = stage.json(PATH, &body).await;
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!(text, r#"{"title":"Scripted answer"}"#);

    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}});
    let body = json!({"model": "m", "messages": [{"role": "user", "content":
        [{"type": "text", "text": "what is it"}, image]}]});
    let answer = stage.json(PATH, &body).await;
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.ends_with("(with image/png of 3 bytes)"), "{text}");

    let mut body = ask("[[words 50]]");
    body["max_tokens"] = 5.into();
    let answer = stage.json(PATH, &body).await;
    assert_eq!(answer["choices"][0]["finish_reason"], "length");

    let mut body = with_tools("hi");
    body["tool_choice"] = json!({"type": "function", "function": {"name": "time"}});
    let answer = stage.json(PATH, &body).await;
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "time");
    assert_eq!(call["arguments"], r#"{"city":"scripted"}"#);
}

#[tokio::test]
async fn steps_follow_each_other() {
    let stage = Stage::open().await;
    let mut body = with_tools("[[call weather {}]] [[then]] [[call time {}]] [[then]] [[say end]]");
    for name in ["weather", "time"] {
        let answer = stage.json(PATH, &body).await;
        let message = answer["choices"][0]["message"].clone();
        assert_eq!(message["tool_calls"][0]["function"]["name"], name);
        let id = message["tool_calls"][0]["id"].clone();
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(message);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "ok"}));
    }
    let answer = stage.json(PATH, &body).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "end");
}
