//! What a person typed to find beads: `status:open agent:none blocked:no updated:<2d login`.
//!
//! Words are joined by spaces and all must hold; of several values of a field any will do; a minus before a
//! word turns it around; quotes hold words together. The dashboard reads the same language, and both are
//! held to the same examples.

use std::str::FromStr as _;

use godel_model::{BeadKind, BeadStatus, Invalid, Priority, code};
use jiff::Timestamp;

/// The longest query that is read.
const QUERY_MAX_BYTES: usize = 2_000;
/// The most words and values that one may have.
const TERMS_MAX: usize = 100;

const FIELDS: [&str; 10] = [
    "status", "priority", "type", "agent", "blocked", "label", "convoy", "parent", "updated",
    "created",
];

/// A query that was read; all of its terms must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(super) terms: Vec<Term>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// It must not hold.
    pub(super) not: bool,
    pub(super) what: What,
}

/// What a term asks for; of several values any will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Words that stand so beside each other, the last one only as far as it was typed.
    Text(String),
    Status(Vec<BeadStatus>),
    Priority(Vec<Priority>),
    Kind(Vec<String>),
    Blocked(Vec<bool>),
    Label(Vec<String>),
    Agent(Vec<Named>),
    Convoy(Vec<Named>),
    Parent(Vec<Named>),
    Moment {
        column: Moment,
        after: bool,
        at: Timestamp,
    },
}

/// A name, or none at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    Nothing,
    /// Exactly this one.
    Exactly(String),
    /// This one, whatever the case of its letters.
    Like(String),
}

/// A time of a bead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Updated,
    Created,
}

/// Who asks, and when: what `agent:me` and `updated:<2d` mean.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The name under which they act.
    pub name: &'a str,
    /// The time.
    pub now: Timestamp,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// If a word of it means nothing; says which, and what was perhaps meant.
    pub fn read(text: &str, asker: Asker<'_>) -> Result<Self, Invalid> {
        if text.len() > QUERY_MAX_BYTES {
            return Err(refuse(format!("a query may have at most {QUERY_MAX_BYTES} bytes")));
        }
        let mut terms = Vec::new();
        for word in words(text) {
            terms.extend(term(&word, asker).map_err(|why| {
                let word = &word.shown;
                refuse(format!("the query cannot be read at `{word}`: {why}"))
            })?);
        }
        let count: usize = terms.iter().map(|term| term.what.values()).sum();
        if count > TERMS_MAX {
            return Err(refuse(format!("a query may have at most {TERMS_MAX} words and values")));
        }
        Ok(Self { terms })
    }

    /// Whether it says something about the status, so that no other default is wanted.
    pub fn names_status(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.what, What::Status(_)))
    }
}

fn refuse(why: String) -> Invalid {
    Invalid::new(code::INVALID_QUERY, why)
        .with_hint("such as `status:open agent:none blocked:no updated:<2d login`")
}

impl What {
    fn values(&self) -> usize {
        match self {
            Self::Text(_) | Self::Moment { .. } => 1,
            Self::Status(values) => values.len(),
            Self::Priority(values) => values.len(),
            Self::Blocked(values) => values.len(),
            Self::Kind(values) | Self::Label(values) => values.len(),
            Self::Agent(values) | Self::Convoy(values) | Self::Parent(values) => values.len(),
        }
    }
}

/// A word as it was typed, and what it says without quotes.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    shown: String,
    text: String,
    quoted: bool,
}

/// Splits a query at spaces; quotes hold words together.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut shown = String::new();
    let mut inside = false;
    for letter in text.chars().chain([' ']) {
        inside ^= letter == '"';
        if !letter.is_whitespace() || inside {
            shown.push(letter);
        } else if !shown.is_empty() {
            words.push(Word::of(std::mem::take(&mut shown)));
        }
    }
    // A quote that is not closed reaches to the end.
    if !shown.trim().is_empty() {
        words.push(Word::of(shown.trim_end().to_owned()));
    }
    words
}

impl Word {
    fn of(shown: String) -> Self {
        Self { text: shown.replace('"', ""), quoted: shown.starts_with('"'), shown }
    }
}

