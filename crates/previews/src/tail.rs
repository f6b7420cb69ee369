//! The last of what a command writes.

/// How much is kept.
const KEPT_BYTES: usize = 16 << 10;

/// The last of what a command writes.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    /// Takes what was written.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        // Not for each line: what is moved is moved once in a while.
        if self.0.len() > 2 * KEPT_BYTES {
            self.0.drain(..self.0.len() - KEPT_BYTES);
        }
    }

    /// Returns it as text, from the beginning of a line if there was more.
    pub(crate) fn text(&self) -> String {
        let cut = self.0.len().saturating_sub(KEPT_BYTES);
        let kept = &self.0[cut..];
        let line = (cut > 0).then(|| kept.iter().position(|byte| *byte == b'\n')).flatten();
        let kept = line.map_or(kept, |at| &kept[at + 1..]);
        // What colours a terminal means nothing elsewhere.
        plain(&String::from_utf8_lossy(kept))
    }
}

/// Leaves out what steers a terminal.
fn plain(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => {
                if chars.next_if_eq(&'[').is_some() {
                    while chars.next_if(|next| !('@'..='~').contains(next)).is_some() {}
                }
                chars.next();
            }
            '\n' | '\t' => all.push(char),
            char if char.is_control() => {}
            char => all.push(char),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_it_is_kept_from_the_beginning_of_a_line() {
        let mut tail = Tail::default();
        for number in 0..5_000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        let text = tail.text();
        assert!(text.len() <= KEPT_BYTES && text.len() > KEPT_BYTES - 20, "{}", text.len());
        assert!(text.starts_with("line ") && text.ends_with("line 4999\n"), "{text}");
    }

    #[test]
    fn what_steers_a_terminal_is_left_out() {
        let mut tail = Tail::default();
        tail.push(b"\x1b[32mready\x1b[0m in \x1b]0;title\x07 1 s\r\n\xff");
        assert_eq!(tail.text(), "ready in 0;title 1 s\n\u{fffd}");
    }
}
