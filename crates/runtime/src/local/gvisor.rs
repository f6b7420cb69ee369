//! The provider `gvisor`: each sandbox has a kernel of its own, in user space.
//!
//! It is the provider `worktree` with another wall: a container that lives as long as the sandbox does.
//! What runs in it can be kept together with the files, and copied.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use godel_model::{Mint, code};
use tokio::io::AsyncWriteExt as _;

use super::guest::{self, Guest, Runsc};
use super::room::Room;
use super::running::{GuestProcess, Running};
use super::start::Starter;
use super::worktree::{Settings, Worktrees, blocking};
use super::{owner, prepare};
use crate::error::at;
use crate::{
    Capabilities, Collected, Command, Content, Error, Isolation, Listing, NetworkPolicy, Pause,
    Pieces, Process, ProcessId, Result, RuntimeProvider, Sandbox, SandboxId, SandboxPath,
    SandboxStatus, Sink, SnapshotId, SnapshotLevel, SpawnSpec, Stored, Terminal,
};

/// How long runsc may take to ask what to start.
const ASK_TRIES: u32 = 3_000;
const ASK_WAIT: Duration = Duration::from_millis(5);
/// How long a snapshot waits for commands that have just ended.
const QUIET_TRIES: u32 = 200;
/// How often it is looked whether what was ended is gone.
const ENDING_TRIES: u32 = 10;
const QUIET_WAIT: Duration = Duration::from_millis(20);

/// The provider `gvisor`; clones are the same provider.
#[derive(Clone)]
pub struct Gvisor {
    inner: Worktrees,
}

impl Gvisor {
    /// Looks whether gVisor works here, and finds the sandboxes that there are; the runsc on PATH is
    /// used unless one is named.
    ///
    /// # Errors
    /// If it does not work; the error says what to install. If the data directory cannot be used.
    pub fn open(settings: Settings, runsc: Option<&Path>) -> Result<Self> {
        let data = owner::private_dir(&settings.data.join("gvisor"))?;
        let runsc = Runsc::find(runsc, owner::private_dir(&data.join("runsc"))?)?;
        let inner = Worktrees::open_with(Settings { data, ..settings }, Some(runsc))?;
        Ok(Self { inner })
    }

    /// Waits until no command runs; refuses if one does not end.
    async fn between_turns(room: &Room) -> Result<()> {
        for _ in 0..QUIET_TRIES {
            if room.all().is_empty() {
                break;
            }
            tokio::time::sleep(QUIET_WAIT).await;
        }
        if !room.all().is_empty() {
            return Err(Error::refused(
                code::SANDBOX_STATE,
                "a command is connected to Godel, so its memory cannot be kept",
                "take the snapshot between two turns of the agent",
            ));
        }
        Ok(())
    }

    /// Tells whether something runs whose memory is to be kept.
    async fn is_at_work(room: &Room, runsc: &Runsc) -> Result<bool> {
        for _ in 0..ENDING_TRIES {
            let (asked, id) = (runsc.clone(), guest::name(room.id));
            // The first process only serves the ways out.
            if blocking(move || asked.processes(&id)).await? <= 1 {
                return Ok(false);
            }
            // What was just ended is listed for a moment.
            tokio::time::sleep(QUIET_WAIT).await;
        }
        Ok(true)
    }

    /// Takes a snapshot with the memory of what runs.
    async fn checkpoint(&self, room: &Arc<Room>, runsc: &Runsc) -> Result<SnapshotId> {
        let mut guest = room.guest.lock().await;
        let (asked, id, still) = (runsc.clone(), guest::name(room.id), Arc::clone(room));
        let saved = blocking(move || {
            let to = empty_image(&still)?;
            asked.run(&["checkpoint", "-image-path", &to.display().to_string(), &id])
        });
        // The container ends with its checkpoint, whether or not that was one.
        let saved = saved.await;
        guest.take();
        if let Err(error) = saved {
            return Err(Error::refused(
                code::SANDBOX_STATE,
                format!("what runs in the sandbox cannot be kept, and has ended: {error}"),
                "end connections of background processes before the snapshot; the files are whole",
            ));
        }
        let (shop, still) = (Arc::clone(&self.inner.shop), Arc::clone(room));
        let kept = blocking(move || {
            shop.vault.keep(&prepare::parts(&still, shop.settings.ignored_max_bytes)?)
        });
        let kept = kept.await;
        drop(guest);
        // It goes on where it was.
        self.inner.guest_process(room).await?;
        kept
    }
}