/// Reads a word; none if it says nothing.
fn term(word: &Word, asker: Asker<'_>) -> Result<Option<Term>, String> {
    let bare = word.text.strip_prefix('-').filter(|rest| !word.quoted && !rest.is_empty());
    let (not, text) = (bare.is_some(), bare.unwrap_or(&word.text));
    let field = text.split_once(':').filter(|(field, value)| {
        // An address or a time is text; a field is one word of letters.
        let letters = !field.is_empty() && field.bytes().all(|letter| letter.is_ascii_alphabetic());
        !word.quoted && letters && !value.starts_with("//")
    });
    let what = match field {
        Some((field, value)) => Some(field_of(&field.to_ascii_lowercase(), value, asker)?),
        None if text.contains(char::is_alphanumeric) => Some(What::Text(text.to_owned())),
        None => None,
    };
    Ok(what.map(|what| Term { not, what }))
}

fn field_of(field: &str, value: &str, asker: Asker<'_>) -> Result<What, String> {
    if !FIELDS.contains(&field) {
        return Err(format!("there is no field {field}{}", meant(field, &FIELDS)));
    }
    let values: Vec<String> =
        value.split(',').filter(|one| !one.is_empty()).map(str::to_lowercase).collect();
    if values.is_empty() {
        return Err(format!("{field} needs a value"));
    }
    let me = |value: &String| value == "me" && field == "agent";
    let named = |value: String| match value.as_str() {
        "none" => Named::Nothing,
        _ if me(&value) => Named::Exactly(asker.name.to_owned()),
        _ => Named::Like(value),
    };
    let named = |values: Vec<String>| values.into_iter().map(named).collect();
    Ok(match field {
        "status" => What::Status(one_of(field, &values, BeadStatus::ALL, |one| one.as_str())?),
        "priority" => What::Priority(one_of(field, &values, Priority::ALL, |one| one.as_str())?),
        "type" => {
            let kinds = one_of(field, &values, BeadKind::ALL, |one| one.as_str())?;
            What::Kind(kinds.iter().map(|kind| kind.as_str().to_owned()).collect())
        }
        "blocked" => {
            let word = |yes: &bool| if *yes { "yes" } else { "no" };
            What::Blocked(one_of(field, &values, &[true, false], word)?)
        }
        "label" => What::Label(values),
        "agent" => What::Agent(named(values)),
        "convoy" => What::Convoy(named(values)),
        "parent" => What::Parent(named(values)),
        _ => moment(field, value, asker.now)?,
    })
}

/// Reads values that are words of a list.
fn one_of<T: Clone>(
    field: &str,
    values: &[String],
    all: &[T],
    word: impl Fn(&T) -> &'static str,
) -> Result<Vec<T>, String> {
    let read = |value: &String| {
        let found = all.iter().find(|one| word(one) == value);
        found.cloned().ok_or_else(|| {
            let words: Vec<&str> = all.iter().map(&word).collect();
            let (last, others) = words.split_last().unwrap_or((&"", &[]));
            format!("{field} is {} or {last}{}", others.join(", "), meant(value, &words))
        })
    };
    values.iter().map(read).collect()
}

/// Reads an age such as `<2d`.
fn moment(field: &str, value: &str, now: Timestamp) -> Result<What, String> {
    let refuse = || format!("{field} takes an age such as <2d, >3h or <1w");
    let (sign, age) = value.split_at_checked(1).ok_or_else(refuse)?;
    let (number, unit) = age.split_at_checked(age.len().saturating_sub(1)).ok_or_else(refuse)?;
    let seconds = match unit.to_ascii_lowercase().as_str() {
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(refuse()),
    };
    let digits =
        (1..=5).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
    let number = i64::from_str(number).ok().filter(|_| digits).ok_or_else(refuse)?;
    let at = Timestamp::from_second(now.as_second() - number * seconds).map_err(|_| refuse())?;
    let column = if field == "updated" { Moment::Updated } else { Moment::Created };
    match sign {
        "<" => Ok(What::Moment { column, after: true, at }),
        ">" => Ok(What::Moment { column, after: false, at }),
        _ => Err(refuse()),
    }
}

/// Guesses what a word was to be.
fn meant(word: &str, known: &[&str]) -> String {
    let begins = word.get(..2).unwrap_or(word);
    let found = known.iter().find(|one| one.starts_with(begins));
    found.map(|one| format!("; did you mean {one}?")).unwrap_or_default()
}
