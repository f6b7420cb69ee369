//! Telling what one dialect says in another.
//!
//! A request is read into one prompt that all dialects share and written again in the other's
//! words; a reply takes the same way back, as a sequence of events, whole or as a stream. What
//! only the upstream understands, such as signatures of thoughts, is handed to the caller as
//! [`Keepsake`]s and asked back by [`Recall`] in the next turn.
//!
//! # Invariants
//! - What cannot be told is refused by name ([`Untranslatable`]), never left out in silence, unless
//!   the answer is as good without it.
//! - A reply that was cut off never looks like one that has ended.
//! - What one provider keeps to itself is never sent to another.

mod anthropic;
mod back;
mod chat;
mod estimate;
mod gemini;
mod input;
mod ir;
mod json;
mod keep;
mod made_up;
mod names;
mod responses;
mod schema;
mod settle;
mod stage;
mod stops;
pub mod talk;
#[cfg(test)]
mod tests;
mod thinks;
mod usage;

pub use back::{Answer, Back, BadReply, Ended, Relay};
pub use estimate::count_tokens_estimate;
pub use keep::{KeepLimits, Keepsake, Keepsakes, Place};
pub use made_up::without_made_up;
pub use thinks::Thinks;

use ir::{Fault, Prompt};
use json::Json;
use names::Names;

use crate::Dialect;

/// What begins a conversation that the user did not begin.
const CONTINUE: &str = "Continue.";

/// How much a model may answer if nothing is known about it.
const DEFAULT_MAX_OUTPUT: u64 = 8192;

/// The most stop sequences, and the most bytes of one.
const STOPS_MAX: usize = 64;
const STOP_MAX_BYTES: usize = 1024;

/// How a request is to be told.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The client's dialect.
    pub from: Dialect,
    /// The upstream's dialect.
    pub to: Dialect,
    /// The upstream's name of the model.
    pub model: &'a str,
    /// The name of the model that the client is shown.
    pub client_model: &'a str,
    /// Whether and how the model can think.
    pub thinks: Thinks,
    /// Whether the reply is to be streamed.
    pub stream: bool,
    /// Whether a streamed reply is to be one JSON array, as Gemini sends it without `alt=sse`.
    pub array: bool,
    /// The most tokens that the model can answer with; 0 if that is unknown.
    pub max_output: u64,
    /// Seeds the ids that must be made up; unique for each request.
    pub request_id: &'a str,
    /// The time that the reply bears.
    pub now_seconds: i64,
}

/// Looks up what was kept for a call, by the call's id.
pub type Recall<'a> = dyn Fn(&str) -> Option<std::sync::Arc<str>> + 'a;

/// A request as the upstream understands it.
#[derive(Debug)]
pub struct Told {
    /// What is sent upstream.
    pub body: Vec<u8>,
    /// How the reply is told to the client.
    pub back: Back,
}

/// A request that cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untranslatable {
    /// The upstream's dialect has no words for something that was asked for.
    #[error("{feature} cannot be told to a provider that speaks {to}")]
    Feature {
        /// What it is.
        feature: String,
        /// The upstream's dialect.
        to: Dialect,
    },
    /// The body is not what its dialect says.
    #[error("the request is not in the dialect {dialect}: {what}")]
    Malformed {
        /// The dialect it should be in.
        dialect: Dialect,
        /// What is wrong.
        what: String,
    },
}

/// Tells a request in the upstream's dialect.
///
/// # Errors
/// If the body is malformed, or asks for what the upstream's dialect has no words for.
pub fn request(ask: &Ask<'_>, body: &[u8], recall: &Recall<'_>) -> Result<Told, Untranslatable> {
    let malformed = |what: String| Untranslatable::Malformed { dialect: ask.from, what };
    let body = Json::parse(body).map_err(|error| malformed(error.to_string()))?;
    if !body.is_map() {
        return Err(malformed("it is not an object".to_owned()));
    }
    tell(ask, &body, recall).map_err(|fault| match fault {
        Fault::Feature(feature) => Untranslatable::Feature { feature, to: ask.to },
        Fault::Shape(what) => malformed(what),
    })
}

