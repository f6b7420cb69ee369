//! Lines put together from bytes that come in pieces.

/// The longest line that is read; agents repeat whole messages in one.
pub const LINE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Puts lines together; only a line feed ends one.
#[derive(Debug)]
pub(crate) struct Lines {
    rest: Vec<u8>,
    max: usize,
    /// Whether the line that is being read is too long and thrown away.
    skipping: bool,
}

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// As it is, without its end.
    Whole(&'a [u8]),
    /// It was too long to be kept.
    TooLong,
}

impl Lines {
    /// Begins with nothing.
    pub(crate) fn new(max: usize) -> Self {
        Self { rest: Vec::new(), max, skipping: false }
    }

    /// Takes the next bytes and hands over each line that they complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            self.keep(&bytes[..at]);
            bytes = &bytes[at + 1..];
            self.end(&mut each);
        }
        self.keep(bytes);
    }

    /// Takes the end; a last line may lack its line feed.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.rest.is_empty() || self.skipping {
            self.end(&mut each);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if !self.skipping && self.rest.len() + bytes.len() > self.max {
            self.skipping = true;
            self.rest = Vec::new();
        }
        if !self.skipping {
            self.rest.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if std::mem::take(&mut self.skipping) {
            each(Line::TooLong);
        } else {
            each(Line::Whole(self.rest.strip_suffix(b"\r").unwrap_or(&self.rest)));
        }
        self.rest.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]], max: usize) -> Vec<Option<Vec<u8>>> {
        let (mut lines, mut told) = (Lines::new(max), Vec::new());
        let mut each = |line: Line<'_>| match line {
            Line::Whole(line) => told.push(Some(line.to_vec())),
            Line::TooLong => told.push(None),
        };
        for piece in pieces {
            lines.feed(piece, &mut each);
        }
        lines.finish(&mut each);
        told
    }

    #[test]
    fn a_long_line_is_skipped_and_the_next_is_read() {
        let told = read(&[b"ab\r\n", b"toolong", b"er\nok\n", b"end"], 8);
        let whole = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(told, [whole("ab"), None, whole("ok"), whole("end")]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_split(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..80),
            cut in 0_usize..80, max in 1_usize..20,
        ) {
            let cut = cut.min(text.len());
            prop_assert_eq!(read(&[&text[..cut], &text[cut..]], max), read(&[&text], max));
        }
    }
}
