//! What all dialects can say: one prompt, and one sequence of events for its reply.

use std::collections::HashSet;

use serde_json::Number;

use super::json::Json;
use crate::Usage;

/// Why a body cannot be told; which dialects are meant is added later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The other side has no words for this.
    Feature(String),
    /// The body is not what its dialect says.
    Shape(String),
}

impl Fault {
    /// Names something that cannot be told.
    pub(crate) fn feature(what: impl Into<String>) -> Self {
        Self::Feature(what.into())
    }

    /// Names something of a kind that cannot be told.
    pub(crate) fn named(kind: &str, name: &str) -> Self {
        Self::Feature(format!("{kind} {}", name.chars().take(60).collect::<String>()))
    }

    /// Tells what is wrong with the body.
    pub(crate) fn shape(what: impl Into<String>) -> Self {
        Self::Shape(what.into())
    }
}

/// A request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prompt {
    /// What the model is told before the conversation begins.
    pub system: Vec<String>,
    pub items: Vec<Item>,
    pub tools: Vec<Tool>,
    pub choice: Option<Choice>,
    pub parallel: Option<bool>,
    pub max_output: Option<u64>,
    pub thinking: Thinking,
    pub format: Option<Format>,
    pub stop: Vec<String>,
    pub temperature: Option<Number>,
    pub top_p: Option<Number>,
    pub top_k: Option<Number>,
    /// By how much it is to keep from what it has said already, and from what it has said often.
    pub presence: Option<Number>,
    pub frequency: Option<Number>,
    pub seed: Option<Number>,
    pub user: Option<String>,
    pub cache_key: Option<String>,
    pub verbosity: Option<String>,
    /// Whether a chat client asked for the usage at the end of the stream.
    pub include_usage: bool,
    /// Whether thoughts of the current turn are lost that the upstream may demand.
    pub lost: bool,
}

impl Prompt {
    /// Tells the model something: before the conversation, or in the middle of it.
    pub(crate) fn tell(&mut self, text: String) {
        match (text.is_empty(), self.items.is_empty()) {
            (true, _) => {}
            (false, true) => self.system.push(text),
            (false, false) => self.items.push(Item::System(text)),
        }
    }

    /// Returns the tools that the model may call.
    pub(crate) fn offered(&self) -> Vec<&Tool> {
        let Some(Choice::Some { names, .. }) = &self.choice else {
            return self.tools.iter().collect();
        };
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        self.tools.iter().filter(|tool| names.contains(tool.tool.name.as_str())).collect()
    }

    /// Returns by which names of OpenAI's it asks to keep from what was said, unless that changes nothing.
    pub(crate) fn penalties(&self) -> impl Iterator<Item = &'static str> {
        let asked = |number: &Option<Number>| {
            number.as_ref().and_then(Number::as_f64).is_some_and(|number| number != 0.0)
        };
        let all = [
            ("presence_penalty", asked(&self.presence)),
            ("frequency_penalty", asked(&self.frequency)),
        ];
        all.into_iter().filter(|(_, asked)| *asked).map(|(name, _)| name)
    }

    /// Returns the user, unless the name is longer than OpenAI takes.
    pub(crate) fn short_user(&self) -> Option<&String> {
        self.user.as_ref().filter(|user| user.len() <= 64)
    }
}

/// One thing of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// Something the model is told in the middle.
    System(String),
    User(Vec<Part>),
    Model(String),
    /// A thought that the upstream itself had, in its own words.
    Thought(Json),
    Call(Call),
    Result(Outcome),
}

impl Item {
    /// Tells whether the model said it.
    pub(crate) const fn is_models(&self) -> bool {
        matches!(self, Self::Model(_) | Self::Thought(_) | Self::Call(_))
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Image(Image),
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Image {
    /// In base64.
    Data {
        mime: String,
        data: String,
    },
    Url(String),
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Call {
    pub id: String,
    pub tool: ToolRef,
    /// JSON text, or any text if the tool is custom.
    pub input: String,
    /// What the upstream itself attached to it.
    pub own: Option<Json>,
}

/// Which tool is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct ToolRef {
    pub space: Option<String>,
    pub name: String,
    /// Takes text instead of JSON.
    pub custom: bool,
}

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub call: String,
    pub parts: Vec<Part>,
    pub failed: bool,
}

/// A tool that may be called.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tool {
    pub tool: ToolRef,
    pub description: Option<String>,
    pub schema: Option<Json>,
    pub strict: Option<bool>,
    /// The format of a custom tool's input.
    pub grammar: Option<Json>,
}

/// Which tools the model is to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Auto,
    None,
    Any,
    /// This one.
    Tool(String),
    /// Only some of them; whether one must be called.
    Some {
        names: Vec<String>,
        must: bool,
    },
}

