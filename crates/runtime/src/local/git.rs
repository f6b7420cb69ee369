//! Runs the `git` program outside of sandboxes, so that neither the environment nor hooks get in.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::{Error, Result};

/// How much of git's complaints is passed on.
const SAID_MAX_CHARS: usize = 2_000;
/// No hook, monitor or housekeeping of the user's runs, and what git wrote survives a power cut.
const SETTINGS: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsync=all",
    "core.fsyncMethod=batch",
];

/// One call of git on a git directory.
pub(super) struct Git {
    command: Command,
    name: String,
}

impl Git {
    /// Begins a call on a git directory, whatever the directories around it say.
    pub(super) fn on(git_dir: &Path) -> Self {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command.current_dir(git_dir).arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.env("GIT_DIR", git_dir).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
        Self { command, name: String::new() }
    }

    /// Runs it in another directory.
    pub(super) fn inside(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sets a variable.
    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds the subcommand and its arguments.
    pub(super) fn args<S: AsRef<OsStr>>(mut self, arguments: &[S]) -> Self {
        if let (true, Some(first)) = (self.name.is_empty(), arguments.first()) {
            self.name = first.as_ref().to_string_lossy().into_owned();
        }
        self.command.args(arguments);
        self
    }

    /// Runs it with a file as its input.
    pub(super) fn reading(mut self, file: std::fs::File) -> Result<()> {
        let command = self.name.clone();
        let failed = |cause| Error::Start { program: "git".to_owned(), cause };
        let output = self.command.stdin(file).output().map_err(failed)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::Git { command, said: said(&output) })
    }

    /// Runs it with an input, whatever comes of it.
    pub(super) fn output(mut self, input: &[u8]) -> Result<Output> {
        let failed = |cause| Error::Start { program: "git".to_owned(), cause };
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(failed)?;
        let pipe = child.stdin.take();
        std::thread::scope(|scope| {
            if let Some(mut pipe) = pipe {
                // Git that reads no further says why by itself.
                scope.spawn(move || pipe.write_all(input).ok());
            }
            child.wait_with_output()
        })
        .map_err(failed)
    }

    /// Runs it, and returns what it wrote.
    pub(super) fn bytes(self, input: &[u8]) -> Result<Vec<u8>> {
        let command = self.name.clone();
        let output = self.output(input)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(Error::Git { command, said: said(&output) })
    }

    /// Runs it for its effect.
    pub(super) fn run(self) -> Result<()> {
        self.bytes(b"").map(drop)
    }

    /// Runs it, and returns its one line; nothing if git says no.
    pub(super) fn maybe(self) -> Result<Option<String>> {
        let output = self.output(b"")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let text = text.trim_end_matches('\n');
        Ok((output.status.success() && !text.is_empty()).then(|| text.to_owned()))
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().chars().take(SAID_MAX_CHARS).collect()
}

/// Tells whether a text is the id of an object, and nothing else.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
