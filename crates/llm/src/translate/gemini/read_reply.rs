//! Reads replies of generateContent.

use super::super::BadReply;
use super::super::input::text_of;
use super::super::ir::{Call, Event, Stop, ToolRef};
use super::super::json::{Json, object};
use super::super::usage;
use super::field;
use crate::{Dialect, Usage};

/// Reads a whole reply.
pub(crate) fn read_whole(body: &Json) -> Result<Vec<Event>, BadReply> {
    let (mut reader, mut events) = (Reader::default(), Vec::new());
    reader.chunk(body, &mut events)?;
    if reader.stop.is_none() {
        return Err(BadReply::malformed("it has no `finishReason`"));
    }
    reader.end(&mut events);
    Ok(events)
}

/// Reads a streamed reply.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    thinking: bool,
    calls: bool,
    stop: Option<Stop>,
    usage: Option<Usage>,
}

impl Reader {
    /// Reads one event.
    pub(crate) fn read(&mut self, data: &str, events: &mut Vec<Event>) -> Result<(), BadReply> {
        self.chunk(&Json::parse(data.as_bytes())?, events)
    }

    /// Returns what was used, as far as it is known.
    pub(crate) const fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Tells whether it was told why the model stopped.
    pub(crate) const fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Tells the end if the stream has come to one: nothing but its end says so.
    pub(crate) fn end(&mut self, events: &mut Vec<Event>) {
        let Some(stop) = self.stop.take() else { return };
        self.close_thought(events);
        let stop = if stop == Stop::End && self.calls { Stop::Calls } else { stop };
        events.push(Event::End { stop, usage: self.usage });
    }

    fn chunk(&mut self, chunk: &Json, events: &mut Vec<Event>) -> Result<(), BadReply> {
        if let Some(error) = chunk.get("error") {
            return Err(BadReply::failed(error));
        }
        events.push(Event::Begin);
        if let Some(used) = chunk.get("usageMetadata") {
            self.usage = Some(usage::read(Dialect::Gemini, used));
        }
        let feedback = chunk.get("promptFeedback");
        if feedback.is_some_and(|feedback| feedback.get("blockReason").is_some()) {
            self.stop = Some(Stop::Refused);
        }
        let Some(candidate) = chunk.list("candidates").first() else { return Ok(()) };
        if let Some(content) = candidate.get("content") {
            for part in content.list("parts") {
                self.part(part, events);
            }
        }
        if let Some(reason) = candidate.text("finishReason") {
            self.stop = Some(stop(reason, candidate)?);
        }
        Ok(())
    }

    fn part(&mut self, part: &Json, events: &mut Vec<Event>) {
        let text = part.text("text").filter(|text| !text.is_empty()).map(str::to_owned);
        if part.flag("thought") == Some(true) {
            self.thinking = true;
            events.extend(text.map(Event::Thought));
        } else if let Some(call) = part.get("functionCall") {
            self.close_thought(events);
            self.calls = true;
            let name = call.text("name").unwrap_or_default().to_owned();
            let signature = field(part, "thoughtSignature");
            events.push(Event::Call(Call {
                id: call.text("id").unwrap_or_default().to_owned(),
                tool: ToolRef { name, ..ToolRef::default() },
                input: String::new(),
                own: signature.map(|signature| object! { "thoughtSignature" => signature }),
            }));
            let input = call.get("args").map_or_else(|| "{}".to_owned(), text_of);
            events.push(Event::Input(input));
        } else if let Some(text) = text {
            self.close_thought(events);
            events.push(Event::Text(text));
        }
    }

    fn close_thought(&mut self, events: &mut Vec<Event>) {
        if std::mem::take(&mut self.thinking) {
            events.push(Event::ThoughtEnd(None));
        }
    }
}

fn stop(reason: &str, candidate: &Json) -> Result<Stop, BadReply> {
    Ok(match reason {
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => Stop::Refused,
        // The model made a mistake, and there is nothing to go on with: it is asked again.
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            let message = candidate.text("finishMessage").unwrap_or(reason);
            return Err(BadReply::failed(&object! { "code" => reason, "message" => message }));
        }
        _ => Stop::End,
    })
}
