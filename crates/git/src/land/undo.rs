//! What landed is taken back: by a commit that undoes it, never by moving a branch backwards.

use godel_model::code;

use super::words::{Message, written};
use super::{Draft, Landing, Merge, Prepared};
use crate::error::{Error, Result};

/// What a work changed on a branch: from one of its commits to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The commit before it.
    pub from: String,
    /// The commit that brought it.
    pub to: String,
}

impl Landing<'_> {
    /// Makes a commit that undoes what a work changed, without touching a working tree; nothing is moved.
    ///
    /// # Errors
    /// If the branch does not have that work, the message cannot be used, or git fails.
    pub fn undo(&self, span: &Span, target: &str, message: &Message) -> Result<Prepared> {
        let (repo, text) = (self.repo(), written(message)?);
        let lock = self.lock()?;
        self.recover(&lock)?;
        let (from, to) = (repo.known(&span.from)?, repo.known(&span.to)?);
        let (_, before) = self.branch(target)?;
        if !repo.is_ancestor(&to, &before)? {
            return Err(Error::refused(
                code::COMMIT_NOT_FOUND,
                format!("{target} does not have the commit {to}"),
                "there is nothing to take back; see `git log` of the branch",
            ));
        }
        let drivers = self.no_drivers()?;
        let tree = match self.merged(Some(&to), [&before, &from], &drivers)? {
            Ok(tree) => tree,
            Err(files) => return Ok(Prepared::Conflict { files }),
        };
        if tree == repo.tree_of(&before)? {
            self.forget(&message.bead)?;
            return Ok(Prepared::AlreadyThere { target: before });
        }
        let draft = Draft {
            bead: &message.bead,
            tree: &tree,
            parents: &[&before],
            author: None,
            committer: &message.author,
            text: &text,
        };
        let commit = self.written(&draft)?;
        self.keep(&message.bead, &commit)?;
        let files = repo.diff_stat(&before, &commit)?.files;
        let (bead, target) = (message.bead.clone(), target.to_owned());
        Ok(Prepared::Ready(Merge { bead, target, commit, tree, before, source: to, files }))
    }
}
