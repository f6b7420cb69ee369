//! One tool round in each dialect: the same request, and the same reply.

use godel_llm::Dialect;
use serde_json::{Value, json};

/// A request in the middle of a tool round: two calls at once, a picture, and a schema.
pub(super) fn request(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Chat => chat(),
        Dialect::Responses => responses(),
        Dialect::Anthropic => anthropic(),
        Dialect::Gemini => gemini(),
    }
}

pub(super) fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}, "a": {"type": "integer"}},
        "required": ["path", "a"], "additionalProperties": false})
}

fn chat() -> Value {
    json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "max_completion_tokens": 4000, "reasoning_effort": "medium", "temperature": 0.5,
        "tool_choice": "auto",
        "tools": [
            {"type": "function", "function":
                {"name": "read", "description": "Reads.", "parameters": schema()}},
            {"type": "function", "function": {"name": "list", "parameters": schema()}},
        ],
        "response_format": {"type": "json_schema",
            "json_schema": {"name": "out", "schema": schema()}},
        "messages": [
            {"role": "system", "content": "Be good."},
            {"role": "user", "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ]},
            {"role": "assistant", "content": "I read.", "reasoning_content": "Hm.", "tool_calls": [
                {"id": "c1", "type": "function", "function":
                    {"name": "read", "arguments": "{\"path\":\"x\",\"a\":1}"}},
                {"id": "c2", "type": "function", "function":
                    {"name": "list", "arguments": "{\"path\":\"y\",\"a\":2}"}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
            {"role": "tool", "tool_call_id": "c2", "content": "two"},
            {"role": "user", "content": "Go on."},
        ],
    })
}

fn responses() -> Value {
    json!({
        "model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "instructions": "Be good.", "max_output_tokens": 4000, "temperature": 0.5,
        "reasoning": {"effort": "medium", "summary": "auto"}, "tool_choice": "auto",
        "parallel_tool_calls": true,
        "tools": [
            {"type": "function", "name": "read", "description": "Reads.", "strict": false,
                "parameters": schema()},
            {"type": "function", "name": "list", "strict": false, "parameters": schema()},
        ],
        "text": {"format": {"type": "json_schema", "name": "out", "schema": schema()}},
        "input": [
            {"role": "user", "content": [
                {"type": "input_text", "text": "Look."},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            ]},
            {"type": "reasoning", "id": "rs_1", "encrypted_content": "secret",
                "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "role": "assistant", "content":
                [{"type": "output_text", "text": "I read.", "annotations": []}]},
            {"type": "function_call", "call_id": "c1", "name": "read",
                "arguments": "{\"path\":\"x\",\"a\":1}"},
            {"type": "function_call", "call_id": "c2", "name": "list",
                "arguments": "{\"path\":\"y\",\"a\":2}"},
            {"type": "function_call_output", "call_id": "c1", "output": "one"},
            {"type": "function_call_output", "call_id": "c2",
                "output": [{"type": "input_text", "text": "two"}]},
            {"role": "user", "content": "Go on."},
        ],
    })
}

fn anthropic() -> Value {
    let mark = json!({"type": "ephemeral"});
    json!({
        "model": "m", "stream": true, "max_tokens": 4000, "temperature": 0.5,
        "thinking": {"type": "enabled", "budget_tokens": 8192},
        "context_management": {"edits": []}, "tool_choice": {"type": "auto"},
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: v=1;"},
            {"type": "text", "text": "Be good.", "cache_control": mark},
        ],
        "tools": [
            {"name": "read", "description": "Reads.", "input_schema": schema()},
            {"name": "list", "input_schema": schema(), "cache_control": mark},
        ],
        "output_config": {"format": {"type": "json_schema", "schema": schema()}},
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look."},
                {"type": "image", "source":
                    {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "secret"},
                {"type": "text", "text": "I read."},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "x", "a": 1}},
                {"type": "tool_use", "id": "c2", "name": "list", "input": {"path": "y", "a": 2}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "c2", "is_error": false,
                    "content": [{"type": "text", "text": "two"}], "cache_control": mark},
                {"type": "text", "text": "Go on."},
            ]},
        ],
    })
}

