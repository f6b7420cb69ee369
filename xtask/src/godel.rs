//! Using the product as a person does: through its `godel` program.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::{Failure, Result, Told};
use crate::nursery::{Nursery, Process};
use crate::shop::{Shop, line_of};

/// How long a server may take to become ready.
const START: Duration = Duration::from_secs(30);
/// How long it may take to drain and stop.
const STOP: Duration = Duration::from_secs(20);
/// How long a client command may take.
const CALL: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

/// The program and the data folder it is used with; clones use the same.
#[derive(Debug, Clone)]
pub(crate) struct Godel {
    program: PathBuf,
    data: PathBuf,
    nursery: Nursery,
    /// A folder that comes first on the PATH of what is started.
    first: Option<PathBuf>,
}

/// A running server; dropping it stops it.
#[derive(Debug)]
pub(crate) struct Server {
    process: Process,
    url: String,
    log: PathBuf,
}

impl Godel {
    /// Uses the built program with `data`, which need not exist yet.
    pub(crate) fn new(shop: &Shop, data: PathBuf) -> Self {
        Self::built(shop, "debug", data)
    }

    /// Uses the program as it was built with a profile.
    pub(crate) fn built(shop: &Shop, profile: &str, data: PathBuf) -> Self {
        Self { program: shop.godel(profile), data, nursery: shop.nursery.clone(), first: None }
    }

    /// Puts a folder on the PATH of what is started from now on.
    pub(crate) fn put_on_path(&mut self, folder: PathBuf) {
        self.first = Some(folder);
    }

    /// Prepares a command; the data folder is named last.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--data").arg(&self.data).env("NO_COLOR", "1");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = self.first.iter().cloned().chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(all) {
            command.env("PATH", path);
        }
        command
    }

    /// The same program with another data folder, as on another machine.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { data: self.data.with_extension("elsewhere"), ..self.clone() }
    }

    /// The data folder.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The file with the key of the owner, which the first start made.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.data.join("owner.key")
    }

    /// The key of the owner.
    pub(crate) fn key(&self) -> Result<String> {
        let file = self.key_file();
        let key = fs::read_to_string(&file).told(format!("read {}", file.display()))?;
        Ok(key.trim().to_owned())
    }

    /// Starts a server on a free port and waits until it says that it is there.
    pub(crate) fn up(&self) -> Result<Server> {
        self.up_with(&[])
    }

    /// Starts a server as [`Godel::up`] does, with some settings.
    pub(crate) fn up_with(&self, settings: &[&str]) -> Result<Server> {
        let log = self.data.with_extension("log");
        let output = create(&log)?;
        let errors = output.try_clone().told(format!("open {}", log.display()))?;
        let arguments = [&["up", "--listen", "127.0.0.1:0"], settings].concat();
        let mut command = self.command(&arguments);
        self.start(command.stdout(output).stderr(errors), log)
    }

    /// Starts a server as [`Godel::up`] does, and returns its login link too, which works once.
    pub(crate) fn up_with_link(&self) -> Result<(Server, String)> {
        let (log, said) = (self.data.with_extension("log"), self.data.with_extension("json"));
        let mut command = self.command(&["up", "--json", "--listen", "127.0.0.1:0"]);
        let server = self.start(command.stdout(create(&said)?).stderr(create(&log)?), log)?;
        let deadline = Instant::now() + START;
        loop {
            let text = fs::read_to_string(&said).unwrap_or_default();
            let greeting: Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(link) = greeting["loginLink"].as_str() {
                return Ok((server, link.to_owned()));
            }
            if Instant::now() >= deadline {
                return Err(Failure::new("godel up says no login link").output(text));
            }
            thread::sleep(POLL);
        }
    }

    /// Runs `godel up` and waits until it is ready.
    fn start(&self, command: &mut Command, log: PathBuf) -> Result<Server> {
        let mut process = self.nursery.spawn(command)?;
        let deadline = Instant::now() + START;
        loop {
            if let Some(url) = self.discovered(process.id())
                && self.call(&["status", "--json"]).is_ok()
            {
                return Ok(Server { process, url, log });
            }
            if let Some(status) = process.try_wait()? {
                let said = fs::read_to_string(&log).unwrap_or_default();
                return Err(Failure::new(format!("godel up ended with {status}")).output(said));
            }
            if Instant::now() >= deadline {
                let said = fs::read_to_string(&log).unwrap_or_default();
                let what = format!("godel up was not ready after {} s", START.as_secs());
                return Err(Failure::new(what).output(said));
            }
            thread::sleep(POLL);
        }
    }

    /// Reads the discovery file, unless it is the one of an earlier server.
    fn discovered(&self, pid: u32) -> Option<String> {
        let text = fs::read(self.data.join("server.json")).ok()?;
        let found: Value = serde_json::from_slice(&text).ok()?;
        let url = found["url"].as_str()?;
        (found["pid"].as_u64() == Some(pid.into())).then(|| url.to_owned())
    }

    /// Runs a client command and returns what it printed.
    pub(crate) fn call(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command(arguments);
        let shown = line_of(&command);
        let mut process =
            self.nursery.spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        process.finish(CALL, &shown)
    }

    /// Runs a client command that reads a file.
    pub(crate) fn call_fed(&self, arguments: &[&str], file: &Path) -> Result<String> {
        let input = File::open(file).told(format!("open {}", file.display()))?;
        let mut command = self.command(arguments);
        let shown = line_of(&command);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.nursery.spawn_fed(piped, input.into())?.finish(CALL, &shown)
    }

    /// Runs a client command that must be refused, and returns what it said.
    pub(crate) fn refused(&self, arguments: &[&str]) -> Result<String> {
        match self.call(arguments) {
            Err(failure) if !failure.text().is_empty() => Ok(failure.text().to_owned()),
            Err(failure) => Err(failure),
            Ok(said) => Err(Failure::new(format!("{arguments:?} was not refused")).output(said)),
        }
    }

    /// Runs a client command that prints one JSON document.
    pub(crate) fn call_json(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.call(&[arguments, &["--json"]].concat())?;
        serde_json::from_str(&text).told(format!("read the JSON that godel said: {text}"))
    }

    /// Runs a client command that prints one JSON document a line.
    pub(crate) fn call_json_lines(&self, arguments: &[&str]) -> Result<Vec<Value>> {
        let text = self.call(&[arguments, &["--json"]].concat())?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines
            .map(|line| {
                serde_json::from_str(line).told(format!("read the JSON that godel said: {line}"))
            })
            .collect()
    }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).told(format!("create {}", path.display()))
}

impl Server {
    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The last line it said.
    pub(crate) fn log_end(&self) -> String {
        self.said().lines().last().unwrap_or("nothing").to_owned()
    }

    /// Kills it, as `kill -9` does.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.process.kill()
    }

    /// Asks it to stop, and fails if it does not do so cleanly.
    pub(crate) fn stop(mut self) -> Result<()> {
        match self.process.terminate(STOP)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                let what = format!("godel up did not stop cleanly: {status}");
                Err(Failure::new(what).output(self.said()))
            }
            None => {
                let what = format!("godel up did not stop within {} s", STOP.as_secs());
                Err(Failure::new(what).output(self.said()))
            }
        }
    }
}
