//! A text of YAML or JSON as a tree that remembers where each value stood.

mod json;
mod yaml;

use serde_json::{Map, Number, Value};

use super::limits::{TEXT_MAX_BYTES, TEXT_MAX_DEPTH, TEXT_MAX_NODES};
use super::problem::{Mistake, Position, Problem};

/// A value and where it stood.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) kind: NodeKind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum NodeKind {
    /// A text that is not quoted in YAML, or a number, boolean or null in JSON: what it is depends
    /// on who reads it, so that `version: 1.10` stays what was written.
    Plain(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the text.
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: Position,
    pub(crate) value: Node,
}

/// Reads a text: JSON if it begins with a brace, or else YAML.
pub(crate) fn read(text: &str) -> Result<Node, Problem> {
    if text.len() > TEXT_MAX_BYTES {
        return Err(Problem {
            code: Mistake::TooLarge,
            message: format!("the text has {} bytes", text.len()),
            hint: Some(format!("at most {TEXT_MAX_BYTES} bytes are read")),
            at: Position::START,
        });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') { json::read(text) } else { yaml::read(text) }
}

impl Node {
    /// Returns the value as JSON; texts that are not quoted become what the YAML core schema says.
    pub(crate) fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Plain(text) => resolve(text),
            NodeKind::Text(text) => Value::String(text.clone()),
            NodeKind::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeKind::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// Says what kind of value it is, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match &self.kind {
            NodeKind::Plain(text) => match resolve(text) {
                Value::Null => "nothing",
                Value::Bool(_) => "a boolean",
                Value::Number(_) => "a number",
                _ => "a text",
            },
            NodeKind::Text(_) => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a mapping",
        }
    }
}

/// What an unquoted text means in the core schema of YAML.
fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    let shape = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !digits.chars().all(shape) {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Number::from(whole));
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(Number::from(whole));
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// Counts what a text holds, so that a small text cannot become a large tree.
#[derive(Debug, Default)]
struct Budget {
    nodes: usize,
}

impl Budget {
    fn spend(&mut self, nodes: usize, depth: usize, at: Position) -> Result<(), Problem> {
        self.nodes += nodes;
        if depth > TEXT_MAX_DEPTH {
            return Err(problem(
                Mistake::TooDeep,
                at,
                format!("the text is nested more than {TEXT_MAX_DEPTH} levels deep"),
            ));
        }
        if self.nodes > TEXT_MAX_NODES {
            return Err(problem(
                Mistake::TooLarge,
                at,
                format!("the text holds more than {TEXT_MAX_NODES} values"),
            ));
        }
        Ok(())
    }
}

fn problem(code: Mistake, at: Position, message: impl Into<String>) -> Problem {
    Problem { code, message: message.into(), hint: None, at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tree(text: &str) -> Value {
        read(text).unwrap_or_else(|problem| panic!("{problem}")).to_json()
    }

    #[test]
    fn yaml_and_json_give_the_same_tree() {
        let yaml =
            "a: 1\nb: [true, ~, 'x', \"y\\n\", 1.5, 0x10, 1e3, -7, .5]\nc:\n  d: text here\n";
        let json = r#" {"a": 1, "b": [true, null, "x", "y\n", 1.5, 16, 1e3, -7, 0.5], "c": {"d": "text here"}}"#;
        assert_eq!(tree(yaml), tree(json));
    }

    #[test]
    fn what_looks_like_a_number_and_is_none_stays_text() {
        let text = "- 1.2.3\n- 1-2\n- '12'\n- 12abc\n- nan\n- \"true\"\n- 99999999999999999999\n";
        let expected = json!(["1.2.3", "1-2", "12", "12abc", "nan", "true", 1e20]);
        assert_eq!(tree(text), expected);
    }

    #[test]
    fn places_are_those_of_the_text() {
        for text in
            ["a: 1\nb:\n  - é: x\n    c: y\n", "{\"a\": 1,\n\"b\": [\n  {\"é\": \"x\", \"c\": 2}]}"]
        {
            let NodeKind::Map(top) = read(text).unwrap().kind else { panic!("no map") };
            assert_eq!(top[0].at, if text.starts_with('{') { at(1, 2) } else { at(1, 1) });
            assert_eq!(top[1].at, at(2, 1));
            let NodeKind::List(items) = &top[1].value.kind else { panic!("no list") };
            let NodeKind::Map(inner) = &items[0].kind else { panic!("no map") };
            let place = inner[1].at;
            assert_eq!(place, if text.starts_with('{') { at(3, 14) } else { at(4, 5) });
        }
    }

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    #[test]
    fn faults_of_syntax_are_told_where_they_are() {
        for (text, code, line) in [
            ("a: [1, 2\nb: 3\n", Mistake::Syntax, 2),
            ("a: 1\na: 2\n", Mistake::DuplicateField, 2),
            ("{\"a\": 1,\n \"a\": 2}", Mistake::DuplicateField, 2),
            ("{\"a\": 1,\n}", Mistake::Syntax, 2),
            ("{\"a\": 1}\n x", Mistake::Syntax, 2),
            ("{\"a\": 01}", Mistake::Syntax, 1),
            ("{\"a\": tru}", Mistake::Syntax, 1),
            ("{\"a\": \"x\n\"}", Mistake::Syntax, 1),
            ("a: *nobody\n", Mistake::Syntax, 1),
            ("? [a]\n: b\n", Mistake::Syntax, 1),
            ("", Mistake::Syntax, 1),
            ("a: 1\n---\nb: 2\n", Mistake::Syntax, 2),
        ] {
            let problem = read(text).expect_err(text);
            assert_eq!((problem.code, problem.at.line), (code, line), "{text:?}: {problem}");
        }
    }

    #[test]
    fn a_small_text_cannot_become_a_large_or_deep_tree() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..12 {
            let before = vec![format!("*a{}", level - 1); 10].join(",");
            bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
        }
        assert_eq!(read(&bomb).unwrap_err().code, Mistake::TooLarge);
        for deep in [
            format!("a: {}{}", "[".repeat(100), "]".repeat(100)),
            format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        ] {
            assert_eq!(read(&deep).unwrap_err().code, Mistake::TooDeep);
        }
        let deeper = format!("a: {}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(read(&deeper).is_err(), "the parser itself stops earlier");
        assert_eq!(read(&" ".repeat(TEXT_MAX_BYTES + 1)).unwrap_err().code, Mistake::TooLarge);
    }

    #[test]
    fn anchors_and_surrogates_are_understood() {
        assert_eq!(tree("a: &x {k: 1}\nb: *x\n"), json!({"a": {"k": 1}, "b": {"k": 1}}));
        assert_eq!(tree(r#"{"a": "\ud83d\ude00\/"}"#), json!({"a": "😀/"}));
    }
}
