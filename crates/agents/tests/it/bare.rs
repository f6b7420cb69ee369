//! A place without walls: real processes in a real folder, for tests of what is done in a sandbox.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use godel_model::{Mint, code};
use godel_runtime::{
    Capabilities, Collected, Command, Control, Error, Exit, Isolation, Limit, NetworkPolicy, Pause,
    Process, ProcessId, Result, RuntimeProvider, Sandbox, SandboxId, SandboxPath, SandboxStatus,
    SnapshotId, SnapshotLevel, SpawnSpec,
};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) struct Bare {
    folder: PathBuf,
    home: PathBuf,
    /// What goes before the PATH of the machine.
    path: Vec<PathBuf>,
}

impl Bare {
    pub(crate) fn new(folder: &Path, home: &Path) -> Self {
        Self { folder: folder.to_owned(), home: home.to_owned(), path: Vec::new() }
    }

    pub(crate) fn with_path(mut self, path: Vec<PathBuf>) -> Self {
        self.path = path;
        self
    }
}

pub(crate) fn some_sandbox() -> SandboxId {
    SandboxId::of(Mint::system().id())
}

fn refused(what: &str) -> Error {
    Error::refused(code::SANDBOX_UNAVAILABLE, what, "use a real runtime")
}

struct Child {
    ended: watch::Receiver<Option<Exit>>,
    stop: watch::Sender<bool>,
    _task: JoinSet<()>,
}

#[async_trait]
impl Control for Child {
    async fn wait(&self) -> Result<Exit> {
        let mut ended = self.ended.clone();
        let exit = ended.wait_for(Option::is_some).await.map_err(|_| refused("it is gone"))?;
        exit.ok_or_else(|| refused("it is gone"))
    }

    async fn kill(&self, _grace: Duration) -> Result<()> {
        self.stop.send_replace(true);
        self.wait().await.map(drop)
    }
}

#[async_trait]
impl RuntimeProvider for Bare {
    fn name(&self) -> &'static str {
        "bare"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            isolation: Isolation::None,
            snapshot: SnapshotLevel::None,
            pause: Pause::None,
            fork: false,
            pty: false,
            ports: false,
            network: NetworkPolicy::None,
        }
    }

    async fn spawn(&self, _spec: &SpawnSpec) -> Result<Sandbox> {
        Err(refused("there is no sandbox here"))
    }

    async fn exec(&self, _at: SandboxId, command: &Command) -> Result<Process> {
        let mut path: Vec<PathBuf> = self.path.clone();
        path.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
        let mut child = tokio::process::Command::new(&command.program)
            .args(&command.args)
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", &self.home)
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "Agent")
            .env("GIT_AUTHOR_EMAIL", "agent@example.com")
            .env("GIT_COMMITTER_NAME", "Agent")
            .env("GIT_COMMITTER_EMAIL", "agent@example.com")
            .envs(&command.env)
            .current_dir(
                command
                    .cwd
                    .as_ref()
                    .map_or(self.folder.clone(), |cwd| self.folder.join(cwd.as_path())),
            )
            .stdin(if command.stdin { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|cause| Error::Start { program: command.program.clone(), cause })?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (told, ended) = watch::channel(None);
        let (stop, mut stopped) = watch::channel(false);
        let limit = command.time_limit.unwrap_or(Duration::from_secs(600));
        let mut task = JoinSet::new();
        task.spawn(async move {
            let exit = tokio::select! {
                status = child.wait() => match status.ok().and_then(|status| status.code()) {
                    Some(code) => Exit::Code { code },
                    None => Exit::Signal { signal: 9 },
                },
                () = tokio::time::sleep(limit) => Exit::Limit { limit: Limit::Time },
                _ = stopped.wait_for(|stop| *stop) => Exit::Signal { signal: 15 },
            };
            let _ = child.kill().await;
            told.send_replace(Some(exit));
        });
        Ok(Process {
            id: ProcessId(uuid::Uuid::nil()),
            stdin: stdin.map(|pipe| Box::new(pipe) as _),
            stdout: stdout.map(|pipe| Box::new(pipe) as _),
            stderr: stderr.map(|pipe| Box::new(pipe) as _),
            control: Arc::new(Child { ended, stop, _task: task }),
        })
    }

    async fn read(&self, _at: SandboxId, path: &SandboxPath) -> Result<Bytes> {
        let path = self.folder.join(path.as_path());
        std::fs::read(&path).map(Into::into).map_err(|cause| Error::File {
            path,
            done: "read",
            cause,
        })
    }

    async fn write(&self, _at: SandboxId, path: &SandboxPath, bytes: Bytes) -> Result<()> {
        let path = self.folder.join(path.as_path());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).map_err(|cause| Error::File { path, done: "written", cause })
    }

    async fn snapshot(&self, _at: SandboxId) -> Result<SnapshotId> {
        Err(refused("there are no snapshots here"))
    }

    async fn restore(&self, _from: &SnapshotId, _spec: &SpawnSpec) -> Result<Sandbox> {
        Err(refused("there are no snapshots here"))
    }

    async fn pause(&self, _at: SandboxId) -> Result<()> {
        Err(refused("nothing is paused here"))
    }

    async fn resume(&self, _at: SandboxId) -> Result<()> {
        Err(refused("nothing is paused here"))
    }

    async fn collect(&self, _at: SandboxId) -> Result<Collected> {
        Err(refused("nothing is collected here"))
    }

    async fn terminate(&self, _at: SandboxId, _grace: Duration) -> Result<()> {
        Ok(())
    }

    async fn list(&self) -> Result<Vec<SandboxStatus>> {
        Ok(Vec::new())
    }
}
