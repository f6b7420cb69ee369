//! What a command says on its stdout and stderr, as far as it matters.

use godel_model::Payload;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

/// How much of the end is kept.
const TAIL_MAX_BYTES: usize = 4 * 1024;
/// The longest line that can be a result: what a result may have, and its end.
const LINE_MAX_BYTES: usize = 64 * 1024 + 2;
/// How a line begins that tells how far the command is.
const PROGRESS: &[u8] = b"::progress ";

/// The end of what was said.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    /// Takes in more.
    pub(crate) fn push(&mut self, more: &[u8]) {
        let more = &more[more.len().saturating_sub(TAIL_MAX_BYTES)..];
        self.bytes.extend_from_slice(more);
        // Cut now and then only, so that a byte is moved once at most.
        if self.bytes.len() > 4 * TAIL_MAX_BYTES {
            self.bytes.drain(..self.bytes.len() - TAIL_MAX_BYTES);
        }
    }

    /// Returns the end as text.
    pub(crate) fn text(&self) -> String {
        let start = self.bytes.len().saturating_sub(TAIL_MAX_BYTES);
        // A character that was cut in half is none, and no database takes a null.
        let is_inside = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        let end = &self.bytes[start..];
        let inside = end.iter().take_while(|byte| is_inside(byte)).count();
        let text = String::from_utf8_lossy(&end[inside.min(3)..]);
        text.trim().replace('\0', "\u{fffd}")
    }
}

/// What a command said on stdout.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    tail: Tail,
    line: Vec<u8>,
    /// If the present line is too long to be taken in: how it began, and how it ends so far.
    long: Option<(u8, u8)>,
    result: Option<Box<RawValue>>,
    /// Whether the last line that is an object is more than the server takes.
    large: bool,
}

/// What a line is that may be a result.
enum Line {
    Result(Box<RawValue>),
    /// An object that is more than the server takes.
    TooLarge,
    Output,
}

impl Heard {
    /// Takes in more, and returns the last thing it says of how far the command is.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Option<Box<RawValue>> {
        let mut progress = None;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                progress = self.end_line().or(progress);
            } else if self.line.len() > LINE_MAX_BYTES {
                self.long = Some(self.ends());
                self.tail.push(&self.line);
                self.line.clear();
            }
        }
        progress
    }

    /// Returns the first and the last byte of the present line, blanks left out.
    fn ends(&self) -> (u8, u8) {
        let line = self.line.trim_ascii();
        let first = self.long.map(|(first, _)| first).or(line.first().copied());
        let last = line.last().copied().or(self.long.map(|(_, last)| last));
        (first.unwrap_or(b' '), last.unwrap_or(b' '))
    }

    /// Takes in the end of a line.
    fn end_line(&mut self) -> Option<Box<RawValue>> {
        let ends = self.ends();
        let line = std::mem::take(&mut self.line);
        let told = match self.long.take() {
            // Its middle is gone; how it begins and ends tells what it was meant to be.
            Some(_) if ends == (b'{', b'}') => Line::TooLarge,
            Some(_) => Line::Output,
            None => match line.strip_prefix(PROGRESS).map(object) {
                Some(Line::Result(progress)) => return Some(progress),
                Some(_) => Line::Output,
                None => object(&line),
            },
        };
        match told {
            Line::Result(result) => (self.result, self.large) = (Some(result), false),
            Line::TooLarge => self.large = true,
            Line::Output => {}
        }
        self.tail.push(&line);
        None
    }

    /// Returns the result: the last line that is an object, or else the end of what was said; `None`
    /// if that line is more than the server takes.
    pub(crate) fn result(mut self) -> Option<Box<RawValue>> {
        self.end_line();
        if self.large {
            return None;
        }
        let output = || to_raw_value(&json!({ "output": self.tail.text() })).unwrap_or_default();
        Some(self.result.unwrap_or_else(output))
    }
}

