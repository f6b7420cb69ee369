//! Commits that only a worktree knows of: a detached HEAD, a merge or rebase under way, its own log.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::bench::Workbench;
use crate::error::Result;
use crate::git::Git;
use crate::repo::Admin;

/// How many of the names below are references, and may be kept in tables.
const IN_TABLES: usize = 7;
/// Where operations under way keep their commits, inside the directory of a worktree.
const UNDER_WAY: [&str; 14] = [
    "HEAD",
    "MERGE_HEAD",
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_HEAD",
    "sequencer/head",
    "rebase-merge/orig-head",
    "rebase-merge/stopped-sha",
    "rebase-merge/amend",
    "rebase-merge/autostash",
    "rebase-apply/orig-head",
    "rebase-apply/autostash",
];

impl Workbench {
    /// Finds the commits that would be lost with a worktree, without those that lead to others.
    pub(crate) fn endangered_commits(
        &self,
        admin: Option<&Admin>,
        leaving: Option<&str>,
    ) -> Result<Vec<String>> {
        let mut candidates = BTreeSet::new();
        if let Some(admin) = admin {
            candidates.extend(remembered(&self.log(&admin.dir, "HEAD")?));
            candidates.extend(UNDER_WAY.iter().flat_map(|name| ids(&admin.dir.join(name))));
            let own = ["refs/worktree", "refs/bisect", "refs/rewritten"];
            let refs = Git::on(&admin.dir).reading();
            let refs = refs.args(["for-each-ref", "--format=%(objectname)"]).args(own).line()?;
            candidates.extend(refs.lines().map(str::to_owned));
            // Newer repositories keep their references in tables instead of files.
            let tables = self.repo.common.join("reftable").exists();
            for name in UNDER_WAY.iter().take(if tables { IN_TABLES } else { 1 }) {
                let git = Git::on(&admin.dir).reading();
                candidates.extend(git.args(["rev-parse", "-q", "--verify", name]).maybe()?);
            }
        }
        if let Some(branch) = leaving {
            let full = format!("refs/heads/{branch}");
            candidates.extend(remembered(&self.log(&self.repo.common, &full)?));
            candidates.extend(self.repo.commit(&format!("refs/heads/{branch}"))?);
        }
        self.tips(&candidates, leaving)
    }

    /// Reads the log of a reference, as lines of `<old> <new> ..\t<why>`.
    fn log(&self, dir: &Path, reference: &str) -> Result<String> {
        if !self.repo.common.join("reftable").exists() {
            // Nothing is logged in a bare repository.
            return Ok(fs::read_to_string(dir.join("logs").join(reference)).unwrap_or_default());
        }
        let asked = ["log", "--walk-reflogs", "--format=%H%x09%gs", reference, "--"];
        let listed = Git::on(dir).reading().args(asked).maybe()?.unwrap_or_default();
        let newest_first: Vec<(&str, &str)> =
            listed.lines().filter_map(|line| line.split_once('\t')).collect();
        let mut lines = String::new();
        let mut old = "0";
        for (new, why) in newest_first.iter().rev() {
            lines.push_str(&format!("{old} {new}\t{why}\n"));
            old = new;
        }
        Ok(lines)
    }

    /// Reduces commits to those that nothing else leads to.
    fn tips(&self, candidates: &BTreeSet<String>, leaving: Option<&str>) -> Result<Vec<String>> {
        let list: String = candidates.iter().map(|id| format!("{id}\n")).collect();
        let about = self.repo.ask().args(["cat-file", "--batch-check"]).input(list).line()?;
        let commits = about.lines().filter_map(|line| line.split_once(" commit "));
        let list: String = commits.map(|(id, _)| format!("{id}\n")).collect();
        if list.is_empty() {
            return Ok(Vec::new());
        }
        let walk = self.repo.ask().args(["rev-list", "--parents", "--stdin"]);
        let listed = walk.args(self.others(leaving)).input(list).line()?;
        let mut parents = BTreeMap::new();
        for line in listed.lines() {
            let mut ids = line.split(' ');
            parents.insert(ids.next().unwrap_or_default(), ids.collect::<Vec<_>>());
        }
        let inner: BTreeSet<&str> = parents.values().flatten().copied().collect();
        let tips = parents.keys().filter(|id| !inner.contains(**id));
        Ok(tips.map(|id| (*id).to_owned()).collect())
    }

