//! Reads replies of Messages.

use super::super::BadReply;
use super::super::input::text_of;
use super::super::ir::{Call, Event, Stop, ToolRef};
use super::super::json::{Json, object};
use super::super::usage;
use crate::Usage;

/// Reads a whole reply.
pub(crate) fn read_whole(body: &Json) -> Result<Vec<Event>, BadReply> {
    if let Some(error) = body.get("error") {
        return Err(BadReply::failed(error));
    }
    let Some(Json::List(blocks)) = body.get("content") else {
        return Err(BadReply::malformed("its `content` is not a list"));
    };
    let (mut reader, mut events) = (Reader::default(), vec![Event::Begin]);
    for block in blocks {
        reader.start(block, &mut events);
        reader.stop_block(&mut events);
    }
    reader.reason(body);
    if let Some(used) = body.get("usage") {
        usage::merge_anthropic(reader.usage.get_or_insert_default(), used);
    }
    reader.end(&mut events);
    Ok(events)
}

/// Reads a streamed reply.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    block: Block,
    stop: Option<Stop>,
    usage: Option<Usage>,
}

/// The block that is being written.
#[derive(Debug, Default)]
enum Block {
    /// Text, or one that nobody can make anything of.
    #[default]
    Plain,
    Thought {
        text: String,
        signature: String,
    },
    Redacted(String),
    /// A call, and its input if that came at the start.
    Call(Option<String>),
}

impl Reader {
    /// Reads one event.
    pub(crate) fn read(&mut self, data: &str, events: &mut Vec<Event>) -> Result<(), BadReply> {
        let event = Json::parse(data.as_bytes())?;
        match event.text("type") {
            Some("message_start") => {
                let used = event.get("message").and_then(|message| message.get("usage"));
                if let Some(used) = used {
                    usage::merge_anthropic(self.usage.get_or_insert_default(), used);
                }
                events.push(Event::Begin);
            }
            Some("content_block_start") => {
                self.start(event.get("content_block").unwrap_or(&Json::Null), events);
            }
            Some("content_block_delta") => {
                self.delta(event.get("delta").unwrap_or(&Json::Null), events);
            }
            Some("content_block_stop") => self.stop_block(events),
            Some("message_delta") => {
                if let Some(delta) = event.get("delta") {
                    self.reason(delta);
                }
                if let Some(used) = event.get("usage") {
                    usage::merge_anthropic(self.usage.get_or_insert_default(), used);
                }
            }
            Some("message_stop") => self.end(events),
            Some("error") => {
                return Err(BadReply::failed(event.get("error").unwrap_or(&Json::Null)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns what was used, as far as it is known.
    pub(crate) const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn start(&mut self, block: &Json, events: &mut Vec<Event>) {
        let text = |key| block.text(key).unwrap_or_default().to_owned();
        self.block = Block::Plain;
        match block.text("type") {
            Some("text") => say(Event::Text, text("text"), events),
            Some("thinking") => {
                say(Event::Thought, text("thinking"), events);
                self.block =
                    Block::Thought { text: text("thinking"), signature: text("signature") };
            }
            Some("redacted_thinking") => self.block = Block::Redacted(text("data")),
            Some("tool_use") => {
                let input = block.get("input").filter(|input| !input.entries().is_empty());
                self.block = Block::Call(input.map(text_of));
                let tool = ToolRef { name: text("name"), ..ToolRef::default() };
                let call = Call { id: text("id"), tool, input: String::new(), own: None };
                events.push(Event::Call(call));
            }
            _ => {}
        }
    }

    fn delta(&mut self, delta: &Json, events: &mut Vec<Event>) {
        let more = |key| delta.text(key).unwrap_or_default();
        match (delta.text("type"), &mut self.block) {
            (Some("text_delta"), Block::Plain) => {
                say(Event::Text, more("text").to_owned(), events);
            }
            (Some("thinking_delta"), Block::Thought { text, .. }) => {
                text.push_str(more("thinking"));
                say(Event::Thought, more("thinking").to_owned(), events);
            }
            (Some("signature_delta"), Block::Thought { signature, .. }) => {
                signature.push_str(more("signature"));
            }
            (Some("input_json_delta"), Block::Call(given)) => {
                let piece = more("partial_json");
                if !piece.is_empty() {
                    *given = None;
                    events.push(Event::Input(piece.to_owned()));
                }
            }
            _ => {}
        }
    }

    fn stop_block(&mut self, events: &mut Vec<Event>) {
        match std::mem::take(&mut self.block) {
            Block::Thought { text, signature } => {
                let own = object! {
                    "type" => "thinking", "thinking" => text, "signature" => &signature,
                };
                events.push(Event::ThoughtEnd((!signature.is_empty()).then_some(own)));
            }
            Block::Redacted(data) => {
                let own = object! { "type" => "redacted_thinking", "data" => data };
                events.push(Event::ThoughtEnd(Some(own)));
            }
            Block::Call(Some(input)) => events.push(Event::Input(input)),
            Block::Call(None) | Block::Plain => {}
        }
    }

    fn reason(&mut self, from: &Json) {
        let Some(reason) = from.text("stop_reason") else { return };
        self.stop = Some(match reason {
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "stop_sequence" => Stop::Sequence(from.text("stop_sequence").map(Into::into)),
            "tool_use" => Stop::Calls,
            "refusal" => Stop::Refused,
            "pause_turn" => Stop::Paused,
            _ => Stop::End,
        });
    }

    fn end(&mut self, events: &mut Vec<Event>) {
        let stop = self.stop.take().unwrap_or(Stop::End);
        events.push(Event::End { stop, usage: self.usage });
    }
}

fn say(kind: fn(String) -> Event, text: String, events: &mut Vec<Event>) {
    if !text.is_empty() {
        events.push(kind(text));
    }
}
