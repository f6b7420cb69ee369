//! opencode, `run --format json`.

use godel_model::Usage;
use serde_json::Value;

use super::json::{count, readable, text};
use super::tell::Tell;
use super::{Exit, Outcome, Reader};

#[derive(Debug, Default)]
pub(super) struct Opencode {
    /// Why it failed, if it did.
    error: Option<String>,
    /// Why the last step ended.
    reason: String,
}

impl Reader for Opencode {
    fn value(&mut self, value: &Value, tell: &mut Tell) {
        tell.started(text(value, "sessionID"));
        let part = &value["part"];
        match text(value, "type") {
            "text" => tell.text(text(part, "text")),
            "reasoning" => tell.thinking(text(part, "text")),
            "tool_use" => {
                let (call, state) = (text(part, "callID"), &part["state"]);
                tell.call(call, text(part, "tool"), &state["input"]);
                let failed = text(state, "status") == "error";
                let said = if failed { &state["error"] } else { &state["output"] };
                tell.result(call, &readable(said), failed);
            }
            "step_finish" => {
                let reason = text(part, "reason");
                self.reason = reason.chars().take(100).collect();
                tell.usage(usage(&part["tokens"]));
            }
            "error" => {
                let error = &value["error"];
                let message = match readable(&error["data"]["message"]) {
                    said if said.is_empty() => readable(&error["name"]),
                    said => said,
                };
                tell.trouble(&message);
                self.error = Some(crate::event::clip(&message, 4096));
            }
            _ => {}
        }
    }

    /// It has no last event; it has come to an end if its last step says so.
    fn end(&mut self, _exit: &Exit) -> Option<Outcome> {
        match (&self.error, self.reason.as_str()) {
            (Some(error), _) => Some(Outcome::failed(error)),
            (None, "stop") => Some(Outcome::Completed),
            (None, "") => None,
            (None, reason) => {
                Some(Outcome::failed(&format!("it stopped in the middle of its work: {reason}")))
            }
        }
    }
}

fn usage(told: &Value) -> Usage {
    let cache = &told["cache"];
    let reasoning = count(told, "reasoning");
    Usage {
        input: count(told, "input"),
        cache_read: count(cache, "read"),
        cache_write_5m: count(cache, "write"),
        output: count(told, "output") + reasoning,
        reasoning,
        ..Usage::default()
    }
}
