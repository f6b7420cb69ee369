//! Codex, `exec --json`.

use std::collections::BTreeSet;

use godel_model::Usage;
use serde_json::{Value, json};

use super::json::{count, list, readable, text};
use super::tell::Tell;
use super::{Outcome, Reader};
use crate::event::Change;

/// The most calls without a result that are remembered.
const OPEN_MAX: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Codex {
    /// Items whose beginning was told.
    begun: BTreeSet<String>,
}

impl Reader for Codex {
    fn value(&mut self, value: &Value, tell: &mut Tell) {
        let item = &value["item"];
        match text(value, "type") {
            "thread.started" => tell.started(text(value, "thread_id")),
            "item.started" | "item.updated" => self.begin(item, tell),
            "item.completed" => self.complete(item, tell),
            // It tries again after such a line; the turn says how it ended.
            "error" => tell.trouble(text(value, "message")),
            "turn.completed" => {
                tell.usage(usage(&value["usage"]));
                tell.end(Outcome::Completed);
            }
            "turn.failed" => tell.end(Outcome::failed(text(&value["error"], "message"))),
            _ => {}
        }
    }
}

impl Codex {
    fn begin(&mut self, item: &Value, tell: &mut Tell) {
        if text(item, "type") == "todo_list" {
            return tell.todos(list(item, "items"));
        }
        let id = text(item, "id");
        let Some((name, input)) = call(item) else { return };
        if self.begun.len() < OPEN_MAX && self.begun.insert(id.to_owned()) {
            tell.call(id, &name, &input);
        }
    }

    fn complete(&mut self, item: &Value, tell: &mut Tell) {
        match text(item, "type") {
            "reasoning" => tell.thinking(text(item, "text")),
            "agent_message" => tell.text(text(item, "text")),
            "error" => tell.trouble(text(item, "message")),
            "file_change" => {
                if text(item, "status") != "failed" {
                    for each in list(item, "changes") {
                        tell.file(text(each, "path"), change(text(each, "kind")));
                    }
                }
            }
            _ => {
                self.begin(item, tell);
                let id = text(item, "id");
                if self.begun.remove(id) {
                    let (said, failed) = outcome(item);
                    tell.result(id, &said, failed);
                }
            }
        }
    }
}

/// Reads a call of a tool, if the item is one.
fn call(item: &Value) -> Option<(String, Value)> {
    Some(match text(item, "type") {
        "command_execution" => ("shell".to_owned(), json!({ "command": item["command"] })),
        "mcp_tool_call" => {
            let name = format!("{}.{}", text(item, "server"), text(item, "tool"));
            (name, item["arguments"].clone())
        }
        "web_search" => ("web_search".to_owned(), json!({ "query": item["query"] })),
        _ => return None,
    })
}

fn outcome(item: &Value) -> (String, bool) {
    let failed = text(item, "status") == "failed"
        || item["exit_code"].as_i64().is_some_and(|code| code != 0)
        || !item["error"].is_null();
    let said = match text(item, "type") {
        "command_execution" => text(item, "aggregated_output").to_owned(),
        _ if !item["error"].is_null() => match text(&item["error"], "message") {
            "" => readable(&item["error"]),
            message => message.to_owned(),
        },
        _ => readable(&item["result"]),
    };
    (said, failed)
}

fn change(kind: &str) -> Change {
    match kind {
        "add" => Change::Added,
        "delete" => Change::Removed,
        _ => Change::Modified,
    }
}

fn usage(told: &Value) -> Usage {
    let cache_read = count(told, "cached_input_tokens");
    let cache_write_5m = count(told, "cache_write_input_tokens");
    let all = count(told, "input_tokens");
    Usage {
        input: all.saturating_sub(cache_read).saturating_sub(cache_write_5m),
        cache_read,
        cache_write_5m,
        output: count(told, "output_tokens"),
        reasoning: count(told, "reasoning_output_tokens"),
        ..Usage::default()
    }
}
