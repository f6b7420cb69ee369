//! Gemini CLI, `-o stream-json`.

use godel_model::Usage;
use serde_json::Value;

use super::json::{count, readable, text};
use super::tell::Tell;
use super::{Outcome, Reader};

#[derive(Debug, Default)]
pub(super) struct Gemini;

impl Reader for Gemini {
    fn value(&mut self, value: &Value, tell: &mut Tell) {
        match text(value, "type") {
            "init" => tell.started(text(value, "session_id")),
            "message" if text(value, "role") == "assistant" => tell.text(text(value, "content")),
            "thought" => tell.thinking(text(value, "content")),
            "tool_use" => {
                tell.call(text(value, "tool_id"), text(value, "tool_name"), &value["parameters"]);
            }
            "tool_result" => {
                let failed = text(value, "status") != "success";
                let said = match readable(&value["output"]) {
                    said if said.is_empty() && failed => readable(&value["error"]["message"]),
                    said => said,
                };
                tell.result(text(value, "tool_id"), &said, failed);
            }
            "error" => tell.trouble(text(value, "message")),
            "result" => {
                tell.usage(usage(&value["stats"]));
                if text(value, "status") == "success" {
                    tell.end(Outcome::Completed);
                } else {
                    tell.end(Outcome::failed(text(&value["error"], "message")));
                }
            }
            _ => {}
        }
    }
}

/// Thoughts are counted in the sum only.
fn usage(told: &Value) -> Usage {
    let (shown, all) = (count(told, "output_tokens"), count(told, "total_tokens"));
    let output = all.saturating_sub(count(told, "input_tokens")).max(shown);
    Usage {
        input: count(told, "input_tokens").saturating_sub(count(told, "cached")),
        cache_read: count(told, "cached"),
        output,
        reasoning: output - shown,
        ..Usage::default()
    }
}
