//! The way back: replies of the upstream as the client understands them.

use super::ir::{Event, Reply, Stop};
use super::json::{Json, object};
use super::keep::Keepsake;
use super::names::Names;
use super::stage::Stage;
use super::{Head, anthropic, chat, gemini, responses, sse};
use crate::sse::Decoder;
use crate::{Dialect, Usage};

/// The largest reply that is told; a stream that goes on for ever is none.
const REPLY_MAX_BYTES: usize = 256 * 1024 * 1024;

/// How the reply to a request is told to the client.
#[derive(Debug)]
pub struct Back {
    pub(super) from: Dialect,
    pub(super) to: Dialect,
    pub(super) head: Head,
    pub(super) names: std::sync::Arc<Names>,
    /// Sequences that the upstream does not know of, at which the reply is cut.
    pub(super) stop: Vec<String>,
    /// Whether the upstream was told to think and wants its thoughts back.
    pub(super) thinking: bool,
    pub(super) include_usage: bool,
    pub(super) array: bool,
}

/// A whole reply as the client understands it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What is sent to the client.
    pub body: Vec<u8>,
    /// What is to be kept for the next turn.
    pub keepsakes: Vec<Keepsake>,
    /// Whether the model only paused and wants to be asked to go on.
    pub paused: bool,
    /// What was used.
    pub usage: Option<Usage>,
}

/// How a streamed reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whether the upstream came to a proper end and the client was told so. If not, nothing that
    /// looks like an end was written, and [`Relay::fail`] should follow.
    pub finished: bool,
    /// Whether the model only paused and wants to be asked to go on.
    pub paused: bool,
    /// What was used, as far as it is known.
    pub usage: Option<Usage>,
}

/// A reply that cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadReply {
    /// It is not what the upstream's dialect says.
    #[error("the reply of the provider is malformed: {0}")]
    Malformed(String),
    /// The upstream itself says that it has failed.
    #[error("the provider failed: {message}")]
    Failed {
        /// Its own code or type of error.
        code: String,
        /// What it says.
        message: String,
    },
}

impl BadReply {
    pub(super) fn malformed(what: &str) -> Self {
        Self::Malformed(what.to_owned())
    }

    /// Reads the error object of any dialect.
    pub(super) fn failed(error: &Json) -> Self {
        let code = ["status", "code", "type"].into_iter().find_map(|key| error.text(key));
        let number = || error.count("code").map(|code| code.to_string());
        let code = code.map(str::to_owned).or_else(number).unwrap_or_default();
        let message = error.text("message").or_else(|| error.as_text());
        Self::Failed { code, message: message.unwrap_or("no reason was given").to_owned() }
    }
}

impl From<serde_json::Error> for BadReply {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

impl From<crate::sse::Malformed> for BadReply {
    fn from(error: crate::sse::Malformed) -> Self {
        Self::Malformed(error.to_string())
    }
}

impl Back {
    /// Tells a whole reply.
    ///
    /// # Errors
    /// If the reply is malformed, or tells of a failure.
    pub fn reply(&self, body: &[u8]) -> Result<Answer, BadReply> {
        let body = Json::parse(body)?;
        let events = match self.to {
            Dialect::Chat => chat::read_whole(&body),
            Dialect::Responses => responses::read_whole(&body),
            Dialect::Anthropic => anthropic::read_whole(&body),
            Dialect::Gemini => gemini::read_whole(&body),
        }?;
        let (mut stage, mut told) = (Stage::new(self), Vec::new());
        for event in events {
            stage.pass(event, &mut |event| told.push(event));
        }
        let reply = Reply::gather(told);
        let reply = reply.ok_or_else(|| BadReply::malformed("it has no end"))?;
        let body = match self.from {
            Dialect::Chat => chat::write_whole(&self.head, &reply),
            Dialect::Responses => responses::write_whole(&self.head, &reply),
            Dialect::Anthropic => anthropic::write_whole(&self.head, &reply),
            Dialect::Gemini => gemini::write_whole(&self.head, &reply),
        };
        Ok(Answer {
            body: body.to_bytes(),
            keepsakes: stage.keepsakes(),
            paused: reply.stop == Stop::Paused,
            usage: reply.usage,
        })
    }

    /// Begins to tell a streamed reply.
    pub fn stream(self) -> Relay {
        let stage = Stage::new(&self);
        Relay {
            decoder: Decoder::default(),
            reader: Reader::new(self.to),
            stage,
            writer: Writer::new(self),
            fed: 0,
            broken: None,
        }
    }
}

/// Tells a streamed reply while it comes.
#[derive(Debug)]
pub struct Relay {
    decoder: Decoder,
    reader: Reader,
    stage: Stage,
    writer: Writer,
    fed: usize,
    broken: Option<BadReply>,
}

impl Relay {
    /// Takes the next bytes of the upstream, however they are split, and writes what the client is
    /// told behind `out`.
    ///
    /// # Errors
    /// If the stream is malformed, or tells of a failure. It is of no use from then on; what was
    /// written before stands.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), BadReply> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let told = self.take(bytes, out);
        if let Err(error) = &told {
            self.broken = Some(error.clone());
        }
        told
    }

