//! What a request asks for, whichever dialect it came in.

use serde_json::Value;

use crate::dialect::Dialect;

/// A request, read.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) dialect: Dialect,
    pub(crate) model: String,
    pub(crate) wire: Wire,
    /// The text of the last user message.
    pub(crate) prompt: String,
    /// The images of the last user message, each as `media/type bytes`.
    pub(crate) images: Vec<String>,
    /// How many rounds of tool calls have followed the prompt.
    pub(crate) round: usize,
    /// What the tools answered in the last round.
    pub(crate) results: Vec<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) choice: Choice,
    pub(crate) parallel: bool,
    /// The shape that the answer must have.
    pub(crate) schema: Option<Value>,
    /// Whether the client wants to see thinking.
    pub(crate) think: Think,
    /// Whether opaque state goes out with it, and must come back.
    pub(crate) sealed: bool,
    pub(crate) max_tokens: Option<u64>,
    /// Whether a stream of chat chunks is to end with the usage.
    pub(crate) wants_usage: bool,
    /// The conversation, for the checks that a provider makes.
    pub(crate) turns: Vec<Turn>,
}

/// How the answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// One JSON document.
    Whole,
    /// Server-sent events.
    Sse,
    /// A JSON array that grows (Gemini without `alt=sse`).
    Array,
}

/// How far a client wants to see thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Think {
    /// It cannot be shown, even if the prompt asks for it.
    Never,
    /// Only if the prompt asks for it.
    Quiet,
    /// Shown.
    Shown,
    /// Done, but its text is left out.
    Hidden,
}

/// Which tools may or must be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Auto,
    Never,
    Any,
    Named(String),
}

/// A tool that is offered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) kind: ToolKind,
    pub(crate) schema: Value,
}

/// How a tool takes its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// JSON that fits a schema.
    Function,
    /// Free text.
    Custom,
    /// The shell that some models know by heart.
    LocalShell,
}

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Turn {
    User { text: String, images: Vec<String> },
    Model { calls: Vec<Called>, seals: Vec<Seal> },
    Results(Vec<Answered>),
}

/// A tool call in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) id: String,
    /// What the state that belongs to this call is found by.
    pub(crate) key: String,
}

/// A tool result in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// Opaque state that came back, and what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) seal: String,
    pub(crate) covers: String,
}

impl Ask {
    /// An empty request, for a dialect to fill.
    pub(crate) fn new(dialect: Dialect, model: &str, wire: Wire) -> Self {
        Self {
            dialect,
            model: model.to_owned(),
            wire,
            prompt: String::new(),
            images: Vec::new(),
            round: 0,
            results: Vec::new(),
            tools: Vec::new(),
            choice: Choice::Auto,
            parallel: true,
            schema: None,
            think: Think::Never,
            sealed: false,
            max_tokens: None,
            wants_usage: true,
            turns: Vec::new(),
        }
    }

    /// Finds prompt, round and results in the turns.
    pub(crate) fn settle(mut self, turns: Vec<Turn>) -> Self {
        let is_user = |turn: &Turn| matches!(turn, Turn::User { .. });
        let end = turns.iter().rposition(is_user).map_or(0, |at| at + 1);
        // Clients put their own remarks and the prompt into neighbouring messages.
        let start = turns[..end].iter().rposition(|turn| !is_user(turn)).map_or(0, |at| at + 1);
        for turn in &turns[start..end] {
            if let Turn::User { text, images } = turn {
                if !self.prompt.is_empty() {
                    self.prompt.push('\n');
                }
                self.prompt.push_str(text);
                self.images.extend_from_slice(images);
            }
        }
        for turn in &turns[end..] {
            match turn {
                Turn::Model { calls, .. } => {
                    self.round += usize::from(!calls.is_empty());
                    self.results.clear();
                }
                Turn::Results(results) => {
                    self.results.extend(results.iter().map(|result| result.text.clone()));
                }
                Turn::User { .. } => {}
            }
        }
        self.turns = turns;
        self
    }

    /// The turns since the prompt.
    pub(crate) fn recent(&self) -> &[Turn] {
        let end = self.turns.iter().rposition(|turn| matches!(turn, Turn::User { .. }));
        &self.turns[end.map_or(0, |at| at + 1)..]
    }

    /// Complains, as providers do, about calls without a result and results without a call.
    pub(crate) fn check_pairs(&self) -> Result<(), String> {
        let mut open: Vec<&str> = Vec::new();
        for turn in &self.turns {
            match turn {
                Turn::Results(results) => {
                    for result in results {
                        let Some(at) = open.iter().position(|id| *id == result.id) else {
                            return Err(format!("tool result {} answers no tool call", result.id));
                        };
                        open.swap_remove(at);
                    }
                }
                Turn::User { .. } | Turn::Model { .. } if !open.is_empty() => {
                    return Err(format!("tool call {} has no tool result", open.join(", ")));
                }
                Turn::Model { calls, .. } => open.extend(calls.iter().map(|call| call.id.as_str())),
                Turn::User { .. } => {}
            }
        }
        match open.as_slice() {
            [] => Ok(()),
            open => Err(format!("tool call {} has no tool result", open.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Turn {
        Turn::User { text: text.to_owned(), images: Vec::new() }
    }

    fn called(id: &str) -> Turn {
        let call = Called { id: id.to_owned(), key: id.to_owned() };
        Turn::Model { calls: vec![call], seals: Vec::new() }
    }

    fn answered(id: &str) -> Turn {
        Turn::Results(vec![Answered { id: id.to_owned(), text: format!("result {id}") }])
    }

    fn ask(turns: Vec<Turn>) -> Ask {
        Ask::new(Dialect::Chat, "m", Wire::Whole).settle(turns)
    }

    #[test]
    fn the_prompt_is_the_last_that_the_user_said() {
        let model = Turn::Model { calls: Vec::new(), seals: Vec::new() };
        let ask = ask(vec![user("a"), model, user("b"), user("c"), called("1"), answered("1")]);
        assert_eq!((ask.prompt.as_str(), ask.round), ("b\nc", 1));
        assert_eq!(ask.results, ["result 1"]);
        assert_eq!(ask.check_pairs(), Ok(()));
    }

    #[test]
    fn calls_and_results_must_pair() {
        for turns in [
            vec![user("a"), called("1")],
            vec![user("a"), called("1"), user("b")],
            vec![user("a"), called("1"), answered("2")],
            vec![user("a"), answered("1")],
            vec![user("a"), called("1"), answered("1"), answered("1")],
        ] {
            assert!(ask(turns.clone()).check_pairs().is_err(), "{turns:?}");
        }
    }
}
