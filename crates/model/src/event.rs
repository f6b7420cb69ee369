//! Events: what happened, in the order in which it was committed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{EventId, Invalid, code};

const TYPE_MAX_CHARS: usize = 100;
const TYPE_MAX_SEGMENTS: usize = 5;
const PAYLOAD_MAX_BYTES: usize = 64 * 1024;
const TEXT_MAX_CHARS: usize = 200;
const REFS_MAX: usize = 16;

/// Namespaces whose events are facts of Godel's own state; nobody may publish them from outside.
const RESERVED_NAMESPACES: &[&str] = &[
    "audit",
    "auth",
    "bead",
    "budget",
    "convoy",
    "key",
    "memory",
    "pool",
    "preview",
    "project",
    "provider",
    "repository",
    "schedule",
    "secret",
    "server",
    "system",
    "task",
    "team",
    "tenant",
    "usage",
    "user",
    "worker",
    "workflow",
];

/// A position in a tenant's log: 1, 2, 3 and so on, without a gap, in commit order.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub i64);

impl Seq {
    /// The position before the first event.
    pub const START: Self = Self(0);

    /// Returns the position that follows.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Tells whether `text` can be one segment of an event type: `[a-z][a-z0-9_-]*`.
pub(crate) fn is_segment(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte))
}

/// A namespaced event type such as `agent:start` or `workflow:step:complete`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventType(Arc<str>);

impl EventType {
    /// Returns a type that Godel itself uses, known to be well formed.
    pub fn known(text: &'static str) -> Self {
        debug_assert!(text.parse::<Self>().is_ok(), "{text} is not an event type");
        Self(text.into())
    }

    /// Returns the type as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the type unless it is one that only Godel may record.
    ///
    /// # Errors
    /// If the namespace is Godel's own.
    pub fn from_outside(self) -> Result<Self, Invalid> {
        let namespace = self.0.split(':').next().unwrap_or_default();
        if RESERVED_NAMESPACES.contains(&namespace) {
            return Err(Invalid::new(
                code::EVENT_TYPE_RESERVED,
                format!("events of the namespace `{namespace}` are recorded by Godel itself"),
            )
            .with_hint("choose another namespace for your own events, such as `deploy:finished`"));
        }
        Ok(self)
    }
}

impl FromStr for EventType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let segments = text.split(':').count();
        let fits = text.len() <= TYPE_MAX_CHARS
            && (2..=TYPE_MAX_SEGMENTS).contains(&segments)
            && text.split(':').all(is_segment);
        if fits {
            Ok(Self(text.into()))
        } else {
            Err(Invalid::new(
                code::INVALID_EVENT_TYPE,
                "an event type must be 2 to 5 lower case words joined by colons",
            )
            .with_hint("for example `agent:start` or `deploy:step:done`, at most 100 characters"))
        }
    }
}

impl TryFrom<String> for EventType {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<EventType> for String {
    fn from(kind: EventType) -> Self {
        kind.0.as_ref().to_owned()
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A JSON object, kept as the text that came in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Payload(Arc<RawValue>);

impl Payload {
    /// Takes JSON text that must be an object of at most 64 KiB.
    ///
    /// # Errors
    /// If it is larger, or not an object.
    pub fn from_raw(raw: &RawValue) -> Result<Self, Invalid> {
        if raw.get().len() > PAYLOAD_MAX_BYTES {
            return Err(Invalid::new(code::INVALID_FIELD, "a payload must have at most 64 KiB"));
        }
        if !raw.get().starts_with('{') {
            return Err(Invalid::new(code::INVALID_FIELD, "a payload must be a JSON object"));
        }
        // Text that is JSON by grammar alone may still be nothing that a program can read.
        if let Err(error) = serde_json::from_str::<serde_json::Value>(raw.get()) {
            let why = format!("a payload must be readable JSON: {error}");
            return Err(Invalid::new(code::INVALID_FIELD, why));
        }
        let compact = RawValue::from_string(without_blanks(raw.get()))
            .map_err(|error| Invalid::new(code::INVALID_FIELD, error.to_string()))?;
        Ok(Self(compact.into()))
    }

    /// Takes text that the store wrote earlier.
    ///
    /// # Errors
    /// If the text is not JSON, which means that the database was damaged.
    pub fn from_stored(text: String) -> Result<Self, serde_json::Error> {
        Ok(Self(RawValue::from_string(text)?.into()))
    }

    /// Writes a value of Godel's own as payload.
    pub fn of(value: &impl Serialize) -> Self {
        let raw = serde_json::value::to_raw_value(value)
            .expect("Godel's own payloads are plain data, which JSON can always hold");
        Self(raw.into())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Reads the payload as a value.
    ///
    /// # Errors
    /// If it has another shape.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }
}

/// Takes the blanks between the parts of JSON out, so that it is one line.
fn without_blanks(json: &str) -> String {
    let (mut in_text, mut escaped) = (false, false);
    let keep = |character: &char| {
        let blank = !in_text && matches!(character, ' ' | '\n' | '\r' | '\t');
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = in_text,
            '"' => in_text = !in_text,
            _ => {}
        }
        !blank
    };
    json.chars().filter(keep).collect()
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// The part of the system that recorded an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    /// The component, such as `app` or `api`.
    pub component: String,
    /// The instance of the component, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The version of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Source {
    /// Names a component.
    pub fn component(name: impl Into<String>) -> Self {
        Self { component: name.into(), instance: None, version: None }
    }
}

/// What an event belongs to: the request, its cause, who acted, and the things it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Joins all events of one piece of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The event that caused this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<EventId>,
    /// Who acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The W3C trace id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Ids of the things that the event is about, such as `projectId` or `agentId`.
    #[serde(flatten)]
    pub refs: BTreeMap<String, String>,
}

impl Metadata {
    /// Adds the id of a thing that the event is about.
    #[must_use]
    pub fn about(mut self, name: &'static str, id: impl fmt::Display) -> Self {
        self.refs.insert(name.to_owned(), id.to_string());
        self
    }

