//! What texts from outside may look like.

use godel_model::{Invalid, code};

use crate::Result;

/// The longest title, in characters.
pub const TITLE_MAX_CHARS: usize = 500;
/// The longest description or comment, in characters.
const BODY_MAX_CHARS: usize = 100_000;
/// The longest label or name of an agent, in characters.
const WORD_MAX_CHARS: usize = 100;

/// Checks a title and returns it without blank ends.
pub(super) fn title(text: &str) -> Result<String> {
    let text = text.trim();
    let count = text.chars().count();
    if count == 0 {
        return refuse("a title must not be empty", "say in a few words what is to be done");
    }
    if count > TITLE_MAX_CHARS {
        return refuse(
            &format!("a title must have at most {TITLE_MAX_CHARS} characters; this has {count}"),
            "put the rest into the description",
        );
    }
    if text.chars().any(char::is_control) {
        return refuse(
            "a title must be one line without control characters",
            "put the rest into the description",
        );
    }
    Ok(text.to_owned())
}

/// Checks a longer text; lines and tabs are welcome.
pub(super) fn body(what: &str, text: &str) -> Result<String> {
    let count = text.chars().count();
    if count > BODY_MAX_CHARS {
        let why = format!("{what} must have at most {BODY_MAX_CHARS} characters; this has {count}");
        return refuse(&why, "keep long texts in a file of the repository and name it here");
    }
    let bad = |char: char| char.is_control() && !matches!(char, '\n' | '\r' | '\t');
    if text.chars().any(bad) {
        let why = format!("{what} must not have control characters");
        return refuse(&why, "remove them; line ends and tabs are fine");
    }
    Ok(text.to_owned())
}

/// Checks a text that must not be empty.
pub(super) fn sentence(what: &str, text: &str) -> Result<String> {
    let text = body(what, text)?;
    if text.trim().is_empty() {
        return refuse(&format!("{what} must not be empty"), "say it in a sentence");
    }
    Ok(text)
}

/// Checks a label or another short word.
pub(super) fn word(what: &str, text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > WORD_MAX_CHARS {
        let why = format!("{what} must have 1 to {WORD_MAX_CHARS} characters");
        return refuse(&why, "use a short word");
    }
    if text.chars().any(char::is_control) {
        let why = format!("{what} must not have control characters");
        return refuse(&why, "use a short word");
    }
    Ok(text.to_owned())
}

/// Checks the name of an agent or a person.
///
/// # Errors
/// If it is empty, too long, or has control characters.
pub fn check_agent(name: &str) -> Result<String> {
    word("the name of an agent", name)
}

pub(super) fn refuse<T>(why: &str, hint: &str) -> Result<T> {
    Err(Invalid::new(code::INVALID_FIELD, why).with_hint(hint).into())
}
