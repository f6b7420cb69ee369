//! What a template may be: expressions, `if` and `for`, over a short list of filters and tests.
//!
//! There is no `set`, no macro, no include, no function and no `*`: nothing by which a short text
//! could grow without end. What is left costs at most instructions times what is read.

use std::sync::LazyLock;

use minijinja::value::{Rest, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::super::limits::{RENDERED_MAX_BYTES, TAG_MAX_CHARS, TEMPLATE_MAX_CHARS};
use super::scan::{Word, words};

/// The words that may begin a `{% .. %}`.
const STATEMENTS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];
const FILTERS: [&str; 12] = [
    "default", "first", "int", "join", "json", "last", "length", "lower", "replace", "string",
    "trim", "upper",
];
const TESTS: [&str; 4] = ["defined", "undefined", "none", "string"];

/// One `{{ .. }}` or `{% .. %}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) inside: &'a str,
    pub(super) statement: bool,
}

/// Tells whether a text has anything to fill in.
pub(in super::super) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

/// Returns the tags of a template; comments are left out.
pub(super) fn tags(text: &str) -> Result<Vec<Tag<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (inside, statement) = match rest.as_bytes().get(start + 1) {
            Some(b'{') => (&rest[start + 2..], false),
            Some(b'%') => (&rest[start + 2..], true),
            Some(b'#') => {
                let comment = &rest[start + 2..];
                let end = comment.find("#}").ok_or("a comment `{#` is not closed")?;
                rest = &comment[end + 2..];
                continue;
            }
            _ => {
                rest = &rest[start + 1..];
                continue;
            }
        };
        let close = if statement { "%}" } else { "}}" };
        let end = end_of(inside, close)
            .ok_or_else(|| format!("`{}` is not closed", if statement { "{%" } else { "{{" }))?;
        let trim = |c| c == '-' || c == '+';
        let inner = inside[..end].strip_prefix(trim).unwrap_or(&inside[..end]);
        found.push(Tag { inside: inner.strip_suffix('-').unwrap_or(inner), statement });
        rest = &inside[end + 2..];
    }
    Ok(found)
}

/// Where a tag ends; what is in quotes does not end it, and neither does a mapping in it.
fn end_of(inside: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    let mut braces = 0_u32;
    for (place, next) in inside.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if next == '\\' => escaped = true,
            Some(open) if next == open => quote = None,
            Some(_) => {}
            None if braces == 0 && inside[place..].starts_with(close) => return Some(place),
            None => match next {
                '"' | '\'' => quote = Some(next),
                '{' => braces += 1,
                '}' => braces = braces.saturating_sub(1),
                _ => {}
            },
        }
    }
    None
}

/// Checks a template without running it.
pub(in super::super) fn check(text: &str) -> Result<(), String> {
    if text.chars().count() > TEMPLATE_MAX_CHARS {
        return Err(format!("a template has at most {TEMPLATE_MAX_CHARS} characters"));
    }
    for tag in tags(text)? {
        check_tag(tag)?;
    }
    ENVIRONMENT.template_from_str(text).map(|_| ()).map_err(|error| sentence(&error))
}

