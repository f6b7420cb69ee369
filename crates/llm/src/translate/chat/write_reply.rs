//! Writes replies of Chat Completions.

use super::super::ir::{Call, Event, Reply, Said, Stop};
use super::super::json::{Json, lean, object};
use super::super::{Head, sse, usage};
use crate::{Dialect, Usage};

/// Writes a whole reply.
pub(crate) fn write_whole(head: &Head, reply: &Reply) -> Json {
    let (mut text, mut refusal, mut thought) = (None, None, None);
    let mut calls = Vec::new();
    for said in &reply.said {
        let (kind, more) = match said {
            Said::Text(more) => (&mut text, more),
            Said::Refusal(more) => (&mut refusal, more),
            Said::Thought(more) => (&mut thought, more),
            Said::Call(call) => {
                calls.push(write_call(call, &call.input));
                continue;
            }
        };
        kind.get_or_insert_with(String::new).push_str(more);
    }
    let mut message = object! { "role" => "assistant", "content" => text, "refusal" => refusal };
    message.put("reasoning_content", thought);
    message.put("tool_calls", (!calls.is_empty()).then_some(calls));
    let choice = object! {
        "index" => 0_u64,
        "message" => message,
        "logprobs" => Json::Null,
        "finish_reason" => reason(&reply.stop),
    };
    lean! {
        "id" => format!("chatcmpl-{}", head.seed),
        "object" => "chat.completion",
        "created" => head.now,
        "model" => &head.model,
        "choices" => vec![choice],
        "usage" => reply.usage.map(|used| usage::write(Dialect::Chat, &used)),
    }
}

fn write_call(call: &Call, input: &str) -> Json {
    let name = &call.tool.name;
    if call.tool.custom {
        let custom = object! { "name" => name, "input" => input };
        return object! { "id" => &call.id, "type" => "custom", "custom" => custom };
    }
    let input = if input.is_empty() { "{}" } else { input };
    let function = object! { "name" => name, "arguments" => input };
    object! { "id" => &call.id, "type" => "function", "function" => function }
}

const fn reason(stop: &Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Sequence(_) => "stop",
        Stop::Length | Stop::Paused => "length",
        Stop::Calls => "tool_calls",
        Stop::Refused => "content_filter",
    }
}

/// Writes a streamed reply.
#[derive(Debug)]
pub(crate) struct Writer {
    head: Head,
    include_usage: bool,
    begun: bool,
    calls: u64,
    custom: bool,
    /// Whether the current call has any input yet.
    input: bool,
}

impl Writer {
    /// Begins a reply.
    pub(crate) const fn new(head: Head, include_usage: bool) -> Self {
        Self { head, include_usage, begun: false, calls: 0, custom: false, input: false }
    }

    /// Writes what happened.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            self.delta(object! { "role" => "assistant", "content" => "" }, out);
        }
        match event {
            Event::Begin | Event::ThoughtEnd(_) => {}
            Event::Text(text) => self.delta(object! { "content" => text }, out),
            Event::Refusal(text) => self.delta(object! { "refusal" => text }, out),
            Event::Thought(text) => self.delta(object! { "reasoning_content" => text }, out),
            Event::Call(call) => self.call(call, out),
            Event::Input(input) => self.input(input, out),
            Event::CallEnd => {
                if !self.input && !self.custom {
                    self.input("{}", out);
                }
            }
            Event::End { stop, usage } => self.end(stop, usage.as_ref(), out),
        }
    }

    fn call(&mut self, call: &Call, out: &mut Vec<u8>) {
        (self.custom, self.input) = (call.tool.custom, false);
        let index = self.calls;
        self.calls += 1;
        let mut piece = object! { "index" => index, "id" => &call.id };
        if self.custom {
            piece.put("type", "custom");
            piece.put("custom", object! { "name" => &call.tool.name, "input" => "" });
        } else {
            piece.put("type", "function");
            piece.put("function", object! { "name" => &call.tool.name, "arguments" => "" });
        }
        self.delta(object! { "tool_calls" => vec![piece] }, out);
    }

    fn input(&mut self, input: &str, out: &mut Vec<u8>) {
        self.input = true;
        let index = self.calls.saturating_sub(1);
        let piece = if self.custom {
            object! { "index" => index, "custom" => object! { "input" => input } }
        } else {
            object! { "index" => index, "function" => object! { "arguments" => input } }
        };
        self.delta(object! { "tool_calls" => vec![piece] }, out);
    }

    fn end(&mut self, stop: &Stop, used: Option<&Usage>, out: &mut Vec<u8>) {
        self.chunk(vec![choice(Json::Map(Vec::new()), reason(stop).into())], None, out);
        if self.include_usage {
            let used = usage::write(Dialect::Chat, used.unwrap_or(&Usage::default()));
            self.chunk(Vec::new(), Some(used), out);
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn delta(&self, delta: Json, out: &mut Vec<u8>) {
        self.chunk(vec![choice(delta, Json::Null)], None, out);
    }

    fn chunk(&self, choices: Vec<Json>, used: Option<Json>, out: &mut Vec<u8>) {
        let mut chunk = object! {
            "id" => format!("chatcmpl-{}", self.head.seed),
            "object" => "chat.completion.chunk",
            "created" => self.head.now,
            "model" => &self.head.model,
            "choices" => Json::List(choices),
        };
        chunk.put("usage", used);
        sse(None, &chunk, out);
    }
}

fn choice(delta: Json, reason: Json) -> Json {
    object! { "index" => 0_u64, "delta" => delta, "logprobs" => Json::Null, "finish_reason" => reason }
}
