//! Repositories inside a worktree, whose work a commit of the outer one cannot hold.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::git::Git;
use crate::record::{Mode, Record};
use crate::repo::{Admin, Repo};

/// Finds the directories below a directory that are repositories or submodules.
fn repositories(tree: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![tree.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_name() == ".git" {
                if dir != tree {
                    found.push(dir.clone());
                }
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    found.sort_unstable();
    found
}

/// Says which repositories in a worktree would be lost with it, and why.
pub(crate) fn endangered(
    repo: &Repo,
    record: Option<&Record>,
    admin: Option<&Admin>,
    tree: &Path,
) -> Result<Vec<String>> {
    let nested = repositories(tree);
    if nested.is_empty() {
        return Ok(Vec::new());
    }
    let submodules = match admin {
        Some(admin) => submodules(admin, tree)?,
        None => Vec::new(),
    };
    let shared = |path: &Path, mode: Mode| {
        let mut shares = record.iter().flat_map(|record| &record.shares);
        shares.any(|share| share.mode == mode && path.starts_with(&share.path))
    };
    let mut complaints = Vec::new();
    for dir in nested {
        let path = dir.strip_prefix(tree).unwrap_or(&dir).to_owned();
        let submodule = submodules.iter().any(|module| path.starts_with(module));
        if shared(&path, Mode::ReadOnly) {
            // It is the main work tree's, and stays there.
            continue;
        }
        if submodule || shared(&path, Mode::Copy) {
            let known = match record.filter(|_| submodule) {
                Some(record) => pinned(repo, &record.base.commit, &path)?,
                None => None,
            };
            if let Some(why) = unsaved(&dir, known.as_deref()) {
                let kind = if submodule { "the submodule" } else { "the repository" };
                complaints.push(format!("{kind} {} {why}", path.display()));
            }
        } else {
            complaints.push(format!("{} is a repository of its own", path.display()));
        }
    }
    Ok(complaints)
}

/// Lists the submodules that the index of a worktree knows.
fn submodules(admin: &Admin, tree: &Path) -> Result<Vec<PathBuf>> {
    let git = Git::on_tree(&admin.dir, tree).reading();
    let entries = git.args(["ls-files", "--stage", "-z"]).paths()?;
    let modules = entries.iter().filter_map(|entry| {
        let (about, path) = entry.to_str()?.split_once('\t')?;
        about.starts_with("160000 ").then(|| PathBuf::from(path))
    });
    Ok(modules.collect())
}

/// Returns the commit of a submodule that the base names: others have it.
fn pinned(repo: &Repo, commit: &str, path: &Path) -> Result<Option<String>> {
    let entry = repo.ask().args(["ls-tree", commit, "--"]).args([path]).maybe()?;
    let commit = entry.as_deref().and_then(|entry| entry.strip_prefix("160000 commit "));
    Ok(commit.and_then(|rest| rest.split_whitespace().next()).map(str::to_owned))
}

/// Says what a repository has that is nowhere else.
fn unsaved(dir: &Path, known: Option<&str>) -> Option<String> {
    let ask = |arguments: &[&str]| Git::within(dir).reading().args(arguments).bytes();
    let status =
        ask(&["status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none"]);
    let mut walk = vec!["rev-list", "--max-count=1", "--branches", "--tags", "--glob=refs/stash"];
    walk.extend(["HEAD", "--not", "--remotes"]);
    walk.extend(known);
    match (status, ask(&walk)) {
        (Err(_), _) => Some("cannot be looked into".to_owned()),
        (Ok(changes), _) if !changes.is_empty() => Some("has changes".to_owned()),
        (Ok(_), Ok(commits)) if commits.is_empty() => None,
        (Ok(_), Ok(_)) => Some("has commits that are on no remote".to_owned()),
        (Ok(_), Err(_)) => Some("has no commit yet, or cannot be looked into".to_owned()),
    }
}
