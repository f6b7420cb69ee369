//! Comparing files that are in no commit, in the way in which git compares those that are.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use godel_model::Mint;

use crate::bench::Workbench;
use crate::error::{Result, at};
use crate::git::{Git, failed};
use crate::query::{DiffStat, counted};
use crate::{Name, disk};

/// What a file is to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A file.
    File,
    /// A file that can be run.
    Program,
    /// A link; its content is where it leads.
    Link,
}

impl Shape {
    const fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Program => "100755",
            Self::Link => "120000",
        }
    }
}

/// A file of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub shape: Shape,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What git knows of a worktree now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Present {
    /// The commit that its branch is at.
    pub commit: Option<String>,
    /// The paths that git has.
    pub tracked: HashSet<PathBuf>,
    /// New ones that it does not ignore.
    pub new: Vec<PathBuf>,
}

impl Workbench {
    /// Tells what git shows of a worktree now; nothing if it is gone.
    ///
    /// # Errors
    /// If git fails.
    pub fn present(&self, name: &Name) -> Result<Option<Present>> {
        let tree = self.repo.tree(name);
        let Some(admin) = self.repo.admin(name)?.filter(|_| disk::exists(&tree)) else {
            return Ok(None);
        };
        let listed = |which: &[&str]| {
            let git = Git::on_tree(&admin.dir, &tree).reading();
            git.args(["ls-files", "-z"]).args(which).paths()
        };
        let mut tracked: HashSet<PathBuf> = listed(&["--cached"])?.into_iter().collect();
        let commit = self.head_of(&name.branch())?;
        if let Some(commit) = &commit {
            // An agent has an index of its own: what it committed is not in that of the worktree.
            tracked.extend(self.tracked(commit)?);
        }
        let mut new = listed(&["--others", "--exclude-standard"])?;
        new.retain(|path| !tracked.contains(path));
        Ok(Some(Present { commit, tracked, new }))
    }

    /// Returns the paths of the files of a commit.
    ///
    /// # Errors
    /// If it is no commit, or git fails.
    pub fn tracked(&self, commit: &str) -> Result<HashSet<PathBuf>> {
        let commit = self.repo.known(commit)?;
        let asked = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", &commit];
        Ok(self.repo.ask().args(asked).paths()?.into_iter().collect())
    }

    /// Returns those of some paths that are ignored by rules (`.gitignore` files and what is in them), or by
    /// what the repository ignores on this machine. Nothing has to be at the paths.
    ///
    /// # Errors
    /// If git or a file below `home` fails.
    pub fn ignored_by(
        &self,
        home: &Path,
        rules: &[(PathBuf, Vec<u8>)],
        paths: &[PathBuf],
    ) -> Result<HashSet<PathBuf>> {
        let scratch = Scratch::new(home)?;
        for (path, bytes) in rules {
            let to = scratch.0.join(path);
            let folder = to.parent().unwrap_or(&scratch.0);
            fs::create_dir_all(folder).map_err(at(folder, "made"))?;
            fs::write(&to, bytes).map_err(at(&to, "written"))?;
        }
        let mut asked = Vec::new();
        for path in paths {
            // A name that begins with a colon would be a pattern.
            asked.extend(b"./");
            asked.extend(path.as_os_str().as_bytes());
            asked.push(0);
        }
        let git = Git::on_tree(&self.repo.common, &scratch.0).reading();
        let check = ["check-ignore", "-z", "--stdin", "--no-index"];
        let output = git.args(check).input(asked).output()?;
        // It ends with 1 if nothing is ignored.
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(failed("check-ignore".to_owned(), &output));
        }
        let found = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let plain = |path: &[u8]| crate::git::path_of(path.strip_prefix(b"./").unwrap_or(path));
        Ok(found.map(plain).collect())
    }

    /// Compares files of two sides, in a repository below `home` that is gone afterwards.
    ///
    /// They are handed to git as objects and not as files: no link can lead it anywhere.
    ///
    /// # Errors
    /// If git or a file below `home` fails.
    pub fn compare_files(
        &self,
        home: &Path,
        left: &[Piece],
        right: &[Piece],
    ) -> Result<(DiffStat, String)> {
        let scratch = Scratch::new(home)?;
        // No setting of a person changes how it looks; it is gone in a moment, and no other system reads it.
        let settings = ["core.fsync=none", "core.protectNTFS=false", "core.protectHFS=false"];
        let git = || {
            let git = Git::on(&scratch.0).settings(&settings.map(str::to_owned));
            git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1")
        };
        git().args(["init", "--quiet", "--bare", "--template="]).run()?;
        let mut stream = Vec::new();
        for (side, pieces) in [("left", left), ("right", right)] {
            write_side(&mut stream, side, pieces).map_err(at(&scratch.0, "written"))?;
        }
        git().args(["fast-import", "--quiet", "--done"]).input(stream).run()?;
        let between = ["refs/heads/left", "refs/heads/right"];
        let how = ["-M", "--no-color", "--no-ext-diff", "--no-textconv"];
        let count = git().args(["diff-tree", "-r", "-z", "--numstat"]).args(how).args(between);
        let stat = counted(&count.bytes()?);
        let patch = git().args(["diff", "--patch"]).args(how).args(between).bytes()?;
        Ok((stat, String::from_utf8_lossy(&patch).into_owned()))
    }
}

/// Writes a commit with some files, as `git fast-import` reads it.
fn write_side(to: &mut Vec<u8>, side: &str, pieces: &[Piece]) -> std::io::Result<()> {
    write!(to, "commit refs/heads/{side}\ncommitter godel <godel> 0 +0000\ndata 0\n")?;
    for Piece { path, shape, bytes } in pieces {
        write!(to, "M {} inline \"", shape.mode())?;
        for byte in path.as_os_str().as_bytes() {
            match byte {
                b'"' | b'\\' => to.extend([b'\\', *byte]),
                b'\n' => to.extend(b"\\n"),
                other => to.push(*other),
            }
        }
        write!(to, "\"\ndata {}\n", bytes.len())?;
        to.extend(bytes);
        to.push(b'\n');
    }
    if side == "right" {
        to.extend(b"done\n");
    }
    Ok(())
}

/// A folder that goes away with this value, and that nobody else can read.
struct Scratch(PathBuf);

impl Scratch {
    fn new(home: &Path) -> Result<Self> {
        let path = home.join(format!("compare-{}", Mint::system().secret()));
        DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(at(&path, "made"))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed takes room, and does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
