//! OpenAI chat completions.

use serde_json::Value;

use super::{Refusal, data, image_at, text_of};
use crate::ask::{Answered, Ask, Called, Choice, Think, Tool, ToolKind, Turn};
use crate::json::{array, null, object, text, text_or_null, with};
use crate::reply::{Call, Reply, Stop};

/// When every answer was made, in seconds since 1970: time does not pass on a stage.
const CREATED: &str = "1767225600";

/// Reads a request.
pub(super) fn read(mut ask: Ask, body: &Value) -> Result<Ask, String> {
    let Some(messages) = body["messages"].as_array() else {
        return Err("Missing required parameter: 'messages'.".to_owned());
    };
    ask.tools = body["tools"].as_array().into_iter().flatten().map(tool).collect();
    ask.choice = choice(&body["tool_choice"]);
    ask.parallel = body["parallel_tool_calls"] != false;
    ask.schema = match body["response_format"]["type"].as_str() {
        Some("json_schema") => Some(body["response_format"]["json_schema"]["schema"].clone()),
        Some("json_object") => Some(serde_json::json!({"properties": {"answer": {}}})),
        _ => None,
    };
    let most = &body["max_completion_tokens"];
    ask.max_tokens = most.as_u64().or_else(|| body["max_tokens"].as_u64());
    ask.wants_usage = body["stream_options"]["include_usage"] == true;
    ask.think = Think::Quiet;
    let turns = messages.iter().filter_map(turn).fold(Vec::new(), joined);
    Ok(ask.settle(turns))
}

fn tool(tool: &Value) -> Tool {
    let (kind, inner) = match tool["type"].as_str() {
        Some("custom") => (ToolKind::Custom, &tool["custom"]),
        _ => (ToolKind::Function, &tool["function"]),
    };
    Tool {
        name: inner["name"].as_str().unwrap_or_default().to_owned(),
        namespace: None,
        kind,
        schema: inner["parameters"].clone(),
    }
}

/// Reads a choice of tools, as both OpenAI dialects write it.
pub(super) fn choice(choice: &Value) -> Choice {
    let named = choice["function"]["name"].as_str().or_else(|| choice["name"].as_str());
    match (choice.as_str(), named) {
        (Some("required"), _) => Choice::Any,
        (Some("none"), _) => Choice::Never,
        (None, Some(name)) => Choice::Named(name.to_owned()),
        _ => Choice::Auto,
    }
}

fn turn(message: &Value) -> Option<Turn> {
    let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let content = &message["content"];
    match message["role"].as_str()? {
        "user" => {
            let parts = content.as_array().into_iter().flatten();
            let images = parts.filter_map(|part| part["image_url"]["url"].as_str()).map(image_at);
            Some(Turn::User { text: text_of(content), images: images.collect() })
        }
        "assistant" => {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls = calls.map(|call| Called { id: id(&call["id"]), key: id(&call["id"]) });
            Some(Turn::Model { calls: calls.collect(), seals: Vec::new() })
        }
        "tool" => {
            let answered = Answered { id: id(&message["tool_call_id"]), text: text_of(content) };
            Some(Turn::Results(vec![answered]))
        }
        _ => None,
    }
}

/// Joins results that follow each other: each is a message of its own here.
pub(super) fn joined(mut turns: Vec<Turn>, next: Turn) -> Vec<Turn> {
    match (turns.last_mut(), next) {
        (Some(Turn::Results(results)), Turn::Results(further)) => results.extend(further),
        (_, next) => turns.push(next),
    }
    turns
}

/// Writes an answer as one document.
pub(super) fn whole(reply: &Reply) -> String {
    let content = if reply.pieces.is_empty() { null() } else { text(&reply.text()) };
    let refused = reply.stop == Stop::Refusal;
    let mut message = object([
        ("role", text("assistant")),
        ("content", content),
        ("refusal", if refused { text("I will not do that.") } else { null() }),
    ]);
    if let Some(thought) = &reply.thought {
        message = with(&message, &[("reasoning_content", text(thought))]);
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| tool_call(call, &call.input_text()));
        message = with(&message, &[("tool_calls", array(calls))]);
    }
    let choice = object([
        ("index", "0".to_owned()),
        ("message", message),
        ("logprobs", null()),
        ("finish_reason", text(stop(reply.stop))),
    ]);
    document(reply, "chat.completion", array([choice]), Some(usage(reply)))
}

