//! Talking to a model: a conversation that no dialect owns, told as a request in any of them, and
//! replies heard as the same few words.
//!
//! It shares readers and writers with the translation, so that there is one place that knows how a
//! dialect is spoken.

use serde::{Deserialize, Serialize};

use super::back::{BadReply, Reader};
use super::ir::{self, Event, Outcome, Part, Prompt, Thinking, ToolRef};
use super::json::Json;
use super::{Ask, Thinks, anthropic, chat, gemini, responses, settle};
use crate::sse::Decoder;
use crate::translate::names::Names;
use crate::{Dialect, Usage};

/// The largest reply that is listened to.
const REPLY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// The longest id of a call that is kept.
const ID_MAX_BYTES: usize = 256;

/// One thing of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Item {
    /// What the model is told.
    User {
        /// The text.
        text: String,
    },
    /// What the model said.
    Model {
        /// The text.
        text: String,
    },
    /// What the model thought.
    Thought {
        /// As far as it is shown.
        text: String,
        /// What must go back to whoever thought it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<Opaque>,
    },
    /// A tool that the model called.
    Call {
        /// The id that its result bears.
        id: String,
        /// The name of the tool.
        name: String,
        /// Its input, as the model wrote it.
        input: String,
        /// What must go back to whoever called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<Opaque>,
    },
    /// What came of a call.
    Result {
        /// The id of the call.
        call: String,
        /// What the tool said.
        text: String,
        /// Whether it failed.
        failed: bool,
    },
}

/// State that only one model understands; no other is ever shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// The dialect in which it was said.
    pub dialect: Dialect,
    /// The model that said it.
    pub model: String,
    /// The JSON to give back.
    pub state: String,
}

impl Opaque {
    fn of(self_: Option<&Self>, talk: &Talk<'_>) -> Option<Json> {
        let own = self_.filter(|own| own.dialect == talk.dialect && own.model == talk.model)?;
        Json::parse(own.state.as_bytes()).ok()
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The JSON schema of its input, as text, whose order is kept.
    pub schema: &'static str,
}

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Talk<'a> {
    /// The dialect to speak.
    pub dialect: Dialect,
    /// The model.
    pub model: &'a str,
    /// Whether it is asked to think, which it does if it can.
    pub think: bool,
    /// The most tokens to answer with; 0 for as many as it likes.
    pub max_output: u64,
    /// What it is told before the conversation.
    pub system: &'a str,
    /// The tools that it may call.
    pub tools: &'a [Tool],
    /// The conversation.
    pub items: &'a [Item],
}