    /// Takes the end of the upstream's stream.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Ended {
        if self.broken.is_none() {
            let mut events = Vec::new();
            // An event that breaks off is no end, and nothing else can come of it any more.
            let read = self.decoder.finish(|event| events.push(event));
            let told = events.iter().try_for_each(|event| self.event(&event.data, out));
            let mut last = Vec::new();
            if read.is_ok() && told.is_ok() {
                self.reader.end(&mut last);
            }
            self.write(last, out);
        }
        let end = self.stage.end().filter(|_| self.broken.is_none());
        Ended {
            finished: end.is_some(),
            paused: matches!(end, Some((Stop::Paused, _))),
            usage: self.reader.usage(),
        }
    }

    /// Tells whether the upstream has said how the reply ends: what may follow is no part of it.
    pub fn has_ended(&self) -> bool {
        self.broken.is_none() && (self.stage.end().is_some() || self.reader.has_ended())
    }

    /// Writes the event by which the client's dialect says that a stream has failed.
    pub fn fail(&mut self, message: &str, out: &mut Vec<u8>) {
        self.writer.fail(message, out);
    }

    /// Takes what is to be kept for the next turn; to be called when the reply has ended.
    pub fn keepsakes(&mut self) -> Vec<Keepsake> {
        self.stage.keepsakes()
    }

    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), BadReply> {
        self.fed = self.fed.saturating_add(bytes.len());
        if self.fed > REPLY_MAX_BYTES {
            return Err(BadReply::malformed("it is too long"));
        }
        let mut events = Vec::new();
        let read = self.decoder.feed(bytes, |event| events.push(event));
        for event in events {
            self.event(&event.data, out)?;
        }
        Ok(read?)
    }

    fn event(&mut self, data: &str, out: &mut Vec<u8>) -> Result<(), BadReply> {
        let mut events = Vec::new();
        let read = self.reader.read(data, &mut events);
        self.write(events, out);
        read
    }

    fn write(&mut self, events: Vec<Event>, out: &mut Vec<u8>) {
        let writer = &mut self.writer;
        for event in events {
            self.stage.pass(event, &mut |event| writer.write(&event, out));
        }
    }
}

/// Reads the stream of an upstream.
#[derive(Debug)]
pub(super) enum Reader {
    Chat(chat::Reader),
    Responses(responses::Reader),
    Anthropic(anthropic::Reader),
    Gemini(gemini::Reader),
}

impl Reader {
    pub(super) fn new(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Chat => Self::Chat(chat::Reader::default()),
            Dialect::Responses => Self::Responses(responses::Reader::default()),
            Dialect::Anthropic => Self::Anthropic(anthropic::Reader::default()),
            Dialect::Gemini => Self::Gemini(gemini::Reader::default()),
        }
    }

    pub(super) fn read(&mut self, data: &str, events: &mut Vec<Event>) -> Result<(), BadReply> {
        match self {
            Self::Chat(reader) => reader.read(data, events),
            Self::Responses(reader) => reader.read(data, events),
            Self::Anthropic(reader) => reader.read(data, events),
            Self::Gemini(reader) => reader.read(data, events),
        }
    }

    /// The other two say themselves when they have come to an end.
    pub(super) fn end(&mut self, events: &mut Vec<Event>) {
        match self {
            Self::Chat(reader) => reader.end(events),
            Self::Gemini(reader) => reader.end(events),
            Self::Responses(_) | Self::Anthropic(_) => {}
        }
    }

    /// Tells whether it has read why the model stopped, in a dialect whose streams have no last event.
    const fn has_ended(&self) -> bool {
        match self {
            Self::Chat(reader) => reader.has_stopped(),
            Self::Gemini(reader) => reader.has_stopped(),
            Self::Responses(_) | Self::Anthropic(_) => false,
        }
    }

    const fn usage(&self) -> Option<Usage> {
        match self {
            Self::Chat(reader) => reader.usage(),
            Self::Responses(reader) => reader.usage(),
            Self::Anthropic(reader) => reader.usage(),
            Self::Gemini(reader) => reader.usage(),
        }
    }
}

/// Writes the stream of a client.
#[derive(Debug)]
pub(super) enum Writer {
    Chat(chat::Writer),
    Responses(responses::Writer),
    Anthropic(anthropic::Writer),
    Gemini(gemini::Writer),
}

impl Writer {
    pub(super) fn new(back: Back) -> Self {
        match back.from {
            Dialect::Chat => Self::Chat(chat::Writer::new(back.head, back.include_usage)),
            Dialect::Responses => Self::Responses(responses::Writer::new(back.head)),
            Dialect::Anthropic => Self::Anthropic(anthropic::Writer::new(back.head)),
            Dialect::Gemini => Self::Gemini(gemini::Writer::new(back.head, back.array)),
        }
    }

    pub(super) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        match self {
            Self::Chat(writer) => writer.write(event, out),
            Self::Responses(writer) => writer.write(event, out),
            Self::Anthropic(writer) => writer.write(event, out),
            Self::Gemini(writer) => writer.write(event, out),
        }
    }

    fn fail(&mut self, message: &str, out: &mut Vec<u8>) {
        match self {
            Self::Chat(_) => {
                let error = object! {
                    "message" => message, "type" => "server_error", "param" => Json::Null,
                    "code" => "server_error",
                };
                sse(None, &object! { "error" => error }, out);
            }
            Self::Responses(writer) => writer.fail(message, out),
            Self::Anthropic(_) => {
                let error = object! { "type" => "api_error", "message" => message };
                sse(Some("error"), &object! { "type" => "error", "error" => error }, out);
            }
            Self::Gemini(writer) => {
                let error =
                    object! { "code" => 503_u64, "message" => message, "status" => "UNAVAILABLE" };
                writer.fail(&object! { "error" => error }, out);
            }
        }
    }
}
