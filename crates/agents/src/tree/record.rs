//! Writing down what agents say, so that another agent can go on where one has stopped.

use godel_llm::translate::talk::Item;
use serde_json::Value;

use super::{Entry, Tree, TreeError};
use crate::event::{SessionEvent, clip};
use crate::harness::Harness;

/// The most bytes of one thing that was said.
const TEXT_MAX_BYTES: usize = 1024 * 1024;
/// What a call that nobody answered is said to have given.
const INTERRUPTED: &str = "The tool call was interrupted and gave no result.";

/// Writes down the session of an agent program as it happens.
///
/// The built-in agent keeps its conversation itself. Of a program only what it tells is known, which is
/// enough to show it to people and to hand it to another agent.
#[derive(Debug)]
pub struct Recorder {
    harness: Harness,
    /// What is being said, in pieces.
    text: String,
    thought: String,
    /// Calls that have no result yet.
    open: Vec<String>,
    id: Option<String>,
}

impl Recorder {
    /// Begins to write down a session.
    pub fn new(harness: Harness) -> Self {
        let (text, thought) = (String::new(), String::new());
        Self { harness, text, thought, open: Vec::new(), id: None }
    }

    /// Writes down what the agent is told.
    ///
    /// # Errors
    /// If the conversation is full.
    pub fn prompt(&mut self, tree: &mut Tree, text: &str) -> Result<(), TreeError> {
        self.close(tree)?;
        tree.say(Item::User { text: text.to_owned() }).map(drop)
    }

    /// Writes down what happens.
    ///
    /// # Errors
    /// If the conversation is full.
    pub fn event(&mut self, tree: &mut Tree, event: &SessionEvent) -> Result<(), TreeError> {
        match event {
            SessionEvent::Text { text } => {
                self.think(tree)?;
                add(&mut self.text, text);
            }
            SessionEvent::Thinking { text } => {
                self.say(tree)?;
                add(&mut self.thought, text);
            }
            SessionEvent::ToolCall { call, name, input } => {
                self.flush(tree)?;
                self.open.push(call.clone());
                tree.say(Item::Call {
                    id: call.clone(),
                    name: name.clone(),
                    input: object(input),
                    own: None,
                })?;
            }
            SessionEvent::ToolResult { call, text, failed } => {
                self.flush(tree)?;
                let known = self.open.iter().position(|open| open == call);
                if let Some(at) = known {
                    self.open.swap_remove(at);
                    let (call, text) = (call.clone(), text.clone());
                    tree.say(Item::Result { call, text, failed: *failed })?;
                }
            }
            SessionEvent::Started { id } => self.id = Some(id.clone()),
            SessionEvent::TurnEnded { .. } => {
                self.close(tree)?;
                if let Some(id) = &self.id {
                    let (harness, id) = (self.harness, id.clone());
                    tree.append(Entry::Kept { harness, id })?;
                }
            }
            SessionEvent::FileChange { .. }
            | SessionEvent::Usage { .. }
            | SessionEvent::Context { .. }
            | SessionEvent::Todos { .. }
            | SessionEvent::Question { .. }
            | SessionEvent::Mail { .. }
            | SessionEvent::SaysDone { .. }
            | SessionEvent::Trouble { .. }
            | SessionEvent::Compacted { .. }
            | SessionEvent::Ended { .. } => {}
        }
        Ok(())
    }

    /// Ends what is open, so that each call has a result.
    fn close(&mut self, tree: &mut Tree) -> Result<(), TreeError> {
        self.flush(tree)?;
        for call in std::mem::take(&mut self.open) {
            tree.say(Item::Result { call, text: INTERRUPTED.to_owned(), failed: true })?;
        }
        Ok(())
    }

    fn flush(&mut self, tree: &mut Tree) -> Result<(), TreeError> {
        self.think(tree)?;
        self.say(tree)
    }

    fn say(&mut self, tree: &mut Tree) -> Result<(), TreeError> {
        match std::mem::take(&mut self.text) {
            text if text.is_empty() => Ok(()),
            text => tree.say(Item::Model { text }).map(drop),
        }
    }

    fn think(&mut self, tree: &mut Tree) -> Result<(), TreeError> {
        match std::mem::take(&mut self.thought) {
            text if text.is_empty() => Ok(()),
            text => tree.say(Item::Thought { text, own: None }).map(drop),
        }
    }
}

fn add(text: &mut String, more: &str) {
    if text.len() < TEXT_MAX_BYTES {
        text.push_str(&clip(more, TEXT_MAX_BYTES));
    }
}

/// The input of a call must be an object wherever it is told.
fn object(input: &Value) -> String {
    match input {
        Value::Object(_) => input.to_string(),
        Value::Null => "{}".to_owned(),
        other => serde_json::json!({ "input": other }).to_string(),
    }
}