impl Talk<'_> {
    /// Writes the request, streaming; the same conversation always gives the same bytes.
    ///
    /// # Errors
    /// If the dialect has no words for it.
    pub fn request(&self) -> Result<Vec<u8>, BadReply> {
        let thinks =
            if self.think { Thinks::guess(self.dialect, self.model) } else { Thinks::Never };
        let ask = Ask {
            from: self.dialect,
            to: self.dialect,
            model: self.model,
            client_model: self.model,
            thinks,
            stream: true,
            array: false,
            max_output: self.max_output,
            request_id: "",
            now_seconds: 0,
        };
        let prompt = self.prompt();
        let names = Names::new(&prompt);
        let body = match self.dialect {
            Dialect::Chat => chat::write_request(&ask, &prompt, &names),
            Dialect::Responses => responses::write_request(&ask, &prompt, &names),
            Dialect::Anthropic => {
                anthropic::write_request(&ask, &prompt, &names).map(|(body, _)| body)
            }
            Dialect::Gemini => gemini::write_request(&ask, &prompt, &names),
        };
        let body = body.map_err(|_| BadReply::malformed("the conversation cannot be told"))?;
        Ok(body.to_bytes())
    }

    /// Returns the path behind the base URL.
    pub fn path(&self) -> String {
        match self.dialect {
            Dialect::Chat => "/v1/chat/completions".to_owned(),
            Dialect::Responses => "/v1/responses".to_owned(),
            Dialect::Anthropic => "/v1/messages".to_owned(),
            Dialect::Gemini => {
                format!("/v1beta/models/{}:streamGenerateContent?alt=sse", self.model)
            }
        }
    }

    fn prompt(&self) -> Prompt {
        let items = settle::settle(self.items.iter().filter_map(|item| self.item(item)).collect());
        Prompt {
            system: vec![self.system.to_owned()],
            items,
            tools: self.tools.iter().map(tool).collect(),
            max_output: (self.max_output > 0).then_some(self.max_output),
            thinking: if self.think { Thinking::Auto } else { Thinking::Unsaid },
            include_usage: true,
            lost: self.lost(),
            ..Prompt::default()
        }
    }

    fn item(&self, item: &Item) -> Option<ir::Item> {
        let text = |text: &String| vec![Part::Text(text.clone())];
        Some(match item {
            Item::User { text: said } => ir::Item::User(text(said)),
            Item::Model { text } => ir::Item::Model(text.clone()),
            Item::Thought { own, .. } => ir::Item::Thought(Opaque::of(own.as_ref(), self)?),
            Item::Call { id, name, input, own } => ir::Item::Call(ir::Call {
                id: id.clone(),
                tool: ToolRef { name: name.clone(), ..ToolRef::default() },
                input: input.clone(),
                own: Opaque::of(own.as_ref(), self),
            }),
            Item::Result { call, text: said, failed } => {
                ir::Item::Result(Outcome { call: call.clone(), parts: text(said), failed: *failed })
            }
        })
    }

    /// Whether calls of the current turn were made by another model, whose thoughts this one lacks.
    fn lost(&self) -> bool {
        let from = self.items.iter().rposition(|item| matches!(item, Item::User { .. }));
        let turn = &self.items[from.map_or(0, |at| at + 1)..];
        let called = turn.iter().any(|item| matches!(item, Item::Call { .. }));
        let thought = turn.iter().any(|item| match item {
            Item::Thought { own, .. } | Item::Call { own, .. } => {
                Opaque::of(own.as_ref(), self).is_some()
            }
            _ => false,
        });
        called && !thought
    }
}

fn tool(tool: &Tool) -> ir::Tool {
    ir::Tool {
        tool: ToolRef { name: tool.name.to_owned(), ..ToolRef::default() },
        description: Some(tool.description.to_owned()),
        schema: Json::parse(tool.schema.as_bytes()).ok(),
        ..ir::Tool::default()
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It has said all.
    End,
    /// It waits for what its calls give.
    Calls,
    /// It may not say more.
    Length,
    /// It refused.
    Refused,
    /// It wants to be asked to go on.
    Paused,
}

/// Something of a reply, while it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// More text.
    Text(String),
    /// More of a thought.
    Thought(String),
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What was said, to be put behind the conversation.
    pub items: Vec<Item>,
    /// Why it ended.
    pub stop: Stop,
    /// What it used, if that was told.
    pub usage: Option<Usage>,
}

/// Listens to a streamed reply.
#[derive(Debug)]
pub struct Listener {
    dialect: Dialect,
    model: String,
    decoder: Decoder,
    reader: Reader,
    fed: usize,
    items: Vec<Item>,
    /// Whether the last thought or call may go on.
    open: bool,
    calls: usize,
    end: Option<(Stop, Option<Usage>)>,
}

impl Listener {
    /// Begins to listen to a model.
    pub fn new(dialect: Dialect, model: &str) -> Self {
        Self {
            dialect,
            model: model.to_owned(),
            decoder: Decoder::default(),
            reader: Reader::new(dialect),
            fed: 0,
            items: Vec::new(),
            open: false,
            calls: 0,
            end: None,
        }
    }

