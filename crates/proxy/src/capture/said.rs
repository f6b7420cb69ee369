//! What a stream says as a whole.
//!
//! A word may be cut between two events, and a secret too, so nothing can be taken out of a stream
//! event by event. It is put together first, and only what was said is kept.

use std::collections::BTreeMap;

use godel_llm::Dialect;
use godel_llm::sse::{Decoder, Event};
use serde::Serialize;
use serde_json::Value;

/// What a stream says as a whole.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Said {
    pub(super) text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) thinking: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// A tool that is to be called.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) arguments: String,
}

/// Puts a stream together; what cannot be read is left out.
pub(super) fn said(dialect: Dialect, stream: &[u8]) -> Said {
    let mut reader = Reader::new(dialect);
    let mut decoder = Decoder::default();
    let fed = decoder.feed(stream, |event| reader.event(&event));
    if fed.is_ok() {
        decoder.finish(|event| reader.event(&event)).ok();
    }
    reader.said
}

/// Puts a stream together that is one list, as Gemini's is where nobody asked for events; nothing if
/// it broke off.
pub(super) fn said_in_list(list: &[u8]) -> Option<Said> {
    let events: Vec<Value> = serde_json::from_slice(list).ok()?;
    let mut reader = Reader::new(Dialect::Gemini);
    events.iter().for_each(|event| reader.value(event));
    Some(reader.said)
}

struct Reader {
    dialect: Dialect,
    said: Said,
    /// Which tool an event means by its number.
    places: BTreeMap<u64, usize>,
}

impl Reader {
    fn new(dialect: Dialect) -> Self {
        Self { dialect, said: Said::default(), places: BTreeMap::new() }
    }

    fn event(&mut self, event: &Event) {
        if let Ok(value) = serde_json::from_str::<Value>(&event.data) {
            self.value(&value);
        }
    }

    fn value(&mut self, value: &Value) {
        if let Some(message) = value["error"]["message"].as_str() {
            self.said.error = Some(message.to_owned());
        }
        match self.dialect {
            Dialect::Chat => self.chat(value),
            Dialect::Anthropic => self.anthropic(value),
            Dialect::Responses => self.responses(value),
            Dialect::Gemini => self.gemini(value),
        }
    }

    fn tool(&mut self, number: u64) -> &mut Tool {
        let tools = &mut self.said.tools;
        let place = *self.places.entry(number).or_insert_with(|| {
            tools.push(Tool::default());
            tools.len() - 1
        });
        &mut tools[place]
    }

    fn chat(&mut self, value: &Value) {
        for choice in list(&value["choices"]) {
            let delta = &choice["delta"];
            push(&mut self.said.text, &delta["content"]);
            push(&mut self.said.thinking, &delta["reasoning_content"]);
            push(&mut self.said.thinking, &delta["reasoning"]);
            for call in list(&delta["tool_calls"]) {
                let tool = self.tool(call["index"].as_u64().unwrap_or(0));
                push(&mut tool.name, &call["function"]["name"]);
                push(&mut tool.arguments, &call["function"]["arguments"]);
            }
        }
    }

    fn anthropic(&mut self, value: &Value) {
        let number = value["index"].as_u64().unwrap_or(0);
        let (block, delta) = (&value["content_block"], &value["delta"]);
        if block["type"].as_str().is_some_and(|kind| kind.ends_with("tool_use")) {
            push(&mut self.tool(number).name, &block["name"]);
        }
        push(&mut self.said.text, &delta["text"]);
        push(&mut self.said.thinking, &delta["thinking"]);
        if delta["partial_json"].is_string() {
            push(&mut self.tool(number).arguments, &delta["partial_json"]);
        }
    }

    fn responses(&mut self, value: &Value) {
        let number = value["output_index"].as_u64().unwrap_or(0);
        let (delta, item) = (&value["delta"], &value["item"]);
        match value["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => push(&mut self.said.text, delta),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                push(&mut self.said.thinking, delta);
            }
            "response.output_item.added" if item["name"].is_string() => {
                push(&mut self.tool(number).name, &item["name"]);
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                push(&mut self.tool(number).arguments, delta);
            }
            "response.failed" => {
                let message = value["response"]["error"]["message"].as_str();
                self.said.error = message.map(ToOwned::to_owned);
            }
            _ => {}
        }
    }

    fn gemini(&mut self, value: &Value) {
        for candidate in list(&value["candidates"]) {
            for part in list(&candidate["content"]["parts"]) {
                if let Some(call) = part.get("functionCall") {
                    let name = call["name"].as_str().unwrap_or_default().to_owned();
                    self.said.tools.push(Tool { name, arguments: call["args"].to_string() });
                }
                let thought = part["thought"].as_bool() == Some(true);
                let said = &mut self.said;
                push(if thought { &mut said.thinking } else { &mut said.text }, &part["text"]);
            }
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn push(to: &mut String, value: &Value) {
    to.push_str(value.as_str().unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_cut_between_events_is_whole_again() {
        let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"sk-ant-\"}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{\"content\":\"abc\",\"tool_calls\":[{\"index\":0,\
                    \"function\":{\"name\":\"run\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":\
                    {\"arguments\":\":1}\"}}]}}]}\n\ndata: [DONE]\n\n";
        let told = said(Dialect::Chat, chat.as_bytes());
        assert_eq!(told.text, "sk-ant-abc");
        assert_eq!(told.tools, [Tool { name: "run".into(), arguments: "{\"a\":1}".into() }]);
        let messages = "event: content_block_start\ndata: {\"index\":1,\"content_block\":{\"type\":\
                    \"tool_use\",\"name\":\"run\"}}\n\ndata: {\"index\":1,\"delta\":{\"partial_json\":\
                    \"{}\"}}\n\ndata: {\"index\":0,\"delta\":{\"thinking\":\"hm\"}}\n\nevent: error\n\
                    data: {\"type\":\"error\",\"error\":{\"message\":\"gone\"}}\n\n";
        let told = said(Dialect::Anthropic, messages.as_bytes());
        assert_eq!((told.thinking.as_str(), told.error.as_deref()), ("hm", Some("gone")));
        assert_eq!(told.tools, [Tool { name: "run".into(), arguments: "{}".into() }]);
        let responses = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"he\"}\n\n\
                    data: {\"type\":\"response.output_text.delta\",\"delta\":\"y\"}\n\n";
        assert_eq!(said(Dialect::Responses, responses.as_bytes()).text, "hey");
        let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"he\"},\
                    {\"text\":\"hm\",\"thought\":true},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]}}]}\n\n";
        let told = said(Dialect::Gemini, gemini.as_bytes());
        assert_eq!((told.text.as_str(), told.thinking.as_str(), told.tools.len()), ("he", "hm", 1));
        let list = "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"sk-\"}]}}]},\
                    {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"abc\"}]}}]}]";
        assert_eq!(said_in_list(list.as_bytes()).unwrap().text, "sk-abc");
        assert_eq!(
            said_in_list(&list.as_bytes()[..40]),
            None,
            "what broke off is not put together"
        );
        assert_eq!(said(Dialect::Chat, b"nonsense\n\n\xff"), Said::default());
    }
}
