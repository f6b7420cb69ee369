//! Answers in the dialect of Anthropic, whole or as a stream of events.

use serde_json::{Value, json};

use crate::actor::Turn;

/// About how many bytes a token has; the script counts no better.
const TOKEN_BYTES: usize = 4;

/// The content of an answer, as blocks.
fn blocks(turn: &Turn, number: usize) -> Vec<Value> {
    let text = (!turn.text.is_empty()).then(|| json!({ "type": "text", "text": turn.text }));
    let calls = turn.calls.iter().enumerate().map(|(at, (name, input))| {
        let id = format!("toolu_demo_{number}_{at}");
        json!({ "type": "tool_use", "id": id, "name": name, "input": input })
    });
    text.into_iter().chain(calls).collect()
}

/// A whole answer.
pub(crate) fn whole(request: &Value, turn: &Turn) -> Value {
    let number = request["messages"].as_array().map_or(0, Vec::len);
    let content = blocks(turn, number);
    let stop = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
    json!({
        "id": format!("msg_demo_{number}"), "type": "message", "role": "assistant",
        "model": request["model"], "content": content,
        "stop_reason": stop, "stop_sequence": null,
        "usage": {
            "input_tokens": tokens(&request.to_string()),
            "output_tokens": tokens(&json!(content).to_string()),
        },
    })
}

fn tokens(text: &str) -> usize {
    text.len().div_ceil(TOKEN_BYTES)
}

/// The same as events.
pub(crate) fn stream(request: &Value, turn: &Turn) -> String {
    let mut whole = whole(request, turn);
    let content = whole["content"].take();
    let (stop, output) = (whole["stop_reason"].take(), whole["usage"]["output_tokens"].take());
    whole["content"] = json!([]);
    whole["usage"]["output_tokens"] = json!(1);
    let mut told = event("message_start", &json!({ "message": whole }));
    let none = Vec::new();
    for (index, block) in content.as_array().unwrap_or(&none).iter().enumerate() {
        let mut start = block.clone();
        let delta = if block["type"] == "text" {
            start["text"] = json!("");
            json!({ "type": "text_delta", "text": block["text"] })
        } else {
            start["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
        };
        told += &event("content_block_start", &json!({ "index": index, "content_block": start }));
        told += &event("content_block_delta", &json!({ "index": index, "delta": delta }));
        told += &event("content_block_stop", &json!({ "index": index }));
    }
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    told +=
        &event("message_delta", &json!({ "delta": delta, "usage": { "output_tokens": output } }));
    told += &event("message_stop", &json!({}));
    told
}

fn event(kind: &str, body: &Value) -> String {
    let mut body = body.clone();
    body["type"] = json!(kind);
    format!("event: {kind}\ndata: {body}\n\n")
}
