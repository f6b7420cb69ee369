//! Reading what a reply used while its bytes pass by.
//!
//! Nothing is decoded but the few events that tell something: those that name usage, and those that
//! end the stream.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use serde_json::Value;

use crate::Dialect;
use crate::scan::event_end;
use crate::usage::{laid_over, read_usage, tier};
use godel_model::{Tier, Usage};

/// How much of the end of a large event is kept.
const END_BYTES: usize = 64 * 1024;
/// How much of an event that is not whole yet is held back.
const HELD_MAX_BYTES: usize = 1024 * 1024;
/// How much of the beginning of a larger event is kept to be read.
const LARGE_HEAD_BYTES: usize = 1024;

/// How a stream ended, as far as its events tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// It has not.
    #[default]
    Open,
    /// By its proper last event.
    Proper,
    /// By an event that tells of a failure.
    Failed,
}

/// Reads a stream of server-sent events while it passes by.
#[derive(Debug)]
pub struct StreamMeter {
    dialect: Dialect,
    /// The beginning of an event whose end has not come yet.
    held: Vec<u8>,
    /// How much of it was searched for its end.
    searched: usize,
    /// Set while an event passes that is too large to be held.
    large: bool,
    usage: Option<Value>,
    /// How it was served, if that is told beside the usage.
    tier: Tier,
    ending: Ending,
    events: u64,
    text_bytes: u64,
    /// Whether chat events that tell nothing but usage are left out.
    hide_usage: bool,
}

impl StreamMeter {
    /// Begins to read a stream. With `hide_usage`, chat events that tell nothing but usage are left
    /// out, because the client did not ask for them.
    pub fn new(dialect: Dialect, hide_usage: bool) -> Self {
        let hide_usage = hide_usage && dialect == Dialect::Chat;
        Self {
            dialect,
            held: Vec::new(),
            searched: 0,
            large: false,
            usage: None,
            tier: Tier::Standard,
            ending: Ending::Open,
            events: 0,
            text_bytes: 0,
            hide_usage,
        }
    }

