//! Writes replies of generateContent.

use super::super::input::object_of;
use super::super::ir::{Call, Event, Reply, Said, Stop};
use super::super::json::{Json, lean, object};
use super::super::{Head, usage};
use super::carry;
use crate::{Dialect, Usage};

/// Writes a whole reply.
pub(crate) fn write_whole(head: &Head, reply: &Reply) -> Json {
    let mut parts: Vec<Json> = reply.said.iter().map(part).collect();
    if parts.is_empty() {
        parts.push(object! { "text" => "" });
    }
    chunk(head, parts, Some(&reply.stop), reply.usage.as_ref())
}

fn part(said: &Said) -> Json {
    match said {
        Said::Text(text) | Said::Refusal(text) => object! { "text" => text },
        Said::Thought(text) => object! { "text" => text, "thought" => true },
        Said::Call(call) => {
            let args = object_of(&call.input);
            let function = object! { "id" => &call.id, "name" => &call.tool.name, "args" => args };
            object! { "functionCall" => function, "thoughtSignature" => carry(&call.id) }
        }
    }
}

fn chunk(head: &Head, parts: Vec<Json>, stop: Option<&Stop>, used: Option<&Usage>) -> Json {
    let candidate = lean! {
        "content" => object! { "parts" => parts, "role" => "model" },
        "finishReason" => stop.map(reason),
        "index" => 0_u64,
    };
    lean! {
        "candidates" => vec![candidate],
        "usageMetadata" => used.map(|used| usage::write(Dialect::Gemini, used)),
        "modelVersion" => &head.model,
        "responseId" => &head.seed,
    }
}

const fn reason(stop: &Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Sequence(_) | Stop::Calls => "STOP",
        Stop::Length | Stop::Paused => "MAX_TOKENS",
        Stop::Refused => "SAFETY",
    }
}

/// Writes a streamed reply.
#[derive(Debug)]
pub(crate) struct Writer {
    head: Head,
    /// Whether the stream is one JSON array instead of events.
    array: bool,
    begun: bool,
    /// The call that is being written; it is told only as a whole.
    call: Option<Call>,
}

impl Writer {
    /// Begins a reply.
    pub(crate) const fn new(head: Head, array: bool) -> Self {
        Self { head, array, begun: false, call: None }
    }

    /// Writes what happened.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::Begin | Event::ThoughtEnd(_) => {}
            Event::Text(text) | Event::Refusal(text) => {
                self.say(&Said::Text(text.clone()), out);
            }
            Event::Thought(text) => self.say(&Said::Thought(text.clone()), out),
            Event::Call(call) => self.call = Some(call.clone()),
            Event::Input(more) => {
                if let Some(call) = &mut self.call {
                    call.input.push_str(more);
                }
            }
            Event::CallEnd => {
                if let Some(call) = self.call.take() {
                    self.say(&Said::Call(call), out);
                }
            }
            Event::End { stop, usage } => {
                let parts = vec![object! { "text" => "" }];
                let used = usage.unwrap_or_default();
                self.emit(&chunk(&self.head, parts, Some(stop), Some(&used)), out);
                self.close(out);
            }
        }
    }

    /// Writes that the reply has failed.
    pub(crate) fn fail(&mut self, error: &Json, out: &mut Vec<u8>) {
        self.emit(error, out);
        self.close(out);
    }

    fn say(&mut self, said: &Said, out: &mut Vec<u8>) {
        self.emit(&chunk(&self.head, vec![part(said)], None, None), out);
    }

    fn emit(&mut self, chunk: &Json, out: &mut Vec<u8>) {
        let begun = std::mem::replace(&mut self.begun, true);
        if !self.array {
            super::super::sse(None, chunk, out);
            return;
        }
        out.extend_from_slice(if begun { b",\n" } else { b"[" });
        chunk.write(out);
    }

    fn close(&self, out: &mut Vec<u8>) {
        if self.array {
            out.extend_from_slice(b"]");
        }
    }
}
