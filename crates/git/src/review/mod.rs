//! The review: what a bead changes, what a person decided about each part, and the files that come of it.
//!
//! [`Reviewing::changes`] reads the difference of two commits, with a key for every hunk that stays the same
//! when the hunk only moves. [`Changes::bind`] finds what was decided again after a push.
//! [`Reviewing::build`] makes the accepted files in the object database alone: no work tree, index or branch is
//! touched before [`Reviewing::apply`].

mod apply;
mod assemble;
mod build;
mod changes;
mod clash;
mod content;
mod decide;
mod excerpt;
mod key;
mod patch;
mod raw;
mod read;
mod takeover;
mod words;

pub use apply::{Applied, Apply};
pub use changes::{Changes, FileChange, Hunk, Line, LineKind, Side, Status};
pub use clash::{Clash, ClashSpot, Clashes};
pub use decide::{Bound, Decision, Lines, Part, Standing, Tally, Undecided, Verdict};
pub use excerpt::{EXCERPT_MAX_LINES, Excerpt, Spoken};
pub use takeover::{PEOPLE, Takeover};

use crate::bench::Workbench;
use crate::error::Result;
use crate::repo::Repo;

/// Reviews changes of one repository.
///
/// All functions block; call them on a thread that may.
#[derive(Clone, Copy)]
pub struct Reviewing<'a> {
    bench: &'a Workbench,
}

impl Workbench {
    /// Returns what reviews changes of this repository.
    pub const fn reviewing(&self) -> Reviewing<'_> {
        Reviewing { bench: self }
    }
}

impl Reviewing<'_> {
    /// Returns the commit from which a commit left a branch; nothing if they share none.
    ///
    /// # Errors
    /// If there is no such branch or commit, or git cannot be run.
    pub fn base(&self, branch: &str, head: &str) -> Result<Option<String>> {
        let target = self.repo().known(&format!("refs/heads/{branch}"))?;
        self.base_of(&target, head)
    }

    /// The same for a commit of that branch.
    ///
    /// # Errors
    /// If there is no such commit, or git cannot be run.
    pub fn base_of(&self, target: &str, head: &str) -> Result<Option<String>> {
        let (target, head) = (self.exact(target)?, self.exact(head)?);
        self.repo().ask().args(["merge-base", &target, &head]).maybe()
    }

    /// Writes what lies between a commit and a tree as a patch: `git apply --index` on the commit gives
    /// exactly that tree.
    ///
    /// # Errors
    /// If one of them is not there, or git fails.
    pub fn export(&self, base: &str, tree: &str) -> Result<Vec<u8>> {
        let repo = self.repo();
        let asked = ["rev-parse", "--quiet", "--verify", &format!("{tree}^{{tree}}")];
        let tree = match tree.starts_with('-') {
            true => None,
            false => repo.ask().args(asked).maybe()?,
        };
        let base = repo.known(base)?;
        // What is no tree is named by the same refusal as what is no commit.
        let tree = tree.map_or_else(|| repo.known("-"), Ok)?;
        let git = repo.ask().settings(&read::settings());
        let git = git.args(["diff-tree", "-r", "-p", "-M", "--binary", "--full-index"]);
        git.args(read::PLAIN).args([&base, &tree]).bytes()
    }

    /// Returns the id of a commit; a whole id is not looked up, since git itself refuses a wrong one.
    fn exact(&self, revision: &str) -> Result<String> {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match matches!(revision.len(), 40 | 64) && revision.bytes().all(hex) {
            true => Ok(revision.to_owned()),
            false => self.repo().known(revision),
        }
    }

    fn repo(&self) -> &Repo {
        &self.bench.repo
    }
}
