//! Writes replies of Messages.

use super::super::input::object_of;
use super::super::ir::{Event, Reply, Said, Stop};
use super::super::json::{Json, object};
use super::super::made_up::SIGNATURE;
use super::super::{Head, sse, usage};
use crate::{Dialect, Usage};

/// Writes a whole reply.
pub(crate) fn write_whole(head: &Head, reply: &Reply) -> Json {
    let block = |said: &Said| match said {
        Said::Text(text) | Said::Refusal(text) => object! { "type" => "text", "text" => text },
        Said::Thought(text) => {
            object! { "type" => "thinking", "thinking" => text, "signature" => SIGNATURE }
        }
        Said::Call(call) => object! {
            "type" => "tool_use",
            "id" => &call.id,
            "name" => &call.tool.name,
            "input" => object_of(&call.input),
        },
    };
    let (reason, sequence) = reason(&reply.stop);
    let used = reply.usage.unwrap_or_default();
    message(head, reply.said.iter().map(block).collect(), reason.into(), (sequence, &used))
}

fn message(
    head: &Head,
    content: Vec<Json>,
    reason: Json,
    (sequence, used): (Option<&str>, &Usage),
) -> Json {
    object! {
        "id" => format!("msg_{}", head.seed),
        "type" => "message",
        "role" => "assistant",
        "model" => &head.model,
        "content" => content,
        "stop_reason" => reason,
        "stop_sequence" => sequence,
        "usage" => usage::write(Dialect::Anthropic, used),
    }
}

fn reason(stop: &Stop) -> (&'static str, Option<&str>) {
    match stop {
        Stop::End => ("end_turn", None),
        Stop::Sequence(sequence) => ("stop_sequence", sequence.as_deref()),
        Stop::Length => ("max_tokens", None),
        Stop::Calls => ("tool_use", None),
        Stop::Refused => ("refusal", None),
        Stop::Paused => ("pause_turn", None),
    }
}

/// Writes a streamed reply.
#[derive(Debug)]
pub(crate) struct Writer {
    head: Head,
    begun: bool,
    open: Option<Kind>,
    index: u64,
}

/// The block that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
    /// A call, and whether it has any input yet.
    Call(bool),
}

impl Writer {
    /// Begins a reply.
    pub(crate) const fn new(head: Head) -> Self {
        Self { head, begun: false, open: None, index: 0 }
    }

    /// Writes what happened.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            let nothing = (None, &Usage::default());
            let message = message(&self.head, Vec::new(), Json::Null, nothing);
            emit("message_start", [("message", message)], out);
        }
        match event {
            Event::Begin => {}
            Event::Text(text) | Event::Refusal(text) => {
                let start = object! { "type" => "text", "text" => "" };
                self.open(Kind::Text, start, out);
                self.delta(object! { "type" => "text_delta", "text" => text }, out);
            }
            Event::Thought(text) => {
                let start = object! { "type" => "thinking", "thinking" => "", "signature" => "" };
                self.open(Kind::Thought, start, out);
                self.delta(object! { "type" => "thinking_delta", "thinking" => text }, out);
            }
            Event::Call(call) => {
                self.close(out);
                let start = object! {
                    "type" => "tool_use",
                    "id" => &call.id,
                    "name" => &call.tool.name,
                    "input" => Json::Map(Vec::new()),
                };
                self.open(Kind::Call(false), start, out);
            }
            Event::Input(input) => {
                self.open = Some(Kind::Call(true));
                self.input(input, out);
            }
            Event::ThoughtEnd(_) | Event::CallEnd => self.close(out),
            Event::End { stop, usage } => self.end(stop, usage.as_ref(), out),
        }
    }

    fn open(&mut self, kind: Kind, block: Json, out: &mut Vec<u8>) {
        if self.open == Some(kind) {
            return;
        }
        self.close(out);
        self.open = Some(kind);
        let index = self.index.into();
        emit("content_block_start", [("index", index), ("content_block", block)], out);
    }

    fn delta(&self, delta: Json, out: &mut Vec<u8>) {
        emit("content_block_delta", [("index", self.index.into()), ("delta", delta)], out);
    }

    fn input(&self, input: &str, out: &mut Vec<u8>) {
        self.delta(object! { "type" => "input_json_delta", "partial_json" => input }, out);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        match self.open.take() {
            None => return,
            Some(Kind::Thought) => {
                self.delta(object! { "type" => "signature_delta", "signature" => SIGNATURE }, out);
            }
            Some(Kind::Call(false)) => self.input("{}", out),
            Some(Kind::Text | Kind::Call(true)) => {}
        }
        emit("content_block_stop", [("index", self.index.into())], out);
        self.index += 1;
    }

    fn end(&mut self, stop: &Stop, used: Option<&Usage>, out: &mut Vec<u8>) {
        self.close(out);
        let (reason, sequence) = reason(stop);
        let delta = object! { "stop_reason" => reason, "stop_sequence" => sequence };
        let used = usage::write(Dialect::Anthropic, used.unwrap_or(&Usage::default()));
        emit("message_delta", [("delta", delta), ("usage", used)], out);
        emit("message_stop", [], out);
    }
}

fn emit<const N: usize>(name: &str, entries: [(&'static str, Json); N], out: &mut Vec<u8>) {
    let entries = entries.into_iter().map(|(key, value)| (key.into(), value));
    let data = std::iter::once(("type".into(), name.into())).chain(entries).collect();
    sse(Some(name), &Json::Map(data), out);
}
