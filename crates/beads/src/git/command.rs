//! The git program, for what it does better than anybody: transport, packing, work trees.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::{Error, Result};

/// Variables of git that say how to reach a remote, not what to work on.
const HARMLESS: [&str; 8] = [
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_HTTP",
    "GIT_PROXY",
    "GIT_SSH",
    "GIT_SSL",
];

/// Tells whether a variable, set by a hook perhaps, would let git work on something else.
fn leads_astray(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("GIT_") && !HARMLESS.iter().any(|harmless| name.starts_with(harmless))
}

/// Returns git where it can neither ask, nor run hooks, nor be led astray by the environment.
pub(crate) fn quiet_git(at: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| leads_astray(name)) {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(at)
        .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"])
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C");
    command
}

/// Runs git and returns what it wrote.
pub(crate) fn run_git(at: &Path, arguments: &[&str]) -> Result<String> {
    let verb = arguments.iter().find(|word| !word.starts_with('-') && !word.contains('='));
    let shown = verb.copied().unwrap_or_default().to_owned();
    let output = quiet_git(at).args(arguments).output().map_err(|cause| Error::Command {
        command: shown.clone(),
        message: format!("git cannot be run: {cause}"),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let telling = |line: &&str| {
        let line = line.trim();
        ["fatal:", "error:", "!"].iter().any(|mark| line.starts_with(mark))
    };
    let line = said.lines().find(telling).or_else(|| said.lines().next_back());
    let message = line.unwrap_or("it gave no reason").trim().chars().take(400).collect();
    Err(Error::Command { command: shown, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_how_to_reach_a_remote_is_kept() {
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_COUNT"] {
            assert!(leads_astray(OsStr::new(name)), "{name}");
        }
        for name in ["GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_NO_VERIFY", "PATH", "HOME"] {
            assert!(!leads_astray(OsStr::new(name)), "{name}");
        }
    }
}
