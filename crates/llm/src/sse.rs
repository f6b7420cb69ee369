//! Server-sent events, whatever way their bytes were split.

use memchr::memchr2;

/// The largest event that is kept in memory.
pub const EVENT_MAX_BYTES: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name, or nothing.
    pub name: String,
    /// Its data, lines joined by line feeds.
    pub data: String,
}

/// An event grew beyond [`EVENT_MAX_BYTES`], or is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is too large.
    #[error("an event of the stream has more than {EVENT_MAX_BYTES} bytes")]
    TooLarge,
    /// It is not UTF-8.
    #[error("an event of the stream is not UTF-8")]
    NotText,
}

/// Puts events together from bytes that come in pieces.
#[derive(Debug, Default)]
pub struct Decoder {
    rest: Vec<u8>,
    /// How much of it was searched for the end of a line.
    searched: usize,
    name: String,
    data: String,
    has_data: bool,
}

impl Decoder {
    /// Takes the next bytes and hands over each event that they complete.
    ///
    /// # Errors
    /// If an event is too large or not UTF-8; the stream is of no use then.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Event)) -> Result<(), Malformed> {
        self.rest.extend_from_slice(bytes);
        let mut from = 0;
        let mut search = std::mem::take(&mut self.searched);
        while let Some(length) = memchr2(b'\n', b'\r', &self.rest[search..]) {
            let end = search + length;
            let next = match self.rest[end..] {
                [b'\r', b'\n', ..] => end + 2,
                // The line feed may come with the next bytes.
                [b'\r'] => {
                    search = end;
                    break;
                }
                _ => end + 1,
            };
            let rest = std::mem::take(&mut self.rest);
            let read = self.line(&rest[from..end], &mut each);
            self.rest = rest;
            read?;
            (from, search) = (next, next);
        }
        let half = self.rest.get(search) == Some(&b'\r');
        self.searched = if half { search - from } else { self.rest.len() - from };
        self.rest.drain(..from);
        let size = self.rest.len() + self.data.len();
        if size > EVENT_MAX_BYTES { Err(Malformed::TooLarge) } else { Ok(()) }
    }

    /// Takes what is left when the stream has ended: a last event without an empty line.
    ///
    /// # Errors
    /// As [`Decoder::feed`].
    pub fn finish(&mut self, mut each: impl FnMut(Event)) -> Result<(), Malformed> {
        let rest = std::mem::take(&mut self.rest);
        let line = rest.strip_suffix(b"\r").unwrap_or(&rest);
        if !line.is_empty() {
            self.line(line, &mut each)?;
        }
        self.line(b"", &mut each)
    }

    fn line(&mut self, line: &[u8], each: &mut impl FnMut(Event)) -> Result<(), Malformed> {
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                let data = std::mem::take(&mut self.data);
                each(Event { name: std::mem::take(&mut self.name), data });
            }
            self.name.clear();
            return Ok(());
        }
        let line = std::str::from_utf8(line).map_err(|_| Malformed::NotText)?;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.name),
            // Comments, ids and retry times are of no use here.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<Event> {
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        for piece in pieces {
            decoder.feed(piece, |event| events.push(event)).unwrap();
        }
        decoder.finish(|event| events.push(event)).unwrap();
        events
    }

    #[test]
    fn names_comments_and_lines_are_told_apart() {
        let text = b"event: a\ndata: 1\ndata:2\n\n: quiet\n\ndata: x\r\n\r\nid: 4\n\ndata: last";
        let told: Vec<_> = decode(&[text]).into_iter().map(|e| (e.name, e.data)).collect();
        let expected = [("a", "1\n2"), ("", "x"), ("", "last")];
        assert_eq!(told, expected.map(|(name, data)| (name.to_owned(), data.to_owned())));
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = Decoder::default();
        let piece = vec![b'x'; EVENT_MAX_BYTES / 2 + 1];
        assert_eq!(decoder.feed(&piece, drop), Ok(()));
        assert_eq!(decoder.feed(&piece, drop), Err(Malformed::TooLarge));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_split(
            cuts in proptest::collection::vec(0_usize..70, 0..8),
        ) {
            let text = "event: m\r\ndata: {\"a\":\"é\"}\r\n\r\ndata: 2\n\n:c\ndata: 3\ndata: 4\n\n".as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decode(&pieces), decode(&[text]));
        }
    }
}