fn tell(ask: &Ask<'_>, body: &Json, recall: &Recall<'_>) -> Result<Told, Fault> {
    let mut prompt = read_request(ask.from, body)?;
    (prompt.items, prompt.lost) =
        settle::restore(settle::settle(std::mem::take(&mut prompt.items)), recall);
    let stop = fit(ask, &mut prompt)?;
    let names = Names::new(&prompt);
    let (body, thinking) = match ask.to {
        Dialect::Chat => (chat::write_request(ask, &prompt, &names)?, false),
        Dialect::Responses => (responses::write_request(ask, &prompt, &names)?, false),
        Dialect::Anthropic => anthropic::write_request(ask, &prompt, &names)?,
        Dialect::Gemini => {
            (gemini::write_request(ask, &prompt, &names)?, ask.thinks != Thinks::Never)
        }
    };
    let back = Back {
        from: ask.from,
        to: ask.to,
        head: Head::new(ask),
        names: names.into(),
        stop,
        thinking,
        include_usage: prompt.include_usage,
        array: ask.array,
    };
    Ok(Told { body: body.to_bytes(), back })
}

/// Leaves out what the model would refuse; returns the stop sequences that it does not take.
fn fit(ask: &Ask<'_>, prompt: &mut Prompt) -> Result<Vec<String>, Fault> {
    let long = prompt.stop.iter().any(|stop| stop.len() > STOP_MAX_BYTES);
    if long || prompt.stop.len() > STOPS_MAX {
        return Err(Fault::shape("there are too many stop sequences, or one is too long"));
    }
    let limit = if ask.max_output == 0 { u64::MAX } else { ask.max_output };
    prompt.max_output = prompt.max_output.map(|max| max.min(limit));
    // A seed is a wish that no provider promises to fulfil; what these ask for changes the answer.
    if matches!(ask.to, Dialect::Responses | Dialect::Anthropic)
        && let Some(penalty) = prompt.penalties().next()
    {
        return Err(Fault::feature(penalty));
    }
    let levelled = ask.thinks == Thinks::Level;
    if levelled && ask.to != Dialect::Gemini {
        (prompt.temperature, prompt.top_p, prompt.top_k) = (None, None, None);
        (prompt.presence, prompt.frequency) = (None, None);
    }
    let most = match ask.to {
        Dialect::Responses => 0,
        Dialect::Chat if levelled => 0,
        Dialect::Chat => 4,
        Dialect::Gemini => 5,
        // It refuses those without anything to see.
        Dialect::Anthropic if prompt.stop.iter().any(|stop| stop.trim().is_empty()) => 0,
        Dialect::Anthropic => usize::MAX,
    };
    Ok(if prompt.stop.len() > most { std::mem::take(&mut prompt.stop) } else { Vec::new() })
}

fn read_request(dialect: Dialect, body: &Json) -> Result<Prompt, Fault> {
    match dialect {
        Dialect::Chat => chat::read_request(body),
        Dialect::Responses => responses::read_request(body),
        Dialect::Anthropic => anthropic::read_request(body),
        Dialect::Gemini => gemini::read_request(body),
    }
}

/// What stands at the head of a reply.
#[derive(Debug, Clone)]
struct Head {
    seed: String,
    model: String,
    now: i64,
}

impl Head {
    fn new(ask: &Ask<'_>) -> Self {
        // Ids that are made of it must stay below 64 characters.
        let seed = names::plain(ask.request_id).chars().take(40).collect();
        Self { seed, model: ask.client_model.to_owned(), now: ask.now_seconds }
    }
}

/// Writes one server-sent event.
fn sse(name: Option<&str>, data: &Json, out: &mut Vec<u8>) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    data.write(out);
    out.extend_from_slice(b"\n\n");
}
