//! Whether a repair of conflicts is nothing but that.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Landing, Merged};
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
        let Merged { tree, conflicts } =
            self.merged_anyhow(None, [&onto, &old], &self.no_drivers()?)?;
        // No setting may hide what a repair does to a submodule.
        let asked =
            ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none"];
        let differing = repo.ask().args(asked).args([&tree, &new]).paths()?;
        let more: BTreeSet<PathBuf> =
            differing.into_iter().filter(|path| !conflicts.contains(path)).collect();
        let named: Vec<String> =
            more.iter().take(5).map(|path| path.display().to_string()).collect();
        Ok((!more.is_empty()).then(|| format!("it changes {}", named.join(", "))))
    }
}
