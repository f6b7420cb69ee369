//! Roles: what an agent is told that it is, and what it may use. Five are built in; others are YAML.

mod built_in;

use godel_model::Permission;
use serde::Serialize;

use crate::workflow::definition::fields::Fields;
use crate::workflow::problem::{Findings, Mistake, Position, nearest};
use crate::workflow::source;
use crate::workflow::{Problem, Problems};

pub use built_in::BUILT_IN;

/// The longest prompt.
pub const PROMPT_MAX_BYTES: usize = 64 * 1024;
/// The most tools that can be named.
pub const TOOLS_MAX: usize = 200;
/// The most turns.
pub const TURNS_MAX: u32 = 10_000;
/// The agents that can play a role, by the names of their settings.
pub const HARNESSES: [&str; 8] =
    ["native", "claude", "codex", "gemini", "opencode", "pi", "acp", "command"];
/// The walls that an agent can have around it, by the names of their settings.
pub const SANDBOXES: [&str; 4] = ["read-only", "workspace", "workspace+net", "none"];

const NAME_MAX_CHARS: usize = 64;
const DESCRIPTION_MAX_CHARS: usize = 1000;
const PERMISSIONS_MAX: usize = 100;
const TOOL_MAX_BYTES: usize = 100;
/// What a prompt can name.
const PLACEHOLDERS: [&str; 4] = ["task", "bead", "title", "rules"];

/// A role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// Its name.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// What an agent is told, with `{task}`, `{bead}`, `{title}` and `{rules}` in it.
    pub prompt: String,
    /// The tools that it may use; all if none is named.
    pub tools: Vec<String>,
    /// What it may ask of Godel besides its own work.
    pub permissions: Vec<Permission>,
    /// The model, unless the project says so.
    pub model: Option<String>,
    /// The agent that plays it, unless the project says so.
    pub harness: Option<String>,
    /// The walls around it, unless the project says so.
    pub sandbox: Option<String>,
    /// How many turns it may take.
    pub max_turns: Option<u32>,
}

/// What goes into a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fill<'a> {
    /// What is to be done.
    pub task: &'a str,
    /// The id of the bead.
    pub bead: &'a str,
    /// Its title.
    pub title: &'a str,
    /// What is to be kept to in the project, such as what is remembered there.
    pub rules: &'a str,
}

impl Role {
    /// Reads a role from YAML (or JSON).
    ///
    /// # Errors
    /// All that is wrong with it, each with line and column.
    pub fn read(text: &str) -> Result<Self, Problems> {
        let mut out = Findings::default();
        let root = match source::read(text) {
            Ok(root) => root,
            Err(problem) => {
                out.push(problem);
                return Err(out.fail(Mistake::Syntax, "the text cannot be read"));
            }
        };
        let Some(mut fields) = Fields::open(&root, "a role", &mut out) else {
            return Err(out.fail(Mistake::InvalidValue, "a role must be a mapping"));
        };
        let role = Self {
            name: name(&mut fields, &mut out),
            description: description(&mut fields, &mut out),
            prompt: prompt(&mut fields, &mut out),
            tools: tools(&mut fields, &mut out),
            permissions: permissions(&mut fields, &mut out),
            model: fields.name("model", &mut out),
            harness: word(&mut fields, "harness", &HARNESSES, &mut out),
            sandbox: word(&mut fields, "sandbox", &SANDBOXES, &mut out),
            max_turns: turns(&mut fields, &mut out),
        };
        fields.finish(&mut out);
        out.settle(role)
    }

    /// Returns a role that is built in.
    pub fn built_in(name: &str) -> Option<Self> {
        built_in::role(name)
    }

    /// Tells whether a tool may be used.
    pub fn allows(&self, tool: &str) -> bool {
        self.tools.is_empty()
            || self.tools.iter().any(|allowed| match allowed.strip_suffix('*') {
                Some(start) => tool.starts_with(start),
                None => allowed == tool,
            })
    }

    /// Tells whether the prompt has a place for something, such as `title`; else that is told apart from it.
    pub fn names(&self, what: &str) -> bool {
        parts(&self.prompt).contains(&Part::Named(what))
    }

    /// Writes what an agent is told. What is filled in is not looked into again.
    pub fn render(&self, fill: &Fill<'_>) -> String {
        let mut text = String::with_capacity(self.prompt.len() + fill.task.len());
        for part in parts(&self.prompt) {
            text.push_str(match part {
                Part::Text(words) => words,
                Part::Named("task") => fill.task,
                Part::Named("bead") => fill.bead,
                Part::Named("title") => fill.title,
                Part::Named("rules") => fill.rules,
                Part::Named(_) => "",
            });
        }
        text
    }
}

/// A piece of a prompt.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    /// What stood in braces.
    Named(&'a str),
}

/// Takes a prompt apart: one word of small letters in braces is a name, other braces are text.
fn parts(prompt: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut from) = (prompt, 0);
    while let Some(open) = rest.get(from..).and_then(|more| more.find('{')).map(|at| at + from) {
        let inner = rest.get(open + 1..).unwrap_or_default();
        let letters = inner.bytes().take_while(|b| b.is_ascii_lowercase() || *b == b'_').count();
        if letters == 0 || inner.as_bytes().get(letters) != Some(&b'}') {
            from = open + 1;
            continue;
        }
        let (before, after) = (rest.get(..open), inner.get(letters + 1..));
        found.push(Part::Text(before.unwrap_or_default()));
        found.push(Part::Named(inner.get(..letters).unwrap_or_default()));
        (rest, from) = (after.unwrap_or_default(), 0);
    }
    found.push(Part::Text(rest));
    found
}

