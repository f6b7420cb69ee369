//! Whether a repair of conflicts is nothing but that.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Landing;
use crate::error::Result;

impl Landing<'_> {
    /// Tells what a repair changed beyond the files that were in conflict; nothing if it is honest.
    ///
    /// `old` is the work before, `new` the work with the branch merged into it. Whatever a clean merge of the
    /// two would not have given, in a file that was not in conflict, is beyond the repair.
    ///
    /// # Errors
    /// If there is no such commit or branch, or git fails.
    pub fn beyond_repair(&self, old: &str, new: &str, target: &str) -> Result<Option<String>> {
        let repo = self.repo();
        let (old, new) = (repo.known(old)?, repo.known(new)?);
        let (_, now) = self.branch(target)?;
        if !repo.is_ancestor(&old, &new)? {
            return Ok(Some("it is not built on the work that was allowed".to_owned()));
        }
        let Some(onto) = repo.ask().args(["merge-base", &new, &now]).maybe()? else {
            return Ok(Some("it has nothing in common with the branch".to_owned()));
        };
        let (tree, conflicts) = self.merged_anyhow([&onto, &old])?;
        let asked = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &tree, &new];
        let differing = repo.ask().args(asked).paths()?;
        let more: BTreeSet<PathBuf> =
            differing.into_iter().filter(|path| !conflicts.contains(path)).collect();
        let named: Vec<String> =
            more.iter().take(5).map(|path| path.display().to_string()).collect();
        Ok((!more.is_empty()).then(|| format!("it changes {}", named.join(", "))))
    }

    /// Merges two commits, with marks where they conflict; returns the files and which of them conflict.
    fn merged_anyhow(&self, [ours, theirs]: [&str; 2]) -> Result<(String, BTreeSet<PathBuf>)> {
        let asked = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z"];
        let git = self.repo().git().env("GIT_ATTR_SOURCE", ours).settings(&self.no_drivers()?);
        let output = git.args(asked).args([ours, theirs]).output()?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(crate::git::failed("merge-tree".to_owned(), &output));
        }
        let mut parts = output.stdout.split(|byte| *byte == 0);
        let tree = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        let files = parts.filter(|part| !part.is_empty()).map(crate::git::path_of).collect();
        Ok((tree, files))
    }
}
