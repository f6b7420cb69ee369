//! A repository with a worktree, and a provider, of its own for each test.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use godel_model::{AgentId, Mint, SystemClock};
use godel_runtime::{
    Command, Event, Exit, Gvisor, Happening, Helper, Profile, RuntimeProvider, Sandbox, SandboxId,
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
    /// Another provider, if this world is one for it.
    contained: Option<Gvisor>,
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
        let bubblewrap = godel_engines::Places::from_env().program("bwrap");
        let provider = open(home.path(), &events, bubblewrap);
        if let Err(error) = provider.can_give(Profile::Workspace) {
            panic!("the tests of sandboxes need bubblewrap (`cargo xtask test` gets it): {error}");
        }
        let world = Self { home, provider, contained: None, events };
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

    /// A world whose sandboxes are containers; nothing if this user cannot have them.
    pub(crate) fn contained() -> Option<Self> {
        if !is_root() {
            return None;
        }
        let mut world = Self::new();
        let runsc = godel_engines::Places::from_env().program("runsc");
        match Gvisor::open(world.settings(), runsc.as_deref()) {
            Ok(provider) => world.contained = Some(provider),
            Err(error) => {
                panic!("the tests of gVisor need runsc (`cargo xtask test` gets it): {error}")
            }
        }
        Some(world)
    }

    /// A world for each provider that this user can have.
    pub(crate) fn each() -> Vec<Self> {
        [Some(Self::new()), Self::contained()].into_iter().flatten().collect()
    }

    pub(crate) fn is_contained(&self) -> bool {
        self.contained.is_some()
    }

    /// The provider of this world.
    pub(crate) fn runtime(&self) -> &dyn RuntimeProvider {
        match &self.contained {
            Some(provider) => provider,
            None => &self.provider,
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        settings(self.home.path(), &self.events, None)
    }

    /// Opens the provider again, as after a restart of Godel.
    pub(crate) fn reopen(&mut self) {
        self.reopen_with(godel_engines::Places::from_env().program("bwrap"));
    }

    /// Opens the provider again with another bubblewrap.
    pub(crate) fn reopen_with(&mut self, bubblewrap: Option<PathBuf>) {
        self.provider = open(self.home.path(), &self.events, bubblewrap);
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
        self.runtime().spawn(&self.spec(bead, profile)).await.unwrap()
    }

    /// Runs a shell script in a sandbox to its end.
    pub(crate) async fn run(&self, at: SandboxId, script: &str) -> Done {
        self.exec(at, &Command::shell(script)).await
    }

    /// Runs a command in a sandbox to its end.
    pub(crate) async fn exec(&self, at: SandboxId, command: &Command) -> Done {
        let mut process = self.runtime().exec(at, command).await.unwrap();
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
        for _ in 0..2_400 {
            if self.happened().iter().any(&what) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("it did not happen; what did: {:?}", self.happened());
    }
}

/// Whether this is root; some things only root can have or do.
pub(crate) fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").unwrap().contains("\nUid:\t0\t0\t")
}

fn open(home: &Path, events: &Arc<Mutex<Vec<Event>>>, bubblewrap: Option<PathBuf>) -> Worktrees {
    Worktrees::open(settings(home, events, bubblewrap)).unwrap()
}

fn settings(home: &Path, events: &Arc<Mutex<Vec<Event>>>, bubblewrap: Option<PathBuf>) -> Settings {
    let told = Arc::clone(events);
    Settings {
        data: home.join("data"),
        helper: Helper { program: helper(), args: Vec::new() },
        bubblewrap,
        ignored_max_bytes: 1 << 20,
        clock: Arc::new(SystemClock),
        listener: Arc::new(move |event| told.lock().unwrap().push(event)),
    }
}
