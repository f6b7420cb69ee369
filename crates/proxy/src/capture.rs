//! Keeping what was asked and answered, where the settings want it: off unless somebody turns it on.
//!
//! Nothing is kept as it came. Secrets and personal data are taken out first, and of a stream only what
//! it says as a whole is kept.

mod redact;
mod said;

use bytes::Bytes;
use godel_llm::Dialect;
use godel_store::CallBody;
use jiff::Timestamp;
use serde_json::Value;

use crate::config::CaptureConfig;
use crate::route::Route;

pub(crate) use self::redact::Kind;
pub(crate) use self::redact::found;

/// Up to so many bytes are read as JSON; of what is larger only the beginning is looked at.
const PARSE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// A stream has many bytes around few words.
const STREAM_FACTOR: usize = 16;
/// How much is read beyond what is kept, so that nothing is cut in the middle of a secret.
const MARGIN_BYTES: usize = 8 * 1024;
/// Parts of requests in which clients tell of the machine that they run on.
const MACHINE: [&str; 2] = ["client_metadata", "internal_chat_message_metadata_passthrough"];
const REMOVED: &str = "[removed]";

/// What is kept of one attempt, while it is under way.
#[derive(Debug)]
pub(crate) struct Capture {
    asked: Bytes,
    dialect: Dialect,
    told: Vec<u8>,
    told_bytes: u64,
    config: CaptureConfig,
    until: Timestamp,
}

impl Capture {
    pub(crate) fn new(
        asked: Bytes,
        dialect: Dialect,
        config: CaptureConfig,
        now: Timestamp,
    ) -> Self {
        let until = now.saturating_add(config.keep).unwrap_or(Timestamp::MAX);
        Self { asked, dialect, told: Vec::new(), told_bytes: 0, config, until }
    }

    /// Takes what goes to the client.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        self.told_bytes += bytes.len() as u64;
        let most = (self.config.max_bytes * STREAM_FACTOR + MARGIN_BYTES).min(PARSE_MAX_BYTES);
        let room = most.saturating_sub(self.told.len());
        self.told.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns what is kept of it.
    pub(crate) fn done(self, route: &Route) -> CallBody {
        let most = self.config.max_bytes;
        let heard = route.without_key(&self.told.into());
        let said = match (heard.trim_ascii_start().first(), self.dialect) {
            // Where a list breaks off, words are in pieces that nobody can look through.
            (Some(b'['), Dialect::Gemini) => Some(said::said_in_list(&heard).unwrap_or_default()),
            (None | Some(b'{' | b'['), _) => None,
            _ => Some(said::said(self.dialect, &heard)),
        };
        let told = match said.map(|said| serde_json::to_value(said).unwrap_or_default()) {
            Some(said) => {
                // The key may have been cut between two events.
                let whole = route.without_key(&clean_value(said).to_string().into());
                cut(String::from_utf8_lossy(&whole).into_owned(), most)
            }
            None => cleaned(&heard, most),
        };
        CallBody {
            asked: cleaned(&route.without_key(&self.asked), most),
            asked_bytes: self.asked.len() as u64,
            told,
            told_bytes: self.told_bytes,
            keep_until: self.until,
        }
    }
}

/// Returns the beginning of a body without what is not to be kept.
fn cleaned(body: &[u8], most: usize) -> Vec<u8> {
    if body.len() <= PARSE_MAX_BYTES
        && let Ok(value) = serde_json::from_slice::<Value>(body)
    {
        return cut(clean_value(value).to_string(), most);
    }
    let part = &body[..body.len().min(most.saturating_add(MARGIN_BYTES))];
    cut(redact::redact(&String::from_utf8_lossy(part)), most)
}

/// Takes secrets out of every text in a document; escapes are no place to hide in.
fn clean_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean_text(&text)),
        Value::Array(values) => Value::Array(values.into_iter().map(clean_value).collect()),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| match value {
                    _ if MACHINE.contains(&name.as_str()) => (name, REMOVED.into()),
                    // What stands behind such a name is one, whatever it looks like.
                    Value::String(_) if is_secret_name(&name) => (name, REMOVED.into()),
                    value => (redact::redact(&name), clean_value(value)),
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Cleans a text; one that is a document itself, as arguments of tools are, is read as one.
fn clean_text(text: &str) -> String {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        return clean_value(value).to_string();
    }
    redact::redact(text)
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["password", "passwd", "secret", "api_key", "apikey", "authorization", "access_token"]
        .iter()
        .any(|secret| name.ends_with(secret))
}

fn cut(mut text: String, most: usize) -> Vec<u8> {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str, most: usize) -> String {
        String::from_utf8(cleaned(body.as_bytes(), most)).unwrap()
    }

    #[test]
    fn a_secret_is_found_behind_escapes_names_and_cuts() {
        let key = "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2";
        let escaped = key.replace('p', "\\u0070");
        let clean = text(&format!("{{\"content\":\"use {escaped} now\"}}"), 1_000);
        assert_eq!(clean, "{\"content\":\"use [secret removed] now\"}");
        let clean = text(
            r#"{"headers":{"authorization":"x"},"client_metadata":{"cwd":"/home/ann"}}"#,
            1_000,
        );
        assert_eq!(
            clean,
            r#"{"client_metadata":"[removed]","headers":{"authorization":"[removed]"}}"#
        );
        let nested = r#"{"arguments":"{\"to\":\"ann\\u0040mail.example\",\"password\":\"x\"}"}"#;
        let clean = text(nested, 1_000);
        let expected =
            r#"{"arguments":"{\"password\":\"[removed]\",\"to\":\"[personal data removed]\"}"}"#;
        assert_eq!(clean, expected);
        // It begins before the cut and ends behind it, in JSON and in what is none.
        for body in
            [format!("{{\"a\":\"{}{key}\"}}", "x ".repeat(20)), format!("{}{key}", "x ".repeat(20))]
        {
            let clean = text(&body, 55);
            assert!(clean.len() <= 55 && !clean.contains("ghp_"), "{clean}");
        }
    }

    #[test]
    fn a_cut_does_not_split_a_letter() {
        assert_eq!(text("{\"a\":\"ééé\"}", 8), "{\"a\":\"é");
    }
}