impl Worktrees {
    /// Sees that the container of a sandbox is there, and names a process to be started in it; nothing
    /// if this provider has no containers.
    pub(super) async fn guest_process(
        &self,
        room: &Arc<Room>,
    ) -> Result<Option<(Runsc, GuestProcess)>> {
        let Some(runsc) = self.shop.runsc.clone() else { return Ok(None) };
        let mut guest = room.guest.lock().await;
        if guest.as_ref().is_none_or(Guest::is_gone) {
            guest.take();
            room.open_ways()?;
            let stay = room.stay();
            let (asked, id, left) = (runsc.clone(), guest::name(room.id), Arc::clone(room));
            blocking(move || {
                asked.delete(&id);
                // What is left of one that a limit has ended counts against the next.
                left.groups.empty();
                Ok(())
            })
            .await?;
            let starter =
                Starter { machine: &self.shop.machine, helper: &self.shop.settings.helper, room };
            let prepared = guest::start(starter.prepare_container()?, &runsc, room)?;
            let failed = |cause| Error::Start { program: "runsc".to_owned(), cause };
            let child = self.shop.launcher.spawn(prepared).await.map_err(failed)?;
            let (started, watch) = Guest::await_start(&runsc, room, child, stay).await?;
            self.keep(watch);
            empty_image(room)?;
            *guest = Some(started);
        }
        let name = Mint::system().id::<uuid::Uuid>();
        let user = room.user.unwrap_or_default();
        let who = format!("{user}:{user}");
        let id = guest::name(room.id);
        let words = ["exec", "-user", &who, "-cwd", "/", &id, super::bwrap::inside::HELPER];
        let mut reap = runsc.command(&words);
        reap.extend(self.shop.settings.helper.args.iter().cloned().chain(["reap".to_owned()]));
        let place = |kind: &str| room.state.join(format!("{name}.{kind}"));
        let process = GuestProcess {
            reap,
            kill: runsc.command(&["kill", "-pid"]),
            container: id,
            pid_file: place("pid"),
            pipe: place("pipe"),
        };
        Ok(Some((runsc, process)))
    }

    /// Tells runsc what to start: by a pipe, since variables may be secrets, which belong neither into
    /// arguments nor on disk.
    pub(super) fn describe_guest(&self, room: &Room, command: &Command, running: &Arc<Running>) {
        let Some(process) = &running.guest else { return };
        let starter =
            Starter { machine: &self.shop.machine, helper: &self.shop.settings.helper, room };
        let description = starter.guest_description(command);
        let (pipe, running) = (process.pipe.clone(), Arc::clone(running));
        self.keep(async move {
            if let Ok(bytes) = description {
                hand_over(&pipe, &bytes, &running).await;
            }
            let _ = std::fs::remove_file(&pipe);
        });
    }

    /// Ends the container of a sandbox.
    pub(super) async fn end_guest(&self, room: &Arc<Room>) {
        let Some(runsc) = self.shop.runsc.clone() else { return };
        let mut guest = room.guest.lock().await;
        let id = guest::name(room.id);
        let _ = blocking(move || {
            runsc.delete(&id);
            Ok(())
        })
        .await;
        guest.take();
    }
}

/// Makes the place of a checkpoint, with none in it.
fn empty_image(room: &Room) -> Result<PathBuf> {
    let image = room.state.join("image");
    let _ = super::remove_all(&image);
    std::fs::create_dir(&image).map_err(at(&image, "made"))?;
    Ok(image)
}

/// Writes a description to a pipe as soon as somebody reads it.
async fn hand_over(pipe: &Path, bytes: &[u8], running: &Running) {
    for _ in 0..ASK_TRIES {
        match tokio::net::unix::pipe::OpenOptions::new().open_sender(pipe) {
            Ok(mut sender) => {
                let _ = sender.write_all(bytes).await;
                return;
            }
            Err(_) if running.ended().is_some() => return,
            Err(_) => tokio::time::sleep(ASK_WAIT).await,
        }
    }
}

