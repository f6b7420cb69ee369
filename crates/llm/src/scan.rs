//! Looking into JSON without building anything: where the members of an object are.
//!
//! An agent sends its whole conversation with each request. A tree of it would cost more than all
//! the rest of the work, so only strings and brackets are followed.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3};

/// How deep values may be nested.
pub const DEPTH_MAX: usize = 200;

/// As many bytes of a text are looked at one by one.
const WORD_BYTES: usize = 24;

/// Why bytes are not a JSON object that can be looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    /// It ends too early, or brackets do not match.
    #[error("the body is not a whole JSON object")]
    Broken,
    /// It is nested too deeply.
    #[error("the body is nested more than {DEPTH_MAX} levels deep")]
    TooDeep,
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'b> {
    /// Its name.
    pub name: Cow<'b, str>,
    /// Where its name begins, at the quote.
    pub start: usize,
    /// Where its value is.
    pub value: Range<usize>,
}

/// Finds the members of the object that the bytes are.
///
/// # Errors
/// If they are not one whole object, or nested too deeply. What is inside of values is followed only
/// as far as needed to find their ends.
pub fn members(bytes: &[u8]) -> Result<Vec<Member<'_>>, NotJson> {
    members_and_texts(bytes, &mut |_| {})
}

/// Finds the members like [`members`], and shows each text on the way with the quotes around it: names of
/// members, and what is inside of values.
pub(crate) fn members_and_texts<'b>(
    bytes: &'b [u8],
    seen: &mut impl FnMut(Range<usize>),
) -> Result<Vec<Member<'b>>, NotJson> {
    let mut found = Vec::with_capacity(16);
    walk(bytes, seen, &mut |quoted: Range<usize>, value| {
        let (start, name) = (quoted.start, name(&bytes[quoted])?);
        found.push(Member { name, start, value });
        Ok(())
    })?;
    Ok(found)
}

/// Shows each member of the object that the bytes are: its name as it is written, without quotes, and its
/// value. Nothing is made of it.
///
/// # Errors
/// As [`members`].
pub(crate) fn each_member<'b>(
    bytes: &'b [u8],
    mut seen: impl FnMut(&'b [u8], &'b [u8]),
) -> Result<(), NotJson> {
    walk(bytes, &mut |_| {}, &mut |quoted: Range<usize>, value| {
        seen(&bytes[quoted.start + 1..quoted.end - 1], &bytes[value]);
        Ok(())
    })
}

/// Walks over an object: shows each text, and each member with the place of its name in quotes and that of
/// its value.
fn walk(
    bytes: &[u8],
    text: &mut impl FnMut(Range<usize>),
    member: &mut impl FnMut(Range<usize>, Range<usize>) -> Result<(), NotJson>,
) -> Result<(), NotJson> {
    let mut at = skip_space(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return Err(NotJson::Broken);
    }
    at = skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return whole(bytes, at + 1);
    }
    loop {
        let name = at..string_end(bytes, at)?;
        text(name.clone());
        at = skip_space(bytes, name.end);
        if bytes.get(at) != Some(&b':') {
            return Err(NotJson::Broken);
        }
        let from = skip_space(bytes, at + 1);
        at = value_end_seen(bytes, from, text)?;
        member(name, from..at)?;
        at = skip_space(bytes, at);
        match bytes.get(at) {
            Some(b',') => at = skip_space(bytes, at + 1),
            Some(b'}') => return whole(bytes, at + 1),
            _ => return Err(NotJson::Broken),
        }
    }
}

/// Finds the texts and numbers of a document, the names of members among them, and the quotes around them. What
/// is no document has them too, as far as it goes.
pub fn scalars(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at).unwrap_or(bytes.len()),
            b'-' | b'0'..=b'9' => value_end(bytes, at).unwrap_or(bytes.len()),
            _ => {
                at += 1;
                continue;
            }
        };
        found.push(at..end);
        at = end;
    }
    found
}

