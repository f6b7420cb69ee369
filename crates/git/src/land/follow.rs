//! The files of a checkout follow its branch, and no change of a person's is lost.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::transaction::{Change, Transaction};
use super::{Landed, Landing, Merge, reason, way};
use crate::disk::{self, Lock};
use crate::error::{Error, Result, at};
use crate::git::{Git, failed, path_of};

/// What our lock of an index says, so that after a crash it is known for ours.
const MARK: &[u8] = b"godel landing\n";
/// The index that is worked on until it becomes the real one.
pub(super) const DRAFT: &str = "index.godel";
/// How long one waits for another git in the same checkout.
const INDEX_WAIT_MAX: Duration = Duration::from_secs(3);
const INDEX_LOOK_EVERY: Duration = Duration::from_millis(20);
/// How git ends if it does not do what it was told; killed, it ends otherwise.
const REFUSED: i32 = 128;

/// Where a branch is checked out.
pub(super) enum Found {
    Nowhere,
    Here(Checkout),
    /// Its files cannot be brought along, for this reason.
    Unclear(String),
}

/// One working tree, and git's directory of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkout {
    pub(super) tree: PathBuf,
    pub(super) dir: PathBuf,
}

/// What is under way, for whoever comes after a crash.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Where files follow, if the branch is checked out.
    pub(super) checkout: Option<Checkout>,
    pub(super) reference: String,
    pub(super) merge: Merge,
}

/// What a merge does to the files of a branch.
#[derive(Default)]
pub(super) struct Touched {
    pub(super) added: BTreeSet<PathBuf>,
    pub(super) changed: BTreeSet<PathBuf>,
    pub(super) removed: BTreeSet<PathBuf>,
}

impl Touched {
    pub(super) fn contains(&self, path: &Path) -> bool {
        [&self.added, &self.changed, &self.removed].iter().any(|set| set.contains(path))
    }

    pub(super) fn len(&self) -> usize {
        self.added.len() + self.changed.len() + self.removed.len()
    }
}

impl Checkout {
    pub(super) fn git<'a>(&self) -> Git<'a> {
        Git::on_tree(&self.dir, &self.tree)
    }

    /// Begins a call that works on the draft of the index.
    pub(super) fn on_draft<'a>(&self) -> Git<'a> {
        self.git().env("GIT_INDEX_FILE", self.dir.join(DRAFT))
    }

    pub(super) fn index_lock(&self) -> PathBuf {
        self.dir.join("index.lock")
    }

    /// Keeps other gits out of the index; tells whether none of them is at work.
    pub(super) fn hold_index(&self) -> Result<bool> {
        let (path, mark) = (self.index_lock(), self.dir.join("index.godel.mark"));
        fs::write(&mark, MARK).map_err(at(&mark, "written"))?;
        let start = Instant::now();
        let held = loop {
            // It appears together with what it says, so that it is known for ours whenever we die.
            match fs::hard_link(&mark, &path) {
                Ok(()) => break true,
                Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => {}
                // Not every file system has such links; then a crash right here needs a person.
                Err(_) => match fs::File::create_new(&path) {
                    Ok(mut lock) => {
                        lock.write_all(MARK).map_err(at(&path, "written"))?;
                        break true;
                    }
                    Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => {}
                    Err(cause) => return Err(Error::file(&path, "made", cause)),
                },
            }
            // One of ours is from a landing that was killed, since there is only one at a time.
            if fs::read(&path).is_ok_and(|text| text == MARK) {
                break true;
            }
            if start.elapsed() > INDEX_WAIT_MAX {
                break false;
            }
            std::thread::sleep(INDEX_LOOK_EVERY);
        };
        disk::remove(&mark)?;
        Ok(held)
    }

    /// Makes a draft of the index that knows which files are as they were.
    pub(super) fn draft(&self) -> Result<()> {
        self.copy_index()?;
        self.refresh_all()
    }

    /// Makes the draft know of each file whether it is as it was.
    pub(super) fn refresh_all(&self) -> Result<()> {
        // It fails if a file was changed, which is looked at afterwards.
        self.on_draft().args(["update-index", "-q", "--refresh"]).output().map(drop)
    }

