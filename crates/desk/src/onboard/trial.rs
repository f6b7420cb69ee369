//! Tries the tests of a repository once, in a copy: a gate that fails without any work would stop all work.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use godel_console::output::{Output, plain};
use godel_console::{Error, Result};
use serde::Serialize;

use super::file;
use crate::own_git;

/// How long they may take.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// How much of what they print is read.
const TAIL_BYTES: i64 = 2_000;

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Trial {
    /// The command.
    pub(super) command: String,
    /// Whether they passed; not known if they took too long.
    pub(super) passed: Option<bool>,
    /// The commit that was tried.
    pub(super) commit: String,
    #[serde(rename = "tookMs")]
    took_ms: u64,
    /// The end of what they printed, if they failed.
    said: Option<String>,
}

impl Trial {
    #[cfg(test)]
    pub(super) fn of(command: &str, passed: Option<bool>) -> Self {
        let (command, commit) = (command.to_owned(), "c0ffee".to_owned());
        Self { command, passed, commit, took_ms: 1, said: None }
    }

    /// Says it in a line.
    pub(super) fn words(&self) -> String {
        let (command, took) = (plain(&self.command), self.took_ms);
        match self.passed {
            Some(true) => {
                format!("`{command}` passes (tried in a copy, {took} ms); it is the gate")
            }
            Some(false) => {
                let last = self.said.as_deref().and_then(|said| said.lines().last());
                let last = last.map(|line| format!(": {}", plain(line.trim()))).unwrap_or_default();
                format!(
                    "`{command}` fails in a fresh copy{last}; the gate is in godel.toml, switched off"
                )
            }
            None => {
                let seconds = PATIENCE.as_secs();
                format!(
                    "`{command}` is the gate; it took more than {seconds} s, so it was not tried to its end"
                )
            }
        }
    }
}

/// Finds the tests of the commit that is checked out and tries them, with the file that is to be added; none if
/// there are none.
pub(super) fn try_out(
    output: Output,
    root: &Path,
    text: impl Fn(Option<&Trial>) -> String,
) -> Result<Option<Trial>> {
    let found = godel_git::survey(root, "HEAD")?;
    let (Some(command), Some(commit)) = (found.tests.command, found.commit) else {
        return Ok(None);
    };
    output.note(format_args!("trying `{}` in a copy, for a minute at most", plain(&command)));
    let folder = tempfile::Builder::new().prefix("godel-onboard-").tempdir();
    let folder = folder.map_err(|cause| Error::file("a folder", "made", cause))?;
    let copy = folder.path().join("copy");
    let to = copy.display().to_string();
    let clone = ["clone", "--quiet", "--shared", "--no-hardlinks", "--", ".", &to];
    own_git::run(root, &clone, "see whether there is room for a copy of the files")?;
    let hoped = Trial { command, passed: Some(true), commit, took_ms: 0, said: None };
    file::write(&copy, &text(Some(&hoped)))?;
    let begun = Instant::now();
    let (passed, said) = run(&copy, &hoped.command)?;
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let said = (passed == Some(false)).then_some(said);
    Ok(Some(Trial { passed, took_ms, said, ..hoped }))
}

fn run(copy: &Path, command: &str) -> Result<(Option<bool>, String)> {
    let log = copy.with_extension("log");
    let failed = |cause| Error::file("the tests", "started", cause);
    let to = std::fs::File::create(&log).map_err(failed)?;
    let also = to.try_clone().map_err(failed)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(copy).process_group(0);
    let mut child = shell.stdin(Stdio::null()).stdout(to).stderr(also).spawn().map_err(failed)?;
    let until = Instant::now() + PATIENCE;
    let passed = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break Some(status.success()),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(POLL),
        }
    };
    end(&mut child);
    Ok((passed, tail(&log)))
}

/// Ends the tests with all that they have started.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
    child.wait().ok();
}

fn tail(log: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = std::fs::File::open(log) {
        // What cannot be read is not told; a text that is shorter has no such place, and is read whole.
        file.seek(SeekFrom::End(-TAIL_BYTES)).ok();
        file.read_to_end(&mut bytes).ok();
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
