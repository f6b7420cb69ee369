//! Saves what is in a worktree as a commit under `refs/godel/rescue/`, without touching its index.
//!
//! The tree of the commit is what lies in the worktree. Its parents are HEAD, then what was staged
//! if that is something else, then each commit that only the worktree knew of.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::Name;
use crate::bench::Workbench;
use crate::disk;
use crate::error::{Error, Result, at};
use crate::files;
use crate::git::{Git, path_of};
use crate::glob::Pattern;
use crate::record::{Mode, Record};
use crate::repo::Admin;

/// Where rescued work is kept.
pub(crate) const REFS: &str = "refs/godel/rescue";
/// How many rescues of one worktree may fall into the same second.
const SAME_SECOND_MAX: u32 = 1_000;

/// Work that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rescue {
    /// The worktree that it was in.
    pub id: Name,
    /// The reference that keeps it.
    pub reference: String,
    /// The commit.
    pub commit: String,
    /// When it was saved.
    pub at: Option<Timestamp>,
    /// What it is, in a line.
    pub subject: String,
    /// The command that makes a branch of it.
    pub restore: String,
}

/// What is in a worktree, as objects of git.
#[derive(Debug)]
struct Snapshot {
    /// HEAD, if there is a commit.
    head: Option<String>,
    /// What lies in the directory.
    tree: String,
    /// What is staged, if it is neither that nor HEAD.
    staged: Option<String>,
    /// Whether anything differs from HEAD.
    dirty: bool,
}

/// A worktree to be saved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a Name,
    pub(crate) record: Option<&'a Record>,
    pub(crate) admin: Option<&'a Admin>,
    /// Where its files are; nothing if they are gone.
    pub(crate) tree: Option<&'a Path>,
    /// Whether an earlier attempt has saved the files, and only commits are left to look for.
    pub(crate) saved: bool,
    /// The branch, if it will be deleted.
    pub(crate) leaving: Option<&'a str>,
}

impl Workbench {
    /// Lists what was rescued, the newest last.
    ///
    /// # Errors
    /// If git fails.
    pub fn rescues(&self, of: Option<&Name>) -> Result<Vec<Rescue>> {
        let below = of.map_or(format!("{REFS}/"), |name| format!("{REFS}/{name}/"));
        let format = "--format=%(refname)%00%(objectname)%00%(subject)";
        let text = self.repo.ask().args(["for-each-ref", format, &below]).line()?;
        let mut found: Vec<Rescue> = text.lines().filter_map(rescue_of).collect();
        found.sort_by(|a, b| (a.at, &a.reference).cmp(&(b.at, &b.reference)));
        Ok(found)
    }

    /// Saves all that would be lost with a worktree; nothing if there is nothing.
    pub(crate) fn rescue(&self, subject: Subject<'_>) -> Result<Option<String>> {
        let scratch = self.repo.state().join("scratch").join(subject.name.as_str());
        if disk::exists(&scratch) {
            fs::remove_dir_all(&scratch).map_err(at(&scratch, "emptied"))?;
        }
        // A git of a process that was killed may still write into the old one for a moment.
        let fresh = scratch.join(std::process::id().to_string());
        disk::private_dir(&fresh)?;
        let saved = self.save_work(subject, &fresh);
        fs::remove_dir_all(&scratch).map_err(at(&scratch, "emptied"))?;
        saved
    }

    fn save_work(&self, subject: Subject<'_>, scratch: &Path) -> Result<Option<String>> {
        let shot = self.snapshot(subject, scratch)?;
        let tips = self.endangered_commits(subject.admin, subject.leaving)?;
        let commit = match (shot.dirty, tips.as_slice()) {
            (false, []) => return Ok(None),
            (false, [only]) => only.clone(),
            _ => self.commit_of(subject, &shot, &tips)?,
        };
        self.keep(subject.name, &commit).map(Some)
    }

    /// Writes what lies in a worktree as objects, by an index of its own.
    fn snapshot(&self, subject: Subject<'_>, scratch: &Path) -> Result<Snapshot> {
        let git_dir = subject.admin.map_or(&self.repo.common, |admin| &admin.dir);
        let branch = format!("refs/heads/{}", subject.name.branch());
        let head = match subject.admin {
            Some(admin) => {
                let git = Git::on(&admin.dir).reading();
                git.args(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).maybe()?
            }
            None => self.repo.commit(&branch)?,
        };
        let index = scratch.join("index");
        let plain = || Git::on(git_dir).env("GIT_INDEX_FILE", &index);
        let head_tree = match &head {
            Some(head) => plain().args(["rev-parse", &format!("{head}^{{tree}}")]).line()?,
            None => plain().args(["hash-object", "-t", "tree", "--stdin"]).line()?,
        };
        if subject.saved {
            return Ok(Snapshot { head, tree: head_tree, staged: None, dirty: false });
        }
        let real = subject.admin.map(|admin| admin.dir.join("index")).filter(|real| real.exists());
        match (&real, &head) {
            (Some(real), _) => {
                fs::copy(real, &index).map_err(at(real, "copied"))?;
            }
            (None, Some(head)) => plain().args(["read-tree", head]).run()?,
            (None, None) => {}
        }
        let staged = staged_tree(git_dir, &index, scratch)?;
        let tree = match subject.tree {
            None => staged.clone(),
            Some(tree) => {
                self.collect(subject, git_dir, tree, &index)?;
                plain().args(["write-tree", "--missing-ok"]).line()?
            }
        };
        let staged = Some(staged).filter(|staged| *staged != head_tree && *staged != tree);
        let dirty = tree != head_tree || staged.is_some();
        Ok(Snapshot { head, tree, staged, dirty })
    }

