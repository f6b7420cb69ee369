//! What the commit of a landing says.

use godel_model::code;
use serde::{Deserialize, Serialize};

use crate::Name;
use crate::error::{Error, Result};

/// How long the title of a commit may be.
const TITLE_MAX_CHARS: usize = 200;
/// How long the rest of its message may be.
const BODY_MAX_BYTES: usize = 64 * 1024;
/// How long a name or an address in a commit may be.
const IDENTITY_MAX_CHARS: usize = 200;

/// Who a commit is by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// What the commit of a landing says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The bead that lands.
    pub bead: Name,
    /// The first line.
    pub title: String,
    /// What follows after it, if anything.
    pub body: String,
    /// Who it is by.
    pub author: Author,
}

/// Writes the message of a commit, or refuses it.
pub(crate) fn written(message: &Message) -> Result<String> {
    let refuse = |what: &str, hint: String| Err(Error::refused(code::INVALID_FIELD, what, hint));
    let title = title(message);
    if title.is_empty() {
        return refuse("a commit needs a title", "give the bead a title".to_owned());
    }
    let body = message.body.trim();
    if body.len() > BODY_MAX_BYTES || body.contains('\0') {
        let hint = format!("give at most {BODY_MAX_BYTES} bytes, without a zero byte");
        return refuse("the body cannot be in the message of a commit", hint);
    }
    for part in [&message.author.name, &message.author.email] {
        let bad = |c: char| c.is_control() || "<>".contains(c);
        let good = part.chars().any(char::is_alphanumeric) && !part.contains(bad);
        if !good || part.chars().count() > IDENTITY_MAX_CHARS {
            let hint =
                format!("give a name and an address of 1 to {IDENTITY_MAX_CHARS} characters");
            return refuse("the author cannot be named in a commit", hint);
        }
    }
    let gap = if body.is_empty() { "" } else { "\n\n" };
    Ok(format!("{title}{gap}{body}\n"))
}

/// The trailer by which a commit names its bead.
fn trailer(bead: &Name) -> String {
    format!("Bead: {bead}")
}

/// Adds the bead to the message of a commit, unless it is named there.
pub(super) fn with_bead(text: &str, bead: &Name) -> String {
    let (text, trailer) = (text.trim_end(), trailer(bead));
    if text.lines().any(|line| line.trim() == trailer) {
        return format!("{text}\n");
    }
    let last = text.rsplit("\n\n").next().unwrap_or_default();
    let is_trailer = |line: &str| {
        let key = line.split_once(": ").map(|(key, _)| key);
        key.is_some_and(|key| !key.is_empty() && !key.contains(char::is_whitespace))
    };
    let trailers = last.len() < text.len() && last.lines().all(is_trailer);
    let gap = if trailers { "\n" } else { "\n\n" };
    format!("{text}{gap}{trailer}\n")
}

/// Says what several beads bring together.
pub(super) fn bundled(messages: &[&Message]) -> String {
    let titles: Vec<String> = messages.iter().map(|one| format!("- {}", title(one))).collect();
    let beads: Vec<String> = messages.iter().map(|one| trailer(&one.bead)).collect();
    let number = messages.len();
    format!("Land {number} beads\n\n{}\n\n{}\n", titles.join("\n"), beads.join("\n"))
}

/// Returns the first line of a message; a bead must not fail to land for its long title.
fn title(message: &Message) -> String {
    let words = message.title.split(|c: char| c.is_control() || c.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(TITLE_MAX_CHARS).collect()
}
