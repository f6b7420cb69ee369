//! Writes replies of Responses.

use super::super::ir::{Call, Event, Reply, Said, Stop};
use super::super::json::{Json, lean, object};
use super::super::made_up::THOUGHT_ID;
use super::super::{Head, sse, usage};
use crate::{Dialect, Usage};

/// Writes a whole reply.
pub(crate) fn write_whole(head: &Head, reply: &Reply) -> Json {
    let item = |(index, said): (usize, &Said)| {
        let open = match said {
            Said::Text(text) => Open { text: text.clone(), ..Open::new(Kind::Text, head, index) },
            Said::Refusal(text) => {
                Open { text: text.clone(), ..Open::new(Kind::Refusal, head, index) }
            }
            Said::Thought(text) => {
                Open { text: text.clone(), ..Open::new(Kind::Thought, head, index) }
            }
            Said::Call(call) => {
                let text = call.input.clone();
                Open { text, ..Open::new(Kind::Call(call.clone()), head, index) }
            }
        };
        open.item(true)
    };
    let output = reply.said.iter().enumerate().map(item).collect();
    response(head, output, &State::of(&reply.stop), reply.usage.as_ref())
}

/// How far a reply has come.
struct State {
    status: &'static str,
    reason: Option<&'static str>,
}

impl State {
    const BEGUN: Self = Self { status: "in_progress", reason: None };

    const fn of(stop: &Stop) -> Self {
        match stop {
            Stop::End | Stop::Sequence(_) | Stop::Calls => {
                Self { status: "completed", reason: None }
            }
            Stop::Length | Stop::Paused => {
                Self { status: "incomplete", reason: Some("max_output_tokens") }
            }
            Stop::Refused => Self { status: "incomplete", reason: Some("content_filter") },
        }
    }
}

fn response(head: &Head, output: Vec<Json>, state: &State, used: Option<&Usage>) -> Json {
    let details = state.reason.map(|reason| object! { "reason" => reason });
    object! {
        "id" => format!("resp_{}", head.seed),
        "object" => "response",
        "created_at" => head.now,
        "status" => state.status,
        "error" => Json::Null,
        "incomplete_details" => details,
        "instructions" => Json::Null,
        "metadata" => Json::Map(Vec::new()),
        "model" => &head.model,
        "output" => output,
        "parallel_tool_calls" => true,
        "previous_response_id" => Json::Null,
        "store" => false,
        "temperature" => Json::Null,
        "tool_choice" => "auto",
        "tools" => Json::List(Vec::new()),
        "top_p" => Json::Null,
        "usage" => used.map(|used| usage::write(Dialect::Responses, used)),
    }
}

/// The item that is being written.
#[derive(Debug)]
struct Open {
    kind: Kind,
    id: String,
    text: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text,
    Refusal,
    Thought,
    Call(Call),
}

impl Open {
    fn new(kind: Kind, head: &Head, index: usize) -> Self {
        let prefix = match &kind {
            Kind::Text | Kind::Refusal => "msg_",
            Kind::Thought => THOUGHT_ID,
            Kind::Call(call) if call.tool.custom => "ctc_",
            Kind::Call(_) => "fc_",
        };
        Self { kind, id: format!("{prefix}{}_{index}", head.seed), text: String::new() }
    }

    /// Returns the part of a message or thought that it consists of.
    fn part(&self) -> Json {
        match self.kind {
            Kind::Refusal => object! { "type" => "refusal", "refusal" => &self.text },
            Kind::Thought => object! { "type" => "summary_text", "text" => &self.text },
            Kind::Text | Kind::Call(_) => object! {
                "type" => "output_text",
                "text" => &self.text,
                "annotations" => Json::List(Vec::new()),
                "logprobs" => Json::List(Vec::new()),
            },
        }
    }

    /// Returns it as an item, complete or only begun.
    fn item(&self, done: bool) -> Json {
        let status = if done { "completed" } else { "in_progress" };
        let parts = if done { vec![self.part()] } else { Vec::new() };
        match &self.kind {
            Kind::Text | Kind::Refusal => object! {
                "type" => "message",
                "id" => &self.id,
                "status" => status,
                "role" => "assistant",
                "content" => parts,
            },
            Kind::Thought => {
                object! { "type" => "reasoning", "id" => &self.id, "summary" => parts }
            }
            Kind::Call(call) => {
                let custom = call.tool.custom;
                let kind = if custom { "custom_tool_call" } else { "function_call" };
                let input = if done && !custom && self.text.is_empty() { "{}" } else { &self.text };
                let mut item = lean! {
                    "type" => kind,
                    "id" => &self.id,
                    "status" => status,
                    "call_id" => &call.id,
                    "namespace" => call.tool.space.as_ref(),
                    "name" => &call.tool.name,
                };
                item.put(if custom { "input" } else { "arguments" }, input);
                item
            }
        }
    }
}

/// Writes a streamed reply.
#[derive(Debug)]
pub(crate) struct Writer {
    head: Head,
    begun: bool,
    sequence: u64,
    open: Option<Open>,
    done: Vec<Json>,
}

impl Writer {
    /// Begins a reply.
    pub(crate) const fn new(head: Head) -> Self {
        Self { head, begun: false, sequence: 0, open: None, done: Vec::new() }
    }

