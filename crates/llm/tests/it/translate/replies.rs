//! Whole replies told in the client's dialect.

use godel_llm::Dialect;
use godel_llm::translate::{BadReply, Told};
use serde_json::{Value, json};

use super::{ask, facts, pairs, samples, tell};

/// Returns a way back from `to` to `from`.
fn back(from: Dialect, to: Dialect) -> Told {
    tell(&ask(from, to), &samples::request(from)).unwrap()
}

fn answer(from: Dialect, to: Dialect, reply: &Value) -> Value {
    let answer = back(from, to).back.reply(reply.to_string().as_bytes()).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

/// What every client must be told of the sample's reply.
pub(super) fn expected(from: Dialect) -> Vec<String> {
    let stop = match from {
        Dialect::Chat => "tool_calls",
        Dialect::Responses => "completed",
        Dialect::Anthropic => "tool_use",
        Dialect::Gemini => "STOP",
    };
    [
        "thought Hm.",
        "text Say é.",
        r#"call c1 read {"a":1,"path":"x"}"#,
        r#"call c2 list {"a":2,"path":"y"}"#,
        &format!("stop {stop}"),
        "usage 17 7 20 4",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn thoughts_text_calls_and_usage_arrive_in_every_other_dialect() {
    for (from, to) in pairs() {
        let body = answer(from, to, &samples::reply(to));
        assert_eq!(facts::reply(from, &body), expected(from), "{to} to {from}");
        assert!(!body.to_string().contains("secret"), "{to} to {from}");
        let model = if from == Dialect::Gemini { "modelVersion" } else { "model" };
        assert_eq!(body[model], "client-model");
    }
}

#[test]
fn every_reason_to_stop_has_its_word() {
    let chat =
        |reason: &str| json!({"choices": [{"message": {"content": "x"}, "finish_reason": reason}]});
    let anthropic =
        |reason: &str| json!({"content": [{"type": "text", "text": "x"}], "stop_reason": reason});
    for (reason, chats, status) in [
        ("end_turn", "stop", "completed"),
        ("stop_sequence", "stop", "completed"),
        ("max_tokens", "length", "incomplete"),
        ("model_context_window_exceeded", "length", "incomplete"),
        ("pause_turn", "length", "incomplete"),
        ("refusal", "content_filter", "incomplete"),
    ] {
        let body = answer(Dialect::Chat, Dialect::Anthropic, &anthropic(reason));
        assert_eq!(body["choices"][0]["finish_reason"], chats, "{reason}");
        let body = answer(Dialect::Responses, Dialect::Anthropic, &anthropic(reason));
        assert_eq!(body["status"], status, "{reason}");
    }
    for (reason, anthropics, geminis) in [
        ("stop", "end_turn", "STOP"),
        ("length", "max_tokens", "MAX_TOKENS"),
        ("content_filter", "refusal", "SAFETY"),
    ] {
        let body = answer(Dialect::Anthropic, Dialect::Chat, &chat(reason));
        assert_eq!(body["stop_reason"], anthropics);
        let body = answer(Dialect::Gemini, Dialect::Chat, &chat(reason));
        assert_eq!(body["candidates"][0]["finishReason"], geminis);
    }
}

#[test]
fn a_pause_is_told_to_the_caller() {
    let reply = json!({"content": [], "stop_reason": "pause_turn"}).to_string();
    let told = back(Dialect::Chat, Dialect::Anthropic);
    assert!(told.back.reply(reply.as_bytes()).unwrap().paused);
}

#[test]
fn a_refusal_is_no_ordinary_answer() {
    let reply = json!({"choices": [{"finish_reason": "stop",
        "message": {"content": null, "refusal": "I won't."}}]});
    let body = answer(Dialect::Anthropic, Dialect::Chat, &reply);
    assert_eq!(body["stop_reason"], "refusal");
    assert_eq!(body["content"][0]["text"], "I won't.");
    let body = answer(Dialect::Responses, Dialect::Chat, &reply);
    assert_eq!(body["output"][0]["content"][0]["refusal"], "I won't.");
}

#[test]
fn a_call_without_an_id_gets_one_that_is_valid() {
    let reply = json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
        {"functionCall": {"name": "read", "args": {}}},
        {"functionCall": {"name": "read"}},
    ]}}]});
    let body = answer(Dialect::Anthropic, Dialect::Gemini, &reply);
    assert_eq!(body["content"][0]["id"], "toolu_req-1_0");
    assert_eq!(body["content"][1]["id"], "toolu_req-1_1");
    assert_eq!(body["content"][1]["input"], json!({}));
    assert_eq!(body["stop_reason"], "tool_use");
}

#[test]
fn an_id_that_anthropic_does_not_allow_is_made_valid() {
    let reply = json!({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [
        {"id": "functions.read:0", "function": {"name": "read", "arguments": ""}},
    ]}}]});
    let body = answer(Dialect::Anthropic, Dialect::Chat, &reply);
    assert_eq!(body["content"][0]["id"], "functions_read_0");
}

#[test]
fn spaces_and_custom_tools_come_back_as_the_client_knows_them() {
    let request = json!({"input": "a", "tools": [
        {"type": "custom", "name": "patch"},
        {"type": "namespace", "name": "mcp", "tools":
            [{"type": "function", "name": "find", "parameters": {"type": "object"}}]},
    ]});
    let told = tell(&ask(Dialect::Responses, Dialect::Anthropic), &request).unwrap();
    let reply = json!({"stop_reason": "tool_use", "content": [
        {"type": "tool_use", "id": "c1", "name": "patch", "input": {"input": "*** Begin"}},
        {"type": "tool_use", "id": "c2", "name": "mcp__find", "input": {"a": 1}},
    ]});
    let answer = told.back.reply(reply.to_string().as_bytes()).unwrap();
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    let (patch, find) = (&body["output"][0], &body["output"][1]);
    assert_eq!(patch["type"], "custom_tool_call");
    assert_eq!((&patch["name"], &patch["input"]), (&json!("patch"), &json!("*** Begin")));
    assert_eq!((&find["namespace"], &find["name"]), (&json!("mcp"), &json!("find")));
    assert_eq!(find["arguments"], r#"{"a":1}"#);
}

#[test]
fn a_failure_in_a_reply_is_told_as_one() {
    for (from, to) in pairs() {
        let told = back(from, to);
        let reply = json!({"error": {"type": "overloaded", "message": "too much"}}).to_string();
        let failed = BadReply::Failed { code: "overloaded".into(), message: "too much".into() };
        assert_eq!(told.back.reply(reply.as_bytes()).unwrap_err(), failed);
        for reply in ["", "{", "[]", "{}", "null", r#"{"choices":3,"content":{},"output":1}"#] {
            let error = told.back.reply(reply.as_bytes()).unwrap_err();
            assert!(matches!(error, BadReply::Malformed(_)), "{to}: {reply}");
        }
    }
}
