//! Anthropic Messages.

use serde_json::Value;

use super::{Refusal, event, image, image_at, text_of};
use crate::ask::{Answered, Ask, Called, Choice, Seal, Think, Tool, ToolKind, Turn};
use crate::json::{array, null, object, text, text_or_null, with};
use crate::reply::{Reply, Stop};

/// Reads a request.
pub(super) fn read(mut ask: Ask, body: &Value) -> Result<Ask, String> {
    let Some(messages) = body["messages"].as_array() else {
        return Err("messages: field required".to_owned());
    };
    if !body["max_tokens"].is_u64() {
        return Err("max_tokens: field required".to_owned());
    }
    ask.max_tokens = body["max_tokens"].as_u64();
    ask.tools = body["tools"].as_array().into_iter().flatten().map(tool).collect();
    ask.choice = match body["tool_choice"]["type"].as_str() {
        Some("any") => Choice::Any,
        Some("none") => Choice::Never,
        Some("tool") => {
            Choice::Named(body["tool_choice"]["name"].as_str().unwrap_or_default().to_owned())
        }
        _ => Choice::Auto,
    };
    ask.parallel = body["tool_choice"]["disable_parallel_tool_use"] != true;
    let format = &body["output_config"]["format"];
    // An older name of the same field.
    let format = if format.is_null() { &body["output_format"] } else { format };
    ask.schema = format.get("schema").cloned();
    let thinking = &body["thinking"];
    let on = matches!(thinking["type"].as_str(), Some("enabled" | "adaptive"));
    ask.think = match thinking["display"].as_str() {
        _ if !on => Think::Never,
        Some("omitted") => Think::Hidden,
        _ => Think::Shown,
    };
    ask.sealed = on;
    let turns = messages.iter().flat_map(turns).collect();
    Ok(ask.settle(turns))
}

fn tool(tool: &Value) -> Tool {
    Tool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        namespace: None,
        kind: ToolKind::Function,
        schema: tool["input_schema"].clone(),
    }
}

/// A message is one turn, or results and then what the user says besides.
fn turns(message: &Value) -> Vec<Turn> {
    let content = &message["content"];
    let blocks = || content.as_array().into_iter().flatten();
    let of = |kind: &'static str| blocks().filter(move |block| block["type"] == kind);
    let id = |block: &Value, field: &str| block[field].as_str().unwrap_or_default().to_owned();
    match message["role"].as_str() {
        Some("assistant") => {
            let calls = of("tool_use").map(|block| {
                let id = id(block, "id");
                Called { key: id.clone(), id }
            });
            let seals = of("thinking")
                .map(|block| Seal { seal: id(block, "signature"), covers: id(block, "thinking") });
            vec![Turn::Model { calls: calls.collect(), seals: seals.collect() }]
        }
        Some("user") => {
            let results: Vec<Answered> = of("tool_result")
                .map(|block| Answered {
                    id: id(block, "tool_use_id"),
                    text: text_of(&block["content"]),
                })
                .collect();
            let said = match content {
                Value::String(said) => said.clone(),
                _ => of("text").filter_map(|b| b["text"].as_str()).collect::<Vec<_>>().join("\n"),
            };
            let images = of("image").map(|block| source(&block["source"])).collect();
            if results.is_empty() {
                return vec![Turn::User { text: said, images }];
            }
            // Clients add remarks to results; only a directive makes them a prompt.
            let further = said.contains("[[").then_some(Turn::User { text: said, images });
            std::iter::once(Turn::Results(results)).chain(further).collect()
        }
        _ => Vec::new(),
    }
}

fn source(source: &Value) -> String {
    let field = |name: &str| source[name].as_str().unwrap_or_default();
    match field("type") {
        "url" => image_at(field("url")),
        _ => image(field("media_type"), field("data")),
    }
}

/// Writes an answer as one document.
pub(super) fn whole(reply: &Reply) -> String {
    let mut content = Vec::new();
    if let Some(thought) = &reply.thought {
        content.push(object([
            ("type", text("thinking")),
            ("thinking", text(thought)),
            ("signature", text(reply.seal.as_deref().unwrap_or_default())),
        ]));
    }
    if !reply.pieces.is_empty() {
        content.push(object([("type", text("text")), ("text", text(&reply.text()))]));
    }
    for call in &reply.calls {
        content.push(tool_use(&call.id, &call.name, &call.input.to_string()));
    }
    message(reply, array(content), text(stop(reply.stop)), usage(reply, reply.usage.output))
}

