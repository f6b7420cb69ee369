//! Takes secrets out of whatever is about to be written.

use std::borrow::Cow;
use std::io::{self, Write};

const MASK: &str = "[redacted]";

/// Names of fields whose values are never shown.
const SECRET_NAMES: &[&str] =
    &["authorization", "cookie", "password", "passwd", "secret", "token", "api_key", "apikey"];

/// Tells whether a field of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
}

/// Replaces API keys, bearer tokens and passwords in URLs.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (mark, ends) in [
        ("godel_sk_", is_word as fn(char) -> bool),
        ("sk-", is_word),
        ("Bearer ", is_word),
        ("bearer ", is_word),
    ] {
        text = mask_after(text, mark, ends);
    }
    mask_url_passwords(text)
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_.~+/=".contains(character)
}

/// Masks the word behind each mark, if it is long enough to be a secret.
fn mask_after<'t>(text: Cow<'t, str>, mark: &str, belongs: fn(char) -> bool) -> Cow<'t, str> {
    const SECRET_MIN_CHARS: usize = 8;
    if !text.contains(mark) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(mark) {
        let (before, behind) = rest.split_at(at + mark.len());
        let length = behind.find(|character| !belongs(character)).unwrap_or(behind.len());
        // In the middle of a word it is no mark: a path may hold `task-force`.
        let begins = !rest[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
        clean.push_str(before);
        let secret = begins && length >= SECRET_MIN_CHARS;
        clean.push_str(if secret { MASK } else { &behind[..length] });
        rest = &behind[length..];
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// Masks what stands between `://user:` and `@`.
fn mask_url_passwords(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains("://") || !text.contains('@') {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        clean.push_str(before);
        // A password may hold slashes, so the last `@` of the word counts.
        let word = behind.find(|c: char| c.is_whitespace() || "\"'<>".contains(c));
        let word = word.unwrap_or(behind.len());
        let host = behind.find('/').unwrap_or(word).min(word);
        let end = behind[..word].rfind('@').map_or(host, |at| at + 1);
        let (authority, after) = behind.split_at(end);
        match authority.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
            Some((Some((user, _)), host)) => {
                clean.push_str(user);
                clean.push(':');
                clean.push_str(MASK);
                clean.push('@');
                clean.push_str(host);
            }
            _ => clean.push_str(authority),
        }
        rest = after;
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// A writer that takes secrets out; each write is one line.
pub(super) struct Redacting<W>(pub(super) W);

impl<W: Write> Write for Redacting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(redact(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_and_the_rest_stays() {
        let key = format!("godel_sk_{}", "A".repeat(43));
        for (given, expected) in [
            ("nothing to hide".to_owned(), "nothing to hide".to_owned()),
            (format!("key {key} used"), "key godel_sk_[redacted] used".to_owned()),
            (format!("{key},{key}"), "godel_sk_[redacted],godel_sk_[redacted]".to_owned()),
            (
                "Authorization: Bearer abc.def-123456".into(),
                "Authorization: Bearer [redacted]".into(),
            ),
            (
                "postgres://ann:pw@db:5432/x ok".into(),
                "postgres://ann:[redacted]@db:5432/x ok".into(),
            ),
            ("redis://:pw@h/0".into(), "redis://:[redacted]@h/0".into()),
            ("http://127.0.0.1/a@b".into(), "http://127.0.0.1/a@b".into()),
            ("postgres://ann:p/w@db/x".into(), "postgres://ann:[redacted]@db/x".into()),
            ("the bearer is tired".into(), "the bearer is tired".into()),
            ("/tmp/task-abcdefgh1234/x".into(), "/tmp/task-abcdefgh1234/x".into()),
            ("key=sk-abcdefgh1234".into(), "key=sk-[redacted]".into()),
        ] {
            assert_eq!(redact(&given), expected);
        }
    }

    #[test]
    fn names_of_secrets_are_known() {
        assert!(is_secret_name("Authorization") && is_secret_name("login_token"));
        assert!(!is_secret_name("tenant") && !is_secret_name("route"));
    }
}