fn gemini() -> Value {
    json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "Be good."}]},
        "generationConfig": {
            "maxOutputTokens": 4000, "temperature": 0.5,
            "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "MEDIUM"},
            "responseMimeType": "application/json", "responseJsonSchema": schema(),
        },
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "tools": [{"functionDeclarations": [
            {"name": "read", "description": "Reads.", "parametersJsonSchema": schema()},
            {"name": "list", "parameters": {"type": "OBJECT", "properties":
                {"path": {"type": "STRING"}, "a": {"type": "INTEGER"}},
                "required": ["path", "a"], "additionalProperties": false}},
        ]}],
        "contents": [
            {"role": "user", "parts": [
                {"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            ]},
            {"role": "model", "parts": [
                {"text": "Hm.", "thought": true},
                {"text": "I read."},
                {"functionCall": {"id": "c1", "name": "read", "args": {"path": "x", "a": 1}},
                    "thoughtSignature": "secret"},
                {"functionCall": {"id": "c2", "name": "list", "args": {"path": "y", "a": 2}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "one"}}},
                {"functionResponse": {"name": "list", "response": {"output": "two"}}},
                {"text": "Go on."},
            ]},
        ],
    })
}

/// A whole reply with thoughts, text and two calls at once.
pub(super) fn reply(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Chat => json!({
            "id": "x", "object": "chat.completion", "choices": [{"index": 0,
                "finish_reason": "tool_calls", "message": {"role": "assistant",
                "content": "Say é.", "reasoning_content": "Hm.", "tool_calls": [
                    {"id": "c1", "type": "function", "function":
                        {"name": "read", "arguments": "{\"path\":\"x\",\"a\":1}"}},
                    {"id": "c2", "type": "function", "function":
                        {"name": "list", "arguments": "{\"path\":\"y\",\"a\":2}"}},
                ]}}],
            "usage": {"prompt_tokens": 17, "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 7},
                "completion_tokens_details": {"reasoning_tokens": 4}},
        }),
        Dialect::Responses => response("completed"),
        Dialect::Anthropic => json!({
            "id": "x", "type": "message", "role": "assistant", "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "secret"},
                {"type": "text", "text": "Say é."},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "x", "a": 1}},
                {"type": "tool_use", "id": "c2", "name": "list", "input": {"path": "y", "a": 2}},
            ],
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 7, "output_tokens": 20,
                "output_tokens_details": {"thinking_tokens": 4}},
        }),
        Dialect::Gemini => json!({
            "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model",
                "parts": [
                    {"text": "Hm.", "thought": true},
                    {"text": "Say é."},
                    {"functionCall": {"id": "c1", "name": "read", "args": {"path": "x", "a": 1}},
                        "thoughtSignature": "secret"},
                    {"functionCall": {"id": "c2", "name": "list", "args": {"path": "y", "a": 2}}},
                ]}}],
            "usageMetadata": {"promptTokenCount": 17, "cachedContentTokenCount": 7,
                "candidatesTokenCount": 16, "thoughtsTokenCount": 4},
        }),
    }
}

fn response(status: &str) -> Value {
    json!({
        "id": "x", "object": "response", "status": status,
        "output": [
            {"type": "reasoning", "id": "rs_1", "encrypted_content": "secret",
                "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "id": "m_1", "role": "assistant",
                "content": [{"type": "output_text", "text": "Say é.", "annotations": []}]},
            {"type": "function_call", "id": "f_1", "call_id": "c1", "name": "read",
                "arguments": "{\"path\":\"x\",\"a\":1}"},
            {"type": "function_call", "id": "f_2", "call_id": "c2", "name": "list",
                "arguments": "{\"path\":\"y\",\"a\":2}"},
        ],
        "usage": {"input_tokens": 17, "output_tokens": 20,
            "input_tokens_details": {"cached_tokens": 7},
            "output_tokens_details": {"reasoning_tokens": 4}},
    })
}

/// The same reply as a stream.
pub(super) fn stream(dialect: Dialect) -> String {
    match dialect {
        Dialect::Chat => chat_stream(),
        Dialect::Responses => responses_stream(),
        Dialect::Anthropic => anthropic_stream(),
        Dialect::Gemini => gemini_stream(),
    }
}

