//! What a reader tells, kept within bounds.

use std::collections::BTreeMap;

use godel_model::Usage;
use serde_json::Value;

use super::json::{list, text};
use crate::event::{
    Change, Outcome, SessionEvent, TEXT_MAX_BYTES, TODOS_MAX, Todo, TodoState, clip, pieces,
};

/// The most calls without a result that are remembered.
const OPEN_MAX: usize = 1000;
/// The longest name or id that is passed on.
const NAME_MAX_BYTES: usize = 512;

/// Tools that write a file, by the names that agents give them.
const WRITERS: [&str; 9] = [
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "writefile",
    "replace",
    "strreplace",
    "create",
    "patch",
];
const PATHS: [&str; 5] = ["file_path", "filePath", "path", "notebook_path", "file"];

/// What came of some bytes.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    /// What happened.
    pub events: Vec<SessionEvent>,
    /// What has to be said to the agent, each a line without its end.
    pub send: Vec<String>,
}

/// What a reader tells.
#[derive(Debug, Default)]
pub(super) struct Tell {
    told: Told,
    in_turn: bool,
    id: String,
    /// The files that open calls are about.
    open: BTreeMap<String, String>,
    /// How much was in mind when that was told last.
    context: u64,
}

impl Tell {
    pub(super) fn take(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    pub(super) const fn in_turn(&self) -> bool {
        self.in_turn
    }

    /// Begins a turn.
    pub(super) const fn begin(&mut self) {
        self.in_turn = true;
    }

    /// Ends the turn, if one is under way.
    pub(super) fn end(&mut self, outcome: Outcome) {
        if std::mem::take(&mut self.in_turn) {
            self.open.clear();
            self.push(SessionEvent::TurnEnded { outcome });
        }
    }

    pub(super) fn push(&mut self, event: SessionEvent) {
        self.told.events.push(event);
    }

    /// Says something to the agent.
    pub(super) fn send(&mut self, message: &Value) {
        self.told.send.push(message.to_string());
    }

    /// Tells the id of the session, once.
    pub(super) fn started(&mut self, id: &str) {
        if !id.is_empty() && id.len() <= NAME_MAX_BYTES && id != self.id {
            id.clone_into(&mut self.id);
            self.push(SessionEvent::Started { id: id.to_owned() });
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        for piece in pieces(text, TEXT_MAX_BYTES) {
            self.push(SessionEvent::Text { text: piece.to_owned() });
        }
    }

    pub(super) fn thinking(&mut self, text: &str) {
        for piece in pieces(text, TEXT_MAX_BYTES) {
            self.push(SessionEvent::Thinking { text: piece.to_owned() });
        }
    }

    /// Tells of a call, of the todos in it, and remembers the file that it is about.
    pub(super) fn call(&mut self, call: &str, name: &str, input: &Value) {
        let (call, name) = (clip(call, NAME_MAX_BYTES), clip(name, NAME_MAX_BYTES));
        let plain: String = name.chars().filter(|each| *each != '_').collect();
        let plain = plain.to_ascii_lowercase();
        if plain == "todowrite" || plain == "writetodos" {
            self.todos(list(input, "todos"));
        }
        let path = PATHS.iter().find_map(|key| input[*key].as_str());
        if let (true, Some(path)) = (WRITERS.contains(&plain.as_str()), path)
            && self.open.len() < OPEN_MAX
        {
            self.open.insert(call.clone(), path.to_owned());
        }
        self.push(SessionEvent::ToolCall { call, name, input: bounded(input) });
    }

    /// Tells of a result, and of the file that was written.
    pub(super) fn result(&mut self, call: &str, text: &str, failed: bool) {
        let call = clip(call, NAME_MAX_BYTES);
        let path = self.open.remove(&call);
        let text = clip(text, TEXT_MAX_BYTES);
        self.push(SessionEvent::ToolResult { call, text, failed });
        if let (Some(path), false) = (path, failed) {
            self.file(&path, Change::Written);
        }
    }

    pub(super) fn file(&mut self, path: &str, change: Change) {
        if !path.is_empty() {
            let path = clip(path, TEXT_MAX_BYTES);
            self.push(SessionEvent::FileChange { path, change });
        }
    }

    pub(super) fn usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.push(SessionEvent::Usage { usage });
        }
    }

    /// Tells how much the agent has in mind, if that is news.
    pub(super) fn context(&mut self, used: u64, most: Option<u64>) {
        if used != 0 && used != std::mem::replace(&mut self.context, used) {
            self.push(SessionEvent::Context { used, most });
        }
    }

    pub(super) fn trouble(&mut self, message: &str) {
        if !message.is_empty() {
            self.push(SessionEvent::trouble(message));
        }
    }

    /// Tells a list of things to do, whatever the agent calls their fields.
    pub(super) fn todos(&mut self, items: &[Value]) {
        let todo = |item: &Value| {
            let said = ["content", "text", "description", "step", "title"]
                .into_iter()
                .map(|key| text(item, key))
                .find(|said| !said.is_empty())?;
            let state = match (text(item, "status"), item["completed"].as_bool()) {
                ("completed" | "done" | "cancelled", _) | (_, Some(true)) => TodoState::Completed,
                ("in_progress" | "inProgress", _) => TodoState::InProgress,
                _ => TodoState::Pending,
            };
            Some(Todo { text: clip(said, NAME_MAX_BYTES), state })
        };
        let todos = items.iter().filter_map(todo).take(TODOS_MAX).collect();
        self.push(SessionEvent::Todos { todos });
    }
}

/// Returns the input of a tool, cut to text if it is too large.
fn bounded(input: &Value) -> Value {
    let written = input.to_string();
    if written.len() <= TEXT_MAX_BYTES {
        return input.clone();
    }
    Value::String(clip(&written, TEXT_MAX_BYTES))
}
