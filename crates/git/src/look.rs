//! What there is: one entry for each worktree, as its record, git and the disk together tell.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::Name;
use crate::bench::Workbench;
use crate::disk;
use crate::error::{Error, Result};
use crate::git::Git;
use crate::record::{Base, Cleanup, Copied, Ended, Phase, Ports, Record, Share};
use crate::repo::Admin;

/// One worktree.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its name: the id of its bead.
    pub id: Name,
    /// Where it is.
    pub path: PathBuf,
    /// The branch that is checked out in it; none if HEAD is detached.
    pub branch: Option<String>,
    /// What it was begun from.
    pub base: Option<Base>,
    /// The commit that it stands on.
    pub head: Option<String>,
    /// How many commits it has that the base did not have.
    pub ahead: Option<u64>,
    /// How many files are changed, staged or new.
    pub dirty: Option<u64>,
    /// How it is.
    pub state: State,
    /// Why it is locked, if it is.
    pub locked: Option<String>,
    /// When it was made.
    pub created_at: Option<Timestamp>,
    /// How the work in it ended, once that is known.
    pub ended: Option<Ended>,
    /// When it may go.
    pub cleanup: Option<Cleanup>,
    /// Its ports.
    pub ports: Option<Ports>,
    /// The directories that it shares with the main work tree.
    pub shares: Vec<Share>,
    /// The files that were copied into it.
    pub copied: Vec<Copied>,
}

impl Entry {
    /// Tells what a record knows of a worktree that was just made, without asking git.
    pub fn fresh(record: &Record, path: PathBuf) -> Self {
        Self {
            branch: Some(record.branch.clone()),
            base: Some(record.base.clone()),
            created_at: Some(record.created_at),
            ended: record.ended,
            cleanup: Some(record.cleanup),
            ports: record.ports,
            shares: record.shares.clone(),
            copied: record.copied.clone(),
            ..Self::blank(&record.id, path)
        }
    }

    fn blank(name: &Name, path: PathBuf) -> Self {
        Self {
            id: name.clone(),
            path,
            branch: None,
            base: None,
            head: None,
            ahead: None,
            dirty: None,
            state: State::Ready,
            locked: None,
            created_at: None,
            ended: None,
            cleanup: None,
            ports: None,
            shares: Vec::new(),
            copied: Vec::new(),
        }
    }
}

/// How a worktree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is being made, or its making was interrupted.
    Creating,
    /// Its setup script failed.
    SetupFailed,
    /// It can be worked in.
    Ready,
    /// It is being removed, or its removal was interrupted.
    Removing,
    /// Its directory was deleted by somebody.
    Missing,
    /// Its directory is there, and git does not know it any more.
    Orphaned,
    /// It is there, and its record is not.
    Unrecorded,
    /// Its record cannot be read.
    Unreadable,
}

impl State {
    /// Returns the state as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::SetupFailed => "setup-failed",
            Self::Ready => "ready",
            Self::Removing => "removing",
            Self::Missing => "missing",
            Self::Orphaned => "orphaned",
            Self::Unrecorded => "unrecorded",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Workbench {
    /// Lists the worktrees, by name.
    ///
    /// # Errors
    /// If a record cannot be read or git fails.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let admins = self.repo.admins()?;
        let mut names: BTreeSet<Name> = self.recorded()?.into_iter().collect();
        let folder = self.repo.home.join("worktrees");
        for admin in &admins {
            if admin.tree.parent() == Some(&folder)
                && let Some(name) = admin.tree.file_name().and_then(|name| name.to_str())
                && let Ok(name) = name.parse()
            {
                names.insert(name);
            }
        }
        let entries = names.iter().map(|name| {
            let tree = self.repo.tree(name);
            let admin = admins.iter().find(|admin| admin.tree == tree);
            // One record that is broken does not hide the other worktrees.
            match self.load(name) {
                Ok(record) => self.entry(name, record, admin),
                Err(_) => {
                    let entry = self.entry(name, None, admin)?;
                    let blank = || Entry::blank(name, tree.clone());
                    let entry = entry.unwrap_or_else(blank);
                    Ok(Some(Entry { state: State::Unreadable, ..entry }))
                }
            }
        });
        // One that was removed in between is none.
        entries.filter_map(Result::transpose).collect()
    }

    /// Looks at one worktree.
    ///
    /// # Errors
    /// If there is none of this name, or git fails.
    pub fn info(&self, name: &Name) -> Result<Entry> {
        let admin = self.repo.admin(name)?;
        let entry = self.entry(name, self.load(name)?, admin.as_ref())?;
        entry.ok_or_else(|| Error::no_worktree(name))
    }

    fn entry(
        &self,
        name: &Name,
        record: Option<Record>,
        admin: Option<&Admin>,
    ) -> Result<Option<Entry>> {
        let path = self.repo.tree(name);
        let there = disk::exists(&path);
        let Some(state) = state(record.as_ref(), admin.is_some(), there) else {
            return Ok(None);
        };
        let (branch, head) = self.head(name, admin)?;
        let base = record.as_ref().map(|record| record.base.clone());
        let ahead = match (&base, &head) {
            (Some(base), Some(head)) => {
                let range = format!("{}..{head}", base.commit);
                let count = self.repo.ask().args(["rev-list", "--count", &range]).maybe()?;
                count.and_then(|count| count.parse().ok())
            }
            _ => None,
        };
        let dirty = match admin.filter(|_| there) {
            Some(admin) => changes(admin, &path).ok(),
            None => None,
        };
        let locked = admin.and_then(|admin| fs::read_to_string(admin.dir.join("locked")).ok());
        let locked = locked.map(|why| why.trim().to_owned());
        let known = match &record {
            Some(record) => Entry::fresh(record, path),
            None => Entry::blank(name, path),
        };
        Ok(Some(Entry { branch, base, head, ahead, dirty, state, locked, ..known }))
    }

    /// Returns the branch and the commit of a worktree; of its own branch if it is gone.
    fn head(&self, name: &Name, admin: Option<&Admin>) -> Result<(Option<String>, Option<String>)> {
        let Some(admin) = admin else {
            let head = self.repo.commit(&format!("refs/heads/{}", name.branch()))?;
            return Ok((head.is_some().then(|| name.branch()), head));
        };
        let ask = || Git::on(&admin.dir).reading();
        let branch = ask().args(["symbolic-ref", "-q", "--short", "HEAD"]).maybe()?;
        Ok((branch, ask().args(["rev-parse", "-q", "--verify", "HEAD"]).maybe()?))
    }
}

fn state(record: Option<&Record>, known: bool, there: bool) -> Option<State> {
    Some(match (record.map(|record| record.phase), known, there) {
        (None, false, _) => return None,
        (Some(Phase::Removing), ..) => State::Removing,
        (Some(Phase::Creating), ..) => State::Creating,
        (_, _, false) => State::Missing,
        (Some(_), false, true) => State::Orphaned,
        (None, true, true) => State::Unrecorded,
        (Some(Phase::SetupFailed), true, true) => State::SetupFailed,
        (Some(Phase::Ready), true, true) => State::Ready,
    })
}

/// Counts the files of a worktree that are changed, staged or new.
fn changes(admin: &Admin, tree: &Path) -> Result<u64> {
    let git = Git::on_tree(&admin.dir, tree).reading();
    let asked = ["status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none"];
    let text = git.args(asked).bytes()?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(u64::try_from(lines.count()).unwrap_or(u64::MAX))
}