    /// Names all references that keep commits, but for a branch that will go.
    pub(crate) fn others(&self, leaving: Option<&str>) -> Vec<String> {
        let mut arguments = vec!["--not".to_owned()];
        arguments.extend(leaving.map(|branch| format!("--exclude={branch}")));
        arguments.extend(
            ["--branches", "--tags", "--remotes", "--glob=refs/godel/rescue", "--glob=refs/stash"]
                .map(str::to_owned),
        );
        arguments.push(format!("--glob={}", crate::attempt::REFS));
        arguments
    }
}

/// Reads the ids at the beginning of the lines of a file.
fn ids(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| id(line.split_whitespace().next()?)).collect()
}

fn id(word: &str) -> Option<String> {
    let hex = matches!(word.len(), 40 | 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hex && word.bytes().any(|byte| byte != b'0')).then(|| word.to_owned())
}

/// Returns the commits of a log, but for those that an amended commit or a finished rebase replaced.
fn remembered(log: &str) -> BTreeSet<String> {
    let (mut known, mut replaced) = (BTreeSet::new(), BTreeSet::new());
    let mut rebased: Vec<String> = Vec::new();
    for line in log.lines() {
        let (moved, message) = line.split_once('\t').unwrap_or((line, ""));
        let mut words = moved.split(' ');
        let (old, new) = (words.next().and_then(id), words.next().and_then(id));
        known.extend(old.clone());
        known.extend(new.clone());
        // Whoever comes back to a commit means it.
        new.iter().for_each(|new| {
            replaced.remove(new);
        });
        if message.starts_with("commit (amend)") {
            replaced.extend(old);
        } else if message.starts_with("rebase") && message.contains("(start)") {
            rebased = old.into_iter().collect();
        } else if message.starts_with("rebase") && message.contains("(finish)") {
            replaced.extend(rebased.drain(..).filter(|id| Some(id) != new.as_ref()));
        } else if message.starts_with("rebase") && message.contains("(abort)") {
            rebased.clear();
        } else if message.starts_with("rebase") && !rebased.is_empty() {
            rebased.extend(new);
        }
    }
    &known - &replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: &[(char, char, &str)]) -> BTreeSet<String> {
        let id = |c: char| c.to_string().repeat(40);
        let text: String = lines
            .iter()
            .map(|(old, new, why)| format!("{} {} A <a@b> 1 +0000\t{why}\n", id(*old), id(*new)))
            .collect();
        remembered(&text).iter().map(|id| id[..1].to_owned()).collect()
    }

    #[test]
    fn replaced_commits_are_forgotten_and_abandoned_ones_are_not() {
        let ids = |text: &str| text.chars().map(|c| c.to_string()).collect::<BTreeSet<_>>();
        assert_eq!(log(&[('0', '1', "checkout"), ('1', '2', "commit: a")]), ids("12"));
        assert_eq!(log(&[('1', '2', "commit: a"), ('2', '3', "commit (amend): b")]), ids("13"));
        assert_eq!(log(&[('1', '2', "commit: a"), ('2', '1', "reset: moving to 1")]), ids("12"));
        let rebase = [
            ('1', '2', "commit: a"),
            ('2', '5', "rebase (start): checkout main"),
            ('5', '6', "rebase (pick): a"),
            ('6', '6', "rebase (finish): returning to refs/heads/bead/x"),
        ];
        assert_eq!(log(&rebase), ids("156"));
        let mut regretted = rebase.to_vec();
        regretted.push(('6', '2', "reset: moving to ORIG_HEAD"));
        assert_eq!(log(&regretted), ids("1256"));
        let mut aborted = rebase;
        aborted[3] = ('6', '2', "rebase (abort): returning to refs/heads/bead/x");
        assert_eq!(log(&aborted), ids("1256"));
        assert_eq!(log(&rebase[..3]), ids("1256"), "a rebase under way replaces nothing");
    }

    #[test]
    fn a_file_that_holds_no_commit_gives_none() {
        assert_eq!(id("ref:"), None);
        assert_eq!(id(&"0".repeat(40)), None);
        assert_eq!(id(&"a".repeat(64)).as_deref(), Some("a".repeat(64).as_str()));
        assert!(ids(Path::new("/none")).is_empty());
    }
}
