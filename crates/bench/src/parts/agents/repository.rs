//! A repository with as many files as wanted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result, Told as _};

const FILES_EACH: usize = 50;

/// Makes a repository with one commit.
pub(in crate::parts) fn make(repo: &Path, files: usize) -> Result<()> {
    for folder in 0..files.div_ceil(FILES_EACH) {
        let dir = repo.join(format!("part{}/unit{folder}", folder / 20));
        fs::create_dir_all(&dir).told("make a directory")?;
        for file in 0..FILES_EACH.min(files - folder * FILES_EACH) {
            let lines = 5 + (folder * 31 + file * 17) % 75;
            let line = |number: usize| format!("fn f{folder}_{file}_{number}() {{}}\n");
            let text: String = (0..lines).map(line).collect();
            fs::write(dir.join(format!("f{file}.rs")), text).told("write a file")?;
        }
    }
    git(repo, &["init", "-q", "-b", "main"])?;
    git(repo, &["add", "--all"])?;
    git(repo, &["commit", "-qm", "all files"])?;
    git(repo, &["gc", "-q"]).map(drop)
}

/// Makes a worktree, by git alone.
pub(in crate::parts) fn add(repo: &Path, tree: &Path) -> Result<()> {
    git(repo, &["worktree", "add", "-q", "--detach", &tree.to_string_lossy()]).map(drop)
}

/// Runs git.
pub(in crate::parts) fn git(dir: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null").stdin(Stdio::null());
    for setting in
        ["user.name=bench", "user.email=bench@example.com", "gc.auto=0", "maintenance.auto=false"]
    {
        command.args(["-c", setting]);
    }
    let output = command.args(arguments).output().told("run git")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(format!("git {arguments:?} failed: {}", said.trim())))
}
