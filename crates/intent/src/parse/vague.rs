//! When work is too vague to plan: the one question that makes it plain.

use godel_model::{PartKind, Survey};

use super::{About, CHOICES_MAX, Choice, Intent, Question, Scene};
use crate::rules::{self, places};
use crate::text::{Word, is_empty_word, line, words};

/// Words that name everything and nothing.
const GENERIC: [&str; 30] = [
    "bug",
    "bugs",
    "issue",
    "issues",
    "problem",
    "problems",
    "thing",
    "things",
    "stuff",
    "code",
    "codebase",
    "error",
    "errors",
    "app",
    "application",
    "project",
    "better",
    "nicer",
    "work",
    "works",
    "broken",
    "again",
    "properly",
    "now",
    "asap",
    "quickly",
    "here",
    "something",
    "repo",
    "repository",
];

/// Asks what has to be known before the work can be planned.
pub(super) fn question(intent: &Intent, scene: &Scene<'_>) -> Option<Question> {
    let answered = |about| scene.answer.is_some_and(|answer| answer.about == about);
    let said = words(intent.task());
    let survey = scene.survey;
    if !answered(About::Object) && !answered(About::Action) {
        if let Some(verb) = objectless(&said) {
            return Some(object(verb, survey));
        }
        if actionless(intent.task(), &said) {
            return Some(action(intent.task()));
        }
    }
    if answered(About::Part) {
        return None;
    }
    survey.and_then(|survey| twins(&said, survey))
}

/// Returns the verb if it is about nothing in particular.
fn objectless(said: &[Word]) -> Option<&str> {
    let verb = said.iter().find(|word| rules::is_work_verb(&word.low))?;
    // `the store` is a thing, though one can store something.
    let noun = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| said.get(before));
        before.is_some_and(|word| matches!(word.low.as_str(), "the" | "a" | "an" | "our" | "my"))
    };
    let particular = |(at, word): &(usize, &Word)| {
        !is_empty_word(&word.low)
            && !GENERIC.contains(&word.low.as_str())
            && (!rules::is_work_verb(&word.low) || noun(*at))
            && !rules::stands_alone(&word.low)
    };
    let alone = said.iter().any(|word| rules::stands_alone(&word.low));
    let found = said.iter().enumerate().filter(particular).count();
    (found == 0 && !alone).then_some(verb.low.as_str())
}

/// A few words without a verb, such as `dark mode`.
fn actionless(task: &str, said: &[Word]) -> bool {
    let verb =
        said.iter().any(|word| rules::is_work_verb(&word.low) || rules::stands_alone(&word.low));
    said.len() <= 4 && !verb && !rules::complains(task) && !task.contains(['?', '\n'])
}

fn object(verb: &str, survey: Option<&Survey>) -> Question {
    let parts = survey.map(|survey| survey.parts.as_slice()).unwrap_or_default();
    let code = parts.iter().filter(|part| part.kind == PartKind::Code);
    let choice = |path: &str| Choice { value: path.to_owned(), label: line(path, 100) };
    let choices = code.take(CHOICES_MAX).map(|part| choice(&part.path)).collect();
    let ask = format!("What should I {verb}? Name the part and what is wrong or wanted there.");
    Question { about: About::Object, ask, choices, free: true }
}

fn action(task: &str) -> Question {
    let shown = line(task, 80);
    let choice =
        |value: &str, label: &str| Choice { value: value.to_owned(), label: label.to_owned() };
    Question {
        about: About::Action,
        ask: format!("What should be done about \"{shown}\"?"),
        choices: vec![
            choice("add", "Add it"),
            choice("fix", "Fix it"),
            choice("test", "Test it"),
            choice("investigate", "Look into it"),
        ],
        free: true,
    }
}

/// Two parts of the same name, and nothing that tells which.
fn twins(said: &[Word], survey: &Survey) -> Option<Question> {
    for word in said.iter().take(places::WORDS_MAX) {
        let parts = places::exact(survey, &word.low);
        let parts: Vec<_> = parts.into_iter().filter(|part| part.kind == PartKind::Code).collect();
        let named = |path: &str| {
            let mut folders = path.split('/').rev().skip(1);
            folders
                .any(|folder| said.iter().any(|other| other.low.contains(&folder.to_lowercase())))
        };
        let spread = said.iter().any(|word| rules::is_everywhere(&word.low) || word.low == "both");
        if parts.len() < 2 || spread || parts.iter().any(|part| named(&part.path)) {
            continue;
        }
        let mut choices: Vec<Choice> = parts
            .iter()
            .take(CHOICES_MAX - 1)
            .map(|part| Choice { value: part.path.clone(), label: line(&part.path, 100) })
            .collect();
        let all: Vec<&str> = parts.iter().map(|part| part.path.as_str()).collect();
        choices.push(Choice { value: all.join(", "), label: "all of them".to_owned() });
        let ask = format!("Which \"{}\" is meant?", line(&word.low, 60));
        return Some(Question { about: About::Part, ask, choices, free: false });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_that_is_also_a_verb_is_something_in_particular() {
        for plain in ["Fix the store", "Improve our cache", "Add tests", "Fix the login page"] {
            assert_eq!(objectless(&words(plain)), None, "{plain}");
        }
        for vague in ["Fix it", "Improve the code", "Refactor", "Make it better"] {
            assert!(objectless(&words(vague)).is_some(), "{vague}");
        }
    }
}
