//! Repositories to try things on.

use std::path::{Path, PathBuf};
use std::process::Command;

use godel_beads::ops::{self, NewBead};
use godel_beads::{Bead, Shelf};

/// A repository in a folder of its own.
pub(crate) struct Repo {
    _folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Repo {
    /// Makes a repository with one commit.
    pub(crate) fn new() -> Self {
        let repo = Self::empty();
        repo.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        repo
    }

    /// Makes a repository without a commit.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a repository");
        std::fs::create_dir(&path).unwrap();
        let repo = Self { _folder: folder, path };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.git(&["config", "user.name", "Ann"]);
        repo.git(&["config", "user.email", "ann@example.com"]);
        repo
    }

    /// Wraps a folder that is a repository already.
    pub(crate) fn at(folder: tempfile::TempDir, path: PathBuf) -> Self {
        Self { _folder: folder, path }
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path, arguments)
    }

    pub(crate) fn shelf(&self) -> Shelf {
        Shelf::open(&self.path).unwrap()
    }

    pub(crate) fn create(&self, title: &str) -> Bead {
        create(&mut self.shelf(), title)
    }
}

pub(crate) fn git(at: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(at).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // git can find something wrong, say so, and go on.
    let well = output.status.success() && !said.contains("error: ");
    assert!(well, "git {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn create(shelf: &mut Shelf, title: &str) -> Bead {
    let new = NewBead { title: title.to_owned(), ..NewBead::default() };
    shelf.write("ann", move |draft| ops::create(draft, &new)).unwrap()
}
