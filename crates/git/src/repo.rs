//! Finds the repository, and where its worktrees and their records are.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

use godel_model::code;

use crate::Name;
use crate::branch::Seen;
use crate::disk::{self, Lock};
use crate::error::{Error, Result, at};
use crate::git::{Git, failed, path_of};

/// The line that keeps our directory out of `git status`.
const EXCLUDED: &str = "/.godel/";
const EXCLUDE_MAX_BYTES: u64 = 16 << 20;

/// A repository, the same from whichever of its worktrees one came.
#[derive(Debug, Clone)]
pub(crate) struct Repo {
    /// The git directory that all worktrees share.
    pub(crate) common: PathBuf,
    /// The main work tree; a bare repository has none.
    pub(crate) main: Option<PathBuf>,
    /// Where Godel keeps what belongs to the repository.
    pub(crate) home: PathBuf,
}

/// What git knows of one linked worktree.
#[derive(Debug, Clone)]
pub(crate) struct Admin {
    /// The directory with its HEAD, its index and its log.
    pub(crate) dir: PathBuf,
    /// Where the worktree is, or was.
    pub(crate) tree: PathBuf,
}

impl Repo {
    /// Finds the repository that a directory belongs to.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let asked = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let output = match Git::within(directory).reading().args(asked).output() {
            Err(Error::Missing(cause)) if !directory.is_dir() => {
                return Err(Error::file(directory, "entered", cause));
            }
            output => output?,
        };
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() && said.contains("not a git repository") {
            return Err(Error::refused(
                code::NO_REPOSITORY,
                format!("{} is in no git repository", directory.display()),
                "go into a repository, or make one with `git init`",
            ));
        }
        if !output.status.success() {
            return Err(failed("rev-parse".to_owned(), &output));
        }
        let common = path_of(output.stdout.trim_ascii_end());
        let common = common.canonicalize().map_err(at(&common, "found"))?;
        let main = main_tree(&common)?;
        let home = match &main {
            Some(main) => main.join(".godel"),
            None => common.join("godel"),
        };
        let repo = Self { common, main, home };
        repo.refuse_tracked_home()?;
        Ok(repo)
    }

    /// Begins a call of git on the repository; HEAD is that of the main work tree.
    pub(crate) fn git<'a>(&self) -> Git<'a> {
        Git::on(&self.common)
    }

    /// Begins a call of git that changes nothing.
    pub(crate) fn ask<'a>(&self) -> Git<'a> {
        self.git().reading()
    }

    /// Returns where the worktree of a name is.
    pub(crate) fn tree(&self, name: &Name) -> PathBuf {
        self.home.join("worktrees").join(name.as_str())
    }

    /// Returns where a worktree waits to be deleted; as deep as it was, for relative paths in it.
    pub(crate) fn trash(&self, name: &Name) -> PathBuf {
        self.home.join("trash").join(name.as_str())
    }

    /// Returns the directory of the records.
    pub(crate) fn state(&self) -> PathBuf {
        self.home.join("state")
    }

    /// Returns the id of the commit that a reference or expression means.
    pub(crate) fn commit(&self, revision: &str) -> Result<Option<String>> {
        match self.seen(revision) {
            Seen::At(commit) => return Ok(Some(commit)),
            Seen::Nowhere => return Ok(None),
            Seen::Unsure => {}
        }
        let wanted = format!("{revision}^{{commit}}");
        self.ask().args(["rev-parse", "--quiet", "--verify", &wanted]).maybe()
    }

    /// Finds what git knows of the worktrees in our directory.
    pub(crate) fn admins(&self) -> Result<Vec<Admin>> {
        let folder = self.common.join("worktrees");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(Error::file(&folder, "read", cause)),
        };
        let mut admins = Vec::new();
        for entry in entries.flatten() {
            let dir = entry.path();
            let Ok(bytes) = fs::read(dir.join("gitdir")) else {
                continue;
            };
            // Newer versions of git may write it relative to the directory it is in.
            let file = flatten(&dir.join(path_of(bytes.trim_ascii_end())));
            if let Some(tree) = file.parent() {
                admins.push(Admin { tree: tree.to_owned(), dir });
            }
        }
        Ok(admins)
    }

    /// Finds what git knows of one worktree.
    pub(crate) fn admin(&self, name: &Name) -> Result<Option<Admin>> {
        let tree = self.tree(name);
        Ok(self.admins()?.into_iter().find(|admin| admin.tree == tree))
    }

    /// Keeps our directory out of `git status`, without touching a file that is tracked.
    pub(crate) fn exclude_home(&self) -> Result<()> {
        if self.main.is_none() {
            return Ok(());
        }
        let path = self.common.join("info/exclude");
        let excluded = |text: &str| {
            text.lines().any(|line| matches!(line.trim_end(), EXCLUDED | ".godel/" | ".godel"))
        };
        let before = disk::read(&path, EXCLUDE_MAX_BYTES)?.unwrap_or_default();
        if excluded(&before) {
            return Ok(());
        }
        let _lock = Lock::take(&self.state().join("repository.lock"), "the repository")?;
        let text = disk::read(&path, EXCLUDE_MAX_BYTES)?.unwrap_or_default();
        if excluded(&text) {
            return Ok(());
        }
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        disk::dir(&self.common.join("info"))?;
        // A line is added in place: the file keeps its owner and mode.
        let open = OpenOptions::new().create(true).append(true).open(&path);
        let line = format!("{gap}{EXCLUDED}\n");
        open.and_then(|mut file| file.write_all(line.as_bytes())).map_err(at(&path, "written"))
    }

    /// What a repository brings along must not pass for what this machine has decided.
    fn refuse_tracked_home(&self) -> Result<()> {
        let Some(main) = &self.main else {
            return Ok(());
        };
        if self.home.is_symlink() {
            return Err(Error::refused(
                code::INVALID_CONFIG,
                format!("{} is a symbolic link", self.home.display()),
                "remove the link: Godel keeps records of this machine there",
            ));
        }
        let asked = ["ls-files", "-z", "--cached", "--", ".godel"];
        let tracked = Git::on_tree(&self.common, main).reading().args(asked).paths()?;
        match tracked.first() {
            None => Ok(()),
            Some(first) => Err(Error::refused(
                code::INVALID_CONFIG,
                format!("the repository tracks {}", first.display()),
                "`git rm -r --cached .godel`: it holds what belongs to one machine, and others \
                 must not decide what runs on yours",
            )),
        }
    }
}

