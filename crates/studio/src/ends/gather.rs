//! Gathers what two ends differ in, and nothing that git would not show.
//!
//! A snapshot holds more than the work: files that git ignores, such as `.env`, are in it so that an agent that goes
//! on from it finds them. Who compares two ends asks for the work, and secrets are what is ignored most often. So a
//! file is shown if the commit of its side has it, or if the rules of neither side ignore it: an agent that takes
//! `.env` out of `.gitignore` on one branch does not thereby show what it held on the other.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use godel_git::{Piece, Shape};
use godel_runtime::{Content, Held, Listing, RuntimeProvider, SnapshotId, read_at};

use crate::{Error, Result};

/// How many files are handed to git.
const FILES_MAX: usize = 1_000;
/// How large a file may be whose lines are shown; a larger one is named, as a binary file is.
const FILE_MAX_BYTES: u64 = 1 << 20;
/// How much of one side is read in all; what comes after is named only.
const SIDE_MAX_BYTES: usize = 16 << 20;
/// What names files to ignore.
const RULES: &str = ".gitignore";

/// Where files are.
pub(super) enum Place {
    /// In a worktree.
    Live(PathBuf),
    /// In a snapshot.
    Kept {
        /// Who holds it.
        runtime: Arc<dyn RuntimeProvider>,
        /// Its files.
        files: SnapshotId,
    },
}

impl Place {
    /// Tells whether two places hold the same without looking into them.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Live(one), Self::Live(two)) => one == two,
            (Self::Kept { files: one, .. }, Self::Kept { files: two, .. }) => one == two,
            _ => false,
        }
    }
}

/// One side of a comparison.
pub(super) struct Side {
    pub(super) place: Place,
    /// What git has of it, whatever the rules say.
    pub(super) tracked: HashSet<PathBuf>,
    pub(super) listing: Listing,
}

impl Side {
    /// Reads the rules that decide about some paths: those in the folders above them.
    pub(super) async fn rules(&self, paths: &[PathBuf]) -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let above = |path: &PathBuf| path.ancestors().skip(1).map(|dir| dir.join(RULES)).collect();
        let all: BTreeSet<PathBuf> = paths.iter().flat_map::<Vec<_>, _>(above).collect();
        let known = |path: &PathBuf| matches!(self.listing.get(path), Some(Held::File { .. }));
        let paths: Vec<PathBuf> = all.into_iter().filter(known).collect();
        let read = self.read(&paths).await?;
        // Rules that are too long to be read ignore everything.
        let rule = |bytes: Option<Vec<u8>>| bytes.unwrap_or_else(|| b"*\n".to_vec());
        Ok(paths.into_iter().zip(read.into_iter().map(rule)).collect())
    }

    /// Tells whether git shows what is at a path.
    fn shows(&self, path: &Path, ignored: &HashSet<PathBuf>) -> bool {
        let known = self.tracked.contains(path) || !ignored.contains(path);
        known && self.listing.contains_key(path)
    }

    /// Reads what differs.
    pub(super) async fn pieces(
        &self,
        paths: &[PathBuf],
        ignored: &HashSet<PathBuf>,
    ) -> Result<Vec<Piece>> {
        let (mut pieces, mut total) = (Vec::new(), 0);
        for path in paths.iter().filter(|path| self.shows(path, ignored)) {
            let (shape, bytes) = match &self.listing[path] {
                Held::Link(target) => (Shape::Link, target.as_os_str().as_bytes().to_vec()),
                Held::File { program, content } => {
                    let shape = if *program { Shape::Program } else { Shape::File };
                    let full = total > SIDE_MAX_BYTES;
                    let one = std::slice::from_ref(path);
                    let read = if full { None } else { self.read(one).await?.pop().flatten() };
                    (shape, read.unwrap_or_else(|| unread(content)))
                }
            };
            total += bytes.len();
            pieces.push(Piece { path: path.clone(), shape, bytes });
        }
        Ok(pieces)
    }

    /// Reads files that are not too large.
    async fn read(&self, paths: &[PathBuf]) -> Result<Vec<Option<Vec<u8>>>> {
        match &self.place {
            Place::Live(tree) => {
                let (tree, paths) = (tree.clone(), paths.to_vec());
                let read = move || {
                    let all = paths.iter().map(|path| read_at(&tree, path, FILE_MAX_BYTES));
                    Ok(all.collect::<godel_runtime::Result<_>>()?)
                };
                blocking(read).await
            }
            Place::Kept { runtime, .. } => {
                let content = |path| match self.listing.get(path) {
                    Some(Held::File { content, .. }) => Some(content.clone()),
                    Some(Held::Link(_)) | None => None,
                };
                let wanted = paths.iter().filter_map(content).collect();
                Ok(runtime.contents(wanted, FILE_MAX_BYTES).await?)
            }
        }
    }
}

