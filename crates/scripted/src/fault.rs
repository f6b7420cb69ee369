//! What can go wrong on request.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A failure that a prompt or the control API asked for.
///
/// In a prompt: `[[fault 529 retry-after=2 times=1]]`. Several may be joined, as far as they make
/// sense together. An event is one frame of the stream, so `reset_after: 0` cuts after the head.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fault {
    /// Answers with this status and the dialect's error body.
    pub status: Option<u16>,
    /// Says when to come back, in seconds, in every way the dialect knows.
    pub retry_after: Option<u64>,
    /// Sends `x-should-retry` with this value.
    pub should_retry: Option<bool>,
    /// Puts this code into the error body, such as `insufficient_quota`.
    pub code: Option<String>,
    /// Uses the words that say that the context is too long.
    pub overflow: bool,
    /// How often it happens before all is well again; always, if there is no number.
    pub times: Option<u32>,
    /// Waits this many milliseconds before the head.
    pub slow_first_byte: Option<u64>,
    /// Resets the connection after this many events.
    pub reset_after: Option<usize>,
    /// Ends the body as if it were complete after this many events.
    pub eof_after: Option<usize>,
    /// Sends the dialect's error event after this many events, and ends.
    pub error_after: Option<usize>,
    /// Sends nothing more after this many events, and keeps the connection.
    pub hang_after: Option<usize>,
    /// Never answers.
    pub hang: bool,
    /// Breaks the JSON of the middle event.
    pub malformed: bool,
    /// Writes the body in pieces of this many bytes.
    pub split: Option<usize>,
    /// Ends lines with CR and LF, which a stream of events may do.
    pub crlf: bool,
    /// Puts a comment before each event, as providers do to keep a connection.
    pub comments: bool,
    /// Puts a text of this many bytes into one event.
    pub huge_event: Option<usize>,
    /// Promises a longer body than it sends.
    pub lie_length: bool,
    /// Answers with 200 and no byte.
    pub empty: bool,
}

impl Fault {
    /// The longest text that one event may be asked to hold.
    const HUGE_MAX_BYTES: usize = 64 << 20;

    /// Reads words such as `529`, `hang` and `retry-after=2`.
    pub(crate) fn parse(words: &str) -> Result<Self, String> {
        let fault: Self = settings(words)?;
        if fault.huge_event.is_some_and(|bytes| bytes > Self::HUGE_MAX_BYTES) {
            return Err(format!("huge-event is at most {} bytes", Self::HUGE_MAX_BYTES));
        }
        Ok(fault)
    }

    /// Whether a word opens a fault without the word `fault` before it.
    pub(crate) fn names(word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        let cuts = ["slow-first-byte", "reset-after", "eof-after", "error-after", "hang-after"];
        let shapes = ["hang", "malformed", "split", "huge-event", "lie-length", "empty"];
        let lines = ["crlf", "comments"];
        cuts.contains(&name) || shapes.contains(&name) || lines.contains(&name)
    }

    /// How long the head is held back.
    pub(crate) fn delay(&self) -> Option<Duration> {
        self.slow_first_byte.map(Duration::from_millis)
    }
}

/// Reads words `key=value`, `flag` and one bare number (a status) into a record.
pub(crate) fn settings<T: serde::de::DeserializeOwned>(words: &str) -> Result<T, String> {
    let mut map = Map::new();
    for word in words.split_whitespace() {
        let (name, value) = match (word.split_once('='), word.parse::<u16>()) {
            (Some((name, value)), _) => (name, scalar(value)),
            (None, Ok(status)) => ("status", status.into()),
            (None, Err(_)) => (word, true.into()),
        };
        map.insert(name.to_owned(), value);
    }
    serde_json::from_value(Value::Object(map)).map_err(|error| format!("{words}: {error}"))
}

fn scalar(value: &str) -> Value {
    match (value.parse::<u64>(), value) {
        (Ok(number), _) => number.into(),
        (_, "true") => true.into(),
        (_, "false") => false.into(),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_fault() {
        let fault = Fault::parse("429 retry-after=7 times=2 should-retry=false code=slow").unwrap();
        assert_eq!((fault.status, fault.retry_after, fault.times), (Some(429), Some(7), Some(2)));
        assert_eq!((fault.should_retry, fault.code.as_deref()), (Some(false), Some("slow")));
        assert!(Fault::parse("hang").unwrap().hang);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for words in ["sideways", "times=often", "huge-event=99999999999"] {
            assert!(Fault::parse(words).is_err(), "{words}");
        }
    }
}
