//! Reads replies of Responses.

use super::super::BadReply;
use super::super::ir::{Call, Event, Stop, ToolRef};
use super::super::json::{Json, Key};
use super::super::usage;
use crate::{Dialect, Usage};

/// Reads a whole reply.
pub(crate) fn read_whole(body: &Json) -> Result<Vec<Event>, BadReply> {
    if let Some(error) = body.get("error") {
        return Err(BadReply::failed(error));
    }
    let Some(Json::List(_)) = body.get("output") else {
        return Err(BadReply::malformed("its `output` is not a list"));
    };
    let (mut reader, mut events) = (Reader::default(), vec![Event::Begin]);
    reader.end(body, &mut events)?;
    Ok(events)
}

/// Reads a streamed reply.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Whether any item was told before the end.
    told: bool,
    /// Whether anything of the open item was told piece by piece.
    pieces: bool,
    /// Whether the open item is a call that was already begun.
    calling: bool,
    open: Option<u64>,
    calls: bool,
    refused: bool,
    usage: Option<Usage>,
}

impl Reader {
    /// Reads one event.
    pub(crate) fn read(&mut self, data: &str, events: &mut Vec<Event>) -> Result<(), BadReply> {
        let event = Json::parse(data.as_bytes())?;
        let delta = || event.text("delta").unwrap_or_default().to_owned();
        let item = || event.get("item").unwrap_or(&Json::Null);
        match event.text("type").unwrap_or_default() {
            "response.created" | "response.in_progress" | "response.queued" => {
                events.push(Event::Begin);
            }
            "response.output_item.added" => self.added(&event, item(), events),
            "response.output_text.delta" => self.piece(Event::Text(delta()), events),
            "response.refusal.delta" => {
                self.refused = true;
                self.piece(Event::Refusal(delta()), events);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.piece(Event::Thought(delta()), events);
            }
            "response.reasoning_summary_part.added" if self.pieces => {
                self.piece(Event::Thought("\n\n".to_owned()), events);
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let index = event.count("output_index");
                if !self.calling || (index.is_some() && index != self.open) {
                    return Err(BadReply::malformed("the pieces of several tool calls are mixed"));
                }
                self.piece(Event::Input(delta()), events);
            }
            "response.output_item.done" => self.done(item(), events),
            "response.completed" | "response.incomplete" => {
                self.end(event.get("response").unwrap_or(&Json::Null), events)?;
            }
            "response.failed" => {
                let response = event.get("response").unwrap_or(&Json::Null);
                return Err(BadReply::failed(response.get("error").unwrap_or(&Json::Null)));
            }
            "error" => return Err(BadReply::failed(event.get("error").unwrap_or(&event))),
            _ => {}
        }
        Ok(())
    }

    /// Returns what was used, as far as it is known.
    pub(crate) const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn piece(&mut self, event: Event, events: &mut Vec<Event>) {
        let empty = matches!(&event, Event::Text(text) | Event::Refusal(text)
            | Event::Thought(text) | Event::Input(text) if text.is_empty());
        if !empty {
            self.pieces = true;
            events.push(event);
        }
    }

    fn added(&mut self, event: &Json, item: &Json, events: &mut Vec<Event>) {
        (self.told, self.pieces, self.calling) = (true, false, false);
        self.open = event.count("output_index");
        if let Some(call) = call(item) {
            (self.calls, self.calling) = (true, true);
            events.push(Event::Call(call));
        }
    }

    /// Takes from a whole item what was not told before.
    fn done(&mut self, item: &Json, events: &mut Vec<Event>) {
        self.told = true;
        let pieces = std::mem::take(&mut self.pieces);
        let calling = std::mem::take(&mut self.calling);
        match item.text("type") {
            Some("message") if !pieces => {
                for part in item.list("content") {
                    if let Some(text) = part.text("text") {
                        self.piece(Event::Text(text.to_owned()), events);
                    } else if let Some(text) = part.text("refusal") {
                        self.refused = true;
                        self.piece(Event::Refusal(text.to_owned()), events);
                    }
                }
            }
            Some("reasoning") => {
                if !pieces {
                    self.piece(Event::Thought(thought(item)), events);
                }
                events.push(Event::ThoughtEnd(own(item)));
            }
            Some("function_call" | "custom_tool_call") => {
                if let (false, Some(call)) = (calling, call(item)) {
                    self.calls = true;
                    events.push(Event::Call(call));
                }
                if !pieces {
                    let input = item.text("arguments").or_else(|| item.text("input"));
                    self.piece(Event::Input(input.unwrap_or_default().to_owned()), events);
                }
            }
            _ => {}
        }
        self.pieces = false;
    }

    fn end(&mut self, response: &Json, events: &mut Vec<Event>) -> Result<(), BadReply> {
        if !self.told {
            for item in response.list("output") {
                self.done(item, events);
            }
        }
        if let Some(used) = response.get("usage") {
            self.usage = Some(usage::served(usage::read(Dialect::Responses, used), response));
        }
        let details = response.get("incomplete_details");
        let reason = details.and_then(|details| details.text("reason"));
        let stop = match (response.text("status"), reason) {
            (Some("incomplete"), Some("content_filter")) => Stop::Refused,
            (Some("incomplete"), _) => Stop::Length,
            (Some("failed" | "cancelled" | "in_progress" | "queued"), _) => {
                return Err(BadReply::malformed("the reply is not complete"));
            }
            _ if self.calls => Stop::Calls,
            _ if self.refused => Stop::Refused,
            _ => Stop::End,
        };
        events.push(Event::End { stop, usage: self.usage });
        Ok(())
    }
}

fn call(item: &Json) -> Option<Call> {
    let custom = match item.text("type")? {
        "function_call" => false,
        "custom_tool_call" => true,
        _ => return None,
    };
    let text = |key| item.text(key).unwrap_or_default().to_owned();
    let tool = ToolRef { space: None, name: text("name"), custom };
    Some(Call { id: text("call_id"), tool, input: String::new(), own: None })
}

fn thought(item: &Json) -> String {
    let list = match item.list("summary") {
        [] => item.list("content"),
        summary => summary,
    };
    let texts: Vec<&str> = list.iter().filter_map(|part| part.text("text")).collect();
    texts.join("\n\n")
}

/// Returns what is sent back: only what is encrypted means anything to a provider that has
/// stored nothing.
fn own(item: &Json) -> Option<Json> {
    item.get("encrypted_content")?;
    let wanted = |key: &Key| {
        matches!(key.as_ref(), "type" | "id" | "summary" | "encrypted_content" | "content")
    };
    let entries = item.entries().iter().filter(|(key, _)| wanted(key)).cloned().collect();
    Some(Json::Map(entries).without_nulls())
}