#[async_trait]
impl RuntimeProvider for Gvisor {
    fn name(&self) -> &'static str {
        "gvisor"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            isolation: Isolation::UserspaceKernel,
            snapshot: SnapshotLevel::Memory,
            pause: Pause::Freeze,
            fork: true,
            pty: true,
            ports: false,
            network: NetworkPolicy::Domain,
        }
    }

    async fn spawn(&self, spec: &SpawnSpec) -> Result<Sandbox> {
        self.inner.spawn(spec).await
    }

    async fn exec(&self, at: SandboxId, command: &Command) -> Result<Process> {
        self.inner.exec(at, command).await
    }

    async fn terminal(&self, at: SandboxId, process: ProcessId) -> Result<Terminal> {
        self.inner.terminal(at, process).await
    }

    async fn read(&self, at: SandboxId, path: &SandboxPath) -> Result<Bytes> {
        self.inner.read(at, path).await
    }

    async fn write(&self, at: SandboxId, path: &SandboxPath, bytes: Bytes) -> Result<()> {
        self.inner.write(at, path, bytes).await
    }

    async fn read_home(&self, at: SandboxId, path: &SandboxPath) -> Result<Bytes> {
        self.inner.read_home(at, path).await
    }

    async fn write_home(&self, at: SandboxId, path: &SandboxPath, bytes: Bytes) -> Result<()> {
        self.inner.write_home(at, path, bytes).await
    }

    async fn snapshot(&self, at: SandboxId) -> Result<SnapshotId> {
        let room = self.inner.room(at)?;
        self.inner.settle(&room).await?;
        let runsc = self.inner.shop.runsc.clone();
        let up = room.guest.lock().await.as_ref().is_some_and(|guest| !guest.is_gone());
        let Some(runsc) = runsc.filter(|_| up && !room.is_paused()) else {
            return self.inner.snapshot(at).await;
        };
        Self::between_turns(&room).await?;
        if !Self::is_at_work(&room, &runsc).await? {
            return self.inner.snapshot(at).await;
        }
        self.checkpoint(&room, &runsc).await
    }

    async fn restore(&self, from: &SnapshotId, spec: &SpawnSpec) -> Result<Sandbox> {
        let sandbox = self.inner.restore(from, spec).await?;
        let room = self.inner.room(sandbox.id)?;
        // What ran goes on at once.
        if room.state.join("image/checkpoint.img").is_file() {
            self.inner.guest_process(&room).await?;
        }
        Ok(sandbox)
    }

    async fn snapshots(&self) -> Result<Vec<SnapshotId>> {
        self.inner.snapshots().await
    }

    async fn stored(&self) -> Result<Stored> {
        self.inner.stored().await
    }

    async fn forget(&self, snapshot: &SnapshotId) -> Result<()> {
        self.inner.forget(snapshot).await
    }

    async fn look(&self, snapshot: &SnapshotId) -> Result<Listing> {
        self.inner.look(snapshot).await
    }

    async fn contents(&self, wanted: Vec<Content>, most: u64) -> Result<Vec<Option<Vec<u8>>>> {
        self.inner.contents(wanted, most).await
    }

    async fn export(&self, snapshot: &SnapshotId, to: Sink) -> Result<()> {
        self.inner.export(snapshot, to).await
    }

    async fn import(&self, from: Pieces) -> Result<SnapshotId> {
        self.inner.import(from).await
    }

    async fn sweep(&self) -> Result<u64> {
        self.inner.sweep().await
    }

    async fn pause(&self, at: SandboxId) -> Result<()> {
        if !self.inner.room(at)?.groups.can_freeze() {
            return Err(Error::refused(
                code::SANDBOX_UNAVAILABLE,
                "a container cannot be paused without control groups",
                "let Godel use control groups, or terminate the agent",
            ));
        }
        self.inner.pause(at).await
    }

    async fn resume(&self, at: SandboxId) -> Result<()> {
        self.inner.resume(at).await
    }

    async fn collect(&self, at: SandboxId) -> Result<Collected> {
        self.inner.collect(at).await
    }

    async fn terminate(&self, at: SandboxId, grace: Duration) -> Result<()> {
        self.inner.terminate(at, grace).await
    }

    async fn list(&self) -> Result<Vec<SandboxStatus>> {
        self.inner.list().await
    }
}
