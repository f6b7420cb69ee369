//! Waiting for agents, and commands that go on while they work.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fleet::Yard;
use crate::home::Answer;

const PATIENCE: Duration = Duration::from_secs(120);

impl Yard {
    /// Asks until something is so, and returns what was found.
    pub(crate) fn look_until(&self, arguments: &[&str], is_so: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let found = self.json(arguments);
            if is_so(&found) {
                return found;
            }
            assert!(started.elapsed() < PATIENCE, "{found}\n{}", self.repo.home.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until an agent is in a state.
    pub(crate) fn until_state(&self, agent: &str, state: &str) -> Value {
        self.look_until(&["agent", "show", agent], |one| one["lifecycleState"] == state)
    }

    /// Waits until somebody asks, and returns what.
    pub(crate) fn asked(&self) -> Value {
        let open = |found: &Value| !found["items"].as_array().unwrap().is_empty();
        self.look_until(&["inbox"], open)["items"][0].clone()
    }

    /// Starts a command that goes on for a while.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Running {
        let mut command = self.repo.command_in(&self.repo.path, arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running(Some(command.spawn().unwrap()))
    }
}

/// A command that goes on; it is killed with this value.
pub(crate) struct Running(Option<Child>);

impl Running {
    /// Waits until it ends by itself.
    pub(crate) fn ended(mut self) -> Answer {
        let mut child = self.0.take().unwrap();
        let started = Instant::now();
        // What it prints fits into a pipe.
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("it does not end: {:?}", child.wait_with_output().unwrap());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let output = child.wait_with_output().unwrap();
        Answer {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Waits until it has printed a line.
    pub(crate) fn heard(&mut self) {
        use std::io::Read as _;
        let stdout = self.0.as_mut().unwrap().stdout.as_mut().unwrap();
        let mut byte = [0];
        while byte != *b"\n" {
            stdout.read_exact(&mut byte).unwrap();
        }
    }

    /// Presses Ctrl-C.
    pub(crate) fn interrupt(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let id = self.0.as_ref().unwrap().id();
        kill_process(Pid::from_raw(i32::try_from(id).unwrap()).unwrap(), Signal::INT).unwrap();
    }

    /// Types a line.
    pub(crate) fn types(&mut self, line: &str) {
        use std::io::Write as _;
        let stdin = self.0.as_mut().unwrap().stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended already.
            child.kill().ok();
            child.wait().ok();
        }
    }
}
