//! Gemini generateContent.

use serde_json::{Value, json};

use super::{Refusal, data, image};
use crate::ask::{Answered, Ask, Called, Choice, Seal, Think, Tool, ToolKind, Turn, Wire};
use crate::json::{array, object, text, with};
use crate::reply::{Reply, Stop};

/// A field under either of its names: the SDKs mix `camelCase` and `snake_case`.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).or_else(|| {
        let mut snake = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        value.get(&snake)
    })
}

fn text_field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    field(value, name).and_then(Value::as_str)
}

/// The items of a list that is a field, or none.
fn list_field<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    field(value, name).and_then(Value::as_array).into_iter().flatten()
}

/// Reads a request.
pub(super) fn read(mut ask: Ask, body: &Value) -> Result<Ask, String> {
    let Some(contents) = body["contents"].as_array() else {
        return Err("contents is not specified".to_owned());
    };
    let lists = list_field(body, "tools");
    ask.tools =
        lists.flat_map(|tools| list_field(tools, "functionDeclarations")).map(tool).collect();
    let calling = field(body, "toolConfig").and_then(|c| field(c, "functionCallingConfig"));
    ask.choice = calling.map_or(Choice::Auto, choice);
    let empty = json!({});
    let config = field(body, "generationConfig").unwrap_or(&empty);
    let schema = field(config, "responseJsonSchema").or_else(|| field(config, "responseSchema"));
    ask.schema = match (schema, text_field(config, "responseMimeType")) {
        (Some(schema), _) => Some(schema.clone()),
        (None, Some("application/json")) => Some(json!({"properties": {"answer": {}}})),
        _ => None,
    };
    ask.max_tokens = field(config, "maxOutputTokens").and_then(Value::as_u64);
    let thinking = field(config, "thinkingConfig").and_then(|c| field(c, "includeThoughts"));
    ask.think = if thinking == Some(&json!(true)) { Think::Shown } else { Think::Quiet };
    ask.sealed = true;
    let mut turns = Vec::new();
    for content in contents {
        let turn = turn(content, &turns);
        turns.push(turn);
    }
    Ok(ask.settle(turns))
}

fn choice(calling: &Value) -> Choice {
    let allowed = list_field(calling, "allowedFunctionNames").find_map(Value::as_str);
    match (text_field(calling, "mode"), allowed) {
        (Some("ANY"), Some(name)) => Choice::Named(name.to_owned()),
        (Some("ANY"), None) => Choice::Any,
        (Some("NONE"), _) => Choice::Never,
        _ => Choice::Auto,
    }
}

fn tool(tool: &Value) -> Tool {
    let schema = field(tool, "parametersJsonSchema").or_else(|| field(tool, "parameters"));
    Tool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        namespace: None,
        kind: ToolKind::Function,
        schema: schema.cloned().unwrap_or_default(),
    }
}

/// Reads a turn. Calls are numbered by their place, because clients drop the ids.
fn turn(content: &Value, earlier: &[Turn]) -> Turn {
    let parts = || content["parts"].as_array().into_iter().flatten();
    if content["role"] == "model" {
        let called = parts().filter_map(|part| field(part, "functionCall"));
        let calls = called.enumerate().map(|(at, call)| {
            let name = call["name"].as_str().unwrap_or_default();
            Called { id: format!("{at}:{name}"), key: key(call) }
        });
        let sealed = parts().filter_map(|part| {
            let seal = text_field(part, "thoughtSignature")?.to_owned();
            Some(Seal { seal, covers: field(part, "functionCall").map(key).unwrap_or_default() })
        });
        return Turn::Model { calls: calls.collect(), seals: sealed.collect() };
    }
    let responses: Vec<&Value> =
        parts().filter_map(|part| field(part, "functionResponse")).collect();
    if responses.is_empty() {
        let texts: Vec<&str> = parts().filter_map(|part| part["text"].as_str()).collect();
        let images = parts().filter_map(|part| field(part, "inlineData")).map(|data| {
            let media = text_field(data, "mimeType").unwrap_or_default();
            image(media, data["data"].as_str().unwrap_or_default())
        });
        return Turn::User { text: texts.join("\n"), images: images.collect() };
    }
    // Results stand in the order of the calls of the same name.
    let mut open: Vec<String> = match earlier.last() {
        Some(Turn::Model { calls, .. }) => calls.iter().map(|call| call.id.clone()).collect(),
        _ => Vec::new(),
    };
    let answered = responses.into_iter().map(|response| {
        let name = response["name"].as_str().unwrap_or_default();
        let same = |id: &String| id.split_once(':').is_some_and(|(_, called)| called == name);
        let id = open.iter().position(same).map(|at| open.remove(at));
        Answered { id: id.unwrap_or_else(|| name.to_owned()), text: result(&response["response"]) }
    });
    Turn::Results(answered.collect())
}

fn key(call: &Value) -> String {
    // Empty arguments may be left out.
    let arguments = if call["args"].is_null() { "{}".to_owned() } else { call["args"].to_string() };
    format!("{} {arguments}", call["name"].as_str().unwrap_or_default())
}

