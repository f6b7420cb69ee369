//! The fast lane: answers made once and sent again and again.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use memchr::memmem;

use crate::ask::{Ask, Wire};
use crate::dialect::Dialect;
use crate::perform::Act;
use crate::reply::{Reply, Stop};
use crate::usage::Usage;

/// The largest body and the most events that may be asked for.
const BYTES_MAX: usize = 64 << 20;
const EVENTS_MAX: usize = 1_000_000;
/// How many different answers are kept.
const KEPT_MAX: usize = 64;
const USAGE: Usage =
    Usage { input: 1000, cache_read: 0, cache_write: 0, output: 100, reasoning: 0 };

/// An answer that is ready to be sent.
#[derive(Debug, Clone)]
pub(crate) enum Ready {
    /// One JSON document.
    Whole(Bytes),
    /// A stream, all at once.
    Burst(Bytes),
    /// A stream, one event after the other.
    Paced(Arc<Vec<Act>>),
}

/// The answers that were made.
#[derive(Debug, Default)]
pub(crate) struct Lane(RwLock<HashMap<(Dialect, String), Ready>>);

impl Lane {
    /// Finds or makes the answer of a name such as `bench-1024`.
    pub(crate) fn answer(&self, dialect: Dialect, name: &str) -> Option<Ready> {
        let key = (dialect, name.to_owned());
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if known.is_some() {
            return known;
        }
        let made = make(dialect, name)?;
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, made.clone());
        Some(made)
    }
}

/// Finds the name in a body without reading all of it as JSON.
pub(crate) fn named(body: &[u8]) -> Option<&str> {
    let at = memmem::find(body, b"\"bench-")?;
    let before = body[..at].trim_ascii_end().strip_suffix(b":")?;
    before.trim_ascii_end().ends_with(b"\"model\"").then_some(())?;
    let rest = &body[at + 1..];
    std::str::from_utf8(&rest[..memchr::memchr(b'"', rest)?]).ok()
}

fn make(dialect: Dialect, name: &str) -> Option<Ready> {
    let name_rest = name.strip_prefix("bench-")?;
    let events = |text: &str| text.parse().ok().filter(|count| *count <= EVENTS_MAX);
    if let Some(count) = name_rest.strip_prefix("stream-") {
        return Some(Ready::Burst(stream(dialect, name, events(count)?).concat().into()));
    }
    if let Some((count, pause)) = name_rest.strip_prefix("paced-").and_then(|r| r.split_once('-')) {
        let pause = Duration::from_millis(pause.parse().ok()?);
        let mut acts = Vec::new();
        for frame in stream(dialect, name, events(count)?) {
            acts.extend([Act::Send(frame.into()), Act::Wait(pause)]);
        }
        acts.pop();
        return Some(Ready::Paced(Arc::new(acts)));
    }
    let bytes = name_rest.parse().ok().filter(|bytes| *bytes <= BYTES_MAX)?;
    Some(Ready::Whole(document(dialect, name, bytes)))
}

/// An answer of the given size, or of the smallest that there is.
fn document(dialect: Dialect, name: &str, bytes: usize) -> Bytes {
    let bare = dialect.whole(&reply(name, vec!["x".to_owned()])).len();
    let filling = "x".repeat(1 + bytes.saturating_sub(bare));
    dialect.whole(&reply(name, vec![filling])).into()
}

fn stream(dialect: Dialect, name: &str, events: usize) -> Vec<String> {
    let ask = Ask::new(dialect, name, Wire::Sse);
    let frames =
        |pieces: usize| dialect.frames(&reply(name, vec!["token ".to_owned(); pieces]), &ask);
    let around = frames(1).len() - 1;
    frames(events.saturating_sub(around).max(1))
}

fn reply(name: &str, pieces: Vec<String>) -> Reply {
    Reply {
        number: 1,
        model: name.to_owned(),
        thought: None,
        seal: None,
        pieces,
        calls: Vec::new(),
        stop: Stop::End,
        usage: USAGE,
        tier: None,
        searches: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_found_only_as_a_model() {
        assert_eq!(named(br#"{"a":1, "model" : "bench-1024","b":2}"#), Some("bench-1024"));
        assert_eq!(named(br#"{"text":"bench-1024"}"#), None);
        assert_eq!(named(br#"{"model":"gpt"}"#), None);
    }

    #[test]
    fn sizes_and_counts_are_exact() {
        for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Anthropic, Dialect::Gemini] {
            let lane = Lane::default();
            let Some(Ready::Whole(body)) = lane.answer(dialect, "bench-4096") else {
                panic!("{dialect:?} made no document");
            };
            assert_eq!(body.len(), 4096, "{dialect:?}");
            let Some(Ready::Burst(body)) = lane.answer(dialect, "bench-stream-100") else {
                panic!("{dialect:?} made no stream");
            };
            assert_eq!(memmem::find_iter(&body, b"data: ").count(), 100, "{dialect:?}");
        }
        assert!(Lane::default().answer(Dialect::Chat, "bench-paced-10-x").is_none());
    }
}
