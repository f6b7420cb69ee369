//! Worktrees that are ready before anybody asks for one.
//!
//! To check out a large repository takes most of the time until an agent can begin. A spare is a
//! worktree like any other, at a commit and on no branch; to take it is to move it and to put it on its
//! branch. Nobody works in a spare, so it can be thrown away at any time.
//!
//! Where there are spares, the files of a removed worktree are kept for the next one.

mod wash;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bench::Workbench;
use crate::disk::{self, Lock};
use crate::error::{Error, Result, at};
use crate::git::Git;
use crate::record::Record;
use crate::repo::Admin;
use crate::share;

/// How many spares a repository can have.
const SPARES_MAX: usize = 16;
/// What git itself writes into a worktree that is not finished.
const UNFINISHED: &str = "initializing";

/// What is remembered of a spare; without it there is none.
#[derive(Debug, Serialize, Deserialize)]
struct Spare {
    /// The commit that its files are of.
    commit: String,
    /// When the last of its files was changed, in nanoseconds; later than that somebody was in it.
    changed: i64,
}

impl Workbench {
    /// Makes worktrees ready, so that the next ones are given at once; returns how many are ready.
    /// What is there already is brought to the commit, and what is too many is thrown away.
    ///
    /// It takes as long as making them, so call it in the background, and again after each that was
    /// taken.
    ///
    /// # Errors
    /// If the base is unknown, or git fails.
    pub fn stock(&self, count: usize, base: Option<&str>) -> Result<usize> {
        let commit = self.base(base)?.commit;
        self.prepare()?;
        disk::private_dir(&self.repo.state().join("spares"))?;
        let mut ready = 0;
        for slot in 1..=SPARES_MAX {
            // Another process may be at it; then it is its work.
            let Some(lock) = Lock::attempt(&self.slot_lock(slot))? else { continue };
            if slot > count {
                self.throw_away(slot, &lock)?;
                continue;
            }
            self.make_ready(slot, &commit, &lock)?;
            ready += 1;
        }
        if count == 0 {
            for number in 1..=SPARES_MAX {
                share::delete_tree(&self.used(number))?;
            }
            // Without this place nothing is kept from now on.
            let place = self.repo.state().join("spares");
            fs::remove_dir(&place).map_err(at(&place, "removed"))?;
        }
        Ok(ready)
    }

    /// Keeps the files of a removed worktree for the next spare, or deletes them; what was of worth is
    /// saved already.
    pub(crate) fn retire(&self, trash: &Path) -> Result<()> {
        // A repository in the repository would be kept with all that somebody did to it.
        let kept = self.repo.state().join("spares").is_dir() && !trash.join(".gitmodules").exists();
        if kept {
            disk::dir(&self.repo.home.join("spares"))?;
            for number in 1..=SPARES_MAX {
                let used = self.used(number);
                if !disk::exists(&used) && fs::rename(trash, &used).is_ok() {
                    return Ok(());
                }
            }
        }
        share::delete_tree(trash)
    }

    /// Where files of removed worktrees wait.
    fn used(&self, number: usize) -> PathBuf {
        self.repo.home.join("spares").join(format!("used-{number}"))
    }

    fn slot_tree(&self, slot: usize) -> PathBuf {
        self.repo.home.join("spares").join(format!("spare-{slot}"))
    }

    fn slot_record(&self, slot: usize) -> PathBuf {
        self.repo.state().join("spares").join(format!("{slot}.json"))
    }

    /// No worktree can have a name that begins with a dot.
    fn slot_lock(&self, slot: usize) -> PathBuf {
        self.repo.state().join("locks").join(format!(".spare-{slot}.lock"))
    }

    fn slot_admin(&self, slot: usize) -> Result<Option<Admin>> {
        let tree = self.slot_tree(slot);
        Ok(self.repo.admins()?.into_iter().find(|admin| admin.tree == tree))
    }

    /// Makes a spare that is at a commit.
    fn make_ready(&self, slot: usize, commit: &str, lock: &Lock) -> Result<()> {
        let (tree, path) = (self.slot_tree(slot), self.slot_record(slot));
        let known: Option<Spare> = disk::read_json(&path)?;
        if let (Some(spare), Some(admin)) = (known, self.slot_admin(slot)?) {
            if spare.commit == commit && is_untouched(&admin, &spare) {
                return Ok(());
            }
            // Only what differs is written anew; it is no spare meanwhile.
            disk::remove(&path)?;
            let untouched = is_untouched(&admin, &spare);
            if untouched && self.advance(&admin, &spare.commit, commit).is_ok() {
                return self.record(slot, commit);
            }
        }
        self.throw_away(slot, lock)?;
        disk::dir(&self.repo.home.join("spares"))?;
        let reused = self.reuse(slot, commit, lock);
        if !matches!(reused, Ok(true)) {
            self.throw_away(slot, lock)?;
            let add = ["worktree", "add", "--detach", "--"];
            self.repo.git().hold(lock.file()).args(add).args([&tree]).args([commit]).run()?;
        }
        self.step("stock:added");
        self.record(slot, commit)
    }

    fn record(&self, slot: usize, commit: &str) -> Result<()> {
        let tree = self.slot_tree(slot);
        let changed = wash::last_change(&tree).map_err(at(&tree, "read"))?;
        disk::write_json(&self.slot_record(slot), &Spare { commit: commit.to_owned(), changed })
    }

