//! JSON as a tree with places.

use std::collections::HashSet;

use super::super::problem::{Mistake, Position, Problem};
use super::{Budget, Entry, Node, NodeKind, problem};

struct Reader<'a> {
    text: &'a str,
    offset: usize,
    line: u32,
    /// A place on this line and its column, from which the next is counted: a line may be very long.
    known: (usize, u32),
    depth: usize,
    budget: Budget,
}

/// Reads the one value of a text.
pub(super) fn read(text: &str) -> Result<Node, Problem> {
    let mut reader =
        Reader { text, offset: 0, line: 1, known: (0, 1), depth: 0, budget: Budget::default() };
    reader.skip_space();
    let node = reader.value()?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.fault("there is more after the end of the value")),
    }
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    fn place(&mut self) -> Position {
        let further = self.text[self.known.0..self.offset].chars().count();
        let column = self.known.1.saturating_add(u32::try_from(further).unwrap_or(u32::MAX));
        self.known = (self.offset, column);
        Position { line: self.line, column }
    }

    fn fault(&mut self, message: &str) -> Problem {
        problem(Mistake::Syntax, self.place(), format!("not JSON: {message}"))
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.offset += 1,
                b'\n' => {
                    self.offset += 1;
                    self.line += 1;
                    self.known = (self.offset, 1);
                }
                _ => return,
            }
        }
    }

    fn value(&mut self) -> Result<Node, Problem> {
        let at = self.place();
        self.budget.spend(1, self.depth, at)?;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::map)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => NodeKind::Text(self.string()?),
            Some(_) => NodeKind::Plain(self.word()?),
            None => return Err(self.fault("the text ends too early")),
        };
        Ok(Node { at, kind })
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<NodeKind, Problem>,
    ) -> Result<NodeKind, Problem> {
        self.depth += 1;
        self.offset += 1;
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn list(&mut self) -> Result<NodeKind, Problem> {
        let mut items = Vec::new();
        self.skip_space();
        if self.skip(b']') {
            return Ok(NodeKind::List(items));
        }
        loop {
            self.skip_space();
            items.push(self.value()?);
            self.skip_space();
            if self.skip(b']') {
                return Ok(NodeKind::List(items));
            }
            if !self.skip(b',') {
                return Err(self.fault("`,` or `]` is missing"));
            }
        }
    }

    fn map(&mut self) -> Result<NodeKind, Problem> {
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        self.skip_space();
        if self.skip(b'}') {
            return Ok(NodeKind::Map(entries));
        }
        loop {
            self.skip_space();
            let at = self.place();
            if self.peek() != Some(b'"') {
                return Err(self.fault("a name in quotes is missing"));
            }
            let key = self.string()?;
            if !names.insert(key.clone()) {
                return Err(problem(
                    Mistake::DuplicateField,
                    at,
                    format!("`{key}` is there twice"),
                ));
            }
            self.skip_space();
            if !self.skip(b':') {
                return Err(self.fault("`:` is missing"));
            }
            self.skip_space();
            entries.push(Entry { key, at, value: self.value()? });
            self.skip_space();
            if self.skip(b'}') {
                return Ok(NodeKind::Map(entries));
            }
            if !self.skip(b',') {
                return Err(self.fault("`,` or `}` is missing"));
            }
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.offset += usize::from(there);
        there
    }

    /// Finds the end of a string and has `serde_json` read what is inside.
    fn string(&mut self) -> Result<String, Problem> {
        let bytes = self.text.as_bytes();
        let mut end = self.offset + 1;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => {
                    let written = &self.text[self.offset..=end];
                    let text = serde_json::from_str(written)
                        .map_err(|_| self.fault("this string cannot be read"))?;
                    self.offset = end + 1;
                    return Ok(text);
                }
                b'\\' => end += 2,
                b'\n' => break,
                _ => end += 1,
            }
        }
        Err(self.fault("this string has no end"))
    }

    /// Reads a number, a boolean or null as it was written.
    fn word(&mut self) -> Result<String, Problem> {
        let rest = &self.text[self.offset..];
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return Err(self.fault("a value is missing or cannot be read"));
        }
        self.offset += length;
        Ok(word.to_owned())
    }
}