/// Stands for a content that is not read: git names such a file, and shows no line of it.
fn unread(content: &Content) -> Vec<u8> {
    format!("\0{}", content.name()).into_bytes()
}

/// Leaves out what belongs to git itself, and repositories within the work: git shows nothing of them.
pub(super) fn shown(mut listing: Listing) -> Listing {
    let own = |name: &Path| name.as_os_str().eq_ignore_ascii_case(".git");
    let mut inner: HashSet<PathBuf> = HashSet::new();
    for path in listing.keys() {
        let at = path
            .ancestors()
            .filter(|above| above.file_name().is_some_and(|name| own(name.as_ref())));
        inner.extend(at.filter_map(Path::parent).map(Path::to_owned));
    }
    // What is at the top belongs to the worktree itself.
    inner.remove(Path::new(""));
    listing.retain(|path, _| {
        let belongs = |above: &Path| inner.contains(above);
        !path.ancestors().any(belongs) && !path.iter().any(|name| own(name.as_ref()))
    });
    listing
}

/// Returns the paths at which two sides differ.
pub(super) fn differing(left: &Listing, right: &Listing) -> Vec<PathBuf> {
    let paths: BTreeSet<&PathBuf> = left.keys().chain(right.keys()).collect();
    let differ = |path: &&PathBuf| left.get(*path) != right.get(*path);
    paths.into_iter().filter(differ).cloned().collect()
}

/// Returns those paths that git shows on one of two sides, up to a bound; and how many more there are.
pub(super) fn seen(
    paths: Vec<PathBuf>,
    ignored: &HashSet<PathBuf>,
    (left, right): (&Side, &Side),
) -> (Vec<PathBuf>, usize) {
    let is_seen = |path: &PathBuf| left.shows(path, ignored) || right.shows(path, ignored);
    let mut seen: Vec<PathBuf> = paths.into_iter().filter(is_seen).collect();
    let left_out = seen.len().saturating_sub(FILES_MAX);
    seen.truncate(FILES_MAX);
    (seen, left_out)
}

/// Does something on a thread that may wait.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Error::Store(godel_store::Error::Panicked))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(links: &[(&str, &str)]) -> Listing {
        links.iter().map(|(path, to)| (path.into(), Held::Link(to.into()))).collect()
    }

    #[test]
    fn what_differs_is_named_once_whichever_side_has_it() {
        let left = listing(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let right = listing(&[("b", "2"), ("c", "1"), ("d", "1")]);
        let paths: Vec<PathBuf> = ["a", "b", "d"].map(PathBuf::from).to_vec();
        assert_eq!(differing(&left, &right), paths);
        assert_eq!(differing(&right, &left), paths);
        assert!(differing(&left, &left).is_empty());
    }

    #[test]
    fn what_belongs_to_git_and_repositories_within_are_left_out() {
        let all = listing(&[
            (".git", "x"),
            (".gitignore", "x"),
            ("a/.GIT/hooks/x", "x"),
            ("a/file", "x"),
            ("sub/.git/config", "x"),
            ("sub/deep/file", "x"),
            ("subs", "x"),
            ("top", "x"),
        ]);
        let left: Vec<PathBuf> = shown(all).into_keys().collect();
        assert_eq!(left, [".gitignore", "subs", "top"].map(PathBuf::from));
    }

    #[test]
    fn what_one_side_ignores_is_shown_only_where_a_commit_has_it() {
        let side = |tracked: &[&str], held: &[(&str, &str)]| Side {
            place: Place::Live(PathBuf::new()),
            tracked: tracked.iter().map(PathBuf::from).collect(),
            listing: listing(held),
        };
        let ignored: HashSet<PathBuf> = [".env", "build"].map(PathBuf::from).into();
        let left = side(&["build"], &[(".env", "1"), ("build", "1"), ("new", "1")]);
        let right = side(&[], &[(".env", "2"), ("build", "2")]);
        let paths = differing(&left.listing, &right.listing);
        let (seen, left_out) = seen(paths, &ignored, (&left, &right));
        assert_eq!((seen, left_out), (["build", "new"].map(PathBuf::from).to_vec(), 0));
        assert!(!right.shows(Path::new("build"), &ignored), "this one is in no commit");
    }
}
