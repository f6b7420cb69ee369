//! A repository with a worktree, and the sandbox of an agent in it, as in the product.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use godel_model::{AgentId, Mint, SystemClock};
use godel_runtime::{
    Collected, Egress, Helper, Identity, Profile, RuntimeProvider as _, Sandbox, Settings, Source,
    SpawnSpec, Worktrees,
};
use tempfile::TempDir;

/// The bead that is worked on.
const BEAD: &str = "b-1";

pub(crate) struct Room {
    pub(crate) home: TempDir,
    pub(crate) provider: Worktrees,
    pub(crate) sandbox: Sandbox,
    readable: Vec<PathBuf>,
}

/// Runs git as a person would, and returns what it wrote.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

impl Room {
    /// Makes a repository, a worktree, and a sandbox from which only `api` can be reached.
    pub(crate) async fn new(api: &str, readable: Vec<PathBuf>) -> Self {
        let home = TempDir::with_prefix("godel agents ").unwrap();
        let root = home.path().canonicalize().unwrap();
        let repo = root.join("repo");
        std::fs::create_dir(&repo).unwrap();
        git(&repo, &["init", "-q", "-b", "main"]);
        git(&repo, &["commit", "-q", "--allow-empty", "-m", "begin"]);
        let provider = Worktrees::open(Settings {
            data: root.join("data"),
            helper: Helper {
                program: env!("CARGO_BIN_EXE_godel-agents-helper").into(),
                args: vec![],
            },
            bubblewrap: godel_engines::Places::from_env().program("bwrap"),
            ignored_max_bytes: 1 << 20,
            clock: Arc::new(SystemClock),
            listener: Arc::new(|_| {}),
        })
        .unwrap();
        if let Err(error) = provider.can_give(Profile::Workspace) {
            panic!("agents need bubblewrap (`cargo xtask test` gets it): {error}");
        }
        let mut spec = spec(&repo, BEAD);
        spec.egress = Egress { api: Some(api.to_owned()), allow: Vec::new() };
        spec.readable.clone_from(&readable);
        let sandbox = provider.spawn(&spec).await.unwrap();
        Self { home, provider, sandbox, readable }
    }

    /// Makes copies of the agent's place, each with a worktree of its own.
    pub(crate) async fn fork(&self, beads: [&str; 2]) -> [Sandbox; 2] {
        let specs = beads.map(|bead| {
            let mut spec = spec(&self.repo(), bead);
            spec.egress.api = self.sandbox.api.clone();
            spec.readable = self.readable.clone();
            spec
        });
        let forks = self.provider.fork(self.sandbox.id, &specs).await.unwrap();
        let forks: Vec<Sandbox> = forks.into_iter().map(Result::unwrap).collect();
        forks.try_into().unwrap()
    }

    /// The worktree, as it is seen from outside.
    pub(crate) fn tree(&self) -> PathBuf {
        self.repo().join(".godel/worktrees").join(BEAD)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("repo")
    }

    /// Runs git in the repository, on what was collected.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.repo(), args)
    }

    /// Takes over what was committed in the sandbox, as the product does.
    pub(crate) async fn collect(&self) -> Collected {
        self.provider.collect(self.sandbox.id).await.unwrap()
    }

    /// Shows a file as it is on the branch of the bead.
    pub(crate) fn on_branch(&self, path: &str) -> String {
        self.git(&["show", &format!("bead/{BEAD}:{path}")])
    }

    /// The message and the author of the last commit on the branch of the bead.
    pub(crate) fn last_commit(&self) -> String {
        self.git(&["log", "-1", "--format=%s by %an", &format!("bead/{BEAD}")])
    }
}

/// Makes the worktree of a bead, and says how its sandbox shall be.
fn spec(repo: &Path, bead: &str) -> SpawnSpec {
    let tree = repo.join(".godel/worktrees").join(bead);
    let branch = format!("bead/{bead}");
    git(repo, &["worktree", "add", "-q", "-b", &branch, tree.to_str().unwrap()]);
    let base = git(repo, &["rev-parse", "HEAD"]);
    let common_dir = repo.join(".git");
    let source = Source::Worktree { tree, common_dir, base, bead: bead.to_owned() };
    let mut spec = SpawnSpec::new(Mint::system().id::<AgentId>(), "test", source);
    let (name, email) = ("Agent".to_owned(), "agent@example.com".to_owned());
    spec.identity = Some(Identity { name, email });
    spec
}