    /// Takes the next bytes, however they are split, and hands over what is new.
    ///
    /// # Errors
    /// If the stream is malformed, too long, or tells of a failure.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(Heard)) -> Result<(), BadReply> {
        self.fed = self.fed.saturating_add(bytes.len());
        if self.fed > REPLY_MAX_BYTES {
            return Err(BadReply::malformed("it is too long"));
        }
        let mut events = Vec::new();
        let read = self.decoder.feed(bytes, |event| events.push(event));
        for event in events {
            self.event(&event.data, each)?;
        }
        Ok(read?)
    }

    /// Takes the end of the stream and returns the reply.
    ///
    /// # Errors
    /// If the stream broke off, or told of a failure at last.
    pub fn finish(mut self, seed: &str, each: &mut dyn FnMut(Heard)) -> Result<Reply, BadReply> {
        let mut events = Vec::new();
        self.decoder.finish(|event| events.push(event))?;
        for event in events {
            self.event(&event.data, each)?;
        }
        let mut last = Vec::new();
        self.reader.end(&mut last);
        for event in last {
            self.take(event, each);
        }
        let (stop, usage) = self.end.ok_or_else(|| BadReply::malformed("it broke off"))?;
        let mut items = self.items;
        let mut at = 0;
        for item in &mut items {
            // Some providers give their calls no id, and a result must name one.
            if let Item::Call { id, .. } = item {
                if id.is_empty() || id.len() > ID_MAX_BYTES {
                    *id = format!("call_{seed}_{at}");
                }
                at += 1;
            }
        }
        Ok(Reply { items, stop, usage })
    }

    fn event(&mut self, data: &str, each: &mut dyn FnMut(Heard)) -> Result<(), BadReply> {
        let mut events = Vec::new();
        let read = self.reader.read(data, &mut events);
        for event in events {
            self.take(event, each);
        }
        read
    }

    fn take(&mut self, event: Event, each: &mut dyn FnMut(Heard)) {
        if self.end.is_some() {
            return;
        }
        match event {
            Event::Begin => {}
            Event::Text(more) | Event::Refusal(more) => {
                match self.items.last_mut() {
                    Some(Item::Model { text }) => text.push_str(&more),
                    _ => self.items.push(Item::Model { text: more.clone() }),
                }
                self.open = false;
                each(Heard::Text(more));
            }
            Event::Thought(more) => {
                match self.items.last_mut() {
                    Some(Item::Thought { text, .. }) if self.open => text.push_str(&more),
                    _ => self.items.push(Item::Thought { text: more.clone(), own: None }),
                }
                self.open = true;
                each(Heard::Thought(more));
            }
            Event::ThoughtEnd(state) => {
                let own = state.map(|state| self.opaque(&state));
                match self.items.last_mut() {
                    Some(Item::Thought { own: kept, .. }) if self.open => *kept = own,
                    // A thought whose text is not shown.
                    _ if own.is_some() => {
                        self.items.push(Item::Thought { text: String::new(), own });
                    }
                    _ => {}
                }
                self.open = false;
            }
            Event::Call(call) => {
                self.calls += 1;
                let own = call.own.as_ref().map(|own| self.opaque(own));
                let (id, name, input) = (call.id, call.tool.name, call.input);
                self.items.push(Item::Call { id, name, input, own });
                self.open = false;
            }
            Event::Input(more) => {
                if let Some(Item::Call { input, .. }) = self.items.last_mut() {
                    input.push_str(&more);
                }
            }
            Event::CallEnd => {}
            Event::End { stop, usage } => self.end = Some((self.reason(&stop), usage)),
        }
    }

    fn reason(&self, stop: &ir::Stop) -> Stop {
        match stop {
            ir::Stop::Length => Stop::Length,
            ir::Stop::Refused => Stop::Refused,
            ir::Stop::Paused => Stop::Paused,
            ir::Stop::End | ir::Stop::Sequence(_) | ir::Stop::Calls if self.calls > 0 => {
                Stop::Calls
            }
            ir::Stop::End | ir::Stop::Sequence(_) | ir::Stop::Calls => Stop::End,
        }
    }

    fn opaque(&self, state: &Json) -> Opaque {
        let state = state.to_string();
        Opaque { dialect: self.dialect, model: self.model.clone(), state }
    }
}
