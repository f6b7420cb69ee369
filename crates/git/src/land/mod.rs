//! The landing: a bead's commits become one commit on the target branch, once.
//!
//! `prepare` merges without any working tree and moves nothing; `finish` moves the branch by compare
//! and swap, and the files of a checkout of it with the branch. Killed anywhere, the same two calls end
//! in the same state.

mod follow;
mod locks;
mod recover;
mod repair;
mod stack;
mod transaction;
mod undo;
mod way;
mod words;

use std::collections::BTreeSet;
use std::path::PathBuf;

use godel_model::code;
use serde::{Deserialize, Serialize};

use crate::Name;
use crate::bench::Workbench;
use crate::branch::Seen;
use crate::disk::{self, Lock};
use crate::error::{Error, Result};
use crate::git::{failed, path_of};
use crate::repo::Repo;

pub use godel_model::JoinBy as How;
pub use stack::{Load, Placed, Stack};
pub use undo::Span;
pub(crate) use words::written;
pub use words::{Author, Message};

/// How many files of a conflict are named.
const CONFLICTS_MAX: usize = 200;
/// No signature, and words as they were written.
pub(crate) const PLAIN: [&str; 3] =
    ["commit.gpgSign=false", "i18n.commitEncoding=UTF-8", "log.showSignature=false"];

/// A merge that is ready to land; the branch has not moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Merge {
    /// The bead that lands.
    pub bead: Name,
    /// The branch that it lands on.
    pub target: String,
    /// The merge commit.
    pub commit: String,
    /// The id of its files, all together.
    pub tree: String,
    /// The commit that the branch was at.
    pub before: String,
    /// The commit that lands.
    pub source: String,
    /// How many files it changes on the branch.
    pub files: usize,
}

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// The branch has these commits already.
    AlreadyThere {
        /// The commit that the branch is at.
        target: String,
    },
    /// The merge is clean.
    Ready(Merge),
    /// Both sides changed the same.
    Conflict {
        /// The files that a person or an agent must look at.
        files: Vec<String>,
    },
}

/// What became of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// The branch has it, and its checkout too.
    Done,
    /// The branch has moved since; prepare again.
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

/// Lands beads on branches of one repository.
///
/// All functions block; call them on a thread that may.
#[derive(Clone, Copy)]
pub struct Landing<'a> {
    bench: &'a Workbench,
}

impl Workbench {
    /// Returns what lands beads on branches of this repository.
    pub const fn landing(&self) -> Landing<'_> {
        Landing { bench: self }
    }
}

