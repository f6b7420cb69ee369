//! Opaque cursors: where a list goes on.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use godel_model::{Invalid, code};

/// Where a list goes on. It is bound to the list, its order and its filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The list with its order and filter, as text.
    list: String,
    /// The position of the last item.
    position: String,
}

impl Cursor {
    /// Marks a position in a list.
    pub fn new(list: impl Into<String>, position: impl ToString) -> Self {
        Self { list: list.into(), position: position.to_string() }
    }

    /// Writes the cursor as one opaque word.
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}\n{}", self.position, self.list))
    }

    /// Reads a cursor of the given list and returns its position.
    ///
    /// # Errors
    /// If it is no cursor, or one of another list.
    pub fn decode<P: std::str::FromStr>(text: &str, list: &str) -> Result<P, Invalid> {
        let refuse = |why: &str| {
            Invalid::new(code::INVALID_CURSOR, why)
                .with_hint("use the cursor of the page before, with the same sort and filter")
        };
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| refuse("the cursor is not one that this server made"))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| refuse("the cursor is not one that this server made"))?;
        let (position, of) = text
            .split_once('\n')
            .ok_or_else(|| refuse("the cursor is not one that this server made"))?;
        if of != list {
            return Err(refuse("the cursor belongs to another list"));
        }
        position.parse().map_err(|_| refuse("the cursor is not one that this server made"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_only_by_its_own_list() {
        let text = Cursor::new("events -sequence {}", 42).encode();
        assert_eq!(Cursor::decode::<i64>(&text, "events -sequence {}").unwrap(), 42);
        for (text, list) in [
            (text.as_str(), "events sequence {}"),
            ("", "events"),
            ("!!!", "events"),
            ("gICA", "events"),
            (&Cursor::new("events", "x").encode(), "events"),
        ] {
            assert!(Cursor::decode::<i64>(text, list).is_err(), "{text} {list}");
        }
    }
}
