//! OpenAI Responses.

mod read;
mod stream;

use super::{Refusal, event};
use crate::ask::ToolKind;
use crate::json::{array, null, object, text, text_or_null, with};
use crate::reply::{Call, Reply, Stop};

pub(super) use read::read;
pub(super) use stream::frames;

/// When every answer was made, in seconds since 1970: time does not pass on a stage.
const CREATED: &str = "1767225600";

/// Writes an answer as one document.
pub(super) fn whole(reply: &Reply) -> String {
    document(reply, items(reply), Some(usage(reply)))
}

/// The finished output items.
fn items(reply: &Reply) -> Vec<String> {
    let mut items: Vec<String> =
        reply.thought.iter().map(|thought| reasoning(reply, Some(thought))).collect();
    if !reply.pieces.is_empty() || reply.calls.is_empty() {
        items.push(message(reply, array([part(&reply.text())]), "completed"));
    }
    let calls = reply.calls.iter().map(|call| call_item(call, &call.input_text(), "completed"));
    items.extend(calls);
    items
}

/// A reasoning item; without a text it has only begun.
fn reasoning(reply: &Reply, thought: Option<&str>) -> String {
    let summary = thought.filter(|thought| !thought.is_empty()).map(summary_part);
    let item = object([
        ("id", text(&format!("rs_{}", reply.number))),
        ("type", text("reasoning")),
        ("summary", array(summary)),
    ]);
    match (&reply.seal, thought) {
        (Some(seal), Some(_)) => with(&item, &[("encrypted_content", text(seal))]),
        (Some(_), None) => with(&item, &[("encrypted_content", text(""))]),
        (None, _) => item,
    }
}

fn summary_part(thought: &str) -> String {
    object([("type", text("summary_text")), ("text", text(thought))])
}

fn message(reply: &Reply, content: String, status: &str) -> String {
    object([
        ("id", text(&format!("msg_{}", reply.number))),
        ("type", text("message")),
        ("status", text(status)),
        ("role", text("assistant")),
        ("content", content),
    ])
}

fn part(said: &str) -> String {
    object([
        ("type", text("output_text")),
        ("annotations", array([])),
        ("logprobs", array([])),
        ("text", text(said)),
    ])
}

fn call_item(call: &Call, input: &str, status: &str) -> String {
    let (prefix, kind, field) = match call.kind {
        ToolKind::Function => ("fc", "function_call", "arguments"),
        ToolKind::Custom => ("ctc", "custom_tool_call", "input"),
        ToolKind::LocalShell => ("lsh", "local_shell_call", "action"),
    };
    let input = match call.kind {
        // The action is a document, not a text, and never comes in pieces.
        ToolKind::LocalShell => call.input.to_string(),
        ToolKind::Function | ToolKind::Custom => text(input),
    };
    let item = object([
        ("id", text(&format!("{prefix}_{}", call.id))),
        ("type", text(kind)),
        ("status", text(status)),
        (field, input),
        ("call_id", text(&call.id)),
    ]);
    let item = match call.kind {
        ToolKind::LocalShell => item,
        ToolKind::Function | ToolKind::Custom => with(&item, &[("name", text(&call.name))]),
    };
    match &call.namespace {
        Some(namespace) => with(&item, &[("namespace", text(namespace))]),
        None => item,
    }
}

/// The response object; without usage it is still under way.
fn document(reply: &Reply, items: Vec<String>, usage: Option<String>) -> String {
    let (status, incomplete) = match (&usage, reply.stop) {
        (None, _) => ("in_progress", None),
        (Some(_), Stop::End | Stop::Calls) => ("completed", None),
        (Some(_), Stop::Length) => ("incomplete", Some("max_output_tokens")),
        (Some(_), Stop::Refusal) => ("incomplete", Some("content_filter")),
    };
    // Until it is done nobody knows.
    let served = reply.tier.as_deref().unwrap_or("default");
    let tier = if usage.is_some() { served } else { "auto" };
    object([
        ("id", text(&format!("resp_{}", reply.number))),
        ("object", text("response")),
        ("created_at", CREATED.to_owned()),
        ("status", text(status)),
        ("error", null()),
        ("incomplete_details", incomplete.map_or_else(null, |why| object([("reason", text(why))]))),
        ("instructions", null()),
        ("metadata", object([])),
        ("model", text(&reply.model)),
        ("output", array(items)),
        ("parallel_tool_calls", "true".to_owned()),
        ("previous_response_id", null()),
        ("reasoning", object([("effort", null()), ("summary", null())])),
        ("service_tier", text(tier)),
        ("store", "false".to_owned()),
        ("temperature", "1.0".to_owned()),
        ("text", object([("format", object([("type", text("text"))]))])),
        ("tool_choice", text("auto")),
        ("tools", array([])),
        ("top_p", "1.0".to_owned()),
        ("truncation", text("disabled")),
        ("usage", usage.unwrap_or_else(null)),
    ])
}

fn usage(reply: &Reply) -> String {
    let usage = &reply.usage;
    object([
        ("input_tokens", usage.prompt().to_string()),
        (
            "input_tokens_details",
            object([
                ("cached_tokens", usage.cache_read.to_string()),
                ("cache_write_tokens", usage.cache_write.to_string()),
            ]),
        ),
        ("output_tokens", usage.output.to_string()),
        ("output_tokens_details", object([("reasoning_tokens", usage.reasoning.to_string())])),
        ("total_tokens", (usage.prompt() + usage.output).to_string()),
    ])
}

/// Writes the frame that tells of a failure in the middle of a stream.
pub(super) fn error_frame(refusal: &Refusal) -> String {
    let code = refusal.code.as_deref().unwrap_or("server_error");
    let error = object([("code", text(code)), ("message", text(&refusal.message))]);
    let response = object([
        ("id", text("resp_failed")),
        ("object", text("response")),
        ("created_at", CREATED.to_owned()),
        ("status", text("failed")),
        ("error", error),
        ("output", array([])),
        ("usage", text_or_null(None)),
    ]);
    let fields = object([
        ("type", text("response.failed")),
        ("sequence_number", "1000000".to_owned()),
        ("response", response),
    ]);
    event("response.failed", &fields)
}
