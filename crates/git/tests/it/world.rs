//! A repository of its own for each test, and a clock that stands still.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use godel_git::{Create, Host, Name, Record, Remove, Removed, Result, Workbench};
use godel_model::TestClock;
use tempfile::TempDir;

/// A repository `repo` with two commits, in a directory with a blank in its name.
pub(crate) struct World {
    home: TempDir,
    pub(crate) clock: Arc<TestClock>,
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Runs git as a person would, and returns what it wrote.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = attempt(dir, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?} in {}: {stderr}", dir.display());
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Runs git as a person would, whatever comes of it.
pub(crate) fn attempt(dir: &Path, arguments: &[&str]) -> std::process::Output {
    let settings = [
        "user.name=Ann",
        "user.email=ann@example.com",
        "init.defaultBranch=main",
        "protocol.file.allow=always",
        "commit.gpgsign=false",
    ];
    let mut command = Command::new("git");
    command.current_dir(dir).env("GIT_EDITOR", "true");
    for setting in settings {
        command.args(["-c", setting]);
    }
    command.args(arguments).output().unwrap()
}

pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl World {
    /// A repository with two commits on `main`.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        let repo = world.repo();
        write(&repo.join("a.txt"), "one\n");
        write(&repo.join("dir/b.txt"), "two\n");
        write(&repo.join(".gitignore"), "*.log\n.env\nnode_modules/\n");
        git(&repo, &["add", "--all"]);
        git(&repo, &["commit", "-m", "first"]);
        write(&repo.join("a.txt"), "one and a half\n");
        git(&repo, &["commit", "-am", "second"]);
        world
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let home = TempDir::with_prefix("godel git ").unwrap();
        let clock = TestClock::at("2026-11-15T08:00:00Z".parse().unwrap());
        let world = Self { home, clock: Arc::new(clock) };
        std::fs::create_dir(world.repo()).unwrap();
        git(&world.repo(), &["init", "-q"]);
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    pub(crate) fn host(&self) -> Host {
        Host {
            clock: self.clock.clone(),
            state: self.root().join("state"),
            stop: Arc::new(AtomicBool::new(false)),
            step: |_| {},
        }
    }

    pub(crate) fn bench(&self) -> Workbench {
        self.bench_at(&self.repo())
    }

    pub(crate) fn bench_at(&self, dir: &Path) -> Workbench {
        Workbench::open(dir, self.host()).unwrap()
    }

    pub(crate) fn create(&self, id: &str) -> (Record, PathBuf) {
        let bench = self.bench();
        let record = bench.create(&name(id), &Create::default()).unwrap();
        (record, bench.path(&name(id)))
    }

    pub(crate) fn remove(&self, id: &str) -> Result<Removed> {
        self.bench().remove(&name(id), Remove::default())
    }

    /// Reads a file of a commit.
    pub(crate) fn show(&self, commit: &str, path: &str) -> String {
        git(&self.repo(), &["show", &format!("{commit}:{path}")])
    }

    /// Checks that nothing of ours is seen by the user.
    pub(crate) fn is_untouched(&self) {
        assert_eq!(git(&self.repo(), &["status", "--porcelain"]), "");
        assert!(!self.repo().join(".git/index.lock").exists());
    }

    /// Checks that nothing is left of a worktree but what was rescued.
    pub(crate) fn is_gone(&self, id: &str) {
        let home = self.repo().join(".godel");
        for path in [
            format!("worktrees/{id}"),
            format!("trash/{id}"),
            format!("state/worktrees/{id}.json"),
            format!("state/locks/{id}.lock"),
            format!("state/redact/{id}.json"),
            format!("state/scratch/{id}"),
        ] {
            assert!(!home.join(&path).exists(), "{path}");
        }
        let known = git(&self.repo(), &["worktree", "list", "--porcelain"]);
        assert!(!known.contains(&format!("/{id}\n")), "{known}");
        let ports = std::fs::read_to_string(self.root().join("state/ports.json"));
        assert!(!ports.unwrap_or_default().contains(&format!("/{id}.json")));
    }
}