/// Finds the main work tree: `core.worktree` if set, else the directory around `.git`.
fn main_tree(common: &Path) -> Result<Option<PathBuf>> {
    let asked = ["config", "-z", "--get-regexp", r"^core\.(bare|worktree)$"];
    let output = Git::on(common).reading().args(asked).output()?;
    let (mut bare, mut tree) = (false, None);
    for entry in output.stdout.split(|byte| *byte == 0) {
        let mut parts = entry.splitn(2, |byte| *byte == b'\n');
        match (parts.next().unwrap_or_default(), parts.next()) {
            (b"core.bare", value) => {
                let value = value.unwrap_or(b"true").to_ascii_lowercase();
                bare = matches!(value.as_slice(), b"true" | b"yes" | b"on" | b"1");
            }
            (b"core.worktree", Some(value)) => tree = Some(path_of(value)),
            _ => {}
        }
    }
    if let Some(tree) = tree {
        let tree = common.join(tree);
        return tree.canonicalize().map(Some).map_err(at(&tree, "found"));
    }
    // A git directory elsewhere than in its work tree does not know it; then it is as if bare.
    let named = common.file_name().is_some_and(|name| name == ".git");
    Ok(common.parent().filter(|_| named && !bare).map(Path::to_owned))
}

/// Takes `.` and `..` out of a path by its text alone: what it names may be gone.
fn flatten(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                flat.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => flat.push(part),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_flattened_by_its_text() {
        let path = Path::new("/a/.git/worktrees/x/../../../.godel/./worktrees/x/.git");
        assert_eq!(flatten(path), Path::new("/a/.godel/worktrees/x/.git"));
    }
}
