//! Claude Code, `--output-format stream-json`.

use std::collections::VecDeque;

use godel_llm::{Dialect, read_usage};
use serde_json::Value;

use super::json::{list, readable, text};
use super::tell::Tell;
use super::{Outcome, Reader};

/// How many messages are remembered whose text has come piece by piece.
const STREAMED_MAX: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Claude {
    /// Messages of which the text was told already, by id.
    streamed: VecDeque<String>,
}

impl Reader for Claude {
    fn value(&mut self, value: &Value, tell: &mut Tell) {
        match text(value, "type") {
            "system" => system(value, tell),
            "stream_event" => self.piece(&value["event"], tell),
            "assistant" => {
                // A helper that it sends off has a mind of its own.
                if value["parent_tool_use_id"].is_null() {
                    tell.context(given(&value["message"]["usage"]), None);
                }
                self.said(&value["message"], tell);
            }
            "user" => {
                for block in list(&value["message"], "content") {
                    if text(block, "type") == "tool_result" {
                        let failed = block["is_error"].as_bool().unwrap_or(false);
                        let said = readable(&block["content"]);
                        tell.result(text(block, "tool_use_id"), &said, failed);
                    }
                }
            }
            "result" => result(value, tell),
            _ => {}
        }
    }
}

impl Claude {
    fn piece(&mut self, event: &Value, tell: &mut Tell) {
        match text(event, "type") {
            "message_start" => {
                if self.streamed.len() >= STREAMED_MAX {
                    self.streamed.pop_front();
                }
                self.streamed.push_back(text(&event["message"], "id").to_owned());
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                tell.text(text(delta, "text"));
                tell.thinking(text(delta, "thinking"));
            }
            _ => {}
        }
    }

    fn said(&self, message: &Value, tell: &mut Tell) {
        let streamed = self.streamed.iter().any(|id| id == text(message, "id"));
        for block in list(message, "content") {
            match text(block, "type") {
                "text" if !streamed => tell.text(text(block, "text")),
                "thinking" if !streamed => tell.thinking(text(block, "thinking")),
                "tool_use" => tell.call(text(block, "id"), text(block, "name"), &block["input"]),
                _ => {}
            }
        }
    }
}

/// Counts what the model was given in one request.
fn given(usage: &Value) -> u64 {
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .into_iter()
        .filter_map(|kind| usage[kind].as_u64())
        .fold(0, u64::saturating_add)
}

fn system(value: &Value, tell: &mut Tell) {
    match text(value, "subtype") {
        "init" => tell.started(text(value, "session_id")),
        "api_retry" => {
            let (attempt, status) = (&value["attempt"], &value["error_status"]);
            tell.trouble(&format!("the model answered {status}; attempt {attempt}"));
        }
        _ => {}
    }
}

/// Its word for success is there on errors of the model too.
fn result(value: &Value, tell: &mut Tell) {
    if let Some(usage) = read_usage(Dialect::Anthropic, &value["usage"]) {
        tell.usage(usage);
    }
    let well = value["is_error"] == Value::Bool(false) && text(value, "subtype") == "success";
    if well {
        return tell.end(Outcome::Completed);
    }
    let said = match readable(&value["result"]) {
        said if said.is_empty() => readable(&value["errors"]),
        said => said,
    };
    let reason = text(value, "subtype");
    tell.end(Outcome::failed(if said.is_empty() { reason } else { &said }));
}