    /// Makes a draft of the index.
    pub(super) fn copy_index(&self) -> Result<()> {
        let (index, draft) = (self.dir.join("index"), self.dir.join(DRAFT));
        disk::remove(&self.dir.join(format!("{DRAFT}.lock")))?;
        match fs::copy(&index, &draft).and_then(|_| same_age(&index, &draft)) {
            Ok(()) => {}
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => disk::remove(&draft)?,
            Err(cause) => return Err(Error::file(&index, "read", cause)),
        }
        Ok(())
    }

    /// Lets go of the index, and of the draft.
    pub(super) fn release(&self) -> Result<()> {
        disk::remove(&self.dir.join(DRAFT))?;
        disk::remove(&self.index_lock())
    }

    /// Makes the draft the index.
    pub(super) fn adopt(&self) -> Result<()> {
        let (draft, index) = (self.dir.join(DRAFT), self.dir.join("index"));
        fs::rename(&draft, &index).map_err(at(&index, "written"))?;
        disk::sync_parent(&index)
    }

    /// Moves files and the draft from one commit to another, as a fast-forward does.
    pub(super) fn read_tree(&self, flags: &[&str], from: &str, to: &str) -> Git<'_> {
        let git = self.on_draft().args(["read-tree", "-m", "-u", "--no-recurse-submodules"]);
        git.args(flags).args([from, to])
    }
}

impl Landing<'_> {
    /// Finds where a branch is checked out.
    pub(super) fn checkout(&self, reference: &str) -> Result<Found> {
        let repo = self.repo();
        let listed = repo.ask().args(["worktree", "list", "--porcelain", "-z"]).bytes()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let admins = repo.admins()?;
        let mut found = Vec::new();
        for (at, block) in listed.split("\0\0").filter(|block| !block.is_empty()).enumerate() {
            let mut lines = block.split('\0');
            let tree = lines.next().and_then(|line| line.strip_prefix("worktree "));
            let tree = PathBuf::from(tree.unwrap_or_default());
            let detached = block.contains("\0detached");
            let on_it = lines.any(|line| line.strip_prefix("branch ") == Some(reference));
            let (tree, dir) = match (at, &repo.main) {
                (0, Some(main)) => (main.clone(), repo.common.clone()),
                (0, None) if on_it => {
                    return Ok(Found::Unclear(format!(
                        "{reference} is checked out, and the git directory {} does not say where. \
                         Set `core.worktree` there, or check out another branch",
                        repo.common.display()
                    )));
                }
                (0, None) => continue,
                _ => match admins.iter().find(|admin| admin.tree == tree) {
                    Some(admin) => (tree, admin.dir.clone()),
                    None => continue,
                },
            };
            let checkout = Checkout { tree, dir };
            if detached && let Some(why) = rewriting(&checkout, reference) {
                return Ok(Found::Unclear(why));
            }
            if on_it {
                found.push(checkout);
            }
        }
        Ok(chosen(found, reference))
    }

    /// Moves a branch together with the files of its checkout.
    pub(super) fn follow(
        &self,
        checkout: &Checkout,
        reference: &str,
        merge: &Merge,
        lock: &Lock,
    ) -> Result<Landed> {
        if !checkout.hold_index()? {
            return Ok(Landed::Blocked {
                why: format!(
                    "another git is at work in {}. Wait for it; if none is, remove {}",
                    checkout.tree.display(),
                    checkout.index_lock().display()
                ),
            });
        }
        let landed = self.follow_held(checkout, reference, merge, lock);
        if matches!(landed, Ok(Landed::Done)) {
            return landed;
        }
        // Whatever was begun is taken back before anybody else looks.
        if self.journal()?.is_some() {
            self.recover(lock)?;
        } else {
            checkout.release()?;
        }
        landed
    }

    fn follow_held(
        &self,
        checkout: &Checkout,
        reference: &str,
        merge: &Merge,
        lock: &Lock,
    ) -> Result<Landed> {
        checkout.copy_index()?;
        let touched = self.touched(&merge.before, &merge.commit)?;
        if let Some(why) = way::blocked(checkout, merge, &touched)? {
            return Ok(Landed::Blocked { why });
        }
        self.announce(Some(checkout), reference, merge)?;
        self.step("land:announced");
        let (before, after, why) = (merge.before.as_str(), merge.commit.as_str(), reason(merge));
        let change = Change { reference, before, after, why: &why };
        let transaction = match Transaction::prepare(checkout.git(), &change) {
            Ok(transaction) => transaction,
            Err(error) => return self.lost(reference, before, error),
        };
        self.step("land:held");
        let files = checkout.read_tree(&[], before, after).hold(lock.file()).output()?;
        if !files.status.success() {
            let failed = failed("read-tree".to_owned(), &files);
            if files.status.code() != Some(REFUSED) {
                return Err(failed);
            }
            // Git looks before it touches anything; what it saw is worth more than that it failed.
            let why = way::refused(checkout, merge, &touched)?;
            return why.map_or(Err(failed), |why| Ok(Landed::Blocked { why }));
        }
        self.step("land:files");
        checkout.adopt()?;
        self.step("land:index");
        transaction.commit()?;
        self.step("land:branch");
        checkout.release()?;
        disk::remove(&self.journal_path())?;
        Ok(Landed::Done)
    }

    /// Lists what a merge does to files.
    pub(super) fn touched(&self, from: &str, to: &str) -> Result<Touched> {
        let asked = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to];
        let bytes = self.repo().ask().args(asked).bytes()?;
        let mut parts = bytes.split(|byte| *byte == 0);
        let mut touched = Touched::default();
        while let (Some(status), Some(path)) = (parts.next(), parts.next()) {
            let path = path_of(path);
            match status {
                b"A" => touched.added.insert(path),
                b"D" => touched.removed.insert(path),
                _ => touched.changed.insert(path),
            };
        }
        Ok(touched)
    }

    /// Writes down what is going to be done.
    pub(super) fn announce(
        &self,
        checkout: Option<&Checkout>,
        reference: &str,
        merge: &Merge,
    ) -> Result<()> {
        let (reference, merge) = (reference.to_owned(), merge.clone());
        let journal = Journal { checkout: checkout.cloned(), reference, merge };
        disk::write_json(&self.journal_path(), &journal)
    }

    pub(super) fn journal_path(&self) -> PathBuf {
        self.repo().state().join("landing.json")
    }

    pub(super) fn journal(&self) -> Result<Option<Journal>> {
        disk::read_json(&self.journal_path())
    }
}