    /// Writes what happened.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        self.begin(out);
        match event {
            Event::Begin => {}
            Event::Text(text) => self.say(Kind::Text, text, out),
            Event::Refusal(text) => self.say(Kind::Refusal, text, out),
            Event::Thought(text) => self.say(Kind::Thought, text, out),
            Event::Call(call) => self.open(Kind::Call(call.clone()), out),
            Event::Input(input) => self.input(input, out),
            Event::ThoughtEnd(_) | Event::CallEnd => self.close(out),
            Event::End { stop, usage } => {
                self.close(out);
                let state = State::of(stop);
                let output = std::mem::take(&mut self.done);
                let used = usage.unwrap_or_default();
                let response = response(&self.head, output, &state, Some(&used));
                let name = match state.status {
                    "incomplete" => "response.incomplete",
                    _ => "response.completed",
                };
                self.emit(name, [("response", response)], out);
            }
        }
    }

    /// Writes that the reply has failed.
    pub(crate) fn fail(&mut self, message: &str, out: &mut Vec<u8>) {
        self.begin(out);
        let state = State { status: "failed", reason: None };
        let error = object! { "code" => "server_error", "message" => message };
        let mut response = response(&self.head, Vec::new(), &state, None);
        if let Some(place) = response.get_mut("error") {
            *place = error;
        }
        self.emit("response.failed", [("response", response)], out);
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            let response = response(&self.head, Vec::new(), &State::BEGUN, None);
            self.emit("response.created", [("response", response.clone())], out);
            self.emit("response.in_progress", [("response", response)], out);
        }
    }

    fn say(&mut self, kind: Kind, more: &str, out: &mut Vec<u8>) {
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.open(kind, out);
        }
        let Some(open) = &mut self.open else { return };
        open.text.push_str(more);
        let name = match open.kind {
            Kind::Refusal => "response.refusal.delta",
            Kind::Thought => "response.reasoning_summary_text.delta",
            Kind::Text | Kind::Call(_) => "response.output_text.delta",
        };
        let logprobs = matches!(open.kind, Kind::Text).then(|| Json::List(Vec::new()));
        let place = self.place();
        self.emit_at(name, place, [("delta", more.into()), ("logprobs", logprobs.into())], out);
    }

    fn input(&mut self, more: &str, out: &mut Vec<u8>) {
        let Some(Open { kind: Kind::Call(call), text, .. }) = &mut self.open else { return };
        text.push_str(more);
        let name = if call.tool.custom {
            "response.custom_tool_call_input.delta"
        } else {
            "response.function_call_arguments.delta"
        };
        let place = self.place();
        self.emit_at(name, place, [("delta", more.into())], out);
    }

    fn open(&mut self, kind: Kind, out: &mut Vec<u8>) {
        self.close(out);
        let open = Open::new(kind, &self.head, self.done.len());
        let (item, part) = (open.item(false), open.part());
        let name = match open.kind {
            Kind::Text | Kind::Refusal => Some("response.content_part.added"),
            Kind::Thought => Some("response.reasoning_summary_part.added"),
            Kind::Call(_) => None,
        };
        self.open = Some(open);
        let index = self.done.len().into();
        self.emit("response.output_item.added", [("output_index", index), ("item", item)], out);
        if let Some(name) = name {
            let place = self.place();
            self.emit_at(name, place, [("part", part)], out);
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        let place = self.place();
        let Some(open) = self.open.take() else { return };
        let (item, part) = (open.item(true), open.part());
        let text = Json::from(&open.text);
        match &open.kind {
            Kind::Text => {
                let logprobs = ("logprobs", Json::List(Vec::new()));
                let name = "response.output_text.done";
                self.emit_at(name, place.clone(), [("text", text), logprobs], out);
                self.emit_at("response.content_part.done", place, [("part", part)], out);
            }
            Kind::Refusal => {
                self.emit_at("response.refusal.done", place.clone(), [("refusal", text)], out);
                self.emit_at("response.content_part.done", place, [("part", part)], out);
            }
            Kind::Thought => {
                let name = "response.reasoning_summary_text.done";
                self.emit_at(name, place.clone(), [("text", text)], out);
                self.emit_at("response.reasoning_summary_part.done", place, [("part", part)], out);
            }
            Kind::Call(call) if call.tool.custom => {
                self.emit_at("response.custom_tool_call_input.done", place, [("input", text)], out);
            }
            Kind::Call(call) => {
                let name = "response.function_call_arguments.done";
                let input = item.get("arguments").cloned().unwrap_or_default();
                let entries = [("name", Json::from(&call.tool.name)), ("arguments", input)];
                self.emit_at(name, place, entries, out);
            }
        }
        let index = self.done.len().into();
        self.done.push(item.clone());
        self.emit("response.output_item.done", [("output_index", index), ("item", item)], out);
    }

    /// Returns where the open item stands.
    fn place(&self) -> Vec<(&'static str, Json)> {
        let Some(open) = &self.open else { return Vec::new() };
        let mut place =
            vec![("item_id", Json::from(&open.id)), ("output_index", self.done.len().into())];
        match open.kind {
            Kind::Text | Kind::Refusal => place.push(("content_index", 0_u64.into())),
            Kind::Thought => place.push(("summary_index", 0_u64.into())),
            Kind::Call(_) => {}
        }
        place
    }

    fn emit_at<const N: usize>(
        &mut self,
        name: &str,
        place: Vec<(&'static str, Json)>,
        entries: [(&'static str, Json); N],
        out: &mut Vec<u8>,
    ) {
        self.emit(name, place.into_iter().chain(entries), out);
    }

    fn emit(
        &mut self,
        name: &str,
        entries: impl IntoIterator<Item = (&'static str, Json)>,
        out: &mut Vec<u8>,
    ) {
        let mut event = object! { "type" => name };
        for (key, value) in entries {
            event.put(key, value);
        }
        event.put("sequence_number", self.sequence);
        self.sequence += 1;
        sse(Some(name), &event, out);
    }
}
