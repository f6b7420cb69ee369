//! Runs the `git` program, so that neither the environment nor hooks get in.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::error::{Error, Result};

/// How much of git's complaints is passed on.
const SAID_MAX_CHARS: usize = 2_000;

/// Settings for every call: no hook, monitor or housekeeping of the user's runs, nothing that git
/// wrote is lost in a power cut, and no setting stops a rescue.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsync=all",
    "core.fsyncMethod=batch",
    "core.safecrlf=false",
    "advice.detachedHead=false",
];

/// One call of git.
#[derive(Debug)]
pub(crate) struct Git<'a> {
    command: Command,
    name: String,
    input: Option<Vec<u8>>,
    hold: Option<&'a File>,
}

impl<'a> Git<'a> {
    /// Begins a call that runs in a directory and lets git find the repository.
    pub(crate) fn within(directory: &Path) -> Self {
        let mut command = Command::new("git");
        command.current_dir(directory).arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        isolate(&mut command);
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        Self { command, name: String::new(), input: None, hold: None }
    }

    /// Begins a call on a git directory, whatever the directories around it say.
    pub(crate) fn on(git_dir: &Path) -> Self {
        Self::within(git_dir).env("GIT_DIR", git_dir)
    }

    /// Begins a call on a git directory and a work tree.
    pub(crate) fn on_tree(git_dir: &Path, tree: &Path) -> Self {
        Self::within(tree).env("GIT_DIR", git_dir).env("GIT_WORK_TREE", tree)
    }

    /// Promises that the call changes nothing, not even the index to make it faster.
    pub(crate) fn reading(self) -> Self {
        self.env("GIT_OPTIONAL_LOCKS", "0")
    }

    /// Sets a variable for git.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds settings for this call, as `name=value`; before the subcommand.
    pub(crate) fn settings(mut self, settings: &[String]) -> Self {
        for setting in settings {
            self.command.args(["-c", setting]);
        }
        self
    }

    /// Adds arguments; the first is the subcommand.
    pub(crate) fn args<I: IntoIterator<Item: AsRef<OsStr>>>(mut self, arguments: I) -> Self {
        for argument in arguments {
            if self.name.is_empty() {
                self.name = argument.as_ref().to_string_lossy().into_owned();
            }
            self.command.arg(argument);
        }
        self
    }

    /// Gives git something to read.
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Lets git hold a lock as long as it runs, even if this process is killed meanwhile.
    pub(crate) fn hold(mut self, lock: &'a File) -> Self {
        self.hold = Some(lock);
        self
    }

    /// Runs it, whatever comes of it.
    pub(crate) fn output(mut self) -> Result<Output> {
        let stdin = match (&self.input, self.hold) {
            (Some(_), _) => Stdio::piped(),
            // A lock belongs to the open file, so git holds it as its empty input.
            (None, Some(lock)) => lock.try_clone().map_or_else(|_| Stdio::null(), Stdio::from),
            (None, None) => Stdio::null(),
        };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(Error::Missing)?;
        let pipe = child.stdin.take();
        let input = self.input.unwrap_or_default();
        std::thread::scope(|scope| {
            if let Some(mut pipe) = pipe {
                // Git that reads no further says why by itself.
                scope.spawn(move || pipe.write_all(&input).ok());
            }
            child.wait_with_output()
        })
        .map_err(Error::Missing)
    }

    /// Starts it, for a talk over its input and output.
    pub(crate) fn spawn(mut self) -> Result<Child> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.spawn().map_err(Error::Missing)
    }

    /// Runs it, and returns what it wrote.
    pub(crate) fn bytes(self) -> Result<Vec<u8>> {
        let command = self.name.clone();
        let output = self.output()?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(failed(command, &output))
    }

    /// Runs it for its effect.
    pub(crate) fn run(self) -> Result<()> {
        self.bytes().map(drop)
    }

    /// Runs it, and returns its one line.
    pub(crate) fn line(self) -> Result<String> {
        let text = String::from_utf8_lossy(&self.bytes()?).into_owned();
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Runs it, and returns its one line; nothing if git says no with exit code 1 or 128.
    pub(crate) fn maybe(self) -> Result<Option<String>> {
        let output = self.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let text = text.trim_end_matches('\n');
        Ok((output.status.success() && !text.is_empty()).then(|| text.to_owned()))
    }

    /// Runs it, and returns the paths it wrote with zeros between them.
    pub(crate) fn paths(self) -> Result<Vec<PathBuf>> {
        let bytes = self.bytes()?;
        let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        Ok(parts.map(path_of).collect())
    }
}

/// Says what git complained about.
pub(crate) fn failed(command: String, output: &Output) -> Error {
    let said = String::from_utf8_lossy(&output.stderr);
    let mut said: String = said.trim().chars().take(SAID_MAX_CHARS).collect();
    if said.is_empty() {
        said = output.status.to_string();
    }
    Error::Git { command, said }
}

/// Takes the variables away that would lead git to another repository or configuration.
pub(crate) fn isolate(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
}

/// Turns bytes that git wrote into the path that they are.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}
