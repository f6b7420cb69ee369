//! Words of a text and where they stand.

use godel_model::{Invalid, code};

/// The longest text that is read.
pub const TEXT_MAX_BYTES: usize = 32 * 1024;

/// A word, with its place in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// In small letters, without what is around it.
    pub(crate) low: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Refuses a text with nothing in it or too much, and makes blanks of what no person can see.
pub(crate) fn clean(text: &str) -> Result<String, Invalid> {
    if text.len() > TEXT_MAX_BYTES {
        let why = format!("the text has {} bytes, and {TEXT_MAX_BYTES} are read", text.len());
        return Err(Invalid::new(code::INVALID_FIELD, why)
            .with_hint("say it in fewer words, and put the rest into a file of the repository"));
    }
    let text = visible(text);
    if !text.chars().any(char::is_alphanumeric) {
        return Err(Invalid::new(code::INVALID_FIELD, "the text says nothing")
            .with_hint("say what should be done, such as \"Add a login page\""));
    }
    Ok(text)
}

/// Makes blanks of characters that change what others look like, or that nobody sees.
pub(crate) fn visible(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(c, '\u{e0000}'..='\u{e007f}')
    };
    text.chars().map(|c| if hidden(c) { ' ' } else { c }).collect()
}

/// Shortens a text to a number of characters, in one line.
pub(crate) fn line(text: &str, max: usize) -> String {
    let flat: Vec<&str> = text.split_whitespace().collect();
    let flat = flat.join(" ");
    if flat.chars().count() <= max {
        return flat;
    }
    let kept: String = flat.chars().take(max.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// Finds the words of a text.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let inside = |c: char| c.is_alphanumeric() || "_-/.'$@#+\u{2019}".contains(c);
    let mut found = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (from, inside(c)) {
            (None, true) => from = Some(at),
            (Some(start), false) => {
                found.extend(word(text, start, at));
                from = None;
            }
            _ => {}
        }
    }
    found
}

fn word(text: &str, start: usize, end: usize) -> Option<Word> {
    let whole = text.get(start..end)?;
    let body = whole.trim_start_matches(['.', '-', '/', '\'', '+', '\u{2019}']);
    let start = end - body.len();
    let body = body.trim_end_matches(['.', '-', '/', '\'', '\u{2019}']);
    let low = body.to_lowercase().replace('\u{2019}', "'");
    let low = low.strip_suffix("'s").unwrap_or(&low).to_owned();
    (!low.is_empty()).then(|| Word { low, start, end: start + body.len() })
}

/// Reads a number as people write it.
pub(crate) fn number(word: &str) -> Option<u32> {
    const NAMES: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    if let Some(at) = NAMES.iter().position(|name| *name == word) {
        return u32::try_from(at).ok();
    }
    if word == "couple" {
        return Some(2);
    }
    word.parse().ok().filter(|number| *number <= 100_000)
}

/// Words that say nothing about what is meant.
const EMPTY: [&str; 87] = [
    "a",
    "an",
    "the",
    "to",
    "of",
    "for",
    "in",
    "on",
    "at",
    "by",
    "with",
    "and",
    "or",
    "from",
    "into",
    "is",
    "are",
    "be",
    "it",
    "its",
    "this",
    "that",
    "these",
    "those",
    "them",
    "they",
    "my",
    "our",
    "your",
    "their",
    "we",
    "you",
    "i",
    "me",
    "us",
    "so",
    "as",
    "if",
    "not",
    "no",
    "do",
    "does",
    "all",
    "every",
    "each",
    "some",
    "any",
    "more",
    "most",
    "new",
    "old",
    "please",
    "can",
    "could",
    "should",
    "would",
    "must",
    "will",
    "need",
    "needs",
    "want",
    "also",
    "just",
    "up",
    "out",
    "over",
    "about",
    "when",
    "while",
    "where",
    "which",
    "who",
    "what",
    "how",
    "why",
    "has",
    "have",
    "there",
    "then",
    "than",
    "very",
    "across",
    "whole",
    "entire",
    "everything",
    "using",
    "use",
];

/// Tells whether a word says nothing by itself.
pub(crate) fn is_empty_word(word: &str) -> bool {
    EMPTY.contains(&word) || word.chars().all(|c| !c.is_alphanumeric())
}

/// Brings forms of a word together, roughly: plurals, endings, and common short forms.
pub(crate) fn stem(word: &str) -> String {
    let short = match word {
        "authentication" | "authenticate" | "authorization" | "authorisation" => {
            return "auth".to_owned();
        }
        "database" | "databases" => return "db".to_owned(),
        "configuration" | "configure" => return "config".to_owned(),
        "documentation" | "docs" => return "doc".to_owned(),
        other => other,
    };
    let cut = |end: &str, put: &str| {
        let kept = short.strip_suffix(end).filter(|kept| kept.chars().count() >= 3)?;
        Some(format!("{kept}{put}"))
    };
    if short.ends_with("ss") {
        return short.to_owned();
    }
    cut("ies", "y")
        .or_else(|| cut("sses", "ss"))
        .or_else(|| cut("s", ""))
        .or_else(|| cut("ing", ""))
        .unwrap_or_else(|| short.to_owned())
}

/// Tells whether two words mean the same thing, where one may be short for the other.
pub(crate) fn same(a: &str, b: &str) -> bool {
    let (a, b) = (stem(a), stem(b));
    let (long, short) = if a.len() >= b.len() { (&a, &b) } else { (&b, &a) };
    // `admin` is short for `administration`; `mode` is not short for `model`.
    let cut = long.chars().count().saturating_sub(short.chars().count());
    a == b || (short.chars().count() >= 4 && cut >= 3 && long.starts_with(short.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_with_their_places() {
        let text = "What's agent-3 doing in src/auth.rs?";
        let found = words(text);
        let lows: Vec<&str> = found.iter().map(|word| word.low.as_str()).collect();
        assert_eq!(lows, ["what", "agent-3", "doing", "in", "src/auth.rs"]);
        assert!(found.iter().all(|word| text[word.start..word.end].len() == word.end - word.start));
        assert_eq!(&text[found[4].start..found[4].end], "src/auth.rs");
    }

    #[test]
    fn what_nobody_sees_is_a_blank_and_nothing_at_all_is_refused() {
        assert_eq!(clean("add\u{202e} a\u{0} page").unwrap(), "add  a  page");
        assert!(clean(" \u{200b}\n?! ").is_err());
        assert!(clean(&"x".repeat(TEXT_MAX_BYTES + 1)).is_err());
    }

    #[test]
    fn forms_of_a_word_are_the_same() {
        assert!(
            same("authentication", "auth")
                && same("tests", "test")
                && same("categories", "category")
        );
        assert!(!same("cart", "car") && !same("api", "app") && !same("mode", "models"));
    }
}
