//! A repository of its own for each test, in a home of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::home::{Answer, Home, answer};

/// A repository that goes away with this value.
#[derive(Debug)]
pub(crate) struct Repo {
    pub(crate) home: Home,
    pub(crate) path: PathBuf,
}

impl Repo {
    /// Makes a repository with one commit.
    pub(crate) fn new() -> Self {
        let repo = Self::empty();
        repo.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        repo
    }

    /// Makes a repository without a commit.
    pub(crate) fn empty() -> Self {
        let home = Home::new();
        let path = home.path().join("a repository");
        std::fs::create_dir(&path).unwrap();
        let repo = Self { home, path };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.git(&["config", "user.name", "Ann"]);
        repo.git(&["config", "user.email", "ann@example.com"]);
        repo
    }

    /// Runs git and returns what it said.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path, arguments)
    }

    /// Returns a command of godel in a folder.
    pub(crate) fn command_in(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.current_dir(folder);
        command
    }

    /// Runs godel in the repository.
    pub(crate) fn godel(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command_in(&self.path, arguments))
    }

    /// Runs godel with a variable set.
    pub(crate) fn with(&self, variable: (&str, &str), arguments: &[&str]) -> Answer {
        let mut command = self.command_in(&self.path, arguments);
        answer(command.env(variable.0, variable.1))
    }

    /// Runs godel with something on stdin.
    pub(crate) fn fed(&self, input: &str, arguments: &[&str]) -> Answer {
        let mut command = self.command_in(&self.path, arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        Answer {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs godel, which must succeed, and returns its words.
    pub(crate) fn say(&self, arguments: &[&str]) -> String {
        self.godel(arguments).expect(0).stdout
    }

    /// Runs godel, which must succeed, and returns its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        self.godel(&all).expect(0).json()
    }

    /// Makes a bead and returns its id.
    pub(crate) fn create(&self, title: &str) -> String {
        self.json(&["bead", "create", title])["id"].as_str().unwrap().to_owned()
    }
}

/// Runs git in a folder.
pub(crate) fn git(at: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(at).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the ids in a list.
pub(crate) fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}