/// Nothing but space may follow.
fn whole(bytes: &[u8], at: usize) -> Result<(), NotJson> {
    if skip_space(bytes, at) == bytes.len() { Ok(()) } else { Err(NotJson::Broken) }
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// A name that is written with escapes is the same name: nothing can hide behind them.
fn name(quoted: &[u8]) -> Result<Cow<'_, str>, NotJson> {
    let inner = &quoted[1..quoted.len() - 1];
    if inner.contains(&b'\\') {
        return serde_json::from_slice(quoted).map(Cow::Owned).map_err(|_| NotJson::Broken);
    }
    std::str::from_utf8(inner).map(Cow::Borrowed).map_err(|_| NotJson::Broken)
}

/// Returns the place behind a string that begins here.
fn string_end(bytes: &[u8], at: usize) -> Result<usize, NotJson> {
    if bytes.get(at) != Some(&b'"') {
        return Err(NotJson::Broken);
    }
    // Most texts are names and words: to look at each byte is quicker than to begin a search.
    let mut at = at + 1;
    let near = bytes.len().min(at + WORD_BYTES);
    while at < near {
        match bytes[at] {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    // Text of programs is full of escapes, and few of them are quotes.
    let start = at;
    while let Some(step) = bytes.get(at..).and_then(|rest| memchr(b'"', rest)) {
        let quote = at + step;
        if quote == start || bytes[quote - 1] != b'\\' || !is_escaped(&bytes[start..quote]) {
            return Ok(quote + 1);
        }
        at = quote + 1;
    }
    Err(NotJson::Broken)
}

/// Tells whether what comes after these bytes of a text is escaped by their last one.
fn is_escaped(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns the place behind a value that begins here.
fn value_end(bytes: &[u8], at: usize) -> Result<usize, NotJson> {
    value_end_seen(bytes, at, &mut |_| {})
}

fn value_end_seen(
    bytes: &[u8],
    at: usize,
    seen: &mut impl FnMut(Range<usize>),
) -> Result<usize, NotJson> {
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{' | b'[') => nested_end(bytes, at, seen),
        _ => {
            let mut end = at;
            while let Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.') =
                bytes.get(end)
            {
                end += 1;
            }
            if end == at { Err(NotJson::Broken) } else { Ok(end) }
        }
    }
}

/// Follows brackets of both kinds; a bit for each level tells which kind it is.
fn nested_end(
    bytes: &[u8],
    at: usize,
    seen: &mut impl FnMut(Range<usize>),
) -> Result<usize, NotJson> {
    let mut open = [false; DEPTH_MAX];
    let (mut depth, mut at) = (0, at);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at)?;
                seen(at..end);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                *open.get_mut(depth).ok_or(NotJson::TooDeep)? = byte == b'{';
                depth += 1;
            }
            b'}' | b']' => {
                depth -= 1;
                if open[depth] != (byte == b'}') {
                    return Err(NotJson::Broken);
                }
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    Err(NotJson::Broken)
}

/// Returns where the value ends that the bytes begin with.
pub(crate) fn value_length(bytes: &[u8]) -> Option<usize> {
    value_end(bytes, 0).ok()
}

/// Tells whether nothing but more members and the end of one object comes, where a value has ended.
pub(crate) fn is_last_of_object(bytes: &[u8]) -> bool {
    let mut at = skip_space(bytes, 0);
    while bytes.get(at) == Some(&b',') {
        at = skip_space(bytes, at + 1);
        let Ok(name) = string_end(bytes, at) else { return false };
        at = skip_space(bytes, name);
        if bytes.get(at) != Some(&b':') {
            return false;
        }
        let Ok(value) = value_end(bytes, skip_space(bytes, at + 1)) else { return false };
        at = skip_space(bytes, value);
    }
    bytes.get(at) == Some(&b'}') && whole(bytes, at + 1).is_ok()
}

/// Returns where the first blank line ends, behind which the next server-sent event begins.
pub(crate) fn event_end(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(step) = memchr3(b'\n', b'\r', b'\n', &bytes[from..]) {
        let at = from + step;
        let next = if bytes[at..].starts_with(b"\r\n") { at + 2 } else { at + 1 };
        match bytes.get(next..) {
            Some([b'\r', b'\n', ..]) => return Some(next + 2),
            Some([b'\n', ..]) => return Some(next + 1),
            // A lone carriage return may be half of a line end that is still to come.
            Some([b'\r', _, ..]) => return Some(next + 1),
            _ => from = next,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Result<Vec<(String, String)>, NotJson> {
        let found = members(text.as_bytes())?;
        Ok(found.into_iter().map(|m| (m.name.into_owned(), text[m.value].to_owned())).collect())
    }

    #[test]
    fn members_are_found_wherever_they_stand() {
        let text = r#" { "a" : [1,{"b":"}\"]"}] ,"mod\u0065l":"x\\","n":-1.5e3,"t":true,"o":{} } "#;
        let expected = [
            ("a", r#"[1,{"b":"}\"]"}]"#),
            ("model", r#""x\\""#),
            ("n", "-1.5e3"),
            ("t", "true"),
            ("o", "{}"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(names(text).unwrap(), expected);
        assert_eq!(names("{}").unwrap(), []);
    }

    #[test]
    fn what_is_no_whole_object_is_refused() {
        for bad in [
            "",
            "[]",
            "1",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":[1}",
            "{\"a\":[1}]}",
            "{\"a\":1}x",
            "{\"a\":1}{}",
            "{\"a\" 1}",
            "{\"a\":\"x}",
        ] {
            assert_eq!(names(bad), Err(NotJson::Broken), "{bad}");
        }
        let deep =
            |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(names(&deep(DEPTH_MAX)).is_ok());
        assert_eq!(names(&deep(DEPTH_MAX + 1)), Err(NotJson::TooDeep));
    }

    #[test]
    fn texts_and_numbers_are_found_wherever_they_stand() {
        let text = r#" {"a":[1,-2.5e3,{"b\"":"x\\\\"}],"c":true,"d":null} "#;
        let found: Vec<&str> = scalars(text.as_bytes()).into_iter().map(|at| &text[at]).collect();
        assert_eq!(found, [r#""a""#, "1", "-2.5e3", r#""b\"""#, r#""x\\\\""#, r#""c""#, r#""d""#]);
        assert_eq!(scalars(b"\"open").first(), Some(&(0..5)));
        assert_eq!(scalars(b"{}"), []);
    }

    #[test]
    fn events_end_at_blank_lines_of_any_kind() {
        for (text, end) in [
            ("data: 1\n\nx", Some(9)),
            ("data: 1\r\n\r\nx", Some(11)),
            ("data: 1\r\rx", Some(9)),
            ("data: 1\n", None),
            ("data: 1\r\n\r", None),
            ("a\nb\n\n", Some(5)),
        ] {
            assert_eq!(event_end(text.as_bytes()), end, "{text:?}");
        }
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                proptest::collection::btree_map(".{0,6}", inner, 0..5)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_parser_finds(
            object in proptest::collection::btree_map(".{0,6}", json(), 0..6),
            pretty: bool,
        ) {
            let value = serde_json::Value::Object(object.clone().into_iter().collect());
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let found: std::collections::BTreeMap<_, _> = names(&text).unwrap().into_iter()
                .map(|(name, value)| (name, serde_json::from_str(&value).unwrap())).collect();
            prop_assert_eq!(found, object);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            drop(members(&bytes));
            drop(scalars(&bytes));
            event_end(&bytes);
        }

        #[test]
        fn a_cut_object_is_never_whole(cut in 0_usize..60) {
            let text = r#"{"model":"m","messages":[{"role":"user","content":"\"é{["}],"n":{}}"#;
            if text.is_char_boundary(cut) && cut < text.len() {
                prop_assert!(members(&text.as_bytes()[..cut]).is_err());
            }
        }
    }
}
