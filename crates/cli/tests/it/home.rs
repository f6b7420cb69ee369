//! A home of its own for each test: no variable, file or port of this machine gets in.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(30);

/// What a command said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// Reads stdout as one JSON document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks the exit code and returns stdout.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Checks that a command failed as it should: nothing on stdout, the parts on stderr.
    pub(crate) fn refused(self, code: i32, parts: &[&str]) {
        let answer = self.expect(code);
        assert_eq!(answer.stdout, "", "{answer:?}");
        for part in parts {
            assert!(answer.stderr.contains(part), "no {part:?} in {answer:?}");
        }
    }
}

/// A home directory that goes away with this value.
#[derive(Debug)]
pub(crate) struct Home {
    directory: TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::with_prefix("godel-home-").unwrap(), variables: Vec::new() }
    }

    /// Sets a variable for all commands.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// The data directory that is used unless another is named.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join(".local/share/godel")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_godel"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .envs(self.variables.iter().cloned())
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(arguments))
    }

    /// Starts a server on a free port.
    pub(crate) fn up(&self) -> Server {
        self.up_with(&["--listen", "127.0.0.1:0"])
    }

    /// Starts a server, and waits until it says that it is up.
    pub(crate) fn up_with(&self, arguments: &[&str]) -> Server {
        let log = self.path().join("up.log");
        let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let mut command = self.command(&["up", "--json"]);
        command.args(arguments).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            child.wait().unwrap();
            panic!("godel up said {line:?}: {}", self.log());
        });
        Server { child, said }
    }

    /// What all servers of this home have logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path().join("up.log")).unwrap_or_default()
    }
}

impl Drop for Home {
    /// Leaves what the servers of this home logged where `cargo xtask test` looks for secrets.
    fn drop(&mut self) {
        let log = self.log();
        let folder = std::env::var_os("GODEL_TEST_EMITTED").filter(|folder| !folder.is_empty());
        if let Some(folder) = folder.filter(|_| !log.is_empty()) {
            let home = self.path().file_name().unwrap_or_default().to_string_lossy();
            let name = PathBuf::from(folder).join(format!("{home}.log"));
            std::fs::create_dir_all(name.parent().unwrap()).unwrap();
            std::fs::write(name, log).unwrap();
        }
    }
}

/// Returns a free address that stays free while its server is down: its port is below those that
/// the system gives to outgoing connections, and other tests see by a lock that it is taken.
pub(crate) fn lasting_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    static TAKEN: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let start = u16::try_from(std::process::id() % 8_000).unwrap();
    loop {
        let port = 20_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("port-{port}"));
        let lock = File::options().create(true).append(true).open(path).unwrap();
        if lock.try_lock().is_ok()
            && let Ok(free) = TcpListener::bind(("127.0.0.1", port))
        {
            TAKEN.lock().unwrap().push(lock);
            return free.local_addr().unwrap().to_string();
        }
    }
}

/// Runs a command to its end.
pub(crate) fn answer(command: &mut Command) -> Answer {
    let output = command.output().unwrap();
    Answer {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running server; it is killed with this value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// What it said when it was up.
    pub(crate) said: Value,
}

impl Server {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn url(&self) -> &str {
        self.said["url"].as_str().unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Kills it, as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop.
    pub(crate) fn stop(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits until it ends by itself.
    pub(crate) fn ended(mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "godel up does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