/// Reads a line that may be a JSON object.
fn object(line: &[u8]) -> Line {
    let text = std::str::from_utf8(line).map(str::trim).unwrap_or_default();
    if !text.starts_with('{') {
        return Line::Output;
    }
    match serde_json::from_str::<Box<RawValue>>(text) {
        Ok(raw) if Payload::from_raw(&raw).is_ok() => Line::Result(raw),
        Ok(_) => Line::TooLarge,
        Err(_) => Line::Output,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn result(parts: &[&[u8]]) -> String {
        let mut heard = Heard::default();
        for part in parts {
            heard.feed(part);
        }
        heard.result().map_or("too large".to_owned(), |result| result.get().to_owned())
    }

    #[test]
    fn the_last_line_that_is_an_object_is_the_result() {
        assert_eq!(result(&[b"hello\n{\"a\":1}\n{\"b\":2}\nbye\n"]), "{\"b\":2}");
        assert_eq!(result(&[b"{\"a\"", b":1}"]), "{\"a\":1}", "an end without a newline");
        assert_eq!(result(&[b"{\"a\":1}\r\n[1]\n{broken}\n"]), "{\"a\":1}");
        assert_eq!(result(&[b"one\ntwo\n"]), "{\"output\":\"one\\ntwo\"}");
        assert_eq!(result(&[]), "{\"output\":\"\"}");
        assert_eq!(result(&[b"a\0b\xff\n"]), "{\"output\":\"a\u{fffd}b\u{fffd}\"}");
    }

    #[test]
    fn progress_is_told_and_is_no_output() {
        let mut heard = Heard::default();
        assert!(heard.feed(b"::progress {\"percent\":1}").is_none());
        let told = heard.feed(b"0}\n").is_none();
        assert!(told, "a line that is no JSON tells nothing");
        let last = heard.feed(b"::progress {\"n\":1}\n::progress {\"n\":2}\nx\n").unwrap();
        assert_eq!(last.get(), "{\"n\":2}");
        assert!(heard.feed(b"::progress 7\n").is_none());
        assert!(!heard.result().unwrap().get().contains("\"n\""));
    }

    #[test]
    fn a_flood_is_cut_to_its_end() {
        let flood = vec![b'x'; 1_000_000];
        let said = result(&[&flood, b"end", b"\n"]);
        assert!(said.len() < 2 * TAIL_MAX_BYTES && said.ends_with("xend\"}"), "{}", said.len());
    }

    #[test]
    fn a_result_that_the_server_would_not_take_is_none() {
        for size in [65_530, 70_000, 1_000_000] {
            let large = format!("{{\"a\":\"{}\"}}", "y".repeat(size));
            let parts = [b"{\"a\":1}\n".as_slice(), large.as_bytes(), b" \n", b"bye\n"];
            assert_eq!(result(&parts), "too large", "{size}");
            assert_eq!(result(&[large.as_bytes(), b"\n{\"b\":2}\n"]), "{\"b\":2}", "{size}");
        }
        let log = format!("{{{}\n", "y".repeat(70_000));
        assert_eq!(result(&[b"{\"a\":1}\n", log.as_bytes()]), "{\"a\":1}", "no object at all");
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_output_comes(
            text in "(::progress |\\{\"a\":[0-9]\\}|\\n|[a-zé{}\"]){0,40}",
            cuts in proptest::collection::vec(0_usize..100, 0..5),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(result(&parts), result(&[bytes]));
        }

        #[test]
        fn a_tail_is_the_end(word in "[a-z日本é\\n]{0,60}", times in 0_usize..300) {
            let (text, mut tail) = (word.repeat(times), Tail::default());
            text.as_bytes().chunks(777).for_each(|chunk| tail.push(chunk));
            let kept = tail.text();
            prop_assert!(text.trim().ends_with(&kept), "{kept}");
            prop_assert!(kept.len() <= TAIL_MAX_BYTES);
        }
    }
}