    /// Takes what the head of the reply says of how it is served; the stream itself may say otherwise.
    #[must_use]
    pub const fn served(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// Takes the next bytes; returns what of the bytes that were held back and of these goes on now:
    /// whole events only, unless one is too large to be held.
    pub fn feed(&mut self, bytes: &[u8]) -> Passed {
        if self.large {
            return self.pass_large(bytes);
        }
        if self.held.is_empty() {
            let (whole, edited) = self.read(bytes);
            let rest = &bytes[whole..];
            let edited = match (self.hold(rest), edited) {
                (false, edited) => edited,
                (true, Some(edited)) => Some([&edited, rest].concat()),
                (true, None) => return Passed::All,
            };
            return match edited {
                Some(edited) => Passed::Instead(edited),
                None if whole == bytes.len() => Passed::All,
                None => Passed::Up(whole),
            };
        }
        self.held.extend_from_slice(bytes);
        // An end has at most four bytes, of which three may have been there before.
        let from = self.searched.saturating_sub(3);
        if event_end(&self.held[from..]).is_none() {
            self.searched = self.held.len();
            if self.held.len() <= HELD_MAX_BYTES {
                return Passed::Up(0);
            }
            let all = std::mem::take(&mut self.held);
            self.hold(&all);
            return Passed::Instead(all);
        }
        let mut all = std::mem::take(&mut self.held);
        self.searched = 0;
        let (whole, edited) = self.read(&all);
        let rest = all.split_off(whole);
        let mut passed = edited.unwrap_or(all);
        if self.hold(&rest) {
            passed.extend_from_slice(&rest);
        }
        Passed::Instead(passed)
    }

    /// Keeps the beginning of an event until its end comes; `true` if it is too large for that and
    /// goes on at once.
    fn hold(&mut self, rest: &[u8]) -> bool {
        self.large = rest.len() > HELD_MAX_BYTES;
        self.held.clear();
        self.searched = rest.len();
        if self.large {
            self.keep_ends(rest);
        } else {
            self.held.extend_from_slice(rest);
        }
        self.large
    }

    /// Keeps of a large event what tells its kind and what it used: its beginning and its end.
    fn keep_ends(&mut self, more: &[u8]) {
        self.held.extend_from_slice(more);
        if self.held.len() > LARGE_HEAD_BYTES + 2 * END_BYTES {
            let cut = self.held.len() - END_BYTES;
            self.held.drain(LARGE_HEAD_BYTES..cut);
        }
    }

    fn pass_large(&mut self, bytes: &[u8]) -> Passed {
        let before = self.held.len().min(3);
        let seam = [&self.held[self.held.len() - before..], bytes].concat();
        let Some(end) = event_end(&seam) else {
            self.keep_ends(bytes);
            return Passed::All;
        };
        let (last, rest) = bytes.split_at(end - before.min(end));
        self.keep_ends(last);
        self.large = false;
        let event = std::mem::take(&mut self.held);
        self.large_event(&event);
        let mut passed = last.to_vec();
        match self.feed(rest) {
            Passed::All => passed.extend_from_slice(rest),
            Passed::Up(end) => passed.extend_from_slice(&rest[..end]),
            Passed::Instead(rest) => passed.extend(rest),
        }
        Passed::Instead(passed)
    }

    /// Reads a large event as far as its beginning and its end tell.
    fn large_event(&mut self, event: &[u8]) {
        self.events += 1;
        self.text_bytes += HELD_MAX_BYTES as u64;
        let (head, end) = event.split_at(event.len().min(LARGE_HEAD_BYTES));
        let has = |part: &[u8], mark: &[u8]| memmem::find(part, mark).is_some();
        let proper = match self.dialect {
            Dialect::Responses => {
                has(head, b"\"response.completed\"") || has(head, b"\"response.incomplete\"")
            }
            Dialect::Chat => has(end, b"\"finish_reason\":\""),
            Dialect::Gemini => has(end, b"\"finishReason\""),
            Dialect::Anthropic => false,
        };
        if proper && self.ending == Ending::Open {
            self.ending = Ending::Proper;
        }
        let name = if self.dialect == Dialect::Gemini { "usageMetadata" } else { "usage" };
        if let Some(usage) = last_value(end, name) {
            self.told(&usage);
        }
        if let Some(Value::String(told)) = last_value(end, SERVICE_TIER) {
            self.tier = Tier::named(&told);
        }
    }

    /// Returns what ends half an event that has gone on, if there is one.
    pub fn torn(&self) -> &'static [u8] {
        if self.large { b"\n\n" } else { b"" }
    }

    /// Reads all whole events; returns where they end, and what takes their place if some are left
    /// out.
    fn read(&mut self, bytes: &[u8]) -> (usize, Option<Vec<u8>>) {
        let (mut from, mut hidden) = (0, Vec::new());
        while let Some(length) = event_end(&bytes[from..]) {
            let event = &bytes[from..from + length];
            if self.event(event) {
                hidden.push(from..from + length);
            }
            from += length;
        }
        if hidden.is_empty() {
            return (from, None);
        }
        let mut left = Vec::with_capacity(from);
        let mut at = 0;
        for place in hidden {
            left.extend_from_slice(&bytes[at..place.start]);
            at = place.end;
        }
        left.extend_from_slice(&bytes[at..from]);
        (from, Some(left))
    }

    /// Reads one event; tells whether it is to be left out.
    fn event(&mut self, event: &[u8]) -> bool {
        self.events += 1;
        self.text_bytes += text_of_event(self.dialect, event);
        if !tells_something(self.dialect, event) {
            return false;
        }
        let data = data_of(event);
        if self.dialect == Dialect::Chat && data.trim_ascii() == b"[DONE]" {
            self.ending = Ending::Proper;
            return false;
        }
        let Ok(value) = serde_json::from_slice::<Value>(&data) else { return false };
        match self.dialect {
            Dialect::Chat => self.chat(&value),
            Dialect::Responses => self.responses(&value),
            Dialect::Anthropic => self.anthropic(&value),
            Dialect::Gemini => self.gemini(&value),
        }
    }

