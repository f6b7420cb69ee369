//! What a landing that was killed left behind is put right by the next one.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use godel_model::code;

use super::Landing;
use super::follow::{Checkout, Journal, Touched};
use super::reason;
use crate::disk::{self, Lock};
use crate::error::{Error, Result};

impl Landing<'_> {
    /// Ends a landing that was cut off: files that git had begun to write are put back; if all were
    /// written, the branch follows them.
    pub(super) fn recover(&self, lock: &Lock) -> Result<()> {
        let Some(journal) = self.journal()? else {
            return Ok(());
        };
        self.unlock_cut_off(&journal)?;
        let there = |checkout: &&Checkout| checkout.tree.is_dir() && checkout.dir.is_dir();
        if let Some(checkout) = journal.checkout.as_ref().filter(there) {
            hold_again(checkout)?;
            self.put_right(checkout, &journal, lock)?;
            checkout.release()?;
        }
        disk::remove(&self.journal_path())
    }

    fn put_right(&self, checkout: &Checkout, journal: &Journal, lock: &Lock) -> Result<()> {
        let merge = &journal.merge;
        let touched = self.touched(&merge.before, &merge.commit)?;
        if has_followed(checkout, &merge.commit, &touched)? {
            return self.follow_files(checkout, journal, lock);
        }
        checkout.draft()?;
        put_back(checkout, &merge.commit, &touched)
    }

    /// The files are those of the merge: the branch goes there, or they go where the branch is.
    fn follow_files(&self, checkout: &Checkout, journal: &Journal, lock: &Lock) -> Result<()> {
        let Journal { reference, merge, .. } = journal;
        let why = reason(merge);
        let asked = ["update-ref", "--create-reflog", "-m", &why, reference];
        let moved = checkout.git().args(asked).args([&merge.commit, &merge.before]).output()?;
        let now = self.repo().commit(reference)?;
        let on = checkout.git().reading().args(["symbolic-ref", "-q", "HEAD"]).maybe()?;
        // Whoever went to another branch since has taken the files along, and keeps them.
        let stayed = on.as_ref() == Some(reference);
        match now {
            Some(now) if !moved.status.success() && now != merge.commit && stayed => {
                checkout.draft()?;
                checkout.read_tree(&[], &merge.commit, &now).hold(lock.file()).run()?;
                checkout.adopt()
            }
            _ => Ok(()),
        }
    }
}

/// Takes the index again, which may still be locked by the landing that was killed.
fn hold_again(checkout: &Checkout) -> Result<()> {
    if checkout.hold_index()? {
        return Ok(());
    }
    let path = checkout.index_lock();
    Err(Error::refused(
        code::WORKTREE_BUSY,
        format!("another git is at work in {}", checkout.tree.display()),
        format!("wait for it; if none is, remove {}", path.display()),
    ))
}

/// Tells whether the index is that of the merge, which it becomes after all files are written.
fn has_followed(checkout: &Checkout, commit: &str, touched: &Touched) -> Result<bool> {
    let asked = ["diff-index", "--cached", "--name-only", "-z", commit];
    let differing = checkout.git().reading().args(asked).paths()?;
    Ok(!differing.iter().any(|path| touched.contains(path)))
}

/// Puts files back that git had written, or begun to write; what a person changed since stays.
fn put_back(checkout: &Checkout, commit: &str, touched: &Touched) -> Result<()> {
    for path in &touched.added {
        let there = disk::exists(&checkout.tree.join(path));
        if there && is_of(checkout, commit, path)? {
            disk::remove(&checkout.tree.join(path))?;
        }
    }
    let asked = ["diff-files", "--name-only", "-z"];
    let differing = checkout.on_draft().reading().args(asked).paths()?;
    let mut restored = Vec::new();
    for path in differing.iter().filter(|path| touched.contains(path)) {
        let gone = !disk::exists(&checkout.tree.join(path));
        if gone || is_of(checkout, commit, path)? {
            restored.extend_from_slice(path.as_os_str().as_bytes());
            restored.push(0);
        }
    }
    if restored.is_empty() {
        return Ok(());
    }
    let git = checkout.on_draft().args(["checkout-index", "--force", "-u", "-z", "--stdin"]);
    git.input(restored).run()?;
    checkout.adopt()
}

/// Tells whether a file is that of a commit, or the beginning of it.
fn is_of(checkout: &Checkout, commit: &str, path: &Path) -> Result<bool> {
    let place: PathBuf = checkout.tree.join(path);
    let there = match fs::symlink_metadata(&place) {
        Ok(found) if found.is_symlink() => {
            fs::read_link(&place).map(|to| to.as_os_str().as_bytes().to_vec())
        }
        Ok(found) if found.is_file() => fs::read(&place),
        _ => return Ok(false),
    };
    let there = there.map_err(crate::error::at(&place, "read"))?;
    let mut named = format!("{commit}:").into_bytes();
    named.extend_from_slice(path.as_os_str().as_bytes());
    let named = crate::git::path_of(&named);
    let git = checkout.git().reading().args(["cat-file", "--filters"]).args([named.as_os_str()]);
    let output = git.output()?;
    Ok(output.status.success() && output.stdout.starts_with(&there))
}
