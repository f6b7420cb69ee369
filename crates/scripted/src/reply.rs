//! An answer, before a dialect writes it down.

use serde_json::Value;

use crate::ask::ToolKind;
use crate::usage::Usage;

/// What the provider answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// A number that no other answer of this server has.
    pub(crate) number: u64,
    pub(crate) model: String,
    /// Thinking that is shown; empty if only its state is.
    pub(crate) thought: Option<String>,
    /// Opaque state that must come back.
    pub(crate) seal: Option<String>,
    /// The text in the pieces that a stream sends.
    pub(crate) pieces: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: Stop,
    pub(crate) usage: Usage,
    /// In which tier it says that it was served; the usual one without a word.
    pub(crate) tier: Option<String>,
    /// How many searches of the web it says that it made.
    pub(crate) searches: u64,
}

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) kind: ToolKind,
    pub(crate) input: Value,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    End,
    Calls,
    Length,
    Refusal,
}

impl Stop {
    /// Reads the word of a directive.
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        match word {
            "end" => Ok(Self::End),
            "length" => Ok(Self::Length),
            "refusal" => Ok(Self::Refusal),
            _ => Err(format!("{word} is not end, length or refusal")),
        }
    }
}

impl Reply {
    /// The whole text.
    pub(crate) fn text(&self) -> String {
        self.pieces.concat()
    }
}

impl Call {
    /// The input as JSON text, in the pieces that a stream sends.
    pub(crate) fn input_pieces(&self) -> Vec<String> {
        let text = self.input_text();
        let middle = (1..text.len()).find(|at| *at >= text.len() / 2 && text.is_char_boundary(*at));
        match middle {
            Some(at) => vec![text[..at].to_owned(), text[at..].to_owned()],
            None => vec![text],
        }
    }

    /// The input as JSON text, or as it is if it is free text.
    pub(crate) fn input_text(&self) -> String {
        match (self.kind, self.input.as_str()) {
            (ToolKind::Custom, Some(text)) => text.to_owned(),
            _ => self.input.to_string(),
        }
    }
}
