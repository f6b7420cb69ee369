//! What happens in a session, told the same way whichever agent is at work.

use godel_model::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most bytes of one text in an event; more of it comes as further events or is cut.
pub const TEXT_MAX_BYTES: usize = 64 * 1024;
/// The most entries of a list of todos.
pub const TODOS_MAX: usize = 200;
/// The most choices of a question.
pub const CHOICES_MAX: usize = 20;

/// What stands for a secret.
const HIDDEN: &str = "[token]";

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum SessionEvent {
    /// The agent has a session of its own by this id, by which it can be resumed.
    Started {
        /// The agent's own id.
        id: String,
    },
    /// The agent said something; pieces follow each other.
    Text {
        /// More of what it said.
        text: String,
    },
    /// The agent thought something.
    Thinking {
        /// More of what it thought.
        text: String,
    },
    /// The agent uses a tool.
    ToolCall {
        /// The id that the result bears.
        call: String,
        /// The name of the tool.
        name: String,
        /// What it was given.
        input: Value,
    },
    /// A tool has given its result.
    ToolResult {
        /// The id of the call.
        call: String,
        /// What it said.
        text: String,
        /// Whether it failed.
        failed: bool,
    },
    /// The agent says that it changed a file; git knows whether it is true.
    FileChange {
        /// Where it is, as the agent names it.
        path: String,
        /// What was done.
        change: Change,
    },
    /// What was used since the last event of this kind.
    Usage {
        /// Tokens.
        usage: Usage,
    },
    /// How much the agent had in mind at its last request; told by those whose usage is of a whole turn.
    Context {
        /// Tokens that the model was given.
        used: u64,
        /// How many it takes, if the agent knows.
        most: Option<u64>,
    },
    /// The agent's list of things to do, whole.
    Todos {
        /// The things.
        todos: Vec<Todo>,
    },
    /// The agent asks a person and waits.
    Question {
        /// The id that the answer bears.
        id: String,
        /// What it wants to know.
        text: String,
        /// What it offers to choose from; any other answer may be allowed.
        choices: Vec<Choice>,
    },
    /// The agent writes to another agent or a person.
    Mail {
        /// To whom.
        to: String,
        /// What.
        text: String,
    },
    /// The agent says that its work is done; nothing is done before that was checked.
    SaysDone {
        /// What it says about it.
        summary: String,
    },
    /// Something went wrong that the agent may still get over.
    Trouble {
        /// What.
        message: String,
    },
    /// The conversation was made shorter.
    Compacted {
        /// What stands for what was left out.
        summary: String,
    },
    /// The turn is over.
    TurnEnded {
        /// How.
        outcome: Outcome,
    },
    /// The session is over; nothing follows.
    Ended {
        /// How the process of the agent ended, if it had one.
        exit: Option<i32>,
    },
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// It is new.
    Added,
    /// It is another.
    Modified,
    /// It is gone.
    Removed,
    /// It was written; whether it was there before is not told.
    Written,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// What.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    #[serde(alias = "done")]
    Completed,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The id that the answer bears.
    pub id: String,
    /// What people read.
    pub label: String,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Outcome {
    /// The agent came to an end by itself, which does not mean that the work is done.
    Completed,
    /// It was told to stop.
    Cancelled,
    /// It failed.
    Failed {
        /// Why, as far as it is known.
        message: String,
    },
}

impl Outcome {
    /// Says that a turn failed.
    pub fn failed(message: &str) -> Self {
        Self::Failed { message: clip(message, TEXT_MAX_BYTES) }
    }
}

impl SessionEvent {
    /// Tells of trouble.
    pub(crate) fn trouble(message: &str) -> Self {
        Self::Trouble { message: clip(message, TEXT_MAX_BYTES) }
    }

    /// Takes a secret out of its texts: an agent can print what it was given.
    pub(crate) fn hide(&mut self, secret: &str) {
        let text = match self {
            Self::Text { text }
            | Self::Thinking { text }
            | Self::ToolResult { text, .. }
            | Self::Trouble { message: text }
            | Self::TurnEnded { outcome: Outcome::Failed { message: text } } => text,
            Self::ToolCall { input, .. } => {
                let written = input.to_string();
                if !secret.is_empty() && written.contains(secret) {
                    *input = Value::String(written.replace(secret, HIDDEN));
                }
                return;
            }
            _ => return,
        };
        if !secret.is_empty() && text.contains(secret) {
            *text = text.replace(secret, HIDDEN);
        }
    }

    /// Returns how the turn ended, if that is what it tells.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::TurnEnded { outcome } => Some(outcome),
            _ => None,
        }
    }
}

/// Cuts a text in the middle if it is too long, and says so there: both ends matter.
pub fn clip(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let half = max_bytes / 2;
    let head = floor(text, half);
    let tail = ceil(text, text.len() - half);
    let cut = tail - head;
    format!("{}\n[.. {cut} bytes left out ..]\n{}", &text[..head], &text[tail..])
}

/// Divides a text into pieces that are not too long.
pub(crate) fn pieces(text: &str, max_bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // A piece holds one character at least, so that it ends.
        let end = floor(rest, max_bytes).max(ceil(rest, 1));
        let (piece, more) = rest.split_at(end);
        rest = more;
        Some(piece)
    })
}

/// The last place at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first place at or behind `at` where a character begins.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_the_text_and_none_is_long(text in ".{0,60}", max in 1_usize..20) {
            let told: Vec<&str> = pieces(&text, max).collect();
            prop_assert_eq!(told.concat(), text.clone());
            prop_assert!(told.iter().all(|piece| piece.len() <= max.max(4) && !piece.is_empty()));
        }

        #[test]
        fn a_clipped_text_keeps_both_ends(text in ".{0,200}", max in 8_usize..80) {
            let clipped = clip(&text, max);
            prop_assert!(clipped.len() <= max + 60);
            if text.len() <= max {
                prop_assert_eq!(clipped, text);
            } else {
                prop_assert!(clipped.contains("bytes left out"));
            }
        }
    }
}
