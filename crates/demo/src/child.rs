//! Godel as the show uses it: the same program, as processes of its own, in a folder of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use godel_console::{Error, Result};
use godel_model::{Invalid, code};
use serde_json::Value;

/// How long a server may take to begin.
const START: Duration = Duration::from_secs(30);
/// How often it is looked whether a command has ended.
const LOOK: Duration = Duration::from_millis(100);
const POLL: Duration = Duration::from_millis(50);

/// The program, and the folder in which all of the show is.
pub(crate) struct Godel {
    program: PathBuf,
    pub(crate) folder: PathBuf,
    /// Variables of the server, such as keys.
    pub(crate) variables: Vec<(String, String)>,
    /// Whether real providers do the work.
    live: bool,
}

/// Says that a step of the show failed, which is nobody's wrong usage.
pub(crate) fn broke(what: impl Into<String>, hint: impl Into<String>) -> Error {
    Invalid::new(code::INTERNAL_ERROR, what).with_hint(hint).into()
}

/// Takes the variables away that would lead git elsewhere.
pub(crate) fn forget_git(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
}

/// A process that ends with the show.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        command.spawn().map(Self).map_err(|cause| Error::file("godel", "started", cause))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Lets it end by itself; after a while it is ended.
    pub(crate) fn stop(mut self) {
        let id = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            // It may have ended already.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        let until = Instant::now() + START;
        while Instant::now() < until && matches!(self.0.try_wait(), Ok(None)) {
            std::thread::sleep(POLL);
        }
    }

    fn end(&mut self) {
        // It may have ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl Godel {
    pub(crate) fn new(folder: &Path, live: bool) -> Result<Self> {
        let program = std::env::current_exe();
        let program = program.map_err(|cause| Error::file("this program", "found", cause))?;
        Ok(Self { program, folder: folder.to_owned(), variables: Vec::new(), live })
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.join("greeter")
    }

    /// The folder of the server's data.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Prepares a command in the repository of the show.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.repository()).stdin(Stdio::null());
        // Nothing of the user's gets in: no login, no settings, no repository, and no key unless it is live.
        forget_git(&mut command);
        for (name, _) in std::env::vars_os() {
            let bytes = name.as_encoded_bytes();
            if bytes.starts_with(b"GODEL_") || (!self.live && bytes.ends_with(b"_API_KEY")) {
                command.env_remove(name);
            }
        }
        command.env("GODEL_DATA", self.data());
        for (name, place) in [("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")] {
            command.env(name, self.folder.join(place));
        }
        command
    }

    /// Runs a command, and returns what it answers as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.command(arguments).arg("--json").output();
        let output = output.map_err(|cause| Error::file("godel", "run", cause))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            let what =
                format!("godel {} failed: {}{}", arguments.join(" "), said.trim(), why.trim());
            return Err(broke(what, "`godel doctor` tells what is missing on this machine"));
        }
        serde_json::from_str(&said).map_err(|cause| {
            let what = format!("godel {} answered no JSON: {cause}", arguments.join(" "));
            broke(what, "report this")
        })
    }

    /// Runs a command whose answer is shown to people as it comes, unless a program listens. One that takes too long is
    /// ended, and has failed.
    pub(crate) fn show(
        &self,
        arguments: &[&str],
        to_people: bool,
        patience: Duration,
    ) -> Result<bool> {
        let fail = |cause| Error::file("godel", "run", cause);
        let mut command = self.command(arguments);
        if !to_people {
            command.stdout(Stdio::null());
        }
        let mut child = command.spawn().map_err(fail)?;
        let until = Instant::now() + patience;
        loop {
            if let Some(status) = child.try_wait().map_err(fail)? {
                return Ok(status.success());
            }
            if Instant::now() > until {
                child.kill().map_err(fail)?;
                child.wait().map_err(fail)?;
                return Ok(false);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Starts the server, or starts it again on the same data; returns it and its login link.
    pub(crate) fn up(&self) -> Result<(Running, String)> {
        let (log, said) = (self.folder.join("server.log"), self.folder.join("server.said"));
        let create = |path: &Path| {
            File::create(path).map_err(|cause| Error::file(&path.display(), "made", cause))
        };
        let mut command = self.command(&["up", "--json", "--listen", "127.0.0.1:0"]);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdout(create(&said)?).stderr(create(&log)?);
        let mut server = Running::start(&mut command)?;
        let until = Instant::now() + START;
        loop {
            let text = std::fs::read_to_string(&said).unwrap_or_default();
            let greeting: Value = serde_json::from_str(&text).unwrap_or_default();
            if greeting["url"].is_string() && self.json(&["status"]).is_ok() {
                let link = greeting["loginLink"].as_str().or(greeting["url"].as_str());
                return Ok((server, link.unwrap_or_default().to_owned()));
            }
            let ended = server.child().try_wait().ok().flatten();
            if ended.is_some() || Instant::now() > until {
                let why = std::fs::read_to_string(&log).unwrap_or_default();
                let what = format!("the server of the show did not begin: {}", why.trim());
                return Err(broke(what, "`godel doctor` tells what is missing"));
            }
            std::thread::sleep(POLL);
        }
    }
}
