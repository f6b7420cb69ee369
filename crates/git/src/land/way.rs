//! What of a person's stands in the way of files that are to follow a branch.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Merge;
use super::follow::{Checkout, Touched};
use crate::error::Result;

/// How many files in the way are named.
const NAMED_MAX: usize = 20;
/// Up to so many files are looked at one by one; with more it is faster to look at all that there are.
const FEW: usize = 300;
/// What a person may be in the middle of, and how to end it.
const UNDER_WAY: [(&str, &str); 3] =
    [("MERGE_HEAD", "a merge"), ("CHERRY_PICK_HEAD", "a cherry-pick"), ("REVERT_HEAD", "a revert")];

/// Says what of a person's stands in the way of the files, if anything does.
pub(super) fn blocked(
    checkout: &Checkout,
    merge: &Merge,
    touched: &Touched,
) -> Result<Option<String>> {
    let place = checkout.tree.display();
    for (file, what) in UNDER_WAY {
        if checkout.dir.join(file).exists() {
            return Ok(Some(format!(
                "{what} is under way in {place}. Finish it, or end it with --abort"
            )));
        }
    }
    let clear = touched.len() <= FEW
        && !touched.added.iter().any(|path| is_taken(&checkout.tree, path))
        && changed(checkout, merge, touched)?.is_empty();
    // What is there, or differs, may be just what the branch will have.
    if clear { Ok(None) } else { refused(checkout, merge, touched) }
}

/// Asks git what stands in the way of the files, all of them.
pub(super) fn refused(
    checkout: &Checkout,
    merge: &Merge,
    touched: &Touched,
) -> Result<Option<String>> {
    checkout.refresh_all()?;
    let mut files = untracked_in_the_way(checkout, touched)?;
    let check = checkout.read_tree(&["-n"], &merge.before, &merge.commit).output()?;
    if check.status.success() && files.is_empty() {
        return Ok(None);
    }
    if !check.status.success() {
        let asked = ["diff-index", "--name-only", "-z", &merge.before];
        let local = checkout.on_draft().reading().args(asked).paths()?;
        files.extend(local.into_iter().filter(|path| touched.contains(path)));
    }
    Ok(Some(words(checkout, &files, &String::from_utf8_lossy(&check.stderr))))
}

/// Tells whether something lies where a new file is to be, or a file where its directory is to be.
fn is_taken(root: &Path, path: &Path) -> bool {
    match fs::symlink_metadata(root.join(path)) {
        Ok(_) => true,
        Err(cause) => cause.kind() != ErrorKind::NotFound,
    }
}

/// Finds those of a few files that a person has changed, staged or removed.
fn changed(checkout: &Checkout, merge: &Merge, touched: &Touched) -> Result<Vec<PathBuf>> {
    let there: Vec<&OsStr> =
        touched.changed.iter().chain(&touched.removed).map(|path| path.as_os_str()).collect();
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let literally = || checkout.on_draft().env("GIT_LITERAL_PATHSPECS", "1");
    // It fails if one of them is not there any more, which is seen right away.
    literally().args(["add", "--refresh", "--"]).args(&there).output()?;
    let asked = ["diff-index", "--name-only", "-z", "--no-renames", &merge.before, "--"];
    literally().reading().args(asked).args(&there).paths()
}

fn words(checkout: &Checkout, files: &BTreeSet<PathBuf>, said: &str) -> String {
    let place = checkout.tree.display();
    let named: Vec<String> =
        files.iter().take(NAMED_MAX).map(|path| path.display().to_string()).collect();
    let more = files.len().saturating_sub(NAMED_MAX);
    let what = match (named.is_empty(), more) {
        (true, _) => said.trim().chars().take(500).collect(),
        (false, 0) => named.join(", "),
        (false, more) => format!("{} and {more} more", named.join(", ")),
    };
    format!(
        "files in {place} that are not committed are in the way: {what}. Commit them, put them \
         aside with `git stash -u`, or move them; then land again"
    )
}

/// Finds files that git does not track and a merge would write over; ignored ones too.
fn untracked_in_the_way(checkout: &Checkout, touched: &Touched) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    if touched.added.is_empty() {
        return Ok(found);
    }
    let tracked = checkout.on_draft().reading().args(["ls-files", "-z"]).paths()?;
    let tracked: BTreeSet<PathBuf> = tracked.into_iter().collect();
    for path in touched.added.iter().filter(|path| !tracked.contains(*path)) {
        // Something on the way that is no directory, unless the merge takes it away.
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        for above in above {
            let there = fs::symlink_metadata(checkout.tree.join(above));
            if there.is_ok_and(|there| !there.is_dir()) && !tracked.contains(above) {
                found.insert(above.to_owned());
            }
        }
        strangers(&checkout.tree, path, &tracked, &mut found);
    }
    Ok(found)
}

/// Adds a path, or what is below it, as far as git does not track it.
fn strangers(root: &Path, path: &Path, tracked: &BTreeSet<PathBuf>, found: &mut BTreeSet<PathBuf>) {
    let Ok(there) = fs::symlink_metadata(root.join(path)) else {
        return;
    };
    if !there.is_dir() {
        if !tracked.contains(path) {
            found.insert(path.to_owned());
        }
        return;
    }
    let Ok(entries) = fs::read_dir(root.join(path)) else {
        found.insert(path.to_owned());
        return;
    };
    for entry in entries.flatten() {
        // Enough is known to refuse.
        if found.len() > NAMED_MAX {
            return;
        }
        strangers(root, &path.join(entry.file_name()), tracked, found);
    }
}
