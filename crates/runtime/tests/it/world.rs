//! A repository with a worktree, and a provider, of its own for each test.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use godel_model::{AgentId, Mint, SystemClock};
use godel_runtime::{
    Command, Event, Exit, Happening, Helper, Profile, RuntimeProvider as _, Sandbox, SandboxId,
    Settings, Source, SpawnSpec, Worktrees,
};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

/// Profiles that have walls.
pub(crate) const WALLED: [Profile; 3] =
    [Profile::ReadOnly, Profile::Workspace, Profile::WorkspaceNet];
/// No command of a test takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A repository with a worktree, and a provider.
pub(crate) struct World {
    pub(crate) home: TempDir,
    pub(crate) provider: Worktrees,
    events: Arc<Mutex<Vec<Event>>>,
}

/// How a command ended, and what it wrote.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) exit: Exit,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program that helps in sandboxes.
pub(crate) fn helper() -> PathBuf {
    match std::env::var_os("GODEL_TEST_HELPER") {
        Some(path) => path.into(),
        None => env!("CARGO_BIN_EXE_godel-sandbox-helper").into(),
    }
}

/// Runs git as a person would, and returns what it wrote.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for setting in ["user.name=Ann", "user.email=ann@example.com", "init.defaultBranch=main"] {
        command.args(["-c", setting]);
    }
    let output = command.args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?} in {}: {said}", dir.display());
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

impl World {
    pub(crate) fn new() -> Self {
        let home = TempDir::with_prefix("godel runtime ").unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let provider = open(home.path(), &events);
        let world = Self { home, provider, events };
        let repo = world.repo();
        std::fs::create_dir(&repo).unwrap();
        git(&repo, &["init", "-q"]);
        std::fs::write(repo.join("a.txt"), "one\n").unwrap();
        std::fs::create_dir(repo.join("dir")).unwrap();
        std::fs::write(repo.join("dir/b.txt"), "two\n").unwrap();
        std::fs::write(repo.join(".gitignore"), "*.log\ncache/\n").unwrap();
        git(&repo, &["add", "--all"]);
        git(&repo, &["commit", "-qm", "first"]);
        git(&repo, &["config", "user.name", "Ann"]);
        git(&repo, &["remote", "add", "origin", "https://ann:hunter2@example.com/x.git"]);
        world
    }

    /// Opens the provider again, as after a restart of Godel.
    pub(crate) fn reopen(&mut self) {
        self.provider = open(self.home.path(), &self.events);
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("repo")
    }

    pub(crate) fn tree(&self, bead: &str) -> PathBuf {
        self.repo().join(".godel/worktrees").join(bead)
    }

    /// Makes the worktree of a bead, and says how its sandbox shall be.
    pub(crate) fn spec(&self, bead: &str, profile: Profile) -> SpawnSpec {
        let tree = self.tree(bead);
        let (branch, path) = (format!("bead/{bead}"), tree.to_str().unwrap().to_owned());
        git(&self.repo(), &["worktree", "add", "-q", "-b", &branch, &path]);
        let source = Source::Worktree {
            tree,
            common_dir: self.repo().join(".git"),
            base: git(&self.repo(), &["rev-parse", "HEAD"]),
            bead: bead.to_owned(),
        };
        let mut spec = SpawnSpec::new(Mint::system().id::<AgentId>(), "test", source);
        spec.profile = profile;
        spec
    }

    /// Gives a sandbox with a worktree.
    pub(crate) async fn spawn(&self, bead: &str, profile: Profile) -> Sandbox {
        self.provider.spawn(&self.spec(bead, profile)).await.unwrap()
    }

    /// Runs a shell script in a sandbox to its end.
    pub(crate) async fn run(&self, at: SandboxId, script: &str) -> Done {
        self.exec(at, &Command::shell(script)).await
    }

    /// Runs a command in a sandbox to its end.
    pub(crate) async fn exec(&self, at: SandboxId, command: &Command) -> Done {
        let mut process = self.provider.exec(at, command).await.unwrap();
        drop(process.stdin.take());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let (mut stdout, mut stderr) =
            (process.stdout.take().unwrap(), process.stderr.take().unwrap());
        let all = async {
            let (one, two) =
                tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
            one.unwrap();
            two.unwrap();
            process.wait().await.unwrap()
        };
        let exit = tokio::time::timeout(PATIENCE, all).await.expect("the command ends in time");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Done { exit, out: text(out), err: text(err) }
    }

    /// Runs a shell script that must succeed, and returns what it wrote.
    pub(crate) async fn works(&self, at: SandboxId, script: &str) -> String {
        let done = self.run(at, script).await;
        assert!(done.exit.success(), "{script}: {done:?}");
        done.out.trim_end().to_owned()
    }

    /// What happened so far.
    pub(crate) fn happened(&self) -> Vec<Happening> {
        self.events.lock().unwrap().iter().map(|event| event.what.clone()).collect()
    }

    /// Waits until something has happened.
    pub(crate) async fn hears(&self, what: impl Fn(&Happening) -> bool) {
        for _ in 0..400 {
            if self.happened().iter().any(&what) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("it did not happen; what did: {:?}", self.happened());
    }
}

fn open(home: &Path, events: &Arc<Mutex<Vec<Event>>>) -> Worktrees {
    let told = Arc::clone(events);
    let provider = Worktrees::open(Settings {
        data: home.join("data"),
        helper: Helper { program: helper(), args: Vec::new() },
        bubblewrap: godel_engines::Places::from_env().program("bwrap"),
        ignored_max_bytes: 1 << 20,
        clock: Arc::new(SystemClock),
        listener: Arc::new(move |event| told.lock().unwrap().push(event)),
    })
    .unwrap();
    if let Err(error) = provider.can_give(Profile::Workspace) {
        panic!("the tests of sandboxes need bubblewrap (`cargo xtask test` gets it): {error}");
    }
    provider
}