/// Lets a copy of an index be as old as that is: git asks its age to know which files to look into.
fn same_age(index: &Path, copy: &Path) -> std::io::Result<()> {
    let age = fs::metadata(index)?.modified()?;
    fs::OpenOptions::new().write(true).open(copy)?.set_modified(age)
}

/// Says that a branch is about to be rewritten in a checkout whose HEAD is on none.
fn rewriting(checkout: &Checkout, reference: &str) -> Option<String> {
    let named = |file: &str| fs::read_to_string(checkout.dir.join(file)).unwrap_or_default();
    let short = reference.trim_start_matches("refs/heads/");
    let rebased = ["rebase-merge/head-name", "rebase-apply/head-name"];
    let what = if rebased.iter().any(|file| named(file).trim() == reference) {
        "rebased"
    } else if named("BISECT_START").trim() == short {
        "bisected"
    } else {
        return None;
    };
    let place = checkout.tree.display();
    Some(format!("{short} is being {what} in {place}. Finish that first, then land again"))
}

/// Decides between the places where a branch is checked out.
fn chosen(mut found: Vec<Checkout>, reference: &str) -> Found {
    let gone = |checkout: &Checkout| !checkout.tree.is_dir();
    if let Some(away) = found.iter().find(|one| gone(one) && one.dir.join("locked").exists()) {
        return Found::Unclear(format!(
            "{reference} is checked out in {}, which is locked and not there now. Bring it back, or \
             unlock it with `git worktree unlock`",
            away.tree.display()
        ));
    }
    found.retain(|checkout| !gone(checkout));
    match (found.pop(), found.is_empty()) {
        (None, _) => Found::Nowhere,
        (Some(only), true) => Found::Here(only),
        (Some(one), false) => Found::Unclear(format!(
            "{reference} is checked out in {} and elsewhere too. Check out another branch in all but \
             one of them",
            one.tree.display()
        )),
    }
}