    /// Puts all files of a worktree that count as work into an index.
    fn collect(
        &self,
        subject: Subject<'_>,
        git_dir: &Path,
        tree: &Path,
        index: &Path,
    ) -> Result<()> {
        let git = || Git::on_tree(git_dir, tree).env("GIT_INDEX_FILE", index);
        reveal(&git, tree)?;
        // --sparse: files outside of a sparse checkout are work too.
        git().args(["add", "--update", "--sparse"]).run()?;
        let asked = ["ls-files", "-z", "--others", "--exclude-standard"];
        let fresh = git().reading().args(asked).paths()?;
        let shared = |path: &PathBuf| {
            let mut shares = subject.record.iter().flat_map(|record| &record.shares);
            shares.any(|share| share.mode != Mode::None && path.starts_with(&share.path))
        };
        update_index(&git, &["--add", "--replace"], fresh.iter().filter(|path| !shared(path)))?;
        let Some(record) = subject.record else {
            return Ok(());
        };
        let wanted: Vec<Pattern> =
            record.rescue.iter().filter_map(|text| Pattern::new(text).ok()).collect();
        if !wanted.is_empty() {
            let asked = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
            let ignored = git().reading().args(asked).paths()?;
            let meant = ignored.iter().filter(|path| wanted.iter().any(|want| want.covers(path)));
            update_index(&git, &["--add", "--replace"], meant)?;
        }
        // What was copied in and is as it was is no work, and may be secret.
        let same = record.copied.iter().filter(|copy| {
            let tracked = git().reading().args(["ls-tree", "--name-only", "HEAD", "--"]);
            files::unchanged(tree, &copy.path, &copy.sha256)
                && matches!(tracked.args([&copy.path]).maybe(), Ok(None))
        });
        update_index(&git, &["--force-remove"], same.map(|copy| &copy.path))
    }

    /// Makes the commit that holds everything.
    fn commit_of(&self, subject: Subject<'_>, shot: &Snapshot, tips: &[String]) -> Result<String> {
        let message = message(subject, shot, tips);
        // The same work is saved once, even if the command is repeated after a crash.
        for known in self.rescues(Some(subject.name))? {
            let format = "--format=%T%n%B";
            let about = self.repo.ask().args(["show", "-s", format, &known.commit]).line()?;
            let (tree, said) = about.split_once('\n').unwrap_or((&about, ""));
            if tree == shot.tree && said.trim_end() == message.trim_end() {
                return Ok(known.commit);
            }
        }
        let mut parents: Vec<String> = shot.head.iter().cloned().collect();
        if let Some(staged) = &shot.staged {
            let text = format!("Staged in worktree {}\n", subject.name);
            parents.push(self.commit_tree(staged, shot.head.as_slice(), text)?);
        }
        parents.extend(tips.iter().filter(|tip| Some(*tip) != shot.head.as_ref()).cloned());
        self.commit_tree(&shot.tree, &parents, message)
    }

    fn commit_tree(&self, tree: &str, parents: &[String], message: String) -> Result<String> {
        let now = format!("@{} +0000", self.host.clock.now().as_second());
        let mut git = self.repo.git().args(["commit-tree", "--no-gpg-sign"]);
        for parent in parents {
            git = git.args(["-p", parent]);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            git = git
                .env(&format!("GIT_{who}_NAME"), "Godel")
                .env(&format!("GIT_{who}_EMAIL"), "godel@localhost")
                .env(&format!("GIT_{who}_DATE"), &now);
        }
        git.args(["-F", "-", tree]).input(message).line()
    }

    /// Gives a commit a reference; one that has it already keeps it.
    pub(crate) fn keep(&self, name: &Name, commit: &str) -> Result<String> {
        let known = self.rescues(Some(name))?;
        if let Some(known) = known.iter().find(|known| known.commit == commit) {
            return Ok(known.reference.clone());
        }
        let now = self.host.clock.now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let nothing = "0".repeat(commit.len());
        for number in 1..SAME_SECOND_MAX {
            let reference = match number {
                1 => format!("{REFS}/{name}/{now}"),
                _ => format!("{REFS}/{name}/{now}-{number}"),
            };
            if known.iter().any(|known| known.reference == reference) {
                continue;
            }
            let git = self.repo.git();
            git.args(["update-ref", &reference, commit, &nothing]).run()?;
            return Ok(reference);
        }
        Err(Error::Git {
            command: "update-ref".to_owned(),
            said: format!("too many rescues of {name} in one second"),
        })
    }
}

