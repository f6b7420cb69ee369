//! Reads replies of Chat Completions.

use std::collections::HashSet;

use super::super::BadReply;
use super::super::ir::{Call, Event, Stop, ToolRef};
use super::super::json::{Json, object};
use super::super::usage;
use crate::{Dialect, Usage};

/// The names under which providers send what a model thinks.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads a whole reply.
pub(crate) fn read_whole(body: &Json) -> Result<Vec<Event>, BadReply> {
    fail_on_error(body)?;
    let choice = body.list("choices").first();
    let choice = choice.ok_or_else(|| BadReply::malformed("it has no `choices`"))?;
    let message = choice.get("message");
    let message = message.ok_or_else(|| BadReply::malformed("a choice has no `message`"))?;
    let (mut reader, mut events) = (Reader::default(), vec![Event::Begin]);
    reader.said(message, &mut events)?;
    for (index, call) in message.list("tool_calls").iter().enumerate() {
        reader.call(call, index as u64, &mut events)?;
    }
    reader.stop = Some(stop(choice.text("finish_reason").unwrap_or("stop")));
    let used = body.get("usage").map(|used| usage::read(Dialect::Chat, used));
    reader.usage = used.map(|used| usage::served(used, body));
    reader.end(&mut events);
    Ok(events)
}

fn fail_on_error(body: &Json) -> Result<(), BadReply> {
    body.get("error").map_or(Ok(()), |error| Err(BadReply::failed(error)))
}

fn stop(reason: &str) -> Stop {
    match reason {
        "length" => Stop::Length,
        "tool_calls" | "function_call" => Stop::Calls,
        "content_filter" => Stop::Refused,
        _ => Stop::End,
    }
}

/// Reads a streamed reply.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// What it thinks now, and under which name that came.
    thought: Option<(&'static str, String)>,
    open: Option<Open>,
    closed: HashSet<u64>,
    any_call: bool,
    refused: bool,
    stop: Option<Stop>,
    usage: Option<Usage>,
    ended: bool,
}

/// The call that is being written.
#[derive(Debug, Default)]
struct Open {
    index: u64,
    id: String,
    named: bool,
    /// Input that came before the name.
    held: String,
}

impl Reader {
    /// Reads one event.
    pub(crate) fn read(&mut self, data: &str, events: &mut Vec<Event>) -> Result<(), BadReply> {
        if data.trim() == "[DONE]" {
            self.stop.get_or_insert(Stop::End);
            self.end(events);
            return Ok(());
        }
        let chunk = Json::parse(data.as_bytes())?;
        fail_on_error(&chunk)?;
        events.push(Event::Begin);
        if let Some(used) = chunk.get("usage") {
            self.usage = Some(usage::served(usage::read(Dialect::Chat, used), &chunk));
        }
        let Some(choice) = chunk.list("choices").first() else { return Ok(()) };
        if let Some(delta) = choice.get("delta") {
            self.said(delta, events)?;
            for call in delta.list("tool_calls") {
                let index = call.count("index").unwrap_or_else(|| self.index_of(call));
                self.call(call, index, events)?;
            }
        }
        if let Some(reason) = choice.text("finish_reason") {
            self.stop = Some(stop(reason));
        }
        Ok(())
    }

    /// Tells whether it was told why the model stopped.
    pub(crate) const fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Tells the end if the stream has come to one: some providers send nothing behind the reason.
    pub(crate) fn end(&mut self, events: &mut Vec<Event>) {
        let Some(stop) = self.stop.clone() else { return };
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.close_thought(events);
        let stop = match stop {
            Stop::End if self.refused => Stop::Refused,
            Stop::End if self.any_call => Stop::Calls,
            stop => stop,
        };
        events.push(Event::End { stop, usage: self.usage });
    }

    /// Returns what was used, as far as it is known.
    pub(crate) const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn said(&mut self, message: &Json, events: &mut Vec<Event>) -> Result<(), BadReply> {
        for key in REASONING {
            let Some(more) = message.text(key).filter(|more| !more.is_empty()) else { continue };
            self.thought.get_or_insert((key, String::new())).1.push_str(more);
            events.push(Event::Thought(more.to_owned()));
            break;
        }
        for text in content(message.get("content")) {
            self.close_thought(events);
            self.close_call();
            events.push(Event::Text(text.to_owned()));
        }
        if let Some(text) = message.text("refusal").filter(|text| !text.is_empty()) {
            self.close_thought(events);
            self.refused = true;
            events.push(Event::Refusal(text.to_owned()));
        }
        Ok(())
    }

    fn close_thought(&mut self, events: &mut Vec<Event>) {
        if let Some((key, text)) = self.thought.take() {
            let own = match key {
                "reasoning" => object! { "reasoning" => text },
                _ => object! { "reasoning_content" => text },
            };
            events.push(Event::ThoughtEnd(Some(own)));
        }
    }

    fn close_call(&mut self) {
        if let Some(open) = self.open.take() {
            self.closed.insert(open.index);
        }
    }

    /// Some providers leave the index out: a new id is a new call.
    fn index_of(&self, call: &Json) -> u64 {
        match (&self.open, call.text("id")) {
            (Some(open), Some(id)) if !id.is_empty() && id != open.id => open.index + 1,
            (Some(open), _) => open.index,
            (None, _) => self.closed.len() as u64,
        }
    }

    fn call(&mut self, call: &Json, index: u64, events: &mut Vec<Event>) -> Result<(), BadReply> {
        let function = call.get("function");
        let text = |key| function.and_then(|function| function.text(key)).unwrap_or_default();
        let (id, name) = (call.text("id").unwrap_or_default(), text("name"));
        self.close_thought(events);
        self.open_call(index, id, name)?;
        self.any_call = true;
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.id.is_empty() {
            id.clone_into(&mut open.id);
        }
        match function.and_then(|function| function.get("arguments")) {
            Some(Json::Text(more)) => open.held.push_str(more),
            // Some providers send the object itself.
            Some(object) => open.held.push_str(&object.to_string()),
            None => {}
        }
        if !open.named && !name.is_empty() {
            open.named = true;
            let tool = ToolRef { name: name.to_owned(), ..ToolRef::default() };
            let extra = call.get("extra_content");
            let own = extra.map(|extra| object! { "extra_content" => extra });
            events.push(Event::Call(Call { id: open.id.clone(), tool, input: String::new(), own }));
        }
        if open.named && !open.held.is_empty() {
            events.push(Event::Input(std::mem::take(&mut open.held)));
        }
        Ok(())
    }

    /// Turns to the call that a piece belongs to.
    fn open_call(&mut self, index: u64, id: &str, name: &str) -> Result<(), BadReply> {
        // Some providers give every call the same index, but each its own id.
        let fresh = |open: &Open| open.named && !id.is_empty() && id != open.id && !name.is_empty();
        match &self.open {
            Some(open) if open.index == index && !fresh(open) => return Ok(()),
            _ => self.close_call(),
        }
        if self.closed.contains(&index) && (id.is_empty() || name.is_empty()) {
            return Err(BadReply::malformed("the pieces of several tool calls are mixed"));
        }
        self.open = Some(Open { index, ..Open::default() });
        Ok(())
    }
}

fn content(content: Option<&Json>) -> Vec<&str> {
    let texts = match content {
        Some(Json::Text(text)) => vec![text.as_str()],
        Some(list) => list.as_list().iter().filter_map(|part| part.text("text")).collect(),
        None => Vec::new(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}
