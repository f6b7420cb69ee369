//! The repository behind the forge: a bare one, changed by git itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::How;

/// A bare repository.
#[derive(Debug, Clone)]
pub(crate) struct Bare(pub(crate) PathBuf);

impl Bare {
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let who = [("NAME", "A person"), ("EMAIL", "person@forge.invalid")];
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(&self.0).args(arguments).env("GIT_CONFIG_NOSYSTEM", "1");
        for (name, value) in who {
            command.env(format!("GIT_AUTHOR_{name}"), value);
            command.env(format!("GIT_COMMITTER_{name}"), value);
        }
        let output = command.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() { Ok(said) } else { Err(said) }
    }

    pub(crate) fn make(at: &Path) -> Self {
        let bare = Self(at.to_owned());
        let made =
            Command::new("git").args(["init", "-q", "--bare", "-b", "main"]).arg(at).status();
        assert!(made.is_ok_and(|made| made.success()), "git makes a bare repository");
        bare
    }

    /// Returns the commit that a branch is at.
    pub(crate) fn head(&self, branch: &str) -> Option<String> {
        self.run(&["rev-parse", "--verify", "-q", &format!("refs/heads/{branch}^{{commit}}")]).ok()
    }

    /// Tells how many commits one has that the other lacks.
    pub(crate) fn ahead(&self, base: &str, head: &str) -> usize {
        let range = format!("{base}..{head}");
        self.run(&["rev-list", "--count", &range]).ok().and_then(|n| n.parse().ok()).unwrap_or(0)
    }

    /// Merges without any working tree; nothing if both changed the same.
    pub(crate) fn merged_tree(&self, base: &str, head: &str) -> Option<String> {
        self.run(&["merge-tree", "--write-tree", base, head]).ok()
    }

    /// Brings a commit into a branch, and returns what the branch is at then.
    pub(crate) fn join(&self, base: &str, head: &str, how: How, words: &str) -> Option<String> {
        let tip = self.head(base)?;
        let commit = match how {
            How::Merge => {
                let tree = self.merged_tree(&tip, head)?;
                self.run(&["commit-tree", &tree, "-p", &tip, "-p", head, "-m", words]).ok()?
            }
            How::Squash => {
                let tree = self.merged_tree(&tip, head)?;
                self.run(&["commit-tree", &tree, "-p", &tip, "-m", words]).ok()?
            }
            How::Rebase => self.replay(&tip, head)?,
        };
        let reference = format!("refs/heads/{base}");
        self.run(&["update-ref", &reference, &commit, &tip]).ok()?;
        Some(commit)
    }

    fn replay(&self, tip: &str, head: &str) -> Option<String> {
        let range = format!("{tip}..{head}");
        let mut at = tip.to_owned();
        for commit in self.run(&["rev-list", "--reverse", &range]).ok()?.lines() {
            let parent = format!("--merge-base={commit}^");
            let tree = self.run(&["merge-tree", "--write-tree", &parent, &at, commit]).ok()?;
            let words = self.run(&["log", "-1", "--format=%B", commit]).ok()?;
            at = self.run(&["commit-tree", &tree, "-p", &at, "-m", &words]).ok()?;
        }
        Some(at)
    }
}
