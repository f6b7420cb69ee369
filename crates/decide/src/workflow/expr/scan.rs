//! Finds in a condition or template what it names, by reading words and not by running it.

use std::iter::Peekable;
use std::str::Chars;

/// Something that an expression reads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Reference {
    /// One input.
    Inputs(String),
    /// All inputs at once.
    AllInputs,
    /// One step.
    Step(String),
    /// The run.
    Run,
}

/// Whose words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Syntax {
    /// CEL.
    Condition,
    /// The inside of the tags of a template.
    Template,
}

/// A word of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// A name.
    Name(String),
    /// A text in quotes.
    Text(String),
    /// A number.
    Number,
    /// Anything else.
    Sign(char),
}

/// Splits an expression into words.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(first) = rest.next() {
        match first {
            blank if blank.is_whitespace() => {}
            '"' | '\'' => words.push(Word::Text(quoted(&mut rest, first))),
            digit if digit.is_ascii_digit() => {
                while rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
                words.push(Word::Number);
            }
            letter if letter.is_alphabetic() || letter == '_' => {
                let mut name = String::from(letter);
                while let Some(next) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(next);
                }
                words.push(Word::Name(name));
            }
            sign => words.push(Word::Sign(sign)),
        }
    }
    words
}

fn quoted(rest: &mut Peekable<Chars<'_>>, quote: char) -> String {
    let mut text = String::new();
    while let Some(next) = rest.next() {
        match next {
            '\\' => text.extend(rest.next()),
            end if end == quote => break,
            other => text.push(other),
        }
    }
    text
}

/// Returns what an expression names, or says which name cannot be looked up.
pub(in super::super) fn references(text: &str, syntax: Syntax) -> Result<Vec<Reference>, String> {
    let mut found = Vec::new();
    match syntax {
        Syntax::Condition => scan(&words(text), &mut found)?,
        Syntax::Template => {
            for tag in super::template::tags(text)? {
                scan(&words(tag.inside), &mut found)?;
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn scan(words: &[Word], found: &mut Vec<Reference>) -> Result<(), String> {
    for (place, word) in words.iter().enumerate() {
        let Word::Name(name) = word else { continue };
        // A name after a dot is a field of something else, and one before `=` names an argument.
        if place > 0 && words[place - 1] == Word::Sign('.') {
            continue;
        }
        match name.as_str() {
            "steps" => match member(&words[place + 1..]) {
                Some(id) => found.push(Reference::Step(id)),
                None => {
                    return Err("`steps` must be followed by the id of a step, as in \
                                `steps.build` or `steps[\"build-all\"]`"
                        .to_owned());
                }
            },
            "inputs" => found
                .push(member(&words[place + 1..]).map_or(Reference::AllInputs, Reference::Inputs)),
            "run" => found.push(Reference::Run),
            _ => {}
        }
    }
    Ok(())
}

/// The field that is taken, if it is named outright.
fn member(after: &[Word]) -> Option<String> {
    match after {
        [Word::Sign('.'), Word::Name(name), ..] => Some(name.clone()),
        [Word::Sign('['), Word::Text(name), Word::Sign(']'), ..] => Some(name.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Reference> {
        references(text, Syntax::Condition).unwrap()
    }

    #[test]
    fn what_is_named_is_found_wherever_it_stands() {
        let step = |id: &str| Reference::Step(id.to_owned());
        let input = |name: &str| Reference::Inputs(name.to_owned());
        assert_eq!(
            of("steps.a.output.n > inputs.b && run.id != ''"),
            [input("b"), step("a"), Reference::Run]
        );
        assert_eq!(of("steps['a-b'].state == \"steps.c\""), [step("a-b")]);
        assert_eq!(of("has(steps . a . output)"), [step("a")]);
        assert_eq!(of("x.steps.y + x.inputs"), []);
        assert_eq!(of("size(inputs) > 0"), [Reference::AllInputs]);
        assert_eq!(of("'it\\'s steps.x' == ''"), []);
    }

    #[test]
    fn a_step_by_a_computed_name_is_refused() {
        for text in
            ["steps[inputs.x].output", "steps.all(s, true)[0] == steps", "steps", "size(steps)"]
        {
            let refused = references(text, Syntax::Condition);
            // `steps.all` names a step `all`, which is found missing later; the others are refused.
            assert!(refused.is_err(), "{text}");
        }
    }

    #[test]
    fn templates_are_read_only_inside_their_tags() {
        let found = references("steps.x {{ steps.y.output }} {# steps.z #}", Syntax::Template);
        assert_eq!(found.unwrap(), [Reference::Step("y".to_owned())]);
    }
}