impl Landing<'_> {
    /// Merges a commit into a branch, without touching a working tree; nothing is moved.
    ///
    /// # Errors
    /// If there is no such commit or branch, the message cannot be used, or git fails.
    pub fn prepare(&self, source: &str, target: &str, message: &Message) -> Result<Prepared> {
        let (message, source) = (message.clone(), source.to_owned());
        let load = Load { message, source, again: None };
        let Stack { before, mut placed, merge } = self.stack(&[load], target, How::Merge)?;
        Ok(match (placed.pop(), merge) {
            (Some(Placed::Conflict { files, .. }), _) => Prepared::Conflict { files },
            (_, Some(merge)) => Prepared::Ready(merge),
            (_, None) => Prepared::AlreadyThere { target: before },
        })
    }

    /// Moves the branch to a merge, and the files of its checkout with it.
    ///
    /// # Errors
    /// If git or a file fails; then the same call may be made again.
    pub fn finish(&self, merge: &Merge) -> Result<Landed> {
        let lock = self.lock()?;
        self.recover(&lock)?;
        let (reference, now) = self.branch(&merge.target)?;
        // A branch at the place from which it is to move cannot have what comes after that.
        let there = now == merge.commit
            || (now != merge.before && self.repo().is_ancestor(&merge.commit, &now)?);
        if there {
            self.forget(&merge.bead)?;
            return Ok(Landed::Done);
        }
        if now != merge.before {
            return Ok(Landed::Moved { now });
        }
        let landed = match self.checkout(&reference)? {
            follow::Found::Nowhere => self.swap(&reference, merge)?,
            follow::Found::Unclear(why) => Landed::Blocked { why },
            follow::Found::Here(checkout) => self.follow(&checkout, &reference, merge, &lock)?,
        };
        if landed == Landed::Done {
            self.step("land:moved");
            self.forget(&merge.bead)?;
        }
        Ok(landed)
    }

    /// Moves a branch forward to a commit that another repository's branch is at, and the files of its checkout with
    /// it; for a bead that landed there.
    ///
    /// # Errors
    /// If git or a file fails; then the same call may be made again.
    pub fn catch_up(&self, bead: &Name, target: &str, commit: &str) -> Result<Landed> {
        let commit = self.repo().known(commit)?;
        let (_, before) = self.branch(target)?;
        if self.repo().is_ancestor(&commit, &before)? {
            return Ok(Landed::Done);
        }
        if !self.repo().is_ancestor(&before, &commit)? {
            let why = format!("{target} has commits of its own, so that it does not follow");
            return Ok(Landed::Blocked { why });
        }
        let tree = self.repo().tree_of(&commit)?;
        let files = self.repo().diff_stat(&before, &commit)?.files;
        let (bead, target, source) = (bead.clone(), target.to_owned(), commit.clone());
        self.finish(&Merge { bead, target, commit, tree, before, source, files })
    }

    fn repo(&self) -> &Repo {
        &self.bench.repo
    }

    fn step(&self, name: &'static str) {
        self.bench.step(name);
    }

    /// One landing at a time in a repository; git that outlives us holds on to it.
    fn lock(&self) -> Result<Lock> {
        self.bench.prepare()?;
        Lock::take(&self.repo().state().join("landing.lock"), "a landing of this repository")
    }

    /// Returns the reference of a branch, and where it is.
    fn branch(&self, name: &str) -> Result<(String, String)> {
        let reference = format!("refs/heads/{name}");
        if let Seen::At(commit) = self.repo().seen(&reference) {
            return Ok((reference, commit));
        }
        // A branch may be another name for a branch.
        let real = self.repo().ask().args(["symbolic-ref", "-q", &reference]).maybe()?;
        let reference = real.unwrap_or(reference);
        let shown: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
        match self.repo().commit(&reference)? {
            Some(commit) => Ok((reference, commit)),
            None => Err(Error::refused(
                code::BASE_NOT_FOUND,
                format!("there is no branch {shown:?} to land on"),
                "name a branch of this repository, such as `target = \"main\"` in godel.toml",
            )),
        }
    }

    /// Merges two commits, from where they parted or from another base; the files that conflict
    /// instead, if they do.
    pub(crate) fn merged(
        &self,
        base: Option<&str>,
        [ours, theirs]: [&str; 2],
        drivers: &[String],
    ) -> Result<Result<String, Vec<String>>> {
        let merged = self.merged_anyhow(base, [ours, theirs], drivers)?;
        if merged.conflicts.is_empty() {
            return Ok(Ok(merged.tree));
        }
        let named = merged.conflicts.iter().map(|path| path.display().to_string());
        Ok(Err(named.take(CONFLICTS_MAX).collect()))
    }

    /// Merges two commits, with marks in the files that conflict.
    fn merged_anyhow(
        &self,
        base: Option<&str>,
        [ours, theirs]: [&str; 2],
        drivers: &[String],
    ) -> Result<Merged> {
        let asked = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z"];
        let git = self.repo().git().env("GIT_ATTR_SOURCE", ours).settings(drivers).args(asked);
        let output = match base {
            None => git.args([ours, theirs]).output()?,
            Some(base) => git.args(self.parted(base, [ours, theirs])?).output()?,
        };
        match output.status.code() {
            Some(0 | 1) => {
                let mut parts = output.stdout.split(|byte| *byte == 0);
                let tree = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
                let conflicts = parts.filter(|part| !part.is_empty()).map(path_of).collect();
                Ok(Merged { tree, conflicts })
            }
            Some(129) => Err(Error::refused(
                code::GIT_UNAVAILABLE,
                "this git cannot merge without a working tree",
                "install git 2.38 or newer",
            )),
            _ if base.is_none() && self.are_strangers(ours, theirs)? => Err(Error::refused(
                code::LANDING_REFUSED,
                "it has no commit in common with the branch: git does not merge unrelated histories",
                "begin the work anew from the branch",
            )),
            _ => Err(failed("merge-tree".to_owned(), &output)),
        }
    }

    /// Tells whether two commits have no commit in common.
    fn are_strangers(&self, one: &str, other: &str) -> Result<bool> {
        let output = self.repo().ask().args(["merge-base", one, other]).output()?;
        Ok(output.status.code() == Some(1))
    }

    /// Makes commits with the files of two others that part at a third, as git before 2.40 can be told
    /// no base. Nobody keeps them.
    fn parted(&self, base: &str, sides: [&str; 2]) -> Result<[String; 2]> {
        let write = |of: &str, parent: Option<&str>| {
            let date = "@0 +0000";
            let git = self.repo().git().settings(&PLAIN.map(str::to_owned));
            let git = git.env("GIT_AUTHOR_NAME", "Godel").env("GIT_AUTHOR_EMAIL", "godel@invalid");
            let git =
                git.env("GIT_COMMITTER_NAME", "Godel").env("GIT_COMMITTER_EMAIL", "godel@invalid");
            let git = git.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
            let git = git.args(["commit-tree", "--no-gpg-sign", "-m", "a side"]);
            let git = git.args(parent.iter().flat_map(|parent| ["-p", parent]));
            git.args([format!("{of}^{{tree}}")]).line()
        };
        let root = write(base, None)?;
        Ok([write(sides[0], Some(&root))?, write(sides[1], Some(&root))?])
    }

    /// Merge programs of the user's are not run here: a file that needs one is a conflict.
    pub(crate) fn no_drivers(&self) -> Result<Vec<String>> {
        let asked = ["config", "-z", "--name-only", "--get-regexp", r"^merge\..*\.driver$"];
        let output = self.repo().ask().args(asked).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = text.split('\0').filter(|name| !name.is_empty());
        Ok(names.map(|name| format!("{name}=false")).collect())
    }

    /// Writes a commit; the one that is kept for the bead already, if it is the same.
    fn written(&self, draft: &Draft<'_>) -> Result<String> {
        let known = self.repo().commit(&kept(draft.bead))?;
        if let Some(known) = known
            && self.is_same(&known, draft)?
        {
            return Ok(known);
        }
        let now = format!("@{} +0000", self.bench.host.clock.now().as_second());
        let (by, date) = draft.author.unwrap_or((draft.committer, &now));
        let git = self.repo().git().settings(&PLAIN.map(str::to_owned));
        let git = git.env("GIT_AUTHOR_NAME", &by.name).env("GIT_AUTHOR_EMAIL", &by.email);
        let Author { name, email } = draft.committer;
        let git = git.env("GIT_COMMITTER_NAME", name).env("GIT_COMMITTER_EMAIL", email);
        let git = git.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", &now);
        let git = git.args(["commit-tree", "--no-gpg-sign", "-F", "-"]);
        let parents = draft.parents.iter().flat_map(|parent| ["-p", parent]);
        git.args(parents).args([draft.tree]).input(draft.text).line()
    }

    /// Keeps a commit until its branch has it.
    fn keep(&self, bead: &Name, commit: &str) -> Result<()> {
        let kept = kept(bead);
        if self.repo().commit(&kept)?.as_deref() == Some(commit) {
            return Ok(());
        }
        let keep = || self.repo().git().args(["update-ref", &kept, commit]).run();
        match keep() {
            Err(_) if self.unlock_kept(bead)? => keep(),
            kept => kept,
        }
    }

    fn is_same(&self, commit: &str, draft: &Draft<'_>) -> Result<bool> {
        let asked = ["show", "--no-patch", "--format=%T%n%P%n%B", "--encoding=UTF-8", commit];
        let git = self.repo().ask().settings(&PLAIN.map(str::to_owned));
        let said = git.args(asked).line()?;
        let wanted = format!("{}\n{}\n{}", draft.tree, draft.parents.join(" "), draft.text);
        Ok(said.trim_end() == wanted.trim_end())
    }

    /// Moves a branch that is checked out nowhere.
    fn swap(&self, reference: &str, merge: &Merge) -> Result<Landed> {
        let why = reason(merge);
        self.announce(None, reference, merge)?;
        let asked = ["update-ref", "--create-reflog", "-m", &why, reference];
        let git = self.repo().git().args(asked);
        let swapped = git.args([&merge.commit, &merge.before]).run();
        disk::remove(&self.journal_path())?;
        match swapped {
            Ok(()) => Ok(Landed::Done),
            Err(error) => self.lost(reference, &merge.before, error),
        }
    }

    /// Tells why a branch could not be moved: somebody else did, or git failed.
    fn lost(&self, reference: &str, before: &str, error: Error) -> Result<Landed> {
        match self.repo().commit(reference)? {
            Some(now) if now != before => Ok(Landed::Moved { now }),
            _ => Err(error),
        }
    }

    /// Lets go of a merge commit that is on its branch now.
    fn forget(&self, bead: &Name) -> Result<()> {
        let kept = kept(bead);
        let Some(commit) = self.repo().commit(&kept)? else {
            return Ok(());
        };
        let forget = || self.repo().git().args(["update-ref", "-d", &kept, &commit]).run();
        match forget() {
            Err(_) if self.unlock_kept(bead)? => forget(),
            forgotten => forgotten,
        }
    }
}

/// The files of a merge, and those of them that conflict.
struct Merged {
    tree: String,
    conflicts: BTreeSet<PathBuf>,
}

/// A commit that is to be written.
struct Draft<'a> {
    bead: &'a Name,
    tree: &'a str,
    parents: &'a [&'a str],
    /// Who wrote the work, and when, if that is not the committer.
    author: Option<(&'a Author, &'a str)>,
    committer: &'a Author,
    text: &'a str,
}

/// Where a merge commit is kept until its branch has it.
fn kept(bead: &Name) -> String {
    format!("refs/godel/landing/{bead}")
}

/// What the log of the branch says.
fn reason(merge: &Merge) -> String {
    format!("godel: land {}", merge.bead)
}