fn name(fields: &mut Fields<'_>, out: &mut Findings) -> String {
    let Some(at) = fields.take("name").map(|entry| entry.value.at) else {
        out.add(Mistake::MissingField, fields.at(), "a role needs a `name`");
        return String::new();
    };
    let name = fields.text("name", out).unwrap_or_default();
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let good = (1..=NAME_MAX_CHARS).contains(&name.len())
        && name.chars().all(known)
        && name.starts_with(|c: char| c.is_ascii_lowercase());
    if !good {
        let message =
            format!("`name` must be 1 to {NAME_MAX_CHARS} of a-z, 0-9 and -, a letter first");
        out.add(Mistake::InvalidName, at, message);
    } else if BUILT_IN.contains(&name.as_str()) {
        let message = format!("there is a role `{name}` that is built in");
        out.add_with_hint(Mistake::InvalidName, at, message, "choose another name");
    }
    name
}

fn description(fields: &mut Fields<'_>, out: &mut Findings) -> String {
    let at = fields.take("description").map_or(fields.at(), |entry| entry.value.at);
    let text = fields.text("description", out).unwrap_or_default();
    if text.chars().count() > DESCRIPTION_MAX_CHARS {
        let message = format!("`description` has more than {DESCRIPTION_MAX_CHARS} characters");
        out.add(Mistake::TooLarge, at, message);
    }
    text
}

fn prompt(fields: &mut Fields<'_>, out: &mut Findings) -> String {
    let Some(at) = fields.take("prompt").map(|entry| entry.value.at) else {
        out.add(Mistake::MissingField, fields.at(), "a role needs a `prompt`");
        return String::new();
    };
    let Some(prompt) = fields.text("prompt", out) else { return String::new() };
    if prompt.len() > PROMPT_MAX_BYTES {
        let message = format!("`prompt` has {} bytes", prompt.len());
        let hint = format!("at most {PROMPT_MAX_BYTES} are told to an agent");
        out.push(Problem { code: Mistake::TooLarge, message, hint: Some(hint), at });
    }
    let mut has_task = false;
    for part in parts(&prompt) {
        let Part::Named(word) = part else { continue };
        has_task |= word == "task";
        if PLACEHOLDERS.contains(&word) {
            continue;
        }
        let message = format!("`prompt` names {{{word}}}, which is not known");
        let hint = nearest(word, PLACEHOLDERS).map_or_else(
            || "it can name {task}, {bead}, {title} and {rules}; other words need a blank in their braces".to_owned(),
            |near| format!("is {{{near}}} meant?"),
        );
        out.add_with_hint(Mistake::UnknownReference, at, message, hint);
    }
    if !has_task {
        let message = "`prompt` does not name {task}, so the agent would not know what to do";
        out.add(Mistake::MissingField, at, message);
    }
    prompt
}

fn tools(fields: &mut Fields<'_>, out: &mut Findings) -> Vec<String> {
    let named = fields.texts("tools", out);
    bounded(&named, TOOLS_MAX, "tools", out);
    let known = |b: u8| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b);
    for (tool, at) in &named {
        let body = tool.strip_suffix('*').unwrap_or(tool);
        if tool.is_empty() || tool.len() > TOOL_MAX_BYTES || !body.bytes().all(known) {
            let message = format!(
                "`tools` has a name of more than letters, digits and _-.:/, or longer than {TOOL_MAX_BYTES}"
            );
            out.add(Mistake::InvalidName, *at, message);
        }
    }
    named.into_iter().take(TOOLS_MAX).map(|(tool, _)| tool).collect()
}

fn permissions(fields: &mut Fields<'_>, out: &mut Findings) -> Vec<Permission> {
    let named = fields.texts("permissions", out);
    bounded(&named, PERMISSIONS_MAX, "permissions", out);
    let mut read = Vec::new();
    for (text, at) in named.iter().take(PERMISSIONS_MAX) {
        match text.parse::<Permission>() {
            Ok(permission) => read.push(permission),
            Err(invalid) => {
                use godel_model::Report as _;
                let hint = invalid.hint().unwrap_or_default();
                out.add_with_hint(Mistake::InvalidValue, *at, invalid.to_string(), hint);
            }
        }
    }
    read
}

fn bounded(named: &[(String, Position)], max: usize, what: &str, out: &mut Findings) {
    if let Some((_, at)) = named.get(max) {
        out.add(Mistake::TooLarge, *at, format!("`{what}` has more than {max} entries"));
    }
}

fn word(
    fields: &mut Fields<'_>,
    name: &'static str,
    words: &[&'static str],
    out: &mut Findings,
) -> Option<String> {
    let choices: Vec<(&str, &str)> = words.iter().map(|word| (*word, *word)).collect();
    fields.choice(name, &choices, out).map(str::to_owned)
}

fn turns(fields: &mut Fields<'_>, out: &mut Findings) -> Option<u32> {
    let name = if fields.has("max_turns") { "max_turns" } else { "maxTurns" };
    fields.number(name, 1..=TURNS_MAX, out)
}

#[cfg(test)]
mod tests;