fn message(reply: &Reply, content: String, stop_reason: String, usage: String) -> String {
    object([
        ("id", text(&format!("msg_{}", reply.number))),
        ("type", text("message")),
        ("role", text("assistant")),
        ("model", text(&reply.model)),
        ("content", content),
        ("stop_reason", stop_reason),
        ("stop_sequence", null()),
        ("usage", usage),
    ])
}

fn tool_use(id: &str, name: &str, input: &str) -> String {
    object([
        ("type", text("tool_use")),
        ("id", text(id)),
        ("name", text(name)),
        ("input", input.to_owned()),
    ])
}

fn usage(reply: &Reply, output: u64) -> String {
    let usage = &reply.usage;
    let fast = reply.tier.as_deref() == Some("fast");
    let tier = reply.tier.as_deref().filter(|_| !fast).unwrap_or("standard");
    let counts = object([
        ("input_tokens", usage.input.to_string()),
        ("cache_creation_input_tokens", usage.cache_write.to_string()),
        ("cache_read_input_tokens", usage.cache_read.to_string()),
        (
            "cache_creation",
            object([
                ("ephemeral_5m_input_tokens", usage.cache_write.to_string()),
                ("ephemeral_1h_input_tokens", "0".to_owned()),
            ]),
        ),
        ("output_tokens", output.to_string()),
        ("output_tokens_details", object([("thinking_tokens", usage.reasoning.to_string())])),
        ("service_tier", text(tier)),
    ]);
    let mut more = Vec::new();
    if fast {
        more.push(("speed", text("fast")));
    }
    if reply.searches > 0 {
        let searches = reply.searches.to_string();
        let used = [("web_search_requests", searches), ("web_fetch_requests", "1".to_owned())];
        more.push(("server_tool_use", object(used)));
    }
    with(&counts, &more)
}

/// Writes an answer as a stream.
pub(super) fn frames(reply: &Reply) -> Vec<String> {
    let start = message(reply, array([]), null(), usage(reply, 1));
    let mut frames = vec![typed("message_start", [("message", start)]), typed("ping", [])];
    let mut index = 0;
    if let Some(thought) = &reply.thought {
        let empty =
            object([("type", text("thinking")), ("thinking", text("")), ("signature", text(""))]);
        let mut deltas: Vec<String> = thought
            .split_inclusive(' ')
            .map(|piece| object([("type", text("thinking_delta")), ("thinking", text(piece))]))
            .collect();
        let seal = reply.seal.as_deref().unwrap_or_default();
        deltas.push(object([("type", text("signature_delta")), ("signature", text(seal))]));
        block(&mut frames, &mut index, empty, deltas);
    }
    if !reply.pieces.is_empty() {
        let empty = object([("type", text("text")), ("text", text(""))]);
        let delta = |piece: &String| object([("type", text("text_delta")), ("text", text(piece))]);
        block(&mut frames, &mut index, empty, reply.pieces.iter().map(delta).collect());
    }
    for call in &reply.calls {
        let pieces = std::iter::once(String::new()).chain(call.input_pieces());
        let deltas = pieces.map(|piece| {
            object([("type", text("input_json_delta")), ("partial_json", text(&piece))])
        });
        let empty = tool_use(&call.id, &call.name, "{}");
        block(&mut frames, &mut index, empty, deltas.collect());
    }
    let delta =
        object([("stop_reason", text_or_null(Some(stop(reply.stop)))), ("stop_sequence", null())]);
    let usage = usage(reply, reply.usage.output);
    frames.push(typed("message_delta", [("delta", delta), ("usage", usage)]));
    frames.push(typed("message_stop", []));
    frames
}

/// Writes one content block: its start, its pieces, its end.
fn block(frames: &mut Vec<String>, index: &mut usize, empty: String, deltas: Vec<String>) {
    let at = index.to_string();
    frames.push(typed("content_block_start", [("index", at.clone()), ("content_block", empty)]));
    for delta in deltas {
        frames.push(typed("content_block_delta", [("index", at.clone()), ("delta", delta)]));
    }
    frames.push(typed("content_block_stop", [("index", at)]));
    *index += 1;
}

/// Writes an event whose name stands in its data too.
fn typed<const N: usize>(name: &str, fields: [(&str, String); N]) -> String {
    let start = object([("type", text(name))]);
    event(name, &crate::json::with(&start, &fields))
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Calls => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Refusal => "refusal",
    }
}

/// Writes the body of a refusal.
pub(super) fn refusal(refusal: &Refusal) -> String {
    let kind = match refusal.status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let kind = refusal.code.as_deref().unwrap_or(kind);
    let error = object([("type", text(kind)), ("message", text(&refusal.message))]);
    object([("type", text("error")), ("error", error), ("request_id", text("req_scripted"))])
}