impl Choice {
    /// Reads a choice that is one word in both dialects of OpenAI.
    pub(crate) fn of_mode(mode: &str) -> Option<Self> {
        match mode {
            "auto" => Some(Self::Auto),
            "none" => Some(Self::None),
            "required" | "any" => Some(Self::Any),
            _ => None,
        }
    }
}

/// How the answer is to look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Format {
    /// Any JSON object.
    Json,
    Schema {
        name: Option<String>,
        schema: Json,
        strict: Option<bool>,
    },
}

/// How much the model is to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// As it likes; nothing was said.
    #[default]
    Unsaid,
    Off,
    /// It should, as much as it likes.
    Auto,
    Budget(u64),
    Effort(Effort),
}

/// Levels of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    Minimal,
    Low,
    Medium,
    High,
    Highest,
}

impl Effort {
    /// Reads a level by its name in any dialect.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" | "max" => Self::Highest,
            _ => return None,
        })
    }

    /// Returns the number of tokens that stand for it.
    pub(crate) const fn budget(self) -> u64 {
        match self {
            Self::Minimal => 1024,
            Self::Low => 2048,
            Self::Medium => 8192,
            Self::High => 16_384,
            Self::Highest => 32_768,
        }
    }

    /// Returns the level that a number of tokens stands for.
    pub(crate) const fn of_budget(tokens: u64) -> Self {
        match tokens {
            0..4096 => Self::Low,
            4096..16_384 => Self::Medium,
            _ => Self::High,
        }
    }
}

impl Thinking {
    /// Reads an effort of OpenAI's.
    pub(crate) fn of_effort(name: Option<&str>) -> Self {
        match name {
            None => Self::Unsaid,
            Some("none") => Self::Off,
            Some(name) => Effort::named(name).map_or(Self::Auto, Self::Effort),
        }
    }

    /// Returns the effort of OpenAI's; no model knows all of them, but each knows these.
    pub(crate) const fn effort(self) -> Option<&'static str> {
        let level = match self {
            Self::Unsaid | Self::Auto => return None,
            Self::Off => Effort::Low,
            Self::Budget(tokens) => Effort::of_budget(tokens),
            Self::Effort(level) => level,
        };
        Some(match level {
            Effort::Minimal | Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High | Effort::Highest => "high",
        })
    }

    /// Tells whether the model was asked to think.
    pub(crate) const fn is_on(self) -> bool {
        !matches!(self, Self::Unsaid | Self::Off)
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    End,
    /// One of the client's sequences came up.
    Sequence(Option<String>),
    Length,
    Calls,
    /// It refused, or was kept from answering.
    Refused,
    /// It wants to be asked to go on.
    Paused,
}

/// What happens in a reply, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// The upstream has begun.
    Begin,
    Text(String),
    Refusal(String),
    Thought(String),
    /// A thought is over; with what must be given back to the upstream.
    ThoughtEnd(Option<Json>),
    /// A call begins; its input is still empty.
    Call(Call),
    /// More of the input of the call that began last.
    Input(String),
    /// The call is complete.
    CallEnd,
    End {
        stop: Stop,
        usage: Option<Usage>,
    },
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub said: Vec<Said>,
    pub stop: Stop,
    pub usage: Option<Usage>,
}

/// One thing of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Text(String),
    Refusal(String),
    Thought(String),
    Call(Call),
}

impl Reply {
    /// Puts the events of a reply together; one that has no end is no reply.
    pub(crate) fn gather(events: Vec<Event>) -> Option<Self> {
        let mut said: Vec<Said> = Vec::new();
        // Whether the last thought may be continued.
        let mut thinking = false;
        for event in events {
            match (event, said.last_mut()) {
                (Event::Text(more), Some(Said::Text(text)))
                | (Event::Refusal(more), Some(Said::Refusal(text))) => text.push_str(&more),
                (Event::Thought(more), Some(Said::Thought(text))) if thinking => {
                    text.push_str(&more);
                }
                (Event::Input(more), Some(Said::Call(call))) => call.input.push_str(&more),
                (Event::Text(text), _) => said.push(Said::Text(text)),
                (Event::Refusal(text), _) => said.push(Said::Refusal(text)),
                (Event::Thought(text), _) => {
                    thinking = true;
                    said.push(Said::Thought(text));
                }
                (Event::Call(call), _) => said.push(Said::Call(call)),
                (Event::ThoughtEnd(_), _) => thinking = false,
                (Event::Begin | Event::Input(_) | Event::CallEnd, _) => {}
                (Event::End { stop, usage }, _) => return Some(Self { said, stop, usage }),
            }
        }
        None
    }
}
