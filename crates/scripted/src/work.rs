//! A piece of work: a file to be written and committed, in as many steps as it takes.

use serde_json::json;

use crate::ask::{Ask, Tool, Turn};
use crate::directive::{Script, Step, Wanted};

/// What the shell says when the work is committed.
const COMMITTED: &str = "is-committed:";
/// How the tool is called by which an agent says that it is done, whatever stands before it.
const DONE: &str = "done";
/// The command by which an agent says so that has no such tool, if it was told of it.
const BY_COMMAND: &str = "godel self done";

/// What is to be written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    path: String,
    text: String,
}

impl Work {
    /// Reads `PATH TEXT`.
    pub(crate) fn parse(words: &str) -> Result<Self, String> {
        let (path, text) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let plain = |each: char| each.is_ascii_alphanumeric() || "/._-".contains(each);
        if path.is_empty() || path.starts_with(['/', '-']) || !path.chars().all(plain) {
            return Err(format!("{path:?} is no path for a piece of work"));
        }
        Ok(Self { path: path.to_owned(), text: text.trim().to_owned() })
    }

    /// Decides what to do next by what the conversation shows.
    pub(crate) fn step(&self, ask: &Ask) -> Step {
        let committed = ask.results.iter().any(|result| result.contains(COMMITTED));
        let done = ask.tools.iter().find(|tool| says_done(tool));
        match (ask.round, done) {
            (0, _) => calls(Wanted::Shell(self.command())),
            (1, Some(tool)) if committed => {
                let summary = format!("{} is written and committed.", self.path);
                calls(Wanted::Tool {
                    name: tool.name.clone(),
                    input: json!({ "summary": summary }),
                })
            }
            (1, None) if committed && told_of(ask, BY_COMMAND) => {
                let command = format!("{BY_COMMAND} '{} is written and committed.'", self.path);
                calls(Wanted::Shell(command))
            }
            (1, None) if committed => says(format!("{} is written and committed.", self.path)),
            (1, _) => says(format!("I could not commit it: {}", ask.results.join(" | "))),
            _ => says("That is all.".to_owned()),
        }
    }

    /// Does nothing a second time, and commits what was left over.
    fn command(&self) -> String {
        let Self { path, text } = self;
        let text = text.replace('\'', r"'\''");
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        // Some clients refuse a command in a command.
        format!(
            "mkdir -p {folder} && printf '%s\\n' '{text}' > {path} && git add -A && \
             (git diff --cached --quiet || git commit -q -m 'Write {path}') && \
             git log -1 --format={COMMITTED}%h"
        )
    }
}

fn says_done(tool: &Tool) -> bool {
    let name = tool.name.as_str();
    name == DONE || name.ends_with(&format!("_{DONE}")) || name.ends_with(&format!(".{DONE}"))
}

fn told_of(ask: &Ask, words: &str) -> bool {
    let user = |turn: &Turn| matches!(turn, Turn::User { text, .. } if text.contains(words));
    ask.turns.iter().any(user)
}

fn calls(wanted: Wanted) -> Step {
    Step { calls: vec![wanted], ..Step::default() }
}

fn says(text: String) -> Step {
    Step { say: Some(text), ..Step::default() }
}

/// Finds the piece of work that an earlier message asked for, if the last one asks for nothing.
pub(crate) fn remembered(ask: &Ask, script: Script) -> Script {
    let silent = script.work.is_none() && script.steps.iter().all(Step::is_empty);
    // A title or a summary of the conversation has no tools to work with.
    if !silent || !script.errors.is_empty() || ask.tools.is_empty() {
        return script;
    }
    let earlier = ask.turns.iter().rev().find_map(|turn| match turn {
        Turn::User { text, .. } => Script::parse(text).work,
        Turn::Model { .. } | Turn::Results(_) => None,
    });
    Script { work: earlier, ..script }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Answered, Called, ToolKind, Wire};
    use crate::dialect::Dialect;

    fn user(text: &str) -> Turn {
        Turn::User { text: text.to_owned(), images: Vec::new() }
    }

    fn round(result: &str) -> [Turn; 2] {
        let call = Called { id: "1".into(), key: "1".into() };
        let answer = Answered { id: "1".into(), text: result.into() };
        [Turn::Model { calls: vec![call], seals: Vec::new() }, Turn::Results(vec![answer])]
    }

    fn step(turns: Vec<Turn>, tools: &[&str]) -> Step {
        let mut ask = Ask::new(Dialect::Chat, "m", Wire::Whole).settle(turns);
        ask.tools = tools
            .iter()
            .map(|name| Tool {
                name: (*name).to_owned(),
                namespace: None,
                kind: ToolKind::Function,
                schema: json!({}),
            })
            .collect();
        let script = remembered(&ask, Script::parse(&ask.prompt));
        script.work.map(|work| work.step(&ask)).unwrap_or_default()
    }

    #[test]
    fn it_goes_on_by_what_it_sees() {
        let begin = || vec![user("bead 7 [[work src/a.txt it's here]]")];
        let tools = ["shell", "mcp__godel__done"];
        let first = step(begin(), &tools);
        let Wanted::Shell(command) = &first.calls[0] else { panic!("{first:?}") };
        assert!(command.contains(r"'it'\''s here'") && command.contains("> src/a.txt"));
        let well: Vec<Turn> = begin().into_iter().chain(round("is-committed:abc")).collect();
        let next = step(well.clone(), &tools);
        assert!(matches!(&next.calls[0], Wanted::Tool { name, .. } if name == tools[1]));
        assert!(step(well.clone(), &["shell"]).say.unwrap().contains("committed"));
        let told = user("[[work src/a.txt x]] or run `godel self done SUMMARY`");
        let told: Vec<Turn> = [told].into_iter().chain(round("is-committed:abc")).collect();
        let Wanted::Shell(command) = &step(told, &["shell"]).calls[0] else { panic!("no command") };
        assert_eq!(command, "godel self done 'src/a.txt is written and committed.'");
        let badly = begin().into_iter().chain(round("fatal: no")).collect();
        assert!(step(badly, &tools).say.unwrap().contains("fatal: no"));
        // Told that something is missing, it looks again; a title is not work.
        let told: Vec<Turn> = well.into_iter().chain([user("the tree is dirty")]).collect();
        assert!(matches!(step(told.clone(), &tools).calls[0], Wanted::Shell(_)));
        assert!(step(told, &[]).is_empty());
    }

    #[test]
    fn a_path_that_leads_away_is_an_error() {
        for words in ["", "/etc/x a", "-x a", "a;b c"] {
            assert!(Work::parse(words).is_err(), "{words}");
        }
        assert_eq!(Work::parse("a/b.txt two words").unwrap().text, "two words");
    }
}
