//! Repairing what plain git made of the branch: a merge by lines knows nothing of beads.

use std::path::{Path, PathBuf};

use gix::ObjectId;

use super::history::MERGE;
use super::merge::Merging;
use super::{Shelf, Tip, diff, of_path};
use crate::git::{Reference, STATE, run_git};
use crate::{Error, Result};

/// The most commits that are looked at for merges.
const LOOK_BACK: usize = 10_000;

impl Shelf {
    /// Repairs merges of the branch that git made, finished or not; the caller holds the lock.
    pub(super) fn heal_merge(&mut self) -> Result<()> {
        self.finish_merges()?;
        let Some(tip) = Reference::read(&self.repository, STATE)? else { return Ok(()) };
        self.open_index()?;
        let built = self.opened()?.built()?.commit;
        if built == Some(tip) {
            return Ok(());
        }
        let built = built.filter(|built| self.repository.has_object(*built));
        let foreign = self.foreign_merges(tip, built)?;
        if foreign.is_empty() {
            return Ok(());
        }
        self.repair(self.tip_at(tip)?, &foreign)
    }

    /// Tells whether git has left a merge for us to repair.
    pub(super) fn needs_healing(&self, built: Option<ObjectId>) -> Result<bool> {
        if !self.open_merges().is_empty() {
            return Ok(true);
        }
        let Some(tip) = Reference::read(&self.repository, STATE)? else { return Ok(false) };
        if built == Some(tip) {
            return Ok(false);
        }
        let built = built.filter(|built| self.repository.has_object(*built));
        Ok(!self.foreign_merges(tip, built)?.is_empty())
    }

    /// Tells whether the branch ends with a merge that git made.
    pub(super) fn tip_is_foreign_merge(&self) -> Result<bool> {
        let Some(tip) = self.tip()? else { return Ok(false) };
        self.is_foreign_merge(tip.commit)
    }

    fn is_foreign_merge(&self, id: ObjectId) -> Result<bool> {
        let commit = self.repository.find_commit(id).map_err(|cause| Error::git("read", cause))?;
        if commit.parent_ids().count() < 2 {
            return Ok(false);
        }
        let message = commit.message_raw_sloppy().to_string();
        Ok(!message.lines().any(|line| line.starts_with(MERGE)))
    }

    /// Finds merges that Godel did not make, the oldest first.
    fn foreign_merges(&self, tip: ObjectId, since: Option<ObjectId>) -> Result<Vec<ObjectId>> {
        let mut found = Vec::new();
        for id in self.newer(tip, since, LOOK_BACK)? {
            if self.is_foreign_merge(id)? {
                found.push(id);
            }
        }
        found.reverse();
        Ok(found)
    }

    /// Makes of each merge what it should have been, on top of what came since.
    fn repair(&mut self, tip: Tip, foreign: &[ObjectId]) -> Result<()> {
        let trees = self.trees(Some(tip))?;
        let mut merging = Merging::new(self, trees);
        for merge in foreign {
            let merged = self.tip_at(*merge)?;
            let commit = self.repository.find_commit(*merge);
            let commit = commit.map_err(|cause| Error::git("read", cause))?;
            let parents: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
            self.redo(&mut merging, merged, &parents)?;
        }
        if merging.report.documents == 0 {
            return Ok(());
        }
        let message = format!(
            "repaired {} documents after a merge by git\n\n{MERGE}: {}\n",
            merging.report.documents, tip.commit
        );
        let (finished, _) = merging.finish(&[tip.commit], &message)?;
        self.opened()?.begin()?;
        self.catch_up(tip)?;
        self.take_into_index(&finished)?;
        if self.publish(Some(tip.commit), finished)? {
            return Ok(());
        }
        self.forget_attempt();
        Ok(())
    }

    /// Merges again, by field, the documents in which the parents of a merge differ.
    fn redo(&self, merging: &mut Merging<'_>, merged: Tip, parents: &[ObjectId]) -> Result<()> {
        let parents: Vec<Tip> =
            parents.iter().map(|parent| self.tip_at(*parent)).collect::<Result<_>>()?;
        let Some((first, others)) = parents.split_first() else { return Ok(()) };
        let mut paths = std::collections::BTreeSet::new();
        for other in others {
            let changes = diff(&self.repository, Some(first.tree), Some(other.tree))?;
            paths.extend(changes.into_iter().map(|change| change.path));
        }
        for path in paths {
            let Some((class, _)) = of_path(&path) else { continue };
            let at = |tree: ObjectId| self.blob_at(tree, &path);
            // What git made of it does not count; what was written or mended since does.
            let made = at(merged.tree)?;
            let now = merging.trees.get(&self.repository, &path)?;
            let mut fresh = now == made;
            for parent in &parents {
                let Some(blob) = at(parent.tree)? else { continue };
                let Ok(version) = self.document(class, &path, blob) else { continue };
                if std::mem::take(&mut fresh) {
                    merging.put(version)?;
                } else {
                    merging.take(version)?;
                }
            }
        }
        Ok(())
    }

    /// Ends merges of the branch that stopped in a conflict.
    fn finish_merges(&mut self) -> Result<()> {
        for (work_tree, theirs) in self.open_merges() {
            let before = Reference::read(&self.repository, STATE)?;
            run_git(&work_tree, &["merge", "--abort"])?;
            let Ok(theirs) = ObjectId::from_hex(theirs.as_bytes()) else { continue };
            // The lock is held already, so this is the inner part of a merge.
            self.merge_locked(theirs, "a merge that git began")?;
            let after = Reference::read(&self.repository, STATE)?;
            if let (Some(before), Some(after)) = (before, after) {
                // Refuses, rather than overwrites, if the user has changes of its own there.
                let (before, after) = (before.to_string(), after.to_string());
                run_git(&work_tree, &["read-tree", "-m", "-u", &before, &after]).ok();
            }
        }
        Ok(())
    }

    /// Finds work trees that are on the branch and in the middle of a merge.
    fn open_merges(&self) -> Vec<(PathBuf, String)> {
        let mut folders = vec![self.place.common.clone()];
        let linked = std::fs::read_dir(self.place.common.join("worktrees"));
        folders.extend(linked.into_iter().flatten().flatten().map(|entry| entry.path()));
        folders.into_iter().filter_map(|folder| self.open_merge(&folder)).collect()
    }

    fn open_merge(&self, folder: &Path) -> Option<(PathBuf, String)> {
        let theirs = std::fs::read_to_string(folder.join("MERGE_HEAD")).ok()?;
        let head = std::fs::read_to_string(folder.join("HEAD")).ok()?;
        if head.trim() != format!("ref: {STATE}") {
            return None;
        }
        let work_tree = if folder == self.place.common {
            self.place.main.clone()?
        } else {
            let link = std::fs::read_to_string(folder.join("gitdir")).ok()?;
            Path::new(link.trim()).parent()?.to_owned()
        };
        Some((work_tree, theirs.lines().next()?.trim().to_owned()))
    }
}
