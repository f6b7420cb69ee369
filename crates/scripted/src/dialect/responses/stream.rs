//! Writing an answer as the events of the Responses dialect.

use super::super::event;
use super::{
    array, call_item, document, items, message, object, part, reasoning, summary_part, text, usage,
    with,
};
use crate::ask::ToolKind;
use crate::reply::{Call, Reply, Stop};

/// Writes an answer as a stream.
pub(in crate::dialect) fn frames(reply: &Reply) -> Vec<String> {
    let mut stream = Stream::default();
    let begun = document(reply, Vec::new(), None);
    stream.push("response.created", &[("response", begun.clone())]);
    stream.push("response.in_progress", &[("response", begun)]);
    if let Some(thought) = &reply.thought {
        stream.thought(reply, thought);
    }
    if !reply.pieces.is_empty() || reply.calls.is_empty() {
        stream.message(reply);
    }
    for call in &reply.calls {
        stream.call(call);
    }
    let last = match reply.stop {
        Stop::End | Stop::Calls => "response.completed",
        Stop::Length | Stop::Refusal => "response.incomplete",
    };
    let done = document(reply, items(reply), Some(usage(reply)));
    stream.push(last, &[("response", done)]);
    stream.frames
}

/// The events so far.
#[derive(Default)]
struct Stream {
    frames: Vec<String>,
    /// The place of the item that is being written.
    at: usize,
}

impl Stream {
    /// Adds an event with the next number.
    fn push(&mut self, name: &str, fields: &[(&str, String)]) {
        let number = self.frames.len().to_string();
        let start = object([("type", text(name)), ("sequence_number", number)]);
        self.frames.push(event(name, &with(&start, fields)));
    }

    fn item(&mut self, name: &str, item: String) {
        let at = self.at.to_string();
        self.push(name, &[("output_index", at), ("item", item)]);
    }

    fn thought(&mut self, reply: &Reply, thought: &str) {
        self.item("response.output_item.added", reasoning(reply, None));
        if !thought.is_empty() {
            let place = [
                ("item_id", text(&format!("rs_{}", reply.number))),
                ("output_index", self.at.to_string()),
                ("summary_index", "0".to_owned()),
            ];
            let mut tell = |name: &str, field: (&str, String)| {
                let fields: Vec<_> = place.iter().cloned().chain([field]).collect();
                self.push(&format!("response.reasoning_summary_{name}"), &fields);
            };
            tell("part.added", ("part", summary_part("")));
            for piece in thought.split_inclusive(' ') {
                tell("text.delta", ("delta", text(piece)));
            }
            tell("text.done", ("text", text(thought)));
            tell("part.done", ("part", summary_part(thought)));
        }
        self.item("response.output_item.done", reasoning(reply, Some(thought)));
        self.at += 1;
    }

    fn message(&mut self, reply: &Reply) {
        self.item("response.output_item.added", message(reply, array([]), "in_progress"));
        let whole = reply.text();
        let place = [
            ("item_id", text(&format!("msg_{}", reply.number))),
            ("output_index", self.at.to_string()),
            ("content_index", "0".to_owned()),
        ];
        let mut tell = |name: &str, further: &[(&str, String)]| {
            let fields: Vec<_> = place.iter().chain(further).cloned().collect();
            self.push(&format!("response.{name}"), &fields);
        };
        tell("content_part.added", &[("part", part(""))]);
        for piece in &reply.pieces {
            tell("output_text.delta", &[("delta", text(piece)), ("logprobs", array([]))]);
        }
        tell("output_text.done", &[("text", text(&whole)), ("logprobs", array([]))]);
        tell("content_part.done", &[("part", part(&whole))]);
        let done = message(reply, array([part(&whole)]), "completed");
        self.item("response.output_item.done", done);
        self.at += 1;
    }

    fn call(&mut self, call: &Call) {
        self.item("response.output_item.added", call_item(call, "", "in_progress"));
        let events = match call.kind {
            ToolKind::Function => Some(("fc", "function_call_arguments", "arguments")),
            ToolKind::Custom => Some(("ctc", "custom_tool_call_input", "input")),
            ToolKind::LocalShell => None,
        };
        let input = call.input_text();
        if let Some((prefix, name, field)) = events {
            let place = [
                ("item_id", text(&format!("{prefix}_{}", call.id))),
                ("output_index", self.at.to_string()),
            ];
            let mut tell = |part: &str, further: (&str, String)| {
                let fields: Vec<_> = place.iter().cloned().chain([further]).collect();
                self.push(&format!("response.{name}.{part}"), &fields);
            };
            for piece in call.input_pieces() {
                tell("delta", ("delta", text(&piece)));
            }
            tell("done", (field, text(&input)));
        }
        self.item("response.output_item.done", call_item(call, &input, "completed"));
        self.at += 1;
    }
}
