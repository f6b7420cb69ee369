//! Reading the script out of a prompt.
//!
//! A directive stands in double square brackets anywhere in the text. `[[then]]` divides the
//! script into steps: the first is played at once, the next when tool results have come back.

use std::time::Duration;

use serde_json::Value;

use crate::fault::{Fault, settings};
use crate::reply::Stop;
use crate::usage::Usage;
use crate::work::Work;

/// What a prompt asks the provider to do.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    pub(crate) usage: Option<Usage>,
    /// In which tier it is said to be served.
    pub(crate) tier: Option<String>,
    /// How many searches of the web are said to be made.
    pub(crate) searches: u64,
    /// A piece of work that is done in as many steps as it takes.
    pub(crate) work: Option<Work>,
    /// The time before each event but the first.
    pub(crate) pace: Option<Duration>,
    /// Directives that could not be read; a typing error must not look like a success.
    pub(crate) errors: Vec<String>,
}

/// What is done in answer to one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) calls: Vec<Wanted>,
    pub(crate) say: Option<String>,
    pub(crate) json: Option<Value>,
    pub(crate) words: Option<usize>,
    pub(crate) think: bool,
    pub(crate) stop: Option<Stop>,
    pub(crate) fault: Option<Fault>,
}

/// A tool call that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    /// The tool of this name.
    Tool { name: String, input: Value },
    /// The tool of this name, even if there is none.
    Unoffered { name: String, input: Value },
    /// Whichever tool runs a command in a shell.
    Shell(String),
}

/// The longest text that may be asked for.
const WORDS_MAX: usize = 200_000;
const STEPS_MAX: usize = 100;

impl Script {
    /// Reads all directives of a text.
    pub(crate) fn parse(text: &str) -> Self {
        let mut script = Self { steps: vec![Step::default()], ..Self::default() };
        let mut rest = text;
        while let Some(at) = rest.find("[[") {
            rest = &rest[at + 2..];
            let head: String =
                rest.chars().take_while(|c| !c.is_whitespace() && *c != ']').collect();
            let body = &rest[head.len()..];
            match script.take(&head, body) {
                Ok(used) => rest = &body[used..],
                Err(error) => script.errors.push(format!("[[{head}: {error}")),
            }
        }
        script
    }

    /// Obeys one directive and returns how much of `body` it took.
    fn take(&mut self, head: &str, body: &str) -> Result<usize, String> {
        let full = self.steps.len() >= STEPS_MAX;
        let Some(step) = self.steps.last_mut() else {
            return Ok(0);
        };
        match head {
            "call" => {
                let (name, input, used) = named_json(body)?;
                step.calls.push(Wanted::Tool { name, input });
                return Ok(used);
            }
            "insist" => {
                let (name, input, used) = named_json(body)?;
                step.calls.push(Wanted::Unoffered { name, input });
                return Ok(used);
            }
            "json" => {
                let (value, used) = json(body)?;
                step.json = Some(value);
                return Ok(used);
            }
            _ => {}
        }
        let Some(end) = body.find("]]") else {
            return Ok(0);
        };
        let words = body[..end].trim();
        match head {
            "shell" => step.calls.push(Wanted::Shell(words.to_owned())),
            "say" => step.say = Some(words.to_owned()),
            "think" => step.think = true,
            "words" => step.words = Some(number::<usize>(words)?.min(WORDS_MAX)),
            "stop" => step.stop = Some(Stop::parse(words)?),
            "fault" => step.fault = Some(Fault::parse(words)?),
            "work" => self.work = Some(Work::parse(words)?),
            "usage" => self.usage = Some(settings(words)?),
            "tier" => self.tier = Some(words.to_owned()),
            "searches" => self.searches = number(words)?,
            "pace" => self.pace = Some(Duration::from_millis(number(words)?)),
            "then" if !full => self.steps.push(Step::default()),
            word if Fault::names(word) => {
                step.fault = Some(Fault::parse(&format!("{word} {words}"))?);
            }
            // Shells and wikis use double brackets too.
            _ => return Ok(0),
        }
        Ok(end + 2)
    }
}

impl Step {
    /// Whether it says what to answer with.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.say.is_none() && self.json.is_none() && self.words.is_none()
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

/// Reads `NAME {json}]]`; without JSON the input is empty.
fn named_json(body: &str) -> Result<(String, Value, usize), String> {
    let start = body.len() - body.trim_start().len();
    let name: String =
        body[start..].chars().take_while(|c| !c.is_whitespace() && *c != ']').collect();
    let after = start + name.len();
    if name.is_empty() {
        return Err("it needs the name of a tool".to_owned());
    }
    if body[after..].starts_with("]]") {
        return Ok((name, Value::Object(serde_json::Map::new()), after + 2));
    }
    let (input, used) = json(&body[after..])?;
    Ok((name, input, after + used))
}

/// Reads `{json}]]`; the JSON may have brackets of its own.
fn json(body: &str) -> Result<(Value, usize), String> {
    let mut values = serde_json::Deserializer::from_str(body).into_iter::<Value>();
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(error.to_string()),
        None => return Err("it needs JSON".to_owned()),
    };
    let end = values.byte_offset();
    let rest = &body[end..];
    let gap = rest.len() - rest.trim_start().len();
    if !rest[gap..].starts_with("]]") {
        return Err("it does not end with ]]".to_owned());
    }
    Ok((value, end + gap + 2))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, input: Value) -> Wanted {
        Wanted::Tool { name: name.to_owned(), input }
    }

    #[test]
    fn calls_say_and_usage_are_read_from_anywhere() {
        let script = Script::parse(
            "please [[call a {\"x\":[[1]]}]] and [[call b]] [[say done]] \
             [[usage input=100 cache_read=40 output=7]] [[pace 20]]",
        );
        assert_eq!(script.errors, Vec::<String>::new());
        let step = &script.steps[0];
        assert_eq!(step.calls, [tool("a", json!({"x": [[1]]})), tool("b", json!({}))]);
        assert_eq!(step.say.as_deref(), Some("done"));
        let usage = Usage { input: 100, cache_read: 40, output: 7, ..Usage::default() };
        assert_eq!(script.usage, Some(usage));
        assert_eq!(script.pace, Some(Duration::from_millis(20)));
    }

    #[test]
    fn then_divides_the_steps() {
        let script = Script::parse("[[shell ls]] [[then]] [[fault 529 times=1]] [[say x]]");
        assert_eq!(script.steps.len(), 2);
        assert_eq!(script.steps[0].calls, [Wanted::Shell("ls".to_owned())]);
        assert_eq!(script.steps[1].fault.as_ref().unwrap().status, Some(529));
        assert!(script.steps[0].fault.is_none());
    }

    #[test]
    fn a_fault_may_stand_alone() {
        let script = Script::parse("[[eof-after=3 times=1]]");
        let fault = script.steps[0].fault.clone().unwrap();
        assert_eq!((fault.eof_after, fault.times), (Some(3), Some(1)));
    }

    #[test]
    fn other_brackets_are_plain_text_and_errors_are_told() {
        let script = Script::parse("if [[ -f x ]]; then [[wiki]] [[ ");
        assert!(script.errors.is_empty() && script.steps[0].is_empty());
        for text in ["[[call]]", "[[call a {]]", "[[json {}", "[[words many]]", "[[fault no]]"] {
            assert_eq!(Script::parse(text).errors.len(), 1, "{text}");
        }
    }
}
