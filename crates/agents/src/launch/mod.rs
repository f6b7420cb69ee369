//! How each agent program is started: its command line, its environment and its settings, as pure
//! functions.
//!
//! # Invariants
//! - Nothing here holds a secret. The token of Godel reaches a program by a variable that is named here
//!   and set when the process is started; files name the variable, never its value.
//! - What an agent is told goes over its input where it can, since arguments are short and can be seen.
//! - Telemetry and updates are off. Questions of the program whether it may are off too: the sandbox is
//!   what holds it.

mod acp;
mod allow;
mod claude;
mod codex;
mod command;
mod gemini;
mod opencode;
mod pi;

use std::collections::BTreeMap;

use godel_llm::Dialect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use allow::Allowed;

use crate::error::{Error, Result};
use crate::harness::Harness;

/// The variable that holds the token of Godel.
pub const TOKEN_VARIABLE: &str = "GODEL_TOKEN";
/// How long a tool of Godel may take: a person may answer tomorrow, and gates run for long.
const TOOL_SECONDS_MAX: u64 = 24 * 60 * 60;

/// How an agent is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which agent.
    pub harness: Harness,
    /// The program and what always goes before its arguments, such as a Node and a script. For
    /// [`Harness::Acp`] and [`Harness::Command`] it is the whole command line, with placeholders.
    pub program: Vec<String>,
    /// Where the proxy of Godel is, as seen from the sandbox.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// The dialect for those programs that know several.
    pub dialect: Dialect,
    /// The home of the agent, as seen from the sandbox.
    pub home: String,
    /// The folder it works in, as seen from the sandbox.
    pub folder: String,
    /// What it is told besides its own instructions.
    pub system: Option<String>,
    /// The tools of Godel.
    pub tools: Option<Tools>,
    /// Which tools it may use, as far as the program can be told.
    pub allowed: Allowed,
}

/// The tools of Godel as a program that speaks MCP over its input and output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    /// The name under which the agent sees them.
    pub name: String,
    /// The program, as seen from the sandbox.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// A session of an agent program to go on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The program's own id of it.
    pub id: String,
    /// Whether it was led in another folder and came here as a copy, with the home that it is kept in.
    pub copied: bool,
}

impl Resume {
    /// Goes on with a session in the folder in which it was led.
    pub fn same(id: impl Into<String>) -> Self {
        Self { id: id.into(), copied: false }
    }
}

/// What a process is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables, without the token.
    pub env: BTreeMap<String, String>,
    /// The variables that hold the token.
    pub token_env: Vec<&'static str>,
    /// Files that are to be there, by their path below the home.
    pub files: BTreeMap<String, String>,
    /// A command that is run before, to mend what the program itself cannot get over.
    pub mend: Vec<String>,
    /// What is written to its input before that is closed; nothing if the input stays open.
    pub input: Option<String>,
}

impl Plan {
    /// Writes down how a process is started: for one prompt, or, if the agent lives through many turns,
    /// for a session. `resume` is the session to go on with; one that was copied is left out if the program
    /// cannot go on with it ([`Harness::carries_copies`]).
    ///
    /// # Errors
    /// If there is nothing to start, or a setting cannot be told to the program.
    pub fn launch(&self, prompt: &str, resume: Option<&Resume>) -> Result<Launch> {
        if self.program.first().is_none_or(String::is_empty) {
            return Err(Error::Setting(format!("no program is named for {}", self.harness)));
        }
        let plain = |text: &str| !text.chars().any(|each| each.is_control() || each == '"');
        for (what, text) in [("model", &self.model), ("address of the proxy", &self.base_url)] {
            if !plain(text) || text.starts_with('-') {
                return Err(Error::Setting(format!("the {what} cannot be told to a program")));
            }
        }
        // An id comes from the agent itself, and must not be taken for an option.
        let odd = |id: &str| !plain(id) || id.starts_with('-') || id.contains(' ');
        if resume.is_some_and(|resume| odd(&resume.id)) {
            return Err(Error::Setting("the id of the session is none".to_owned()));
        }
        let resume = resume.filter(|resume| !resume.copied || self.harness.carries_copies());
        let mut launch = match self.harness {
            Harness::Native => {
                return Err(Error::Cannot { harness: "native", what: "be started as a program" });
            }
            Harness::Claude => claude::launch(self, prompt, resume),
            Harness::Codex => codex::launch(self, prompt, resume),
            Harness::Gemini => gemini::launch(self, prompt, resume),
            Harness::Opencode => opencode::launch(self, prompt, resume),
            Harness::Pi => pi::launch(self, resume),
            Harness::Acp => acp::launch(self),
            Harness::Command => command::launch(self, prompt),
        };
        self.start_line(&mut launch);
        if matches!(self.harness, Harness::Gemini | Harness::Acp) {
            keep_git(&mut launch);
        }
        Ok(launch)
    }

    /// Puts the program before its arguments, and sets what every agent has.
    fn start_line(&self, launch: &mut Launch) {
        let mut line = self.program.iter().cloned();
        if launch.program.is_empty() {
            launch.program = line.next().unwrap_or_default();
            launch.args.splice(..0, line);
        }
        launch.env.insert("HOME".to_owned(), self.home.clone());
        launch.env.insert("GODEL_BASE_URL".to_owned(), self.base_url.clone());
        if !launch.token_env.contains(&TOKEN_VARIABLE) {
            launch.token_env.push(TOKEN_VARIABLE);
        }
    }

    fn base(&self) -> &str {
        self.base_url.trim_end_matches('/')
    }

    fn in_home(&self, path: &str) -> String {
        format!("{}/{path}", self.home.trim_end_matches('/'))
    }
}

impl Launch {
    fn with_env<const N: usize>(mut self, env: [(&str, &str); N]) -> Self {
        self.env.extend(env.map(|(name, value)| (name.to_owned(), value.to_owned())));
        self
    }

    fn with_args<const N: usize>(mut self, args: [&str; N]) -> Self {
        self.args.extend(args.map(str::to_owned));
        self
    }

    fn with_file(mut self, path: &str, text: String) -> Self {
        self.files.insert(path.to_owned(), text);
        self
    }

    fn with_input(mut self, prompt: &str) -> Self {
        self.input = Some(prompt.to_owned());
        self
    }
}

/// Tells git by variables what a sandbox tells it by a file, and becomes the program.
///
/// Gemini CLI takes all files of settings away from git, the one that lets git work in the sandbox and
/// says who commits included, but leaves such variables as they are.
const KEEP_GIT: &str = r#"count=0
while IFS= read -r line; do
    [ -n "$line" ] || continue
    export "GIT_CONFIG_KEY_$count=${line%%=*}" "GIT_CONFIG_VALUE_$count=${line#*=}"
    count=$((count + 1))
done <<END
$([ -f "$GIT_CONFIG_SYSTEM" ] && git config --file "$GIT_CONFIG_SYSTEM" --list)
END
export GIT_CONFIG_COUNT=$count
exec "$@""#;

fn keep_git(launch: &mut Launch) {
    let program = std::mem::replace(&mut launch.program, "/bin/sh".to_owned());
    let line = ["-c", KEEP_GIT, "sh", &program].map(str::to_owned);
    launch.args.splice(..0, line);
}

/// Writes JSON for people too: settings of an agent are looked at when something is odd.
fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
