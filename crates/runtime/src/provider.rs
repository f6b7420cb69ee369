//! The seam: what every kind of runtime does.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use godel_model::code;

use crate::{
    Capabilities, Collected, Command, Content, Error, Fork, Listing, Pieces, Process, ProcessId,
    Result, Sandbox, SandboxId, SandboxPath, SandboxStatus, Sink, SnapshotId, SpawnSpec, Stored,
    Terminal,
};

/// A kind of place where agents work: few and slow calls, so it is used as `dyn`.
#[async_trait]
pub trait RuntimeProvider: Send + Sync {
    /// Returns the name by which it is configured, such as `worktree`.
    fn name(&self) -> &'static str;

    /// Tells what it can do.
    fn capabilities(&self) -> Capabilities;

    /// Gives an agent its sandbox: a new one, or the one that it has.
    async fn spawn(&self, spec: &SpawnSpec) -> Result<Sandbox>;

    /// Runs a command. It ends with the [`Process`], with the sandbox, and with Godel.
    async fn exec(&self, at: SandboxId, command: &Command) -> Result<Process>;

    /// Finds the terminal of a command again, also of one that has just ended.
    async fn terminal(&self, at: SandboxId, process: ProcessId) -> Result<Terminal> {
        // A provider without terminals has none to find.
        let _ = at;
        Err(crate::process::no_terminal(process))
    }

    /// Reads a file of the workspace.
    async fn read(&self, at: SandboxId, path: &SandboxPath) -> Result<Bytes>;

    /// Writes a file of the workspace, and the directories that it is in.
    async fn write(&self, at: SandboxId, path: &SandboxPath, bytes: Bytes) -> Result<()>;

    /// Reads a file of the agent's home.
    async fn read_home(&self, at: SandboxId, path: &SandboxPath) -> Result<Bytes>;

    /// Writes a file of the agent's home, such as the settings of its program.
    async fn write_home(&self, at: SandboxId, path: &SandboxPath, bytes: Bytes) -> Result<()>;

    /// Keeps what is there now; the level is that of the capabilities.
    async fn snapshot(&self, at: SandboxId) -> Result<SnapshotId>;

    /// Gives an agent a sandbox with what a snapshot holds.
    async fn restore(&self, from: &SnapshotId, spec: &SpawnSpec) -> Result<Sandbox>;

    /// Makes copies of a sandbox as it is now, one for each spec; each fails or succeeds alone.
    async fn fork(&self, at: SandboxId, into: &[SpawnSpec]) -> Result<Vec<Fork>> {
        let snapshot = self.snapshot(at).await?;
        let mut forks = Vec::with_capacity(into.len());
        for spec in into {
            forks.push(self.restore(&snapshot, spec).await);
        }
        Ok(forks)
    }

    /// Lists the snapshots that there are.
    async fn snapshots(&self) -> Result<Vec<SnapshotId>> {
        Ok(Vec::new())
    }

    /// Tells how much room snapshots take.
    async fn stored(&self) -> Result<Stored> {
        Ok(Stored::default())
    }

    /// Forgets a snapshot; one that is gone is fine. The same files give the same id, so it is for the
    /// caller to know that nobody else needs it. The room on disk is free after the next sweep.
    async fn forget(&self, snapshot: &SnapshotId) -> Result<()> {
        // A provider without snapshots has none to forget.
        let _ = snapshot;
        Ok(())
    }

    /// Lists the files of the workspace that a snapshot holds.
    async fn look(&self, snapshot: &SnapshotId) -> Result<Listing>;

    /// Reads contents that snapshots hold, of at most so many bytes; nothing for one that is larger.
    async fn contents(&self, wanted: Vec<Content>, most: u64) -> Result<Vec<Option<Vec<u8>>>>;

    /// Hands over what a snapshot holds, piece by piece, for another server: its list of files first.
    async fn export(&self, snapshot: &SnapshotId, to: Sink) -> Result<()> {
        let _ = (snapshot, to);
        Err(not_carried(self.name()))
    }

    /// Keeps a snapshot that another server handed over; all of it, or nothing. What it holds is checked
    /// as something that anybody may have written.
    async fn import(&self, from: Pieces) -> Result<SnapshotId> {
        drop(from);
        Err(not_carried(self.name()))
    }

    /// Frees what no snapshot needs any more; returns how many bytes.
    async fn sweep(&self) -> Result<u64> {
        Ok(0)
    }

    /// Lets all processes of a sandbox stand still.
    async fn pause(&self, at: SandboxId) -> Result<()>;

    /// Lets them go on.
    async fn resume(&self, at: SandboxId) -> Result<()>;

    /// Checks what was committed in the sandbox and moves the branch of its bead there.
    async fn collect(&self, at: SandboxId) -> Result<Collected>;

    /// Ends all processes and the sandbox; the workspace stays. What was committed is kept too.
    async fn terminate(&self, at: SandboxId, grace: Duration) -> Result<()>;

    /// Lists the sandboxes that there are, also those from before a crash.
    async fn list(&self) -> Result<Vec<SandboxStatus>>;
}

fn not_carried(name: &str) -> Error {
    Error::refused(
        code::SANDBOX_UNAVAILABLE,
        format!("snapshots of the runtime {name} cannot be carried to another server"),
        "use the runtime `worktree` or `gvisor`",
    )
}