/// Finds entries that git was told not to look at, and lets it look.
fn reveal<'a>(git: &impl Fn() -> Git<'a>, tree: &Path) -> Result<()> {
    let listed = git().reading().args(["ls-files", "-v", "-z"]).bytes()?;
    let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
    for entry in listed.split(|byte| *byte == 0) {
        let Some((tag, path)) = entry.split_first().filter(|(_, path)| path.len() > 1) else {
            continue;
        };
        let path = path_of(&path[1..]);
        if matches!(tag, b'S' | b's') && disk::exists(&tree.join(&path)) {
            skipped.push(path.clone());
        }
        if tag.is_ascii_lowercase() {
            assumed.push(path);
        }
    }
    update_index(git, &["--no-assume-unchanged"], assumed.iter())?;
    update_index(git, &["--no-skip-worktree"], skipped.iter())
}

fn update_index<'a, 'b>(
    git: &impl Fn() -> Git<'a>,
    how: &[&str],
    paths: impl Iterator<Item = &'b PathBuf>,
) -> Result<()> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_os_str().as_encoded_bytes());
        input.push(0);
    }
    if input.is_empty() {
        return Ok(());
    }
    git().args(["update-index", "-z"]).args(how).args(["--stdin"]).input(input).run()
}

/// Writes what is staged as a tree; of a file in conflict, our side.
fn staged_tree(git_dir: &Path, index: &Path, scratch: &Path) -> Result<String> {
    let copy = scratch.join("staged");
    if index.exists() {
        fs::copy(index, &copy).map_err(at(index, "copied"))?;
    }
    let git = |index: &Path| Git::on(git_dir).env("GIT_INDEX_FILE", index);
    let whole = git(&copy).args(["write-tree", "--missing-ok"]).maybe()?;
    if let Some(tree) = whole {
        return Ok(tree);
    }
    let listed = git(&copy).reading().args(["ls-files", "--stage", "-z"]).bytes()?;
    let mut input = Vec::new();
    // `<mode> <id> <stage>\t<path>`: stage 3 comes last, and our side (2) must win over it.
    for stage in [b'3', b'2', b'0'] {
        for entry in listed.split(|byte| *byte == 0) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let (about, path) = entry.split_at(tab);
            if let Some((found, about)) = about.split_last()
                && *found == stage
            {
                input.extend_from_slice(about);
                input.push(b'0');
                input.extend_from_slice(path);
                input.push(0);
            }
        }
    }
    let ours = scratch.join("ours");
    git(&ours).args(["update-index", "-z", "--index-info"]).input(input).run()?;
    git(&ours).args(["write-tree", "--missing-ok"]).line()
}

/// Tells in a commit message what was saved; the same work always gives the same text.
fn message(subject: Subject<'_>, shot: &Snapshot, tips: &[String]) -> String {
    let mut lines = vec![format!("Rescued from worktree {}", subject.name), String::new()];
    lines.push("The files are as they lay in the worktree.".to_owned());
    let mut number = 0;
    let mut parent = |id: &str, what: &str| {
        number += 1;
        format!("Parent {number} ({id}): {what}.")
    };
    if let Some(head) = &shot.head {
        lines.push(parent(head, "HEAD of the worktree"));
    }
    if let Some(staged) = &shot.staged {
        lines.push(parent(&format!("tree {staged}"), "what was staged"));
    }
    for tip in tips.iter().filter(|tip| Some(*tip) != shot.head.as_ref()) {
        lines.push(parent(tip, "a commit that only the worktree knew of"));
    }
    lines.join("\n") + "\n"
}

fn rescue_of(line: &str) -> Option<Rescue> {
    let mut parts = line.split('\0');
    let (reference, commit) = (parts.next()?, parts.next()?);
    let (id, time) = reference.strip_prefix(REFS)?.strip_prefix('/')?.split_once('/')?;
    let id: Name = id.parse().ok()?;
    let seconds = time.split_once('-').map_or(time, |(seconds, _)| seconds);
    let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", seconds).ok();
    let at = at.and_then(|at| at.to_zoned(jiff::tz::TimeZone::UTC).ok());
    Some(Rescue {
        restore: format!("git branch rescued/{id} {reference}"),
        id,
        reference: reference.to_owned(),
        commit: commit.to_owned(),
        at: at.map(|at| at.timestamp()),
        subject: parts.next().unwrap_or_default().to_owned(),
    })
}
