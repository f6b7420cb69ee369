//! Reading what a whole reply used while its bytes pass by.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::LazyLock;

use bytes::Bytes;
use godel_model::{Tier, Usage};
use memchr::memmem::Finder;
use memchr::memrchr_iter;

use crate::Dialect;
use crate::meter::{SERVICE_TIER, in_tier, last_value};
use crate::scan::{is_last_of_object, members, value_length};
use crate::usage::read_usage_text;

/// Finds the name of how a reply was served; to prepare for the search costs more than most searches.
static TIER_NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(SERVICE_TIER));

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
    /// What the head says of how it was served.
    tier: Tier,
}

impl ReplyMeter {
    /// Begins to read a reply.
    pub const fn new(dialect: Dialect) -> Self {
        let tier = Tier::Standard;
        Self { dialect, pieces: VecDeque::new(), length: 0, cut: false, tier }
    }

    /// Takes what the head of the reply says of how it was served.
    #[must_use]
    pub const fn served(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
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
        let told = self.told(name)?;
        let tier = match self.dialect {
            Dialect::Chat | Dialect::Responses if self.names_tier() => {
                self.told(SERVICE_TIER).map(|told| tier_of(&told)).unwrap_or_default()
            }
            _ => self.tier,
        };
        read_usage_text(self.dialect, &told).map(|usage| in_tier(usage, tier))
    }

    /// Returns a member of the reply as it stands there.
    fn told(&self, name: &str) -> Option<Bytes> {
        // Most is told near the end, so most of the reply need not be looked at.
        let near_end = self.pieces.back().and_then(|piece| last_member(piece, name));
        near_end.or_else(|| self.member(name))
    }

    /// Tells whether it may say how it was served: whether the name for that stands anywhere in the reply, also
    /// where it was cut between two pieces.
    fn names_tier(&self) -> bool {
        let mark = SERVICE_TIER.as_bytes();
        let has = |bytes: &[u8]| TIER_NAME.find(bytes).is_some();
        if self.pieces.iter().rev().any(|piece| has(piece)) {
            return true;
        }
        let mut seam: Vec<u8> = Vec::new();
        self.pieces.len() > 1
            && self.pieces.iter().any(|piece| {
                seam.extend_from_slice(&piece[..piece.len().min(mark.len())]);
                let found = has(&seam);
                if piece.len() > mark.len() {
                    seam.clear();
                    seam.extend_from_slice(&piece[piece.len() - mark.len()..]);
                }
                seam.drain(..seam.len().saturating_sub(mark.len()));
                found
            })
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

    fn member(&self, name: &str) -> Option<Bytes> {
        let bytes = self.joined();
        // A stream of Gemini that was not asked for as events is an array: its last part counts.
        if self.cut || bytes.trim_ascii_start().starts_with(b"[") {
            return last_value(&bytes, name).map(|value| value.to_string().into());
        }
        let members = members(&bytes).ok()?;
        let place = members.into_iter().rev().find(|member| member.name == name)?.value;
        Some(bytes.slice(place))
    }
}

/// Reads how a request was served; as usual if it is no text.
fn tier_of(told: &[u8]) -> Tier {
    serde_json::from_slice::<Cow<'_, str>>(told).map(|text| Tier::named(&text)).unwrap_or_default()
}

/// Finds an object or a text with this name in the end of an object, if it is one of its own members:
/// then nothing but other members follows it, and the bracket that ends all.
fn last_member(end: &Bytes, name: &str) -> Option<Bytes> {
    let at = rfind_quoted(end, name.as_bytes())?;
    // With a backslash before it, it is in the middle of some text.
    if at == 0 || end[at - 1] == b'\\' {
        return None;
    }
    let rest = end[at + name.len() + 2..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let length = rest.first().filter(|first| b"{\"".contains(first)).and(value_length(rest))?;
    let (value, rest) = rest.split_at(length);
    is_last_of_object(rest).then(|| end.slice_ref(value))
}

/// Finds the last place where a name stands in quotes. It is near the end, so quotes are looked for
/// one by one.
fn rfind_quoted(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memrchr_iter(b'"', bytes).find(|at| {
        let rest = &bytes[at + 1..];
        rest.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'"'))
    })
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
            (r#"...,"usage":"text","x":1}"#, true),
            (r#"...,"usage":[1]}"#, false),
        ] {
            assert_eq!(last_member(&Bytes::from(end), "usage").is_some(), found, "{end}");
        }
    }

    fn served(dialect: Dialect, reply: &str, piece: usize) -> Option<Tier> {
        let mut meter = ReplyMeter::new(dialect);
        for piece in reply.as_bytes().chunks(piece) {
            meter.take(&Bytes::copy_from_slice(piece));
        }
        meter.usage().map(|usage| usage.tier)
    }

    #[test]
    fn how_a_whole_reply_was_served_is_found_wherever_it_stands_and_however_it_is_cut() {
        let (usage, flex) = (r#""usage":{"prompt_tokens":1}"#, r#""service_tier":"flex""#);
        for (reply, tier) in [
            (format!("{{{usage}}}"), Tier::Standard),
            (format!("{{{usage},{flex}}}"), Tier::Flex),
            (format!("{{{flex},\"x\":[1],{usage}}}"), Tier::Flex),
            (
                format!("{{{flex},{usage},\"metadata\":{{{flex}}}}}")
                    .replace("flex\"}}", "fast\"}}"),
                Tier::Flex,
            ),
            (format!("{{{usage},\"metadata\":{{{flex}}}}}"), Tier::Standard),
            (format!("{{{usage},\"service_tier\":null}}"), Tier::Standard),
            (format!("{{{usage},\"service_tier\":\"bargain\"}}"), Tier::Other),
            (format!("{{\"text\":\"\\\"service_tier\\\":\\\"flex\\\"\",{usage}}}"), Tier::Standard),
        ] {
            for piece in [1, 3, 7, 1_000] {
                let found = served(Dialect::Chat, &reply, piece);
                assert_eq!(found, Some(tier), "{reply} in pieces of {piece}");
            }
        }
        let said = r#"{"usage":{"input_tokens":1,"speed":"fast"},"service_tier":"flex"}"#;
        assert_eq!(served(Dialect::Anthropic, said, 9), Some(Tier::Fast));
        let head = ReplyMeter::new(Dialect::Gemini).served(Tier::Flex);
        let mut meter = head;
        meter.take(&Bytes::from_static(br#"{"usageMetadata":{"promptTokenCount":1}}"#));
        assert_eq!(meter.usage().unwrap().tier, Tier::Flex);
    }
}