    /// Makes a spare of the files of a removed worktree, if there are some.
    fn reuse(&self, slot: usize, commit: &str, lock: &Lock) -> Result<bool> {
        let (tree, washing) = (self.slot_tree(slot), self.washing(slot));
        // Who can move it has it.
        if !(1..=SPARES_MAX).any(|number| fs::rename(self.used(number), &washing).is_ok()) {
            return Ok(false);
        }
        self.step("stock:found");
        // A git directory that knows nothing of what was before.
        let add = ["worktree", "add", "--detach", "--no-checkout", "--"];
        self.repo.git().hold(lock.file()).args(add).args([&tree]).args([commit]).run()?;
        let (pointer, old) = (tree.join(".git"), washing.join(".git"));
        if old.is_dir() && !old.is_symlink() {
            share::delete_tree(&old)?;
        }
        fs::rename(&pointer, &old).map_err(at(&old, "replaced"))?;
        fs::remove_dir(&tree).map_err(at(&tree, "replaced"))?;
        fs::rename(&washing, &tree).map_err(at(&tree, "made"))?;
        self.step("stock:moved");
        let Some(admin) = self.slot_admin(slot)? else { return Ok(false) };
        wash::scrub(&tree)?;
        wash::fill(&admin.dir, &tree, commit)?;
        Ok(true)
    }

    /// Where the files of a removed worktree are while they are made a spare.
    fn washing(&self, slot: usize) -> PathBuf {
        self.repo.home.join("spares").join(format!("washing-{slot}"))
    }

    fn advance(&self, admin: &Admin, from: &str, to: &str) -> Result<()> {
        let files = Git::on_tree(&admin.dir, &admin.tree);
        files.args(["read-tree", "-m", "-u", from, to]).run()?;
        Git::on(&admin.dir).args(["update-ref", "--no-deref", "HEAD", to]).run()
    }

    /// Removes a spare, or what is left of one.
    fn throw_away(&self, slot: usize, lock: &Lock) -> Result<()> {
        let tree = self.slot_tree(slot);
        disk::remove(&self.slot_record(slot))?;
        share::delete_tree(&tree)?;
        share::delete_tree(&self.washing(slot))?;
        match self.slot_admin(slot)? {
            Some(_) => self.forget(&tree, lock),
            None => Ok(()),
        }
    }

    /// Gives a spare to a worktree whose branch is not there yet; false if there is none.
    pub(crate) fn claim(&self, record: &Record) -> Result<bool> {
        if !self.repo.state().join("spares").is_dir() {
            return Ok(false);
        }
        let mut other = None;
        for slot in 1..=SPARES_MAX {
            let path = self.slot_record(slot);
            // To look is cheap; whether it is still there is seen with the lock.
            let Some(spare) = disk::read_json::<Spare>(&path)? else { continue };
            if spare.commit != record.base.commit {
                other.get_or_insert(slot);
            } else if self.take(slot, record)? {
                return Ok(true);
            }
        }
        match other {
            Some(slot) => self.take(slot, record),
            None => Ok(false),
        }
    }

    fn take(&self, slot: usize, record: &Record) -> Result<bool> {
        let Some(_lock) = Lock::attempt(&self.slot_lock(slot))? else { return Ok(false) };
        let path = self.slot_record(slot);
        let spare: Option<Spare> = disk::read_json(&path)?;
        let (Some(spare), Some(admin)) = (spare, self.slot_admin(slot)?) else {
            return Ok(false);
        };
        disk::remove(&path)?;
        self.step("claim:taken");
        // Until it is whole it looks as if git had been stopped while making it, and the next attempt
        // begins anew.
        let locked = admin.dir.join("locked");
        disk::write(&locked, UNFINISHED.as_bytes(), 0o644)?;
        let tree = self.repo.tree(&record.id);
        let pointer = format!("{}\n", tree.join(".git").display());
        disk::write(&admin.dir.join("gitdir"), pointer.as_bytes(), 0o644)?;
        self.step("claim:pointed");
        fs::rename(&admin.tree, &tree).map_err(at(&tree, "made"))?;
        self.step("claim:moved");
        let admin = Admin { tree, dir: admin.dir };
        // To look at every file takes as long as the rest, so it is done meanwhile.
        let (untouched, attached) = std::thread::scope(|scope| {
            let untouched = scope.spawn(|| is_untouched(&admin, &spare));
            let attached = self.put_on_branch(&admin, record);
            (untouched.join().unwrap_or(false), attached)
        });
        attached?;
        if !untouched {
            let cause = std::io::Error::other("somebody was in it");
            return Err(Error::file(&admin.tree, "used", cause));
        }
        if spare.commit != record.base.commit {
            let (from, to) = (&spare.commit, &record.base.commit);
            Git::on_tree(&admin.dir, &admin.tree)
                .args(["read-tree", "-m", "-u", from, to])
                .run()?;
        }
        self.step("claim:attached");
        disk::remove(&locked)?;
        Ok(true)
    }

    fn put_on_branch(&self, admin: &Admin, record: &Record) -> Result<()> {
        let branch = format!("refs/heads/{}", record.branch);
        let told = format!("branch: Created from {}", record.base.revision);
        let commit = record.base.commit.as_str();
        // With an empty old value it is made only if it is not there.
        let made = ["update-ref", "--create-reflog", "-m", &told, &branch, commit, ""];
        self.repo.git().args(made).run()?;
        if self.repo.keeps_files() {
            // Nobody else is in it: it is marked as unfinished.
            let head = format!("ref: {branch}\n");
            return disk::write(&admin.dir.join("HEAD"), head.as_bytes(), 0o644);
        }
        let head = ["symbolic-ref", "-m", "godel: a worktree that was ready", "HEAD", &branch];
        Git::on(&admin.dir).args(head).run()
    }
}

/// Whether all files are as they were checked out: no clock can be set for when one was changed.
fn is_untouched(admin: &Admin, spare: &Spare) -> bool {
    wash::last_change(&admin.tree).is_ok_and(|changed| changed == spare.changed)
}
