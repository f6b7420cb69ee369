//! Pi, `--mode rpc`.

use godel_model::Usage;
use serde_json::{Value, json};

use super::json::{count, list, readable, text};
use super::tell::Tell;
use super::{Answer, Outcome, Reader};
use crate::error::Result;
use crate::event::{CHOICES_MAX, Choice, SessionEvent, clip};

/// The most dialogs that may be open.
const DIALOGS_MAX: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Pi {
    sent: u64,
    /// The request that began the turn.
    turn: String,
    /// Whether the text of the message that is being said has come piece by piece.
    pieces: bool,
    /// How the last message of the model ended.
    last: Last,
    /// Dialogs of extensions that wait for an answer, and their kind.
    dialogs: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct Last {
    reason: String,
    error: String,
}

impl Reader for Pi {
    fn value(&mut self, value: &Value, tell: &mut Tell) {
        match text(value, "type") {
            "response" => self.response(value, tell),
            "message_start" => self.pieces = false,
            "message_update" => self.piece(&value["assistantMessageEvent"], tell),
            "message_end" => self.said(&value["message"], tell),
            "tool_execution_start" => {
                tell.call(text(value, "toolCallId"), text(value, "toolName"), &value["args"]);
            }
            "tool_execution_end" => {
                let failed = value["isError"].as_bool().unwrap_or(false);
                let said = readable(&value["result"]["content"]);
                tell.result(text(value, "toolCallId"), &said, failed);
            }
            "auto_retry_start" => tell.trouble(text(value, "errorMessage")),
            "compaction_end" => {
                let summary = text(&value["result"], "summary");
                if !summary.is_empty() {
                    let summary = clip(summary, crate::event::TEXT_MAX_BYTES);
                    tell.push(SessionEvent::Compacted { summary });
                }
            }
            "extension_ui_request" => self.dialog(value, tell),
            "agent_settled" => self.settle(value["aborted"] == Value::Bool(true), tell),
            _ => {}
        }
    }

    fn prompt(&mut self, message: &str, tell: &mut Tell) -> Result<()> {
        if self.sent == 0 {
            let id = self.id();
            tell.send(&json!({ "id": id, "type": "get_state" }));
        }
        // In the middle of a turn it is told at the next safe point.
        let kind = if tell.in_turn() { "steer" } else { "prompt" };
        let id = self.id();
        if kind == "prompt" {
            self.turn.clone_from(&id);
            self.last = Last::default();
        }
        tell.send(&json!({ "id": id, "type": kind, "message": message }));
        Ok(())
    }

    /// What waits in the queue would run inside the next prompt.
    fn cancel(&mut self, tell: &mut Tell) -> bool {
        for kind in ["clear_queue", "abort"] {
            let id = self.id();
            tell.send(&json!({ "id": id, "type": kind }));
        }
        true
    }

    fn answer(&mut self, question: &str, answer: &Answer, tell: &mut Tell) -> bool {
        let Some(at) = self.dialogs.iter().position(|(id, _)| id == question) else {
            return false;
        };
        let (id, kind) = self.dialogs.swap_remove(at);
        let mut reply = json!({ "type": "extension_ui_response", "id": id });
        match (answer, kind.as_str()) {
            (Answer::Declined, _) => reply["cancelled"] = true.into(),
            (Answer::Choice(said) | Answer::Text(said), "confirm") => {
                let yes = ["yes", "true", "confirm", "ok"];
                reply["confirmed"] = yes.contains(&said.to_ascii_lowercase().as_str()).into();
            }
            (Answer::Choice(said) | Answer::Text(said), _) => reply["value"] = json!(said),
        }
        tell.send(&reply);
        true
    }
}

impl Pi {
    fn id(&mut self) -> String {
        self.sent += 1;
        format!("godel-{}", self.sent)
    }

    fn response(&self, value: &Value, tell: &mut Tell) {
        match (text(value, "command"), value["success"] == Value::Bool(true)) {
            ("get_state", true) => tell.started(text(&value["data"], "sessionId")),
            ("prompt", false) if text(value, "id") == self.turn => {
                tell.end(Outcome::failed(text(value, "error")));
            }
            (_, false) => tell.trouble(text(value, "error")),
            (_, true) => {}
        }
    }

    fn piece(&mut self, event: &Value, tell: &mut Tell) {
        match text(event, "type") {
            "text_delta" => tell.text(text(event, "delta")),
            "thinking_delta" => tell.thinking(text(event, "delta")),
            _ => return,
        }
        self.pieces = true;
    }

    fn said(&mut self, message: &Value, tell: &mut Tell) {
        if text(message, "role") != "assistant" {
            return;
        }
        let pieces = std::mem::take(&mut self.pieces);
        for part in list(message, "content").iter().filter(|_| !pieces) {
            match text(part, "type") {
                "text" => tell.text(text(part, "text")),
                "thinking" => tell.thinking(text(part, "thinking")),
                _ => {}
            }
        }
        tell.usage(usage(&message["usage"]));
        self.last = Last {
            reason: clip(text(message, "stopReason"), 100),
            error: clip(text(message, "errorMessage"), 4096),
        };
    }

    /// A failed turn settles like any other, so the reason of the last message decides.
    fn settle(&mut self, aborted: bool, tell: &mut Tell) {
        let last = std::mem::take(&mut self.last);
        tell.end(match last.reason.as_str() {
            _ if aborted => Outcome::Cancelled,
            "aborted" => Outcome::Cancelled,
            "stop" => Outcome::Completed,
            _ if !last.error.is_empty() => Outcome::failed(&last.error),
            "" => Outcome::failed("the agent stopped without an answer of the model"),
            reason => Outcome::failed(&format!("the agent stopped: {reason}")),
        });
    }

    fn dialog(&mut self, value: &Value, tell: &mut Tell) {
        let (id, kind) = (text(value, "id"), text(value, "method"));
        let asks = matches!(kind, "select" | "confirm" | "input" | "editor");
        if !asks || self.dialogs.len() >= DIALOGS_MAX {
            return;
        }
        self.dialogs.push((id.to_owned(), kind.to_owned()));
        let said = [text(value, "title"), text(value, "message")].join("\n");
        let choice = |option: &Value| {
            let label = clip(&readable(option), 512);
            Choice { id: label.clone(), label }
        };
        let mut choices: Vec<Choice> =
            list(value, "options").iter().take(CHOICES_MAX).map(choice).collect();
        if kind == "confirm" {
            choices = ["yes", "no"].map(|word| choice(&json!(word))).into();
        }
        let text = clip(said.trim(), 4096);
        tell.push(SessionEvent::Question { id: id.to_owned(), text, choices });
    }
}

fn usage(told: &Value) -> Usage {
    Usage {
        input: count(told, "input"),
        cache_read: count(told, "cacheRead"),
        cache_write_5m: count(told, "cacheWrite"),
        output: count(told, "output"),
        reasoning: count(told, "reasoning"),
        ..Usage::default()
    }
}
