//! Worktrees for a look: of a commit that is judged, and that nobody works in.

use std::path::PathBuf;

use crate::Name;
use crate::bench::Workbench;
use crate::create::Create;
use crate::error::Result;
use crate::remove::{Fate, Remove};

impl Workbench {
    /// Makes a worktree of a commit for a look; one of that name that is left over goes first.
    ///
    /// The name must be one that nobody works under: whatever is in such a worktree is thrown away.
    ///
    /// # Errors
    /// If there is no such commit, or git or a file fails.
    pub fn look_at(&self, name: &Name, commit: &str) -> Result<PathBuf> {
        // A branch that was left over would be what is looked at.
        self.end_look(name)?;
        self.create(name, &Create { base: Some(commit.to_owned()), ..Create::default() })?;
        Ok(self.path(name))
    }

    /// Ends a look: nothing of it is kept, as nobody has made it.
    ///
    /// # Errors
    /// If git or a file fails; then the same call may be made again.
    pub fn end_look(&self, name: &Name) -> Result<()> {
        if self.info(name).is_ok() {
            self.remove(name, Remove { force: true, branch: Fate::Keep })?;
        }
        let branch = format!("refs/heads/{}", name.branch());
        let saved = format!("refs/godel/rescue/{name}/");
        let asked = ["for-each-ref", "--format=delete %(refname) %(objectname)", &branch, &saved];
        let doomed = self.repo.ask().args(asked).line()?;
        if doomed.is_empty() {
            return Ok(());
        }
        let all = format!("{doomed}\n");
        self.repo.git().args(["update-ref", "--stdin"]).input(all).run()
    }
}