fn chat_stream() -> String {
    let delta = |delta: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        format!("data: {}\n\n", json!({"id": "x", "choices": [choice], "usage": null}))
    };
    let call = |call: Value| delta(json!({"tool_calls": [call]}));
    let usage = reply(Dialect::Chat)["usage"].clone();
    [
        delta(json!({"role": "assistant", "content": ""})),
        ": keep-alive\n\n".to_owned(),
        delta(json!({"reasoning_content": "H"})),
        delta(json!({"reasoning_content": "m."})),
        delta(json!({"content": "Say "})),
        delta(json!({"content": "é."})),
        call(json!({"index": 0, "id": "c1", "type": "function",
            "function": {"name": "read", "arguments": ""}})),
        call(json!({"index": 0, "function": {"arguments": "{\"path\":\"x\","}})),
        call(json!({"index": 0, "function": {"arguments": "\"a\":1}"}})),
        call(json!({"index": 1, "id": "c2", "type": "function",
            "function": {"name": "list", "arguments": "{\"path\":\"y\",\"a\":2}"}})),
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        ),
        format!("data: {}\n\n", json!({"choices": [], "usage": usage})),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

/// Writes events that carry their name in their data too.
pub(super) fn named(events: &[Value]) -> String {
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn anthropic_stream() -> String {
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let input = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    named(&[
        json!({"type": "message_start", "message": {"id": "x", "role": "assistant", "content": [],
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 7, "output_tokens": 1}}}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, json!({"type": "signature_delta", "signature": "secret"})),
        stop(0),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Say "})),
        delta(1, json!({"type": "text_delta", "text": "é."})),
        stop(1),
        start(2, json!({"type": "tool_use", "id": "c1", "name": "read", "input": {}})),
        delta(2, input("{\"path\":\"x\"")),
        delta(2, input(",\"a\":1}")),
        stop(2),
        start(3, json!({"type": "tool_use", "id": "c2", "name": "list", "input": {}})),
        delta(3, input("{\"path\":\"y\",\"a\":2}")),
        stop(3),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 20, "output_tokens_details": {"thinking_tokens": 4}}}),
        json!({"type": "message_stop"}),
    ])
}

fn responses_stream() -> String {
    let whole = response("completed");
    let mut events = vec![
        json!({"type": "response.created", "response": {"status": "in_progress"}}),
        json!({"type": "response.in_progress", "response": {"status": "in_progress"}}),
    ];
    for (index, item) in whole["output"].as_array().unwrap().iter().enumerate() {
        let mut begun = item.clone();
        let kind = item["type"].as_str().unwrap();
        let (name, text) = match kind {
            "reasoning" => {
                begun["summary"] = json!([]);
                ("response.reasoning_summary_text.delta", "Hm.")
            }
            "message" => {
                begun["content"] = json!([]);
                ("response.output_text.delta", "Say é.")
            }
            _ => {
                begun["arguments"] = json!("");
                ("response.function_call_arguments.delta", item["arguments"].as_str().unwrap())
            }
        };
        let event =
            |kind: &str, item: &Value| json!({"type": kind, "output_index": index, "item": item});
        events.push(event("response.output_item.added", &begun));
        let (first, second) = text.split_at(2);
        for delta in [first, second] {
            events.push(json!({"type": name, "output_index": index, "delta": delta}));
        }
        events.push(event("response.output_item.done", item));
    }
    events.push(json!({"type": "response.completed", "response": whole}));
    named(&events)
}

fn gemini_stream() -> String {
    let whole = reply(Dialect::Gemini);
    let mut text = String::new();
    let parts = whole["candidates"][0]["content"]["parts"].as_array().unwrap();
    for (index, part) in parts.iter().enumerate() {
        let mut chunk = json!({
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}],
            "usageMetadata": {"promptTokenCount": 17, "cachedContentTokenCount": 7},
        });
        if index + 1 == parts.len() {
            chunk["candidates"][0]["finishReason"] = json!("STOP");
            chunk["usageMetadata"] = whole["usageMetadata"].clone();
        }
        text.push_str(&format!("data: {chunk}\r\n\r\n"));
    }
    text
}