fn check_tag(tag: Tag<'_>) -> Result<(), String> {
    if tag.inside.chars().count() > TAG_MAX_CHARS {
        return Err(format!("one `{{{{ .. }}}}` has at most {TAG_MAX_CHARS} characters"));
    }
    let words = words(tag.inside);
    if tag.statement {
        let known =
            |word: &Word| matches!(word, Word::Name(name) if STATEMENTS.contains(&name.as_str()));
        if !words.first().is_some_and(known) {
            return Err("a template knows only `if` and `for`".to_owned());
        }
    }
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| &words[place]);
        match (word, words.get(place + 1)) {
            (Word::Sign('*'), _) => return Err("a template cannot multiply".to_owned()),
            (Word::Sign('|'), Some(Word::Name(name))) if !FILTERS.contains(&name.as_str()) => {
                return Err(format!(
                    "there is no filter `{name}`; there are {}",
                    FILTERS.join(", ")
                ));
            }
            (Word::Name(is), Some(Word::Name(name)))
                if is == "is" && name != "not" && !TESTS.contains(&name.as_str()) =>
            {
                return Err(format!("there is no test `{name}`; there are {}", TESTS.join(", ")));
            }
            (Word::Name(name), Some(Word::Sign('('))) if !may_be_called(name, before) => {
                return Err(format!("`{name}` cannot be called: a template has no functions"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A bracket after a name is a call, unless the name is a filter, a test or a word of the language.
fn may_be_called(name: &str, before: Option<&Word>) -> bool {
    const LANGUAGE: [&str; 9] = ["and", "or", "not", "in", "if", "elif", "else", "is", "for"];
    let filtered = before == Some(&Word::Sign('|'));
    LANGUAGE.contains(&name) || (filtered && FILTERS.contains(&name))
}

/// Says in one line what the template engine found.
pub(super) fn sentence(error: &Error) -> String {
    let mut text = error.kind().to_string();
    if let Some(detail) = error.detail() {
        text = format!("{text}: {detail}");
    }
    if let Some(line) = error.line().filter(|line| *line > 1) {
        text = format!("{text} (line {line} of the template)");
    }
    text
}

/// The environment of all templates; it holds no template itself.
pub(super) static ENVIRONMENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| {
        let mut env = Environment::empty();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.set_recursion_limit(64);
        env.add_filter("default", |value: Value, other: Value| {
            if value.is_undefined() || value.is_none() { other } else { value }
        });
        env.add_filter("length", |value: Value| value.len().ok_or_else(|| odd("it has no length")));
        env.add_filter("first", |value: Value| {
            value.try_iter().map(|mut all| all.next().unwrap_or_default())
        });
        env.add_filter("last", |value: Value| {
            value.try_iter().map(|all| all.last().unwrap_or_default())
        });
        env.add_filter("upper", |text: String| text.to_uppercase());
        env.add_filter("lower", |text: String| text.to_lowercase());
        env.add_filter("trim", |text: String| text.trim().to_owned());
        env.add_filter("replace", |text: String, from: String, to: String| {
            let times = text.matches(&from).count();
            bounded(text.len() + times * to.len())?;
            Ok::<_, Error>(text.replace(&from, &to))
        });
        env.add_filter("join", join);
        env.add_filter("json", |value: Value| {
            let text = serde_json::to_string(&value).map_err(|error| odd(error.to_string()))?;
            bounded(text.len()).map(|()| text)
        });
        env.add_filter("string", |value: Value| {
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        });
        env.add_filter("int", |value: Value| match value.as_str() {
            Some(text) => text.trim().parse::<i64>().map_err(|_| odd("it is no whole number")),
            None => i64::try_from(value).map_err(|_| odd("it is no whole number")),
        });
        env.add_test("defined", |value: Value| !value.is_undefined());
        env.add_test("undefined", |value: Value| value.is_undefined());
        env.add_test("none", |value: Value| value.is_none());
        env.add_test("string", |value: Value| value.as_str().is_some());
        env
    });

fn join(list: Value, between: Rest<String>) -> Result<String, Error> {
    let between = between.first().map_or("", String::as_str);
    let mut text = String::new();
    for (place, item) in list.try_iter()?.enumerate() {
        if place > 0 {
            text.push_str(between);
        }
        match item.as_str() {
            Some(item) => text.push_str(item),
            None => text.push_str(&item.to_string()),
        }
        bounded(text.len())?;
    }
    Ok(text)
}

fn odd(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

fn bounded(bytes: usize) -> Result<(), Error> {
    if bytes <= RENDERED_MAX_BYTES {
        return Ok(());
    }
    Err(odd(format!("more than {RENDERED_MAX_BYTES} bytes would be made")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_templates_may_do_passes() {
        for text in [
            "plain { text } with } braces {",
            "{{ inputs.a }}",
            "{{- inputs.a -}}",
            "{% if inputs.a is defined and not (inputs.b == 1) %}x{% else %}y{% endif %}",
            "{% for a in steps.x.output.list %}{{ loop.index }}: {{ a|upper }}{% endfor %}",
            "{{ inputs.list|join(', ') }} {{ {'a': {'b': 1}}|json }} {{ inputs.x|default('}}') }}",
            "{{ 'x' if (inputs.a) else 'y' }} {# anything {{ here #}",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_templates_may_not_do_is_refused() {
        for text in [
            "{{ inputs.a",
            "{% if x %}",
            "{% set x = 1 %}",
            "{% macro x() %}{% endmacro %}",
            "{% include 'x' %}",
            "{{ 'a' * 1000000000 }}",
            "{{ range(10) }}",
            "{{ inputs.a.items() }}",
            "{{ inputs.a|batch(2) }}",
            "{{ inputs.a is divisibleby(2) }}",
            "{# open",
            "{{ inputs. }}",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        assert!(check(&format!("{{{{ {} }}}}", "x ~ ".repeat(200) + "x")).is_err());
        assert!(check(&"x".repeat(TEMPLATE_MAX_CHARS + 1)).is_err());
    }
}
