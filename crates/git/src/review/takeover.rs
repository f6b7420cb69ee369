//! Taking back what was applied: a commit on top that has the files from before.

use super::{Applied, Reviewing};
use crate::error::Result;
use crate::land::{Landed, Merge, Message, written};

/// The address of people in commits ends with this.
pub const PEOPLE: &str = "@people.godel.invalid";

/// A commit by which decisions of a person were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Takeover {
    /// The commit.
    pub commit: String,
    /// The commit before.
    pub before: String,
    /// The name of the person.
    pub by: String,
    /// When, in seconds since 1970.
    pub at: i64,
}

impl Reviewing<'_> {
    /// Tells whether a commit is one that applied decisions under this title.
    ///
    /// Git itself is asked, so that a server which was killed between the commit and its answer knows as well.
    ///
    /// # Errors
    /// If there is no such commit, or git fails.
    pub fn takeover(&self, commit: &str, title: &str) -> Result<Option<Takeover>> {
        let commit = self.exact(commit)?;
        let asked = ["show", "-s", "--no-show-signature", "--format=%P%n%ct%n%ae%n%an%n%s"];
        let told = self.repo().ask().args(asked).args([&commit]).line()?;
        let mut lines = told.lines();
        let mut next = || lines.next().unwrap_or_default();
        let (before, at, address, by, subject) = (next(), next(), next(), next(), next());
        let is_one = subject == title && address.ends_with(PEOPLE) && !before.contains(' ');
        let (before, by) = (before.to_owned(), by.to_owned());
        let at = at.parse().ok().filter(|_| is_one && !before.is_empty());
        Ok(at.map(|at| Takeover { commit, before, by, at }))
    }

    /// Commits the files from before a takeover on the branch, and lets its checkout follow; nothing goes from
    /// the history. Refuses if the branch has another commit since.
    ///
    /// # Errors
    /// If the message cannot be used, or git fails.
    pub fn take_back(&self, branch: &str, done: &Takeover, message: &Message) -> Result<Applied> {
        let (repo, text) = (self.repo(), written(message)?);
        let tree = repo.tree_of(&done.before)?;
        let commit = self.commit(&tree, &done.commit, message, &text)?;
        let merge = Merge {
            bead: message.bead.clone(),
            target: branch.to_owned(),
            commit: commit.clone(),
            tree: tree.clone(),
            before: done.commit.clone(),
            source: commit.clone(),
            files: repo.diff_stat(&done.commit, &commit)?.files,
        };
        Ok(match self.bench.landing().finish(&merge)? {
            Landed::Done => Applied::Done { commit, tree, conflicts: Vec::new() },
            Landed::Moved { now } => Applied::Moved { now },
            Landed::Blocked { why } => Applied::Blocked { why },
        })
    }
}
