//! What a command prints: its beginning and its end, however much it is.

use tokio::io::{AsyncRead, AsyncReadExt};

/// The beginning and the end of what was read.
#[derive(Debug)]
pub(crate) struct Output {
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    half: usize,
    left_out: usize,
}

impl Output {
    /// Keeps so many bytes at most.
    pub(crate) const fn new(max_bytes: usize) -> Self {
        let tail = std::collections::VecDeque::new();
        Self { head: Vec::new(), tail, half: max_bytes / 2, left_out: 0 }
    }

    /// Takes more.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        // Of a large piece only the end can matter.
        let skipped = rest.len().saturating_sub(self.half);
        self.tail.extend(&rest[skipped..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.left_out += skipped + over;
    }

    /// Reads until there is no more.
    pub(crate) async fn drain(&mut self, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 * 1024];
        // A pipe that cannot be read has ended.
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            self.take(&buffer[..count]);
        }
    }

    /// Returns it as text.
    pub(crate) fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[.. {} bytes left out ..]\n{tail}", self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_ends_are_kept_however_it_came(
            bytes in proptest::collection::vec(b'a'..=b'z', 0..100), cut in 0_usize..100,
        ) {
            let cut = cut.min(bytes.len());
            let (mut whole, mut split) = (Output::new(20), Output::new(20));
            whole.take(&bytes);
            split.take(&bytes[..cut]);
            split.take(&bytes[cut..]);
            prop_assert_eq!(whole.text(), split.text());
            let text = String::from_utf8(bytes.clone()).unwrap();
            if bytes.len() <= 20 {
                prop_assert_eq!(whole.text(), text);
            } else {
                prop_assert!(whole.text().starts_with(&text[..10]));
                prop_assert!(whole.text().ends_with(&text[text.len() - 10..]));
            }
        }
    }
}
