//! A branch that is held at its place until the files have followed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use crate::error::{Error, Result};
use crate::git::Git;

/// How much of git's complaints is read.
const SAID_MAX_BYTES: u64 = 8 * 1024;

/// A change of one reference that is checked and locked, and not made yet.
///
/// Dropped, it is given up: git sees the end of its input and lets the reference go, also if we are
/// killed.
pub(super) struct Transaction {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// The reference, where it must be, and where it goes.
pub(super) struct Change<'a> {
    pub(super) reference: &'a str,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) why: &'a str,
}

impl Transaction {
    /// Checks that the reference is where it must be, and holds it there.
    pub(super) fn prepare(git: Git<'_>, change: &Change<'_>) -> Result<Self> {
        let asked = ["update-ref", "--create-reflog", "-m", change.why, "--stdin"];
        let mut child = git.args(asked).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(broken("it has no input"));
        };
        let output = BufReader::new(output);
        let mut transaction = Self { child, input: Some(input), output };
        let Change { reference, before, after, .. } = change;
        let told = format!("start\nupdate {reference} {after} {before}\nprepare\n");
        transaction.tell(&told, "prepare: ok")?;
        Ok(transaction)
    }

    /// Moves the reference.
    pub(super) fn commit(mut self) -> Result<()> {
        self.tell("commit\n", "commit: ok")
    }

    fn tell(&mut self, words: &str, wanted: &str) -> Result<()> {
        if let Some(input) = &mut self.input {
            // Git that reads no further says why by itself.
            input.write_all(words.as_bytes()).and_then(|()| input.flush()).ok();
        }
        let mut line = String::new();
        loop {
            line.clear();
            match self.output.read_line(&mut line) {
                Ok(0) | Err(_) => return Err(broken(&self.complaints())),
                Ok(_) if line.trim_end() == wanted => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    fn complaints(&mut self) -> String {
        let mut said = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            stderr.take(SAID_MAX_BYTES).read_to_string(&mut said).ok();
        }
        said.trim().to_owned()
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.input = None;
        self.child.wait().ok();
    }
}

fn broken(said: &str) -> Error {
    Error::Git { command: "update-ref".to_owned(), said: said.to_owned() }
}
