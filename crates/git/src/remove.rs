//! Removes a worktree after all work in it was saved.
//!
//! The order is what makes it safe: save, record, move away, look again, delete, let git forget it,
//! and only then the branch, the ports and the record. Killed anywhere, the same call finishes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use godel_model::code;
use serde::Serialize;

use crate::Name;
use crate::bench::Workbench;
use crate::busy;
use crate::disk;
use crate::error::{Error, Result, at};
use crate::files;
use crate::git::{Git, path_of};
use crate::nested;
use crate::ports;
use crate::record::{Base, Cleanup, Mode, Phase, Policy, Record, Removal, VERSION};
use crate::repo::Admin;
use crate::rescue::{Rescue, Subject};
use crate::share;

/// How long one waits for a git that works in a worktree.
const GIT_WAIT_MAX: Duration = Duration::from_secs(3);
/// How many ignored paths are named.
const IGNORED_NAMED_MAX: usize = 5;

/// How a worktree shall be removed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Remove {
    /// Although it is locked or a process works in it; work is saved all the same.
    pub force: bool,
    /// What becomes of its branch.
    pub branch: Fate,
}

/// What becomes of the branch of a worktree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fate {
    /// It goes if it was made with the worktree and others have all its commits.
    #[default]
    Auto,
    /// It stays.
    Keep,
    /// It goes; commits that nobody else has are rescued.
    Delete,
}

/// What was removed, and what was saved.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// The name.
    pub id: Name,
    /// Where it was.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
    /// Whether the branch is gone too.
    pub branch_deleted: bool,
    /// The work that was saved.
    pub rescued: Vec<Rescue>,
    /// The ignored files that are gone.
    pub ignored: Ignored,
}

/// Files that git ignores and that the configuration does not count as work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ignored {
    /// How many bytes.
    pub bytes: u64,
    /// The largest of them, with their sizes.
    pub largest: Vec<(PathBuf, u64)>,
}

impl Workbench {
    /// Saves all work in a worktree, then removes it.
    ///
    /// # Errors
    /// If there is none, it is in use, or it holds work that cannot be saved. Then it stays.
    pub fn remove(&self, name: &Name, how: Remove) -> Result<Removed> {
        self.known(name)?;
        self.prepare()?;
        let lock = self.lock(name)?;
        let (record, admin) = self.known(name)?;
        let (tree, trash) = (self.repo.tree(name), self.repo.trash(name));
        let mut record = match record {
            Some(record) => record,
            None => self.adopt(name)?,
        };
        let mut ignored = Ignored::default();
        let there = disk::exists(&tree);
        if there {
            self.refuse_in_use(&record, admin.as_ref(), how.force)?;
            ignored = self.ignored(&record, admin.as_ref())?;
        }
        let mut removal = record.removal.take().unwrap_or_default();
        removal.branch_at = self.doomed_branch(&record, how.branch)?;
        let admin = admin.as_ref();
        let leaving = removal.branch_at.is_some().then_some(record.branch.as_str());
        // The files are gone because an earlier attempt has saved and deleted them.
        let saved = record.phase == Phase::Removing && !there;
        let subject =
            |tree, saved| Subject { name, record: Some(&record), admin, tree, saved, leaving };
        self.step("remove:checked");
        // A directory that waits from an earlier attempt is saved and deleted before this one.
        if disk::exists(&trash) {
            self.discard(&trash, subject(Some(&trash), false), &mut removal)?;
        }
        let files = there.then_some(tree.as_path());
        self.note(self.rescue(subject(files, saved))?, &mut removal);
        self.step("remove:rescued");
        record.phase = Phase::Removing;
        record.removal = Some(removal.clone());
        self.save(&record)?;
        self.step("remove:recorded");
        if there {
            unmount(&record, &tree)?;
            disk::private_dir(trash.parent().unwrap_or(&self.repo.home))?;
            fs::rename(&tree, &trash).map_err(at(&tree, "moved away"))?;
            self.step("remove:moved");
            let (record, tree) = (Some(&record), Some(trash.as_path()));
            let subject = Subject { name, record, admin, tree, saved: false, leaving };
            self.discard(&trash, subject, &mut removal)?;
        }
        self.step("remove:deleted");
        if admin.is_some() {
            self.forget(&tree, &lock)?;
        }
        self.step("remove:forgotten");
        let branch_deleted = self.delete_branch(&record, &removal)?;
        self.step("remove:branch");
        let rescued = self.rescues(Some(name))?;
        let rescued = rescued.into_iter().filter(|one| removal.rescued.contains(&one.reference));
        let rescued = rescued.collect();
        self.clear(name)?;
        lock.retire()?;
        Ok(Removed {
            id: name.clone(),
            path: tree,
            branch: record.branch,
            branch_deleted,
            rescued,
            ignored,
        })
    }

