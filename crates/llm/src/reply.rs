//! Reading what a whole reply used while its bytes pass by.

use std::collections::VecDeque;

use bytes::Bytes;
use godel_model::Usage;
use memchr::memmem;
use serde_json::Value;

use crate::Dialect;
use crate::meter::last_object;
use crate::scan::{is_last_of_object, members, object_end};
use crate::usage::read_usage;

/// The largest reply that is kept as a whole to be read; of a larger one only the end is.
const WHOLE_MAX_BYTES: usize = 1024 * 1024;
/// How much of the end of a large reply is kept.
const END_BYTES: usize = 64 * 1024;

/// Reads a whole reply while it passes by.
#[derive(Debug)]
pub struct ReplyMeter {
    dialect: Dialect,
    /// The reply in the pieces in which it came, as far as it is kept.
    pieces: VecDeque<Bytes>,
    length: usize,
    cut: bool,
}

impl ReplyMeter {
    /// Begins to read a reply.
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, pieces: VecDeque::new(), length: 0, cut: false }
    }

    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &Bytes) {
        self.pieces.push_back(bytes.clone());
        self.length += bytes.len();
        while self.length > WHOLE_MAX_BYTES && self.length - self.pieces[0].len() > END_BYTES {
            self.cut = true;
            self.length -= self.pieces.pop_front().map_or(0, |piece| piece.len());
        }
    }

    /// Returns what was used, if the reply told.
    pub fn usage(&self) -> Option<Usage> {
        let name = match self.dialect {
            Dialect::Gemini => "usageMetadata",
            Dialect::Chat | Dialect::Responses | Dialect::Anthropic => "usage",
        };
        // Most tell it near the end, so most of the reply need not be looked at.
        let near_end = self.pieces.back().and_then(|piece| last_member(piece, name));
        let told = near_end.or_else(|| self.member(name))?;
        read_usage(self.dialect, &told)
    }

    /// Returns the whole reply, unless it was too large to be kept.
    pub fn whole(&self) -> Option<Bytes> {
        (!self.cut).then(|| self.joined())
    }

    fn joined(&self) -> Bytes {
        match self.pieces.as_slices() {
            ([only], []) => only.clone(),
            (first, second) => [first.concat(), second.concat()].concat().into(),
        }
    }

    fn member(&self, name: &str) -> Option<Value> {
        let bytes = self.joined();
        // A stream of Gemini that was not asked for as events is an array: its last part counts.
        if self.cut || bytes.trim_ascii_start().starts_with(b"[") {
            return last_object(&bytes, name);
        }
        let members = members(&bytes).ok()?;
        let place = members.into_iter().rev().find(|member| member.name == name)?.value;
        serde_json::from_slice(&bytes[place]).ok()
    }
}

/// Finds an object with this name in the end of an object, if it is one of its own members: then
/// nothing but other members follows it, and the bracket that ends all.
fn last_member(end: &[u8], name: &str) -> Option<Value> {
    let mark = format!("\"{name}\"");
    let at = memmem::rfind(end, mark.as_bytes())?;
    // With a backslash before it, it is in the middle of some text.
    if at == 0 || end[at - 1] == b'\\' {
        return None;
    }
    let rest = end[at + mark.len()..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let length = rest.first().filter(|first| **first == b'{').and_then(|_| object_end(rest))?;
    let (object, rest) = rest.split_at(length);
    is_last_of_object(rest).then(|| serde_json::from_slice(object).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_from_the_end_only_if_it_is_one_of_the_whole() {
        for (end, found) in [
            (r#"..., "usage" : {"a":1} } "#, true),
            (r#"...,"usage":{"a":{"b":"}"}},"x":[{"c":"\\"}],"y":null}"#, true),
            (r#"...,"usage":{"a":1}}}"#, false),
            (r#"...,"usage":{"a":1}}]"#, false),
            (r#"...,"usage":{"a":1}"#, false),
            (r#"...,"usage":null}"#, false),
            (r#"... \"usage\":{\"a\":1}"}"#, false),
            (r#"...,"x":"usage"}"#, false),
            (r#""usage":{"a":1}}"#, false),
        ] {
            assert_eq!(last_member(end.as_bytes(), "usage").is_some(), found, "{end}");
        }
    }
}
