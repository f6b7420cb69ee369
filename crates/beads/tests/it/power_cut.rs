//! A power cut: whatever of the unsynced steps reached the disk, all that was answered is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use godel_beads::git::{Disk, DiskOp};
use godel_beads::{Options, Shelf};

use crate::support::{Repo, create, git};

/// A step, and whether the disk had promised to keep it when the power went.
#[derive(Debug)]
struct Step {
    op: DiskOp,
    safe: bool,
    /// Whether its content is safe, if it has any.
    whole: bool,
}

/// Tells which steps of a trace that ends here are safe.
fn judge(trace: &[DiskOp]) -> Vec<Step> {
    let parent = |path: &Path| path.parent().map(Path::to_owned);
    let synced_later = |at: usize, folder: Option<PathBuf>| {
        trace[at..]
            .iter()
            .any(|op| matches!(op, DiskOp::SyncDir(dir) if Some(dir) == folder.as_ref()))
    };
    let steps = trace.iter().enumerate().map(|(at, op)| {
        let safe = match op {
            DiskOp::MakeDir(path) | DiskOp::Write(path, _) | DiskOp::Remove(path) => {
                synced_later(at, parent(path))
            }
            DiskOp::Link(_, to) | DiskOp::Rename(_, to) => synced_later(at, parent(to)),
            DiskOp::Sync(_) | DiskOp::SyncDir(_) => true,
        };
        let whole = match op {
            DiskOp::Write(path, _) => {
                trace[at..].iter().any(|op| matches!(op, DiskOp::Sync(synced) if synced == path))
            }
            _ => true,
        };
        Step { op: op.clone(), safe, whole }
    });
    steps.collect()
}

/// Builds what is on the disk: all safe steps, and of the others those that `kept` names.
fn rebuild(steps: &[Step], kept: &BTreeSet<usize>, torn: bool, from: &Path, to: &Path) {
    let there = |path: &Path| {
        let rest = path.strip_prefix(from).unwrap_or(path);
        to.join(rest)
    };
    for (at, step) in steps.iter().enumerate() {
        // A file that was renamed safely had its content first.
        let named_later = |path: &Path| {
            steps[at..].iter().enumerate().any(|(later, step)| {
                let kept = step.safe || kept.contains(&(at + later));
                matches!(&step.op, DiskOp::Rename(old, _) | DiskOp::Link(old, _) if old == path)
                    && kept
            })
        };
        match &step.op {
            DiskOp::Write(path, bytes) => {
                if step.safe || kept.contains(&at) || named_later(path) {
                    let half = if step.whole || !torn { bytes.len() } else { bytes.len() / 2 };
                    // A file that is made is a new one, whatever became of its namesake.
                    std::fs::remove_file(there(path)).ok();
                    std::fs::write(there(path), &bytes[..half]).ok();
                }
            }
            _ if !step.safe && !kept.contains(&at) => {}
            DiskOp::MakeDir(path) => drop(std::fs::create_dir_all(there(path))),
            DiskOp::Link(old, new) => drop(std::fs::hard_link(there(old), there(new))),
            DiskOp::Rename(old, new) => drop(std::fs::rename(there(old), there(new))),
            DiskOp::Remove(path) => drop(std::fs::remove_file(there(path))),
            DiskOp::Sync(_) | DiskOp::SyncDir(_) => {}
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            // Samples that git brings along; there are many of them, and nobody reads them.
            true if entry.file_name() == "hooks" => {}
            true => copy(&old, &new),
            false => drop(std::fs::copy(&old, &new).unwrap()),
        }
    }
}

/// Returns a folder for one state: in memory if possible, since what is safe was decided already.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Opens what is left after the cut and checks it.
fn survives(path: &Path, answered: &[String], what: &str) {
    let mut shelf = Shelf::open(path).unwrap();
    for id in answered {
        let found = shelf.bead(id);
        assert!(found.is_ok(), "{id} is lost: {what}: {:?}", found.err());
    }
    shelf.ready(10).unwrap_or_else(|error| panic!("{error}: {what}"));
    let next = create(&mut Shelf::open(path).unwrap(), "after the cut");
    assert!(Shelf::open(path).unwrap().bead(&next.id).is_ok(), "{what}");
    git(path, &["rev-list", "--objects", "--quiet", "godel/state"]);
}

#[test]
fn whatever_reached_the_disk_all_that_was_answered_is_there() {
    let repo = Repo::new();
    let start = tempfile::tempdir().unwrap();
    copy(&repo.path, &start.path().join("repo"));
    let (disk, trace): (Disk, Arc<Mutex<Vec<DiskOp>>>) = Disk::recording();
    let options = Options { disk, ..Options::default() };
    let mut answers = Vec::new();
    for n in 0..2 {
        let mut shelf = Shelf::open_with(&repo.path, options.clone()).unwrap();
        let bead = create(&mut shelf, &format!("bead {n}"));
        answers.push((trace.lock().unwrap().len(), bead.id));
    }
    let trace = trace.lock().unwrap().clone();
    let mut states = 0;
    for end in 0..=trace.len() {
        let steps = judge(&trace[..end]);
        let loose: Vec<usize> = (0..end).filter(|at| !steps[*at].safe).collect();
        let all: BTreeSet<usize> = loose.iter().copied().collect();
        // None, all, all but one, only one; with whole and with torn contents.
        let mut choices = vec![BTreeSet::new(), all.clone()];
        for at in &loose {
            choices.push(all.iter().copied().filter(|other| other != at).collect());
            choices.push(BTreeSet::from([*at]));
        }
        choices.sort();
        choices.dedup();
        let answered: Vec<String> =
            answers.iter().filter(|(at, _)| *at <= end).map(|(_, id)| id.clone()).collect();
        for kept in &choices {
            let unsynced = steps.iter().any(|step| !step.whole);
            for torn in [false, true].into_iter().take(1 + usize::from(unsynced)) {
                let place = folder();
                let path = place.path().join("repo");
                copy(&start.path().join("repo"), &path);
                rebuild(&steps, kept, torn, &repo.path, &path);
                let last = end.checked_sub(1).map(|last| &steps[last].op);
                let what = format!("cut after {end} {last:.200?}, kept {kept:?}, torn {torn}");
                survives(&path, &answered, &what);
                states += 1;
            }
        }
    }
    assert!(states > 100, "only {states} states");
}
