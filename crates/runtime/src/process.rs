//! Commands, and the processes that they become.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use godel_model::code;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use uuid::Uuid;

use crate::{Attachment, Error, Inlet, Result, Terminal, TerminalSize};

/// Reads what a process writes.
pub type Reader = Box<dyn AsyncRead + Send + Sync + Unpin>;
/// Writes what a process reads.
pub type Writer = Box<dyn AsyncWrite + Send + Sync + Unpin>;

/// A program to be run in a sandbox.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The program, found on the PATH of the sandbox.
    pub program: String,
    /// Its arguments; they can be seen by others, so they hold no secret.
    pub args: Vec<String>,
    /// Variables besides those of the sandbox.
    pub env: BTreeMap<String, String>,
    /// Where it starts, relative to the workspace.
    pub cwd: Option<crate::SandboxPath>,
    /// Whether its input is written to; else it is empty.
    pub stdin: bool,
    /// The terminal that it runs in, if any: then that is its input and its output, and the outputs of
    /// the [`Process`] are not there.
    pub terminal: Option<TerminalSize>,
    /// The port on its loopback to which connections from outside are led, if it serves one; then it has
    /// neither an input nor a terminal, and its [`Process`] has the way in.
    pub serves: Option<u16>,
    /// How long it may run; never longer than the sandbox allows.
    pub time_limit: Option<Duration>,
    /// A second command with the same key is refused, so that nothing is run twice by mistake.
    pub idempotency_key: Option<String>,
}

impl Command {
    /// Returns a command without arguments.
    pub fn new(program: impl Into<String>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// Returns a command for the shell.
    pub fn shell(script: impl Into<String>) -> Self {
        Self::new("/bin/sh").arg("-c").arg(script)
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Lets its input be written to.
    #[must_use]
    pub fn with_stdin(mut self) -> Self {
        self.stdin = true;
        self
    }

    /// Gives it a terminal.
    #[must_use]
    pub fn with_terminal(mut self, size: TerminalSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// Lets it serve a port.
    #[must_use]
    pub fn serving(mut self, port: u16) -> Self {
        self.serves = Some(port);
        self
    }

    /// Limits how long it may run.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables may be secrets.
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// Names one process of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessId(pub Uuid);

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Exit {
    /// By itself.
    Code {
        /// Its exit code.
        code: i32,
    },
    /// By a signal.
    Signal {
        /// Its number.
        signal: i32,
    },
    /// By a limit of the sandbox.
    Limit {
        /// Which.
        limit: Limit,
    },
}

impl Exit {
    /// Tells whether it ended by itself and well.
    pub const fn success(self) -> bool {
        matches!(self, Self::Code { code: 0 })
    }
}

/// What a sandbox has only so much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Time.
    Time,
    /// Memory.
    Memory,
    /// Room on the disk.
    Disk,
    /// Processes.
    Processes,
}

/// What a provider can do to a process that runs.
#[async_trait]
pub trait Control: Send + Sync {
    /// Waits for the end; may be asked any number of times.
    async fn wait(&self) -> Result<Exit>;

    /// Asks the process to end, and ends it and its children when the grace is over; returns at once
    /// if it has ended.
    async fn kill(&self, grace: Duration) -> Result<()>;
}

/// A process in a sandbox; it ends when this and all clones of its control are dropped.
///
/// Read both outputs while waiting: a process that cannot write does not end.
pub struct Process {
    /// Its id.
    pub id: ProcessId,
    /// Its input; drop it to say that nothing more comes.
    pub stdin: Option<Writer>,
    /// Its output.
    pub stdout: Option<Reader>,
    /// Its complaints.
    pub stderr: Option<Reader>,
    /// Its terminal, if it has one.
    pub terminal: Option<Terminal>,
    /// The way in to what it serves, if it serves a port.
    pub inlet: Option<Inlet>,
    /// Waits for it and ends it; clone it to do so from elsewhere.
    pub control: std::sync::Arc<dyn Control>,
}

impl Process {
    /// Waits for the end.
    ///
    /// # Errors
    /// If the provider cannot tell.
    pub async fn wait(&self) -> Result<Exit> {
        self.control.wait().await
    }

    /// Asks it to end, and ends it when the grace is over.
    ///
    /// # Errors
    /// If the provider cannot.
    pub async fn kill(&self, grace: Duration) -> Result<()> {
        self.control.kill(grace).await
    }
}

impl Process {
    /// Reads its terminal from a place in the output on.
    ///
    /// # Errors
    /// If it has none, or the place is beyond what was shown.
    pub fn attach(&self, from: u64) -> Result<Attachment> {
        self.terminal()?.attach(from)
    }

    /// Types into its terminal.
    ///
    /// # Errors
    /// If it has none, or it has ended.
    pub async fn write(&self, bytes: &[u8]) -> Result<()> {
        self.terminal()?.write(bytes).await
    }

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// If it has none, or it has ended.
    pub fn resize(&self, size: TerminalSize) -> Result<()> {
        self.terminal()?.resize(size)
    }

    fn terminal(&self) -> Result<&Terminal> {
        self.terminal.as_ref().ok_or_else(|| no_terminal(self.id))
    }
}

/// Why a process cannot be attached to.
pub(crate) fn no_terminal(id: ProcessId) -> Error {
    Error::refused(
        code::SANDBOX_STATE,
        format!("process {id} is not there, or has no terminal"),
        "start the command with a terminal",
    )
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("id", &self.id).finish_non_exhaustive()
    }
}