    /// Checks the sizes of metadata from outside.
    ///
    /// # Errors
    /// If a text is too long or there are too many references.
    pub fn check(&self) -> Result<(), Invalid> {
        let fits = |text: &str| {
            text.chars().count() <= TEXT_MAX_CHARS && !text.chars().any(char::is_control)
        };
        let named = |name: &str| {
            !name.is_empty() && name.len() <= 40 && name.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        if self.refs.len() > REFS_MAX {
            return Err(Invalid::new(
                code::INVALID_FIELD,
                format!("metadata may refer to at most {REFS_MAX} things"),
            ));
        }
        if !self.refs.iter().all(|(name, id)| named(name) && fits(id))
            || !self.correlation_id.as_deref().is_none_or(fits)
        {
            return Err(Invalid::new(
                code::INVALID_FIELD,
                "metadata takes camelCase names and texts of at most 200 printable characters",
            ));
        }
        Ok(())
    }
}

/// An event that is about to be recorded: all but its position.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// The id.
    pub id: EventId,
    /// The type.
    pub kind: EventType,
    /// When it happened.
    pub at: Timestamp,
    /// Who recorded it.
    pub source: Source,
    /// What happened in detail.
    pub payload: Payload,
    /// What it belongs to.
    pub metadata: Metadata,
}

impl NewEvent {
    /// Gives the event its position.
    pub fn at_seq(self, seq: Seq) -> Event {
        let Self { id, kind, at, source, payload, metadata } = self;
        Event { id, seq, kind, at, source, payload, metadata }
    }
}

/// A recorded event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The id.
    pub id: EventId,
    /// The position in its tenant's log.
    #[serde(rename = "sequence")]
    pub seq: Seq,
    /// The type.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// When it happened.
    #[serde(rename = "timestamp")]
    pub at: Timestamp,
    /// Who recorded it.
    pub source: Source,
    /// What happened in detail.
    pub payload: Payload,
    /// What it belongs to.
    pub metadata: Metadata,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_event_type_has_two_to_five_words() {
        for good in ["agent:start", "workflow:step:complete", "a:b:c:d:e", "x1:y_2-z"] {
            assert!(good.parse::<EventType>().is_ok(), "{good}");
        }
        for bad in
            ["", "agent", "agent:", ":start", "Agent:start", "a:b:c:d:e:f", "a b:c", "1a:b", "é:b"]
        {
            assert!(bad.parse::<EventType>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_payload_becomes_one_line_and_keeps_its_texts() {
        let check = |text: &str| {
            Payload::from_raw(&RawValue::from_string(text.to_owned()).unwrap())
                .map(|payload| payload.as_str().to_owned())
        };
        let pretty = "{\r\n  \"a b\" : \"c \\\" d\",\n\t\"e\":[1, 2]}";
        assert_eq!(check(pretty).unwrap(), r#"{"a b":"c \" d","e":[1,2]}"#);
        for bad in [r#"{"a":"\ud800"}"#, r#"{"a":1e999}"#, "[]", "1"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn godels_own_types_cannot_be_published() {
        let own: EventType = "project:create".parse().unwrap();
        assert!(own.from_outside().is_err());
        let other: EventType = "projects:create".parse().unwrap();
        assert!(other.from_outside().is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in ".{0,120}") {
            if let Ok(kind) = text.parse::<EventType>() {
                prop_assert_eq!(kind.as_str(), text);
            }
        }
    }
}
