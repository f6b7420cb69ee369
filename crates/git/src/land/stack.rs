//! Work of several beads on top of each other, and each way in which it becomes part of a branch.

use godel_model::{JoinBy as How, code};

use super::words::{self, Author, Message};
use super::{Draft, Landing, Merge, Span, written};
use crate::error::{Error, Result};

/// The most commits that are laid on a branch one by one.
const REPLAY_MAX: usize = 200;
/// The most beads in one stack.
const LOADS_MAX: usize = 100;

/// Work that is to land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// What the commit says.
    pub message: Message,
    /// The last commit of the work.
    pub source: String,
    /// Where the branch had it before it was taken back; then it is laid anew, as one commit.
    pub again: Option<Span>,
}

/// What became of a load in a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// The branch has it already.
    AlreadyThere,
    /// It is part of the stack.
    Here {
        /// What it lies on.
        from: String,
        /// The commit that brings it.
        to: String,
    },
    /// It changes the same as others.
    Conflict {
        /// The files that a person or an agent must look at.
        files: Vec<String>,
        /// Whether it conflicts with the branch itself; else with work that lies below it.
        with_branch: bool,
    },
}

/// Work of several beads on top of each other; the branch has not moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The commit that the branch is at.
    pub before: String,
    /// What became of each load.
    pub placed: Vec<Placed>,
    /// What the branch can be moved to; nothing if there is nothing new.
    pub merge: Option<Merge>,
}

impl Landing<'_> {
    /// Lays work of beads on a branch, one on top of the other, without touching a working tree; nothing
    /// is moved. What conflicts is left out.
    ///
    /// Several merges become one commit of the branch, so that each of its commits is one that was
    /// judged; those of the single beads are behind it.
    ///
    /// # Errors
    /// If there is no such commit or branch, a message cannot be used, or git fails.
    pub fn stack(&self, loads: &[Load], target: &str, how: How) -> Result<Stack> {
        self.stack_on(loads, (target, None), how)
    }

    /// The same on a commit that another repository's branch of this name is at, if one is given.
    ///
    /// # Errors
    /// If there is no such commit or branch, a message cannot be used, or git fails.
    pub fn stack_on(
        &self,
        loads: &[Load],
        (target, base): (&str, Option<&str>),
        how: How,
    ) -> Result<Stack> {
        if loads.is_empty() || loads.len() > LOADS_MAX {
            let what = format!("from 1 to {LOADS_MAX} beads land together");
            return Err(Error::refused(code::INVALID_FIELD, what, "land the others afterwards"));
        }
        let texts: Result<Vec<String>> = loads.iter().map(|load| written(&load.message)).collect();
        let texts = texts?;
        let lock = self.lock()?;
        self.recover(&lock)?;
        let before = match base {
            Some(base) => self.repo().known(base)?,
            None => self.branch(target)?.1,
        };
        let tree = self.repo().tree_of(&before)?;
        let tip = (before.clone(), tree);
        let mut pile = Pile { landing: *self, drivers: self.no_drivers()?, tip, before, how };
        let mut placed = Vec::with_capacity(loads.len());
        for (load, text) in loads.iter().zip(&texts) {
            placed.push(pile.put(load, text)?);
        }
        let here = |one: &&(&Load, &Placed)| matches!(one.1, Placed::Here { .. });
        let laid: Vec<(&Load, &Placed)> = loads.iter().zip(&placed).collect();
        let laid: Vec<&Load> = laid.iter().filter(here).map(|(load, _)| *load).collect();
        let Some(first) = laid.first() else {
            for load in loads {
                self.forget(&load.message.bead)?;
            }
            return Ok(Stack { before: pile.before, placed, merge: None });
        };
        if laid.len() > 1 && how == How::Merge {
            pile.bundle(&laid)?;
        }
        let (Pile { before, .. }, bead) = (&pile, first.message.bead.clone());
        let (commit, tree) = pile.tip.clone();
        self.step("land:written");
        self.keep(&bead, &commit)?;
        self.step("land:committed");
        let files = self.repo().diff_stat(before, &commit)?.files;
        let (before, source) = (before.clone(), first.source.clone());
        let target = target.to_owned();
        let merge = Merge { bead, target, commit, tree, before: before.clone(), source, files };
        Ok(Stack { before, placed, merge: Some(merge) })
    }
}

/// A stack that is being laid.
struct Pile<'a> {
    landing: Landing<'a>,
    drivers: Vec<String>,
    before: String,
    /// The last commit, and its files.
    tip: (String, String),
    how: How,
}