    fn told(&mut self, usage: &Value) {
        if usage.is_object() {
            let before = self.usage.take().unwrap_or(Value::Null);
            self.usage = Some(laid_over(before, usage));
        }
    }

    fn served_as(&mut self, told: &Value) {
        if told.is_string() {
            self.tier = tier(told);
        }
    }

    fn chat(&mut self, value: &Value) -> bool {
        self.told(&value["usage"]);
        self.served_as(&value[SERVICE_TIER]);
        if value["error"].is_object() {
            self.ending = Ending::Failed;
        }
        let choices = value["choices"].as_array();
        let finished = |choice: &Value| choice["finish_reason"].is_string();
        if choices.is_some_and(|choices| choices.iter().any(finished))
            && self.ending == Ending::Open
        {
            self.ending = Ending::Proper;
        }
        self.hide_usage && value["usage"].is_object() && choices.is_some_and(Vec::is_empty)
    }

    fn responses(&mut self, value: &Value) -> bool {
        self.told(&value["response"]["usage"]);
        self.served_as(&value["response"][SERVICE_TIER]);
        match value["type"].as_str() {
            Some("response.completed" | "response.incomplete") => self.ending = Ending::Proper,
            Some("response.failed" | "error") => self.ending = Ending::Failed,
            _ => {}
        }
        false
    }

    fn anthropic(&mut self, value: &Value) -> bool {
        match value["type"].as_str() {
            Some("message_start") => self.told(&value["message"]["usage"]),
            Some("message_delta") => self.told(&value["usage"]),
            Some("message_stop") => self.ending = Ending::Proper,
            Some("error") => self.ending = Ending::Failed,
            _ => {}
        }
        false
    }

    fn gemini(&mut self, value: &Value) -> bool {
        self.told(&value["usageMetadata"]);
        if value["error"].is_object() {
            self.ending = Ending::Failed;
        }
        let candidates = value["candidates"].as_array();
        let finished = |candidate: &Value| candidate["finishReason"].is_string();
        let blocked = value["promptFeedback"]["blockReason"].is_string();
        if blocked || candidates.is_some_and(|all| all.iter().any(finished)) {
            self.ending = Ending::Proper;
        }
        false
    }

    /// Takes what was held back when the stream has ended: an event without its blank line.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.held);
        if rest.is_empty() || self.large {
            return Vec::new();
        }
        let mut whole = rest.clone();
        whole.extend_from_slice(b"\n\n");
        let hidden = self.event(&whole);
        // Half an event is of no use to anybody, and its half of a JSON would confuse.
        let data = data_of(&whole);
        let is_whole = data.trim_ascii() == b"[DONE]"
            || serde_json::from_slice::<serde::de::IgnoredAny>(&data).is_ok();
        if hidden || !is_whole {
            rest.clear();
        } else {
            rest.extend_from_slice(b"\n\n");
        }
        rest
    }

    /// Tells how the stream ended so far.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Returns what was used, as far as the stream told.
    pub fn usage(&self) -> Option<Usage> {
        let told = self.usage.as_ref().and_then(|told| read_usage(self.dialect, told))?;
        Some(in_tier(told, self.tier))
    }

    /// Counts the bytes of text of the model that passed, roughly.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Counts the events that passed.
    pub fn events(&self) -> u64 {
        self.events
    }
}

/// What of the bytes goes on to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passed {
    /// All of them as they are.
    All,
    /// As many from the beginning; the rest is held back.
    Up(usize),
    /// These instead.
    Instead(Vec<u8>),
}

