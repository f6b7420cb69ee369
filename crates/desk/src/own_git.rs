//! Git as its user would call it: with their name, their hooks and their settings.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use godel_console::{Error, Result};
use godel_model::{Invalid, code};

/// Variables that lead git elsewhere; those that say who somebody is stay.
const ELSEWHERE: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
];

/// Runs git in the work tree of the repository; fails as git does.
pub(crate) fn run(root: &Path, arguments: &[&str], hint: &str) -> Result<String> {
    let output = ask(root, arguments)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let what = format!("git {} failed: {}", arguments[0], said.trim());
        return Err(Invalid::new(code::GIT_FAILED, what).with_hint(hint).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs git, whatever comes of it.
pub(crate) fn ask(root: &Path, arguments: &[&str]) -> Result<Output> {
    let mut git = Command::new("git");
    // The repository is the one of this directory, also inside a hook of another.
    for name in ELSEWHERE {
        git.env_remove(name);
    }
    git.args(arguments).current_dir(root).stdin(Stdio::null()).env("LC_ALL", "C");
    git.output().map_err(|cause| Error::file("git", "run", cause))
}

/// Returns the branch that is checked out, which may have no commit yet.
pub(crate) fn branch(root: &Path) -> Result<String> {
    let hint = "check out the branch that work should land in, and say it again";
    run(root, &["symbolic-ref", "--short", "HEAD"], hint).map_err(|_| {
        Error::usage("no branch is checked out: git is at a commit by itself".to_owned(), hint)
    })
}

/// Returns the branch that work lands in if nobody says otherwise.
pub(crate) fn usual(root: &Path) -> Result<Option<&'static str>> {
    for name in ["main", "master"] {
        let reference = format!("refs/heads/{name}");
        if ask(root, &["rev-parse", "--verify", "--quiet", &reference])?.status.success() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
