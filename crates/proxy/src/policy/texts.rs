//! What a request says, whatever way it is written in: escapes are no place to hide in, and neither is a
//! document that stands in a text of another, as the arguments of tools do.

use std::borrow::Cow;

use godel_llm::scalars;
use memchr::memchr;
use serde::de::IgnoredAny;

/// Stands between two texts, so that nothing is found across them.
const BETWEEN: char = '\0';
/// So many documents may stand in one another.
const DEPTH_MAX: usize = 4;

/// Returns all texts and numbers of a document as a model reads them.
pub(super) fn plain(document: &[u8]) -> String {
    let mut all = String::with_capacity(document.len());
    add(document, &mut all, 0);
    all
}

fn add(document: &[u8], all: &mut String, depth: usize) {
    for place in scalars(document) {
        let text = read(&document[place]);
        all.push_str(&text);
        all.push(BETWEEN);
        // Without a backslash it was read already.
        if depth < DEPTH_MAX && text.contains('\\') && is_document(&text) {
            add(text.as_bytes(), all, depth + 1);
        }
    }
}

/// Returns a document in which every text that `change` changes is written anew, and nothing else.
pub(super) fn rewritten(document: &[u8], change: &impl Fn(&str) -> Option<String>) -> Vec<u8> {
    rewritten_at(document, change, 0)
}

fn rewritten_at(
    document: &[u8],
    change: &impl Fn(&str) -> Option<String>,
    depth: usize,
) -> Vec<u8> {
    let mut written = Vec::with_capacity(document.len());
    let mut from = 0;
    for place in scalars(document) {
        let text = read(&document[place.clone()]);
        let inner = (depth < DEPTH_MAX && is_document(&text)).then(|| {
            let inner = rewritten_at(text.as_bytes(), change, depth + 1);
            String::from_utf8_lossy(&inner).into_owned()
        });
        let inner = inner.filter(|inner| **inner != *text);
        let Some(changed) = change(inner.as_deref().unwrap_or(&text)).or(inner) else { continue };
        written.extend_from_slice(&document[from..place.start]);
        // A number becomes a text.
        written.extend(serde_json::to_vec(&changed).unwrap_or_default());
        from = place.end;
    }
    written.extend_from_slice(&document[from..]);
    written
}

fn is_document(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Reads a text without its quotes and escapes, or a number as it stands.
fn read(scalar: &[u8]) -> Cow<'_, str> {
    let Some(text) = scalar.strip_prefix(b"\"") else { return String::from_utf8_lossy(scalar) };
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    match memchr(b'\\', text) {
        None => String::from_utf8_lossy(text),
        Some(_) => unescaped(&String::from_utf8_lossy(text)).into(),
    }
}

/// Takes escapes for what they mean; those that mean nothing, which some readers let pass, do not hide the rest.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let Some(kind) = escape.chars().next() else { return plain };
        rest = &escape[kind.len_utf8()..];
        match kind {
            'n' => plain.push('\n'),
            'r' => plain.push('\r'),
            't' => plain.push('\t'),
            'b' => plain.push('\u{8}'),
            'f' => plain.push('\u{c}'),
            'u' => rest = letter(rest, &mut plain),
            other => plain.push(other),
        }
    }
    plain.push_str(rest);
    plain
}

/// Reads what follows `\u`, with a second half if there is one, and returns what follows that.
fn letter<'t>(text: &'t str, plain: &mut String) -> &'t str {
    let unit = |text: &str| text.get(..4).and_then(|four| u32::from_str_radix(four, 16).ok());
    let Some(first) = unit(text) else {
        plain.push(char::REPLACEMENT_CHARACTER);
        return text;
    };
    let rest = &text[4..];
    let second = rest.strip_prefix("\\u").and_then(unit);
    if let (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) = (first, second) {
        let whole = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        plain.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &rest[6..];
    }
    plain.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn nothing_hides_behind_escapes() {
        let given = r#"{"a":"n\u00e4her \ud83d\ude00\n\"so\"","b":["\/x",-1.5,true],"c":"{\"d\":\"e\\u0066\"}"}"#;
        let read: Vec<String> =
            plain(given.as_bytes()).split('\0').map(ToOwned::to_owned).collect();
        for text in
            ["a", "n\u{e4}her \u{1f600}\n\"so\"", "/x", "-1.5", r#"{"d":"e\u0066"}"#, "d", "ef"]
        {
            assert!(read.iter().any(|known| known == text), "{text}: {read:?}");
        }
        // What other readers let pass hides nothing behind it.
        for odd in [r#""\ud83d secret""#, r#""\uzz secret""#, r#""\q secret""#, r#"" secret"#] {
            assert!(plain(odd.as_bytes()).contains("secret"), "{odd}");
        }
    }

    #[test]
    fn only_what_changes_is_written_anew() {
        let given =
            r#"{ "a" : "x\u0079", "b":"xy z","c":1.50, "d":"{\"e\": \"xy\", \"n\":7}", "f":7 }"#;
        let changed = rewritten(given.as_bytes(), &|text| {
            let text = text.replace("xy", "\"!\"").replace('7', "seven");
            (text.contains("\"!\"") || text == "seven").then_some(text)
        });
        let changed = String::from_utf8(changed).unwrap();
        assert!(
            changed.starts_with(r#"{ "a" : "\"!\"", "b":"\"!\" z","c":1.50, "d":"#),
            "{changed}"
        );
        let value: Value = serde_json::from_str(&changed).unwrap();
        let inner: Value = serde_json::from_str(value["d"].as_str().unwrap()).unwrap();
        assert_eq!((&inner["e"], &inner["n"]), (&"\"!\"".into(), &"seven".into()));
        assert_eq!(value["f"], "seven");
    }

    proptest! {
        #[test]
        fn a_text_is_read_as_a_parser_reads_it(text in ".{0,40}", ascii: bool) {
            let mut written = serde_json::to_string(&text).unwrap();
            if ascii {
                let escaped = |c: char| {
                    let mut units = [0; 2];
                    c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                };
                let plain = |c: char| if c.is_ascii() { c.to_string() } else { escaped(c) };
                written = written.chars().map(plain).collect();
            }
            prop_assert_eq!(read(written.as_bytes()), text);
        }

        #[test]
        fn no_bytes_make_it_panic_and_what_stays_stays(bytes: Vec<u8>) {
            plain(&bytes);
            prop_assert_eq!(rewritten(&bytes, &|_| None), bytes);
        }
    }
}