    /// Finds what is known of a worktree.
    fn known(&self, name: &Name) -> Result<(Option<Record>, Option<Admin>)> {
        match (self.load(name)?, self.repo.admin(name)?) {
            (None, None) => Err(Error::no_worktree(name)),
            known => Ok(known),
        }
    }

    /// Makes a record for a worktree that has none, from what git knows.
    fn adopt(&self, name: &Name) -> Result<Record> {
        let commit = self.repo.commit("HEAD")?.unwrap_or_default();
        Ok(Record {
            version: VERSION,
            id: name.clone(),
            branch: name.branch(),
            branch_made: false,
            base: Base { revision: "HEAD".to_owned(), reference: None, commit },
            created_at: self.host.clock.now(),
            phase: Phase::Ready,
            cleanup: Cleanup { policy: Policy::Manual, after_secs: 0 },
            ended: None,
            ports: None,
            shares: Vec::new(),
            copied: Vec::new(),
            rescue: Vec::new(),
            removal: None,
        })
    }

    /// Refuses while somebody works in it, and what cannot be saved at all.
    fn refuse_in_use(&self, record: &Record, admin: Option<&Admin>, force: bool) -> Result<()> {
        let (name, tree) = (&record.id, self.repo.tree(&record.id));
        let locked = admin.and_then(|admin| fs::read_to_string(admin.dir.join("locked")).ok());
        // Git locks what it has not finished; nobody works in there yet.
        let begun = |why: &String| record.phase == Phase::Creating && why.trim() == "initializing";
        if let Some(why) = locked.filter(|why| !force && !begun(why)) {
            let why = Some(why.trim()).filter(|why| !why.is_empty()).unwrap_or("no reason given");
            return Err(Error::refused(
                code::WORKTREE_BUSY,
                format!("worktree {name} is locked: {why}"),
                "`git worktree unlock` it, or remove it with --force; work is saved in any case",
            ));
        }
        let mut using = busy::processes(&tree);
        let start = Instant::now();
        // Git soon ends by itself: it may be that of an attempt which was killed.
        while !force
            && !using.is_empty()
            && using.iter().all(|process| process.starts_with("git "))
            && start.elapsed() < GIT_WAIT_MAX
        {
            std::thread::sleep(Duration::from_millis(20));
            using = busy::processes(&tree);
        }
        if !using.is_empty() && !force {
            return Err(Error::refused(
                code::WORKTREE_BUSY,
                format!("worktree {name} is in use by {}", using.join(", ")),
                "end it or leave the directory, or remove it with --force; work is saved in any case",
            ));
        }
        let nested = nested::endangered(&self.repo, Some(record), admin, &tree)?;
        if !nested.is_empty() {
            return Err(Error::refused(
                code::WORKTREE_UNSAVED,
                format!("worktree {name} holds what cannot be saved: {}", nested.join("; ")),
                "push or move what is in there, then repeat the command; nothing was removed",
            ));
        }
        Ok(())
    }

    /// Measures the ignored files that will be gone.
    fn ignored(&self, record: &Record, admin: Option<&Admin>) -> Result<Ignored> {
        let Some(admin) = admin else {
            return Ok(Ignored::default());
        };
        let tree = self.repo.tree(&record.id);
        let asked =
            ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let paths = Git::on_tree(&admin.dir, &tree).reading().args(asked).paths()?;
        let known = |path: &PathBuf| {
            let shared = record.shares.iter().any(|share| path.starts_with(&share.path));
            shared || record.copied.iter().any(|copy| copy.path == *path)
        };
        let paths = paths.into_iter().filter(|path| !known(path));
        let mut sized: Vec<(PathBuf, u64)> = paths
            .map(|path| {
                let size = size(&tree.join(&path));
                (path, size)
            })
            .collect();
        sized.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let bytes = sized.iter().map(|(_, size)| size).sum();
        sized.truncate(IGNORED_NAMED_MAX);
        Ok(Ignored { bytes, largest: sized })
    }