fn tool_call(call: &Call, arguments: &str) -> String {
    let inner = |field| object([("name", text(&call.name)), (field, text(arguments))]);
    match call.kind {
        ToolKind::Custom => {
            object([("id", text(&call.id)), ("type", text("custom")), ("custom", inner("input"))])
        }
        ToolKind::Function | ToolKind::LocalShell => object([
            ("id", text(&call.id)),
            ("type", text("function")),
            ("function", inner("arguments")),
        ]),
    }
}

fn document(reply: &Reply, kind: &str, choices: String, usage: Option<String>) -> String {
    let document = object([
        ("id", text(&format!("chatcmpl-{}", reply.number))),
        ("object", text(kind)),
        ("created", CREATED.to_owned()),
        ("model", text(&reply.model)),
        ("choices", choices),
    ]);
    let usage: Vec<(&str, String)> = usage.into_iter().map(|usage| ("usage", usage)).collect();
    let document = with(&document, &usage);
    let tier = reply.tier.as_deref().unwrap_or("default");
    with(&document, &[("service_tier", text(tier)), ("system_fingerprint", text("fp_1"))])
}

fn usage(reply: &Reply) -> String {
    let usage = &reply.usage;
    object([
        ("prompt_tokens", usage.prompt().to_string()),
        ("completion_tokens", usage.output.to_string()),
        ("total_tokens", (usage.prompt() + usage.output).to_string()),
        (
            "prompt_tokens_details",
            object([
                ("cached_tokens", usage.cache_read.to_string()),
                ("cache_write_tokens", usage.cache_write.to_string()),
                ("audio_tokens", "0".to_owned()),
            ]),
        ),
        (
            "completion_tokens_details",
            object([
                ("reasoning_tokens", usage.reasoning.to_string()),
                ("audio_tokens", "0".to_owned()),
            ]),
        ),
    ])
}

/// Writes an answer as a stream.
pub(super) fn frames(reply: &Reply, wants_usage: bool) -> Vec<String> {
    let empty = object([("role", text("assistant")), ("content", text("")), ("refusal", null())]);
    let mut deltas = vec![empty];
    for piece in reply.thought.iter().flat_map(|thought| thought.split_inclusive(' ')) {
        deltas.push(object([("reasoning_content", text(piece))]));
    }
    deltas.extend(reply.pieces.iter().map(|piece| object([("content", text(piece))])));
    for (index, call) in reply.calls.iter().enumerate() {
        deltas.extend(call_deltas(index, call));
    }
    // With usage asked for, every chunk has the field and only the last one has the numbers.
    let none = || wants_usage.then(null);
    let chunk = |delta: String, finish: Option<&str>| {
        let choice = object([
            ("index", "0".to_owned()),
            ("delta", delta),
            ("logprobs", null()),
            ("finish_reason", text_or_null(finish)),
        ]);
        data(&document(reply, "chat.completion.chunk", array([choice]), none()))
    };
    let mut frames: Vec<String> = deltas.into_iter().map(|delta| chunk(delta, None)).collect();
    frames.push(chunk(object([]), Some(stop(reply.stop))));
    if wants_usage {
        let usage = Some(usage(reply));
        frames.push(data(&document(reply, "chat.completion.chunk", array([]), usage)));
    }
    frames.push(data("[DONE]"));
    frames
}

/// The first delta of a call names it, the others bring its arguments.
fn call_deltas(index: usize, call: &Call) -> Vec<String> {
    let place = object([("index", index.to_string())]);
    let field = if call.kind == ToolKind::Custom { "custom" } else { "function" };
    let argument = if call.kind == ToolKind::Custom { "input" } else { "arguments" };
    let first = object([("name", text(&call.name)), (argument, text(""))]);
    let head = [("id", text(&call.id)), ("type", text(field)), (field, first)];
    let mut calls = vec![with(&place, &head)];
    for piece in call.input_pieces() {
        calls.push(with(&place, &[(field, object([(argument, text(&piece))]))]));
    }
    calls.into_iter().map(|call| object([("tool_calls", array([call]))])).collect()
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Calls => "tool_calls",
        Stop::Length => "length",
        Stop::Refusal => "content_filter",
    }
}

/// Writes the body of a refusal, as both OpenAI dialects do.
pub(super) fn refusal(refusal: &Refusal) -> String {
    let (kind, code) = match refusal.status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        402 => ("insufficient_quota", Some("insufficient_quota")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500.. => ("server_error", None),
        _ => ("invalid_request_error", None),
    };
    let own = refusal.code.as_deref();
    let kind = if own == Some("insufficient_quota") { "insufficient_quota" } else { kind };
    let error = object([
        ("message", text(&refusal.message)),
        ("type", text(kind)),
        ("param", null()),
        ("code", text_or_null(own.or(code))),
    ]);
    object([("error", error)])
}