/// What is looked for in each event; to build a search costs more than to search.
struct Marks {
    usage: Finder<'static>,
    finish: Finder<'static>,
    error: Finder<'static>,
    /// What makes an event of each dialect worth reading.
    of: [Vec<Finder<'static>>; 4],
    /// What tells that an event of each dialect has text in it.
    text: [Finder<'static>; 4],
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let all = |marks: &[&'static str]| marks.iter().map(|mark| Finder::new(*mark)).collect();
    Marks {
        usage: Finder::new("\"usage\":"),
        finish: Finder::new("\"finish_reason\":"),
        error: Finder::new("\"error\""),
        of: [
            Vec::new(),
            all(&["response.completed", "response.incomplete", "response.failed", "\"error\""]),
            all(&["message_", "\"error\""]),
            all(&["usageMetadata", "finishReason", "\"error\"", "blockReason"]),
        ],
        text: ["\"delta\"", ".delta\"", "_delta\"", "\"parts\""].map(Finder::new),
    }
});

const fn place(dialect: Dialect) -> usize {
    match dialect {
        Dialect::Chat => 0,
        Dialect::Responses => 1,
        Dialect::Anthropic => 2,
        Dialect::Gemini => 3,
    }
}

/// Tells by a look at the bytes whether an event may be one that matters.
fn tells_something(dialect: Dialect, event: &[u8]) -> bool {
    let marks = &*MARKS;
    if dialect != Dialect::Chat {
        return marks.of[place(dialect)].iter().any(|mark| mark.find(event).is_some());
    }
    // With usage asked for, every event has `"usage":null` and `"finish_reason":null`.
    let has = |mark: &Finder<'_>, wanted: u8| {
        mark.find_iter(event).any(|at| {
            let rest = event[at + mark.needle().len()..].trim_ascii_start();
            rest.first() == Some(&wanted)
        })
    };
    is_done(event)
        || has(&marks.finish, b'"')
        || has(&marks.usage, b'{')
        || marks.error.find(event).is_some()
}

/// Tells whether an event is the last one of a chat.
fn is_done(event: &[u8]) -> bool {
    let data = event.strip_prefix(b"data:").map(<[u8]>::trim_ascii_start);
    data.map_or_else(
        || memmem::find(event, b"[DONE]").is_some(),
        |data| data.starts_with(b"[DONE]"),
    )
}

/// Counts the bytes of text of the model in some events, roughly.
pub fn text_bytes(dialect: Dialect, mut events: &[u8]) -> u64 {
    let mut sum = 0;
    while let Some(end) = event_end(events) {
        sum += text_of_event(dialect, &events[..end]);
        events = &events[end..];
    }
    sum
}

/// What tells that an event has text in it, and how much is around the text; hardly one has less
/// than a token.
fn text_of_event(dialect: Dialect, event: &[u8]) -> u64 {
    let around: usize = match dialect {
        Dialect::Anthropic => 110,
        Dialect::Responses => 180,
        Dialect::Chat => 220,
        Dialect::Gemini => 250,
    };
    let has = MARKS.text[place(dialect)].find(event).is_some();
    if has { event.len().saturating_sub(around).max(4) as u64 } else { 0 }
}

/// Returns the data of one event.
fn data_of(event: &[u8]) -> Vec<u8> {
    let mut data = Vec::with_capacity(event.len());
    for line in event.split(|byte| matches!(byte, b'\n' | b'\r')) {
        if let Some(rest) = line.strip_prefix(b"data:") {
            if !data.is_empty() {
                data.push(b'\n');
            }
            data.extend_from_slice(rest.strip_prefix(b" ").unwrap_or(rest));
        }
    }
    data
}

/// Where OpenAI says how a request was served.
pub(crate) const SERVICE_TIER: &str = "service_tier";

/// Returns what was used, served as was told beside it; what stands in the usage itself counts first.
pub(crate) fn in_tier(usage: Usage, tier: Tier) -> Usage {
    match usage.tier {
        Tier::Standard => Usage { tier, ..usage },
        _ => usage,
    }
}

/// Finds the last value with this name.
pub(crate) fn last_value(bytes: &[u8], name: &str) -> Option<Value> {
    let mark = format!("\"{name}\"");
    let at = memmem::rfind(bytes, mark.as_bytes())? + mark.len();
    let rest = bytes[at..].trim_ascii_start().strip_prefix(b":")?;
    serde_json::Deserializer::from_slice(rest).into_iter().next()?.ok()
}