    /// Returns the commit of the branch if the branch shall go.
    fn doomed_branch(&self, record: &Record, fate: Fate) -> Result<Option<String>> {
        let branch = record.branch.as_str();
        let full = format!("refs/heads/{branch}");
        let (Some(tip), false) = (self.repo.commit(&full)?, fate == Fate::Keep) else {
            return Ok(None);
        };
        if self.used_elsewhere(&full, &self.repo.tree(&record.id))? {
            return Ok(None);
        }
        if fate == Fate::Auto {
            let alone = self.repo.ask().args(["rev-list", "--max-count=1", &tip]);
            let alone = alone.args(self.others(Some(branch))).line()?;
            if !record.branch_made || !alone.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(tip))
    }

    /// Tells whether another worktree has a branch checked out.
    pub(crate) fn used_elsewhere(&self, full: &str, own: &Path) -> Result<bool> {
        let listed = self.repo.ask().args(["worktree", "list", "--porcelain", "-z"]).bytes()?;
        let mut tree = PathBuf::new();
        for line in listed.split(|byte| *byte == 0) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                tree = path_of(path);
            } else if line.strip_prefix(b"branch ") == Some(full.as_bytes()) && tree != own {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn note(&self, rescued: Option<String>, removal: &mut Removal) {
        removal.rescued.extend(rescued.filter(|one| !removal.rescued.contains(one)));
    }

    /// Deletes a directory that nobody finds any more; what was written to it in the last moment is
    /// saved first.
    fn discard(&self, trash: &Path, subject: Subject<'_>, removal: &mut Removal) -> Result<()> {
        self.note(self.rescue(subject)?, removal);
        self.step("remove:verified");
        if let Some(record) = subject.record {
            let removal = Some(removal.clone());
            self.save(&Record { phase: Phase::Removing, removal, ..record.clone() })?;
        }
        let mounted = busy::mounts(trash);
        if let Some(first) = mounted.first() {
            return Err(Error::refused(
                code::WORKTREE_BUSY,
                format!("something is mounted at {}", first.display()),
                "unmount it, then repeat the command",
            ));
        }
        self.retire(trash)
    }

    /// Deletes the branch of a bead that has no worktree; commits that nothing else has are saved first.
    ///
    /// # Errors
    /// If git fails.
    pub fn end_branch(&self, bead: &Name) -> Result<()> {
        let full = format!("refs/heads/{}", bead.branch());
        let Some(tip) = self.repo.commit(&full)? else { return Ok(()) };
        if self.used_elsewhere(&full, Path::new(""))? {
            return Ok(());
        }
        let alone = self.repo.ask().args(["rev-list", "--max-count=1", &tip]);
        if !alone.args(self.others(Some(&bead.branch()))).line()?.is_empty() {
            self.keep(bead, &tip)?;
        }
        self.repo.git().args(["update-ref", "-d", &full, &tip]).run()
    }

    /// Deletes the branch if it is still where it was when its commits were saved.
    fn delete_branch(&self, record: &Record, removal: &Removal) -> Result<bool> {
        let Some(tip) = &removal.branch_at else {
            return Ok(false);
        };
        let full = format!("refs/heads/{}", record.branch);
        if self.repo.commit(&full)?.as_ref() != Some(tip) {
            return Ok(false);
        }
        let deleted = self.repo.git().args(["update-ref", "-d", &full, tip]).output()?;
        Ok(deleted.status.success())
    }

    /// Forgets a worktree; the record goes last, so that what is left is finished next time.
    fn clear(&self, name: &Name) -> Result<()> {
        disk::remove(&files::redaction_path(&self.repo.state(), name))?;
        disk::remove(&self.log_path(name))?;
        let record = self.record_path(name);
        ports::free(&self.host.state, &record)?;
        self.step("remove:freed");
        disk::remove(&record)
    }
}

/// Ends the binds that were made for a worktree, and refuses others: deleting would go through them.
fn unmount(record: &Record, tree: &Path) -> Result<()> {
    let own = |path: &Path| {
        let bound = record.shares.iter().filter(|share| share.mode == Mode::ReadOnly);
        bound.into_iter().any(|share| tree.join(&share.path) == path)
    };
    for mount in busy::mounts(tree) {
        let ended = match own(&mount) {
            true => share::unbind(&mount),
            false => Err(std::io::ErrorKind::ResourceBusy.into()),
        };
        ended.map_err(at(&mount, "unmounted"))?;
    }
    Ok(())
}

fn size(path: &Path) -> u64 {
    let Ok(about) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !about.is_dir() {
        return about.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size(&entry.path())).sum()
}
