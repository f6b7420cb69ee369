//! Remembers the opaque state that went out, and checks that it comes back as it was.

use std::collections::{HashMap, VecDeque};

use crate::ask::{Ask, Seal, Turn};
use crate::dialect::{Dialect, decoded};
use crate::reply::{Call, Reply};

/// How many pieces of state are remembered; the oldest is forgotten first.
const REMEMBERED_MAX: usize = 20_000;
/// What Gemini takes instead of a signature that was lost.
const SKIPS: [&str; 2] =
    ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// The state that went out.
#[derive(Debug, Default)]
pub(crate) struct Opaque {
    issued: HashMap<String, Issued>,
    /// How many remembered pieces belong to a call.
    needed: HashMap<String, usize>,
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Issued {
    /// What stood beside the state and must still stand there.
    covers: String,
    keys: Vec<String>,
}

impl Opaque {
    /// Remembers the state of an answer.
    pub(crate) fn issue(&mut self, dialect: Dialect, reply: &Reply) {
        let Some(seal) = &reply.seal else {
            return;
        };
        let mut keys: Vec<String> = reply.calls.iter().map(|call| key(dialect, call)).collect();
        let covers = match dialect {
            Dialect::Anthropic => reply.thought.clone().unwrap_or_default(),
            Dialect::Gemini => {
                // Only the first of several calls carries it.
                keys.truncate(1);
                keys.first().cloned().unwrap_or_default()
            }
            Dialect::Chat | Dialect::Responses => String::new(),
        };
        for key in &keys {
            *self.needed.entry(key.clone()).or_default() += 1;
        }
        let seal = normal(dialect, seal);
        self.order.push_back(seal.clone());
        self.issued.insert(seal, Issued { covers, keys });
        if self.order.len() > REMEMBERED_MAX {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(issued) = self.order.pop_front().and_then(|seal| self.issued.remove(&seal)) else {
            return;
        };
        for key in issued.keys {
            if let Some(count) = self.needed.get_mut(&key) {
                *count -= 1;
                if *count == 0 {
                    self.needed.remove(&key);
                }
            }
        }
    }

    /// Checks what came back; returns how many pieces were checked, or what is wrong.
    pub(crate) fn check(&self, ask: &Ask) -> Result<u64, String> {
        let mut checked = 0;
        for turn in &ask.turns {
            if let Turn::Model { seals, .. } = turn {
                for seal in seals {
                    self.check_one(ask.dialect, seal)?;
                    checked += 1;
                }
            }
        }
        if ask.sealed {
            ask.recent().iter().try_for_each(|turn| self.check_complete(ask.dialect, turn))?;
        }
        Ok(checked)
    }

    fn check_one(&self, dialect: Dialect, seal: &Seal) -> Result<(), String> {
        if dialect == Dialect::Gemini && SKIPS.contains(&seal.seal.as_str()) {
            return Ok(());
        }
        match self.issued.get(&normal(dialect, &seal.seal)) {
            None => Err(format!("invalid {}: it is not one that was issued here", name(dialect))),
            Some(issued) if issued.covers != seal.covers => {
                Err(format!("invalid {}: what it belongs to was changed", name(dialect)))
            }
            Some(_) => Ok(()),
        }
    }

    /// Every call that went out with state must come back with it.
    fn check_complete(&self, dialect: Dialect, turn: &Turn) -> Result<(), String> {
        let Turn::Model { calls, seals } = turn else {
            return Ok(());
        };
        let holds = |key: &String| {
            seals.iter().any(|seal| {
                let skips = dialect == Dialect::Gemini && SKIPS.contains(&seal.seal.as_str());
                let issued = self.issued.get(&normal(dialect, &seal.seal));
                skips || issued.is_some_and(|issued| issued.keys.contains(key))
            })
        };
        match calls.iter().find(|call| self.needed.contains_key(&call.key) && !holds(&call.key)) {
            Some(call) => Err(format!("missing {} of tool call {}", name(dialect), call.id)),
            None => Ok(()),
        }
    }
}

/// What the state of a call is found by; some clients drop the ids of Gemini.
pub(crate) fn key(dialect: Dialect, call: &Call) -> String {
    match dialect {
        Dialect::Gemini => format!("{} {}", call.name, call.input),
        Dialect::Chat | Dialect::Responses | Dialect::Anthropic => call.id.clone(),
    }
}

fn name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "signature of a thinking block",
        Dialect::Gemini => "thoughtSignature",
        Dialect::Chat | Dialect::Responses => "encrypted_content of a reasoning item",
    }
}

/// Gemini's state is bytes: both alphabets of base64 write the same.
fn normal(dialect: Dialect, seal: &str) -> String {
    match dialect {
        Dialect::Gemini if decoded(seal).is_some() => {
            seal.replace('-', "+").replace('_', "/").trim_end_matches('=').to_owned()
        }
        _ => seal.to_owned(),
    }
}
