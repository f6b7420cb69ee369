//! Attempts at a bead: one of them becomes its branch, and the work of none is lost.

use godel_model::code;

use crate::Name;
use crate::bench::Workbench;
use crate::error::{Error, Result};
use crate::remove::{Fate, Remove};

/// Where attempts are kept that are over.
pub(crate) const REFS: &str = "refs/godel/attempts";

/// How it ended that the branch of a bead was to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// The branch is at the commit.
    Done,
    /// Somebody else has moved it; it is here now.
    Moved(Option<String>),
}

/// An attempt that was put away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PutAway {
    /// The reference that keeps its commits, if it has made any.
    pub reference: Option<String>,
    /// The last of its commits.
    pub commit: Option<String>,
    /// References that keep what it had not committed.
    pub rescued: Vec<String>,
}

impl Workbench {
    /// Lets the branch of a bead be at a commit, if it still is where it was; again is fine.
    ///
    /// A worktree of the bead goes first, since its files would not follow; what is in it is saved.
    ///
    /// # Errors
    /// If there is no such commit, somebody has the branch checked out, or git fails.
    pub fn take_over(&self, bead: &Name, commit: &str, before: Option<&str>) -> Result<Taken> {
        let commit = self.repo.known(commit)?;
        let full = format!("refs/heads/{}", bead.branch());
        let found = self.repo.commit(&full)?;
        if found.as_deref() == Some(commit.as_str()) {
            return Ok(Taken::Done);
        }
        if found.as_deref() != before {
            return Ok(Taken::Moved(found));
        }
        if self.info(bead).is_ok() {
            self.remove(bead, Remove { force: false, branch: Fate::Keep })?;
        }
        if self.used_elsewhere(&full, &self.repo.tree(bead))? {
            return Err(Error::refused(
                code::WORKTREE_BUSY,
                format!("the branch {} is checked out by somebody", bead.branch()),
                "`git worktree list` shows where; switch that worktree to another branch",
            ));
        }
        self.step("attempt:checked");
        let nothing = "0".repeat(commit.len());
        let old = before.unwrap_or(&nothing);
        let moved = ["update-ref", "-m", "godel: attempt picked", &full, &commit, old];
        let output = self.repo.git().args(moved).output()?;
        if output.status.success() {
            return Ok(Taken::Done);
        }
        match self.repo.commit(&full)? {
            // Git failed for another reason.
            found if found.as_deref() == before => {
                Err(crate::git::failed("update-ref".to_owned(), &output))
            }
            found => Ok(Taken::Moved(found)),
        }
    }

    /// Keeps the commits of an attempt by a reference of their own, then removes its worktree and its branch;
    /// again is fine, and finishes what was interrupted.
    ///
    /// # Errors
    /// If it holds work that cannot be saved, or git fails. Then it stays.
    pub fn put_away(
        &self,
        (bead, number): (&Name, u32),
        tree: &Name,
        base: &str,
    ) -> Result<PutAway> {
        let full = format!("refs/heads/{}", tree.branch());
        let own = format!("{REFS}/{bead}/{number}");
        let head = self.repo.commit(&full)?;
        if let Some(head) = head.as_ref().filter(|head| *head != base) {
            self.repo.git().args(["update-ref", &own, head]).run()?;
        }
        self.step("attempt:kept");
        let mut rescued = Vec::new();
        if self.info(tree).is_ok() {
            let removed = self.remove(tree, Remove { force: true, branch: Fate::Delete })?;
            rescued.extend(removed.rescued.into_iter().map(|one| one.reference));
        } else {
            // An earlier call may have removed the worktree and not told what it saved.
            rescued.extend(self.rescues(Some(tree))?.into_iter().map(|one| one.reference));
        }
        if let Some(head) = self.repo.commit(&full)? {
            self.repo.git().args(["update-ref", "-d", &full, &head]).run()?;
        }
        let commit = self.repo.commit(&own)?;
        let reference = commit.is_some().then_some(own);
        Ok(PutAway { reference, commit, rescued })
    }

    /// Returns what differs between two commits, whatever they began from, as people read it.
    ///
    /// # Errors
    /// If one of them is no commit, or git fails.
    pub fn compare(&self, one: &str, other: &str) -> Result<String> {
        let (one, other) = (self.repo.known(one)?, self.repo.known(other)?);
        let asked = ["diff", "-M", "--patch", "--no-color", "--no-ext-diff", "--no-textconv"];
        let bytes = self.repo.ask().args(asked).args([&one, &other]).bytes()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