impl Pile<'_> {
    fn put(&mut self, load: &Load, text: &str) -> Result<Placed> {
        let repo = self.landing.repo();
        let source = repo.known(&load.source)?;
        let from = self.tip.0.clone();
        let how = if load.again.is_some() { How::Squash } else { self.how };
        if load.again.is_none() && repo.is_ancestor(&source, &self.before)? {
            return Ok(Placed::AlreadyThere);
        }
        // What lies below brings it along, but has not landed yet: the next round tells.
        if load.again.is_none() && from != self.before && repo.is_ancestor(&source, &from)? {
            return Ok(Placed::Conflict { files: Vec::new(), with_branch: false });
        }
        let (base, theirs) = match &load.again {
            Some(Span { from, to }) => (Some(from.as_str()), to.as_str()),
            None => (None, source.as_str()),
        };
        let tree = match self.landing.merged(base, [&from, theirs], &self.drivers)? {
            Ok(tree) => tree,
            Err(files) => {
                let alone = [self.before.as_str(), theirs];
                let with_branch = from == self.before
                    || self.landing.merged(base, alone, &self.drivers)?.is_err();
                return Ok(Placed::Conflict { files, with_branch });
            }
        };
        self.landing.step("land:merged");
        // A merge tells that the work is in the branch, even if it changes nothing there.
        if tree == self.tip.1 && how != How::Merge {
            return Ok(Placed::AlreadyThere);
        }
        let replayed = match how {
            How::Rebase => self.replayed(load, &source)?,
            How::Merge | How::Squash => None,
        };
        let tip = match replayed {
            Some(tip) => tip,
            None => {
                let both = [from.as_str(), &source];
                let parents = if how == How::Merge { &both[..] } else { &both[..1] };
                let Message { bead, author, .. } = &load.message;
                let draft =
                    Draft { bead, tree: &tree, parents, author: None, committer: author, text };
                (self.landing.written(&draft)?, tree)
            }
        };
        self.tip = tip;
        Ok(Placed::Here { from, to: self.tip.0.clone() })
    }

    /// Lays the commits of a work one by one; nothing if that cannot be done.
    fn replayed(&self, load: &Load, source: &str) -> Result<Option<(String, String)>> {
        let repo = self.landing.repo();
        let without = format!("^{}", self.before);
        let asked = ["rev-list", "--reverse", "--topo-order", "--parents", source, &without];
        let listed = repo.ask().args(asked).line()?;
        let commits: Vec<Vec<&str>> =
            listed.lines().map(|line| line.split(' ').collect()).collect();
        if commits.len() > REPLAY_MAX || commits.iter().any(|one| one.len() != 2) {
            return Ok(None);
        }
        let (mut tip, mut tree) = self.tip.clone();
        for commit in commits {
            let [id, parent] = commit[..] else { return Ok(None) };
            let merged = self.landing.merged(Some(parent), [&tip, id], &self.drivers)?;
            let Ok(next) = merged else { return Ok(None) };
            if next == tree {
                continue;
            }
            let (author, date, text) = self.said_by(id)?;
            let text = words::with_bead(&text, &load.message.bead);
            let draft = Draft {
                bead: &load.message.bead,
                tree: &next,
                parents: &[&tip],
                author: Some((&author, &date)),
                committer: &load.message.author,
                text: &text,
            };
            (tip, tree) = (self.landing.written(&draft)?, next);
        }
        Ok((tip != self.tip.0).then_some((tip, tree)))
    }

    /// Returns who made a commit, when, and what it says.
    fn said_by(&self, commit: &str) -> Result<(Author, String, String)> {
        let format = "--format=%an%x00%ae%x00%ad%x00%B";
        let asked = ["show", "--no-patch", "--date=raw", format, "--encoding=UTF-8", commit];
        let git = self.landing.repo().ask().settings(&super::PLAIN.map(str::to_owned));
        let said = git.args(asked).line()?;
        let mut parts = said.splitn(4, '\0').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let (name, email, date, text) = (next(), next(), next(), next());
        Ok((Author { name, email }, format!("@{date}"), text))
    }

    /// Makes one commit of the branch of all that was laid.
    fn bundle(&mut self, laid: &[&Load]) -> Result<()> {
        let messages: Vec<&Message> = laid.iter().map(|load| &load.message).collect();
        let Some(first) = messages.first() else { return Ok(()) };
        let text = words::bundled(&messages);
        let (tip, tree) = &self.tip;
        let draft = Draft {
            bead: &first.bead,
            tree,
            parents: &[&self.before, tip],
            author: None,
            committer: &first.author,
            text: &text,
        };
        self.tip = (self.landing.written(&draft)?, tree.clone());
        Ok(())
    }
}
