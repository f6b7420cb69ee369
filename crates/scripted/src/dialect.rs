//! The four ways in which clients talk to a provider.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;

use crate::ask::{Ask, Wire};
use crate::reply::Reply;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Dialect {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

/// A refusal, before a dialect writes it down.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) code: Option<String>,
    pub(crate) retry_after: Option<u64>,
}

impl Refusal {
    /// A refusal with nothing but a message.
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), code: None, retry_after: None }
    }
}

impl Dialect {
    /// Its name in records and counts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Reads a request body; `model` and `wire` are what the address says, if it does.
    pub(crate) fn read(self, body: &Value, address: Option<(&str, Wire)>) -> Result<Ask, String> {
        let model = body["model"].as_str();
        let wire = if body["stream"] == true { Wire::Sse } else { Wire::Whole };
        let (model, wire) = match (address, model) {
            (Some((model, wire)), _) => (model, wire),
            (None, Some(model)) => (model, wire),
            (None, None) => return Err("you must provide a model parameter".to_owned()),
        };
        let ask = Ask::new(self, model, wire);
        match self {
            Self::Chat => chat::read(ask, body),
            Self::Responses => responses::read(ask, body),
            Self::Anthropic => anthropic::read(ask, body),
            Self::Gemini => gemini::read(ask, body),
        }
    }

    /// Writes an answer as one document.
    pub(crate) fn whole(self, reply: &Reply) -> String {
        match self {
            Self::Chat => chat::whole(reply),
            Self::Responses => responses::whole(reply),
            Self::Anthropic => anthropic::whole(reply),
            Self::Gemini => gemini::whole(reply),
        }
    }

    /// Writes an answer as the frames of a stream.
    pub(crate) fn frames(self, reply: &Reply, ask: &Ask) -> Vec<String> {
        match self {
            Self::Chat => chat::frames(reply, ask.wants_usage),
            Self::Responses => responses::frames(reply),
            Self::Anthropic => anthropic::frames(reply),
            Self::Gemini => gemini::frames(reply, ask.wire),
        }
    }

    /// Writes the body of a refusal.
    pub(crate) fn refusal(self, refusal: &Refusal) -> String {
        match self {
            Self::Chat | Self::Responses => chat::refusal(refusal),
            Self::Anthropic => anthropic::refusal(refusal),
            Self::Gemini => gemini::refusal(refusal),
        }
    }

    /// Writes the frame that tells of a failure in the middle of a stream.
    pub(crate) fn error_frame(self, refusal: &Refusal, wire: Wire) -> String {
        match self {
            Self::Chat => data(&chat::refusal(refusal)),
            Self::Responses => responses::error_frame(refusal),
            Self::Anthropic => event("error", &anthropic::refusal(refusal)),
            Self::Gemini if wire == Wire::Array => format!(",{}]", gemini::refusal(refusal)),
            Self::Gemini => data(&gemini::refusal(refusal)),
        }
    }

    /// The words by which clients know that a context is too long.
    pub(crate) fn overflow(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Chat | Self::Responses => (
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
                Some("context_length_exceeded"),
            ),
            Self::Anthropic => ("prompt is too long: 250000 tokens > 200000 maximum", None),
            Self::Gemini => (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                None,
            ),
        }
    }
}

/// Writes a frame without a name.
fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// Writes a frame with a name.
fn event(name: &str, json: &str) -> String {
    format!("event: {name}\ndata: {json}\n\n")
}

/// Joins the texts of a content that is a string or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Describes an image by its type and size.
fn image(media: &str, base64: &str) -> String {
    format!("{media} of {} bytes", decoded(base64).map_or(0, |bytes| bytes.len()))
}

/// Decodes base64 in either alphabet, with or without padding, as providers do.
pub(crate) fn decoded(base64: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    let plain = base64.replace('-', "+").replace('_', "/");
    base64::engine::general_purpose::STANDARD_NO_PAD.decode(plain.trim_end_matches('=')).ok()
}

/// Describes an image that is given as an address.
fn image_at(url: &str) -> String {
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    parts.map_or_else(|| format!("image at {url}"), |(media, data)| image(media, data))
}
