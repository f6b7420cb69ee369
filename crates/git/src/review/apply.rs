//! Puts what was accepted on the branch of a bead, as a commit of the person who decided.

use super::Reviewing;
use super::changes::Changes;
use super::decide::{Decision, Undecided};
use crate::error::Result;
use crate::land::{Landed, Merge, Message, PLAIN, written};

/// What is to be put on a branch.
#[derive(Debug, Clone)]
pub struct Apply<'a> {
    /// The branch of the bead; it must be at the head of the changes.
    pub branch: &'a str,
    /// The branch that the work is for.
    pub target: &'a str,
    /// What was decided.
    pub decisions: &'a [Decision],
    /// What becomes of the rest.
    pub undecided: Undecided,
    /// What the commit says, and who it is by.
    pub message: &'a Message,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The branch is at a new commit.
    Done {
        /// The commit.
        commit: String,
        /// The id of its files.
        tree: String,
        /// The files in which it conflicts with the branch that the work is for.
        conflicts: Vec<String>,
    },
    /// All was accepted as it is: there is nothing to commit.
    Unchanged {
        /// The id of the files.
        tree: String,
    },
    /// The branch has moved since; look at the changes again.
    Moved {
        /// The commit that the branch is at.
        now: String,
    },
    /// Something of a person's is in the way; nothing was moved.
    Blocked {
        /// What, where, and what to do about it.
        why: String,
    },
}

impl Reviewing<'_> {
    /// Commits the accepted files on the branch of the bead, and lets its checkout follow.
    ///
    /// # Errors
    /// If the message cannot be used, the decisions cannot be built together, or git fails.
    pub fn apply(&self, changes: &Changes, apply: &Apply<'_>) -> Result<Applied> {
        let text = written(apply.message)?;
        let repo = self.repo();
        let tree = self.build(changes, apply.decisions, apply.undecided)?;
        if tree == repo.tree_of(&changes.head)? {
            return Ok(Applied::Unchanged { tree });
        }
        let commit = self.commit(&tree, &changes.head, apply.message, &text)?;
        let target = repo.known(&format!("refs/heads/{}", apply.target))?;
        let landing = self.bench.landing();
        let drivers = landing.no_drivers()?;
        let merged = landing.merged(None, [&target, &commit], &drivers)?;
        let conflicts = merged.err().unwrap_or_default();
        let merge = Merge {
            bead: apply.message.bead.clone(),
            target: apply.branch.to_owned(),
            commit: commit.clone(),
            tree: tree.clone(),
            before: changes.head.clone(),
            source: commit.clone(),
            files: repo.diff_stat(&changes.head, &commit)?.files,
        };
        Ok(match landing.finish(&merge)? {
            Landed::Done => Applied::Done { commit, tree, conflicts },
            Landed::Moved { now } => Applied::Moved { now },
            Landed::Blocked { why } => Applied::Blocked { why },
        })
    }

    /// Writes a commit of the person whom its message names.
    pub(super) fn commit(
        &self,
        tree: &str,
        parent: &str,
        message: &Message,
        text: &str,
    ) -> Result<String> {
        let date = format!("@{} +0000", self.bench.host.clock.now().as_second());
        let git = self.repo().git().settings(&PLAIN.map(str::to_owned));
        let git = ["AUTHOR", "COMMITTER"].into_iter().fold(git, |git, who| {
            git.env(&format!("GIT_{who}_NAME"), &message.author.name)
                .env(&format!("GIT_{who}_EMAIL"), &message.author.email)
                .env(&format!("GIT_{who}_DATE"), &date)
        });
        git.args(["commit-tree", "--no-gpg-sign", "-p", parent, "-F", "-", tree]).input(text).line()
    }
}