/// The usual fields in which clients put a result, or all of it.
fn result(response: &Value) -> String {
    let usual = ["output", "result", "content", "error"];
    let usual = usual.iter().find_map(|name| response[*name].as_str());
    usual.map_or_else(|| response.to_string(), str::to_owned)
}

/// Writes an answer as one document.
pub(super) fn whole(reply: &Reply) -> String {
    let mut parts: Vec<String> = reply.thought.iter().map(|thought| thinking(thought)).collect();
    if !reply.pieces.is_empty() {
        parts.push(object([("text", text(&reply.text()))]));
    }
    parts.extend(calls(reply));
    chunk(reply, parts, true)
}

fn thinking(thought: &str) -> String {
    object([("text", text(thought)), ("thought", "true".to_owned())])
}

fn calls(reply: &Reply) -> Vec<String> {
    let call = |(at, call): (usize, &crate::reply::Call)| {
        let part = object([(
            "functionCall",
            object([
                ("id", text(&call.id)),
                ("name", text(&call.name)),
                ("args", call.input.to_string()),
            ]),
        )]);
        match &reply.seal {
            // Only the first of several calls carries the state.
            Some(seal) if at == 0 => with(&part, &[("thoughtSignature", text(seal))]),
            _ => part,
        }
    };
    reply.calls.iter().enumerate().map(call).collect()
}

fn chunk(reply: &Reply, parts: Vec<String>, last: bool) -> String {
    let content = object([("parts", array(parts)), ("role", text("model"))]);
    let mut candidate = object([("content", content)]);
    if last {
        candidate = with(&candidate, &[("finishReason", text(stop(reply.stop)))]);
    }
    candidate = with(&candidate, &[("index", "0".to_owned())]);
    object([
        ("candidates", array([candidate])),
        ("usageMetadata", usage(reply, last)),
        ("modelVersion", text(&reply.model)),
        ("responseId", text(&format!("resp-{}", reply.number))),
    ])
}

fn usage(reply: &Reply, last: bool) -> String {
    let usage = &reply.usage;
    // There is no count of what is written to a cache here.
    let prompt = usage.input + usage.cache_read;
    let shown = if last { usage.output.saturating_sub(usage.reasoning) } else { 0 };
    let mut counts = object([("promptTokenCount", prompt.to_string())]);
    if last {
        counts = with(&counts, &[("candidatesTokenCount", shown.to_string())]);
    }
    let total = prompt + shown + usage.reasoning;
    counts = with(&counts, &[("totalTokenCount", total.to_string())]);
    if usage.cache_read > 0 {
        counts = with(&counts, &[("cachedContentTokenCount", usage.cache_read.to_string())]);
    }
    if usage.reasoning > 0 {
        counts = with(&counts, &[("thoughtsTokenCount", usage.reasoning.to_string())]);
    }
    if let Some(tier) = &reply.tier {
        counts = with(&counts, &[("serviceTier", text(tier))]);
    }
    counts
}

/// Writes an answer as a stream.
pub(super) fn frames(reply: &Reply, wire: Wire) -> Vec<String> {
    let mut parts: Vec<String> = reply.thought.iter().map(|thought| thinking(thought)).collect();
    parts.extend(reply.pieces.iter().map(|piece| object([("text", text(piece))])));
    let mut lists: Vec<Vec<String>> = parts.into_iter().map(|part| vec![part]).collect();
    match calls(reply) {
        calls if !calls.is_empty() => lists.push(calls),
        _ if lists.is_empty() => lists.push(vec![object([("text", text(""))])]),
        _ => {}
    }
    let count = lists.len();
    let chunks = lists.into_iter().enumerate();
    let chunks = chunks.map(|(at, parts)| (at, chunk(reply, parts, at + 1 == count)));
    if wire == Wire::Array {
        let mut frames: Vec<String> = chunks
            .map(|(at, chunk)| format!("{}{chunk}", if at == 0 { "[" } else { ",\r\n" }))
            .collect();
        frames.push("]".to_owned());
        return frames;
    }
    chunks.map(|(_, chunk)| data(&chunk)).collect()
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Calls => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    }
}

/// Writes the body of a refusal.
pub(super) fn refusal(refusal: &Refusal) -> String {
    let status = match refusal.status {
        401 => "UNAUTHENTICATED",
        402 | 429 => "RESOURCE_EXHAUSTED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    let mut error = object([
        ("code", refusal.status.to_string()),
        ("message", text(&refusal.message)),
        ("status", text(refusal.code.as_deref().unwrap_or(status))),
    ]);
    if let Some(seconds) = refusal.retry_after {
        let detail = object([
            ("@type", text("type.googleapis.com/google.rpc.RetryInfo")),
            ("retryDelay", text(&format!("{seconds}s"))),
        ]);
        error = with(&error, &[("details", array([detail]))]);
    }
    object([("error", error)])
}
