//! Questions about commits and branches that change nothing.

use std::collections::HashMap;

use godel_model::code;
use serde::{Deserialize, Serialize};

use crate::bench::Workbench;
use crate::error::{Error, Result};
use crate::git::failed;
use crate::repo::Repo;

/// How many changed paths are named.
const PATHS_MAX: usize = 200;
/// How large a file may be that is read out of a commit.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// What lies between two commits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffStat {
    /// How many files differ.
    pub files: usize,
    /// How many lines are new.
    pub added: u64,
    /// How many lines are gone.
    pub removed: u64,
    /// The first of the paths that differ.
    pub paths: Vec<String>,
}

impl Workbench {
    /// Counts what differs between two commits; renames count as one file.
    ///
    /// # Errors
    /// If one of them is no commit, or git fails.
    pub fn diff_stat(&self, base: &str, head: &str) -> Result<DiffStat> {
        let (base, head) = (self.repo.known(base)?, self.repo.known(head)?);
        self.repo.diff_stat(&base, &head)
    }

    /// Returns what a commit changed since it left another, as people read it.
    ///
    /// # Errors
    /// If one of them is no commit, or git fails.
    pub fn patch(&self, base: &str, head: &str) -> Result<String> {
        let between = format!("{}...{}", self.repo.known(base)?, self.repo.known(head)?);
        let asked = ["diff", "-M", "--stat", "--patch", "--no-color", "--no-ext-diff"];
        let bytes = self.repo.ask().args(asked).args(["--no-textconv", &between]).bytes()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the whole id of a commit.
    ///
    /// # Errors
    /// If there is none, or git fails.
    pub fn whole_id(&self, revision: &str) -> Result<String> {
        self.repo.known(revision)
    }

    /// Tells whether a commit leads to another or is the same.
    ///
    /// # Errors
    /// If one of them is no commit, or git fails.
    pub fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool> {
        let (older, newer) = (self.repo.known(older)?, self.repo.known(newer)?);
        self.repo.is_ancestor(&older, &newer)
    }

    /// Returns the commit that a branch is at, if there is such a branch.
    ///
    /// # Errors
    /// If git cannot be run.
    pub fn head_of(&self, branch: &str) -> Result<Option<String>> {
        self.repo.commit(&format!("refs/heads/{branch}"))
    }

    /// Returns where branches are, by their names: one of these names, or below it.
    ///
    /// # Errors
    /// If git cannot be run.
    pub fn heads(&self, names: &[&str]) -> Result<HashMap<String, String>> {
        let patterns = names.iter().map(|name| format!("refs/heads/{name}"));
        let asked = ["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)"];
        let text = self.repo.ask().args(asked).args(patterns).line()?;
        let pair = |line: &str| {
            line.split_once(' ').map(|(commit, name)| (name.to_owned(), commit.to_owned()))
        };
        Ok(text.lines().filter_map(pair).collect())
    }

    /// Returns a text file of a commit, such as its `godel.toml`; nothing if it is not there.
    ///
    /// # Errors
    /// If it is no commit, or the file is too large or no text.
    pub fn file_at(&self, commit: &str, path: &str) -> Result<Option<String>> {
        let object = format!("{}:{path}", self.repo.known(commit)?);
        let asked = ["cat-file", "-s", &object];
        let Some(size) = self.repo.ask().args(asked).maybe()? else {
            return Ok(None);
        };
        let refused = |why: &str| {
            let what = format!("{path} of the commit {why}");
            Err(Error::refused(code::INVALID_CONFIG, what, "commit a smaller text file"))
        };
        if size.parse::<u64>().is_ok_and(|size| size > FILE_MAX_BYTES) {
            return refused("is too large");
        }
        let output = self.repo.ask().args(["cat-file", "blob", &object]).output()?;
        match String::from_utf8(output.stdout) {
            Ok(text) if output.status.success() => Ok(Some(text)),
            Ok(_) => refused("is no file"),
            Err(_) => refused("is no text"),
        }
    }

    /// Returns the id of the files of a commit, all together.
    ///
    /// # Errors
    /// If it is no commit, or git fails.
    pub fn tree_of(&self, commit: &str) -> Result<String> {
        self.repo.tree_of(&self.repo.known(commit)?)
    }
}

impl Repo {
    /// Returns the id of a commit that must be there.
    pub(crate) fn known(&self, revision: &str) -> Result<String> {
        let found = match revision.starts_with('-') {
            true => None,
            false => self.commit(revision)?,
        };
        found.ok_or_else(|| {
            let shown: String = revision.chars().filter(|c| !c.is_control()).take(100).collect();
            Error::refused(
                code::COMMIT_NOT_FOUND,
                format!("there is no commit {shown:?} in this repository"),
                "see the commits with `git log --all`",
            )
        })
    }

    pub(crate) fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool> {
        let output = self.ask().args(["merge-base", "--is-ancestor", older, newer]).output()?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(failed("merge-base".to_owned(), &output)),
        }
    }

    pub(crate) fn tree_of(&self, commit: &str) -> Result<String> {
        self.ask().args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).line()
    }

    pub(crate) fn diff_stat(&self, base: &str, head: &str) -> Result<DiffStat> {
        let asked = ["diff-tree", "-r", "-z", "-M", "--numstat", "--no-ext-diff", "--no-textconv"];
        let bytes = self.ask().args(asked).args([base, head]).bytes()?;
        Ok(counted(&bytes))
    }
}

/// Reads `<added>\t<removed>\t<path>` records; a rename has an empty path and two more after it.
pub(crate) fn counted(bytes: &[u8]) -> DiffStat {
    let mut stat = DiffStat::default();
    let text = String::from_utf8_lossy(bytes);
    let mut records = text.split('\0');
    while let Some(record) = records.next() {
        let mut parts = record.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let path = if path.is_empty() { records.nth(1).unwrap_or_default() } else { path };
        stat.files += 1;
        // A binary file has no lines; git writes a dash.
        stat.added += added.parse().unwrap_or(0);
        stat.removed += removed.parse().unwrap_or(0);
        if stat.paths.len() < PATHS_MAX {
            stat.paths.push(path.to_owned());
        }
    }
    stat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_and_binary_files_are_counted_once() {
        let stat = counted(b"1\t2\ta.txt\0-\t-\tb.png\x000\t0\t\0old name\0new name\x003\t0\tc\0");
        assert_eq!((stat.files, stat.added, stat.removed), (4, 4, 2));
        assert_eq!(stat.paths, ["a.txt", "b.png", "new name", "c"]);
        assert_eq!(counted(b""), DiffStat::default());
    }
}
