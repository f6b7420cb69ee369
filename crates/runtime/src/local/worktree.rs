//! The provider `worktree`: processes in a worktree or a directory of this machine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use godel_model::{Clock, Mint, code};
use tokio::task::JoinSet;

use super::ends::Ends;
use super::guest::Runsc;
use super::input::Input;
use super::launcher::Launcher;
use super::machine::Machine;
use super::outlet::Outlet;
use super::record::Record;
use super::room::Room;
use super::running::{GuestProcess, Handle, Running};
use super::start::Starter;
use super::{files, owner, prepare, take, warden};
use crate::error::at;
use crate::snapshot::Vault;
use crate::{
    Capabilities, Collected, Command, Content, Error, Exit, Happening, Isolation, Limit, Listener,
    Listing, NetworkPolicy, Pause, Pieces, Process, ProcessId, Profile, Result, RuntimeProvider,
    Sandbox, SandboxId, SandboxPath, SandboxStatus, Sink, SnapshotId, SnapshotLevel, SpawnSpec,
    Stored, Terminal,
};

/// The signal of a call that ends the process.
const BAD_CALL: i32 = 31;

/// How this binary is started as the helper of sandboxes.
#[derive(Debug, Clone)]
pub struct Helper {
    /// The binary.
    pub program: PathBuf,
    /// The words that lead to [`enter`](crate::enter), such as `sandbox-init`.
    pub args: Vec<String>,
}

/// What the provider needs.
#[derive(Clone)]
pub struct Settings {
    /// Where sandboxes and snapshots are kept.
    pub data: PathBuf,
    /// The helper.
    pub helper: Helper,
    /// The bubblewrap to use; the one on PATH unless named.
    pub bubblewrap: Option<PathBuf>,
    /// How many bytes of files that git ignores a snapshot keeps.
    pub ignored_max_bytes: u64,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Is told what happens.
    pub listener: Listener,
}

/// The provider `worktree`; clones are the same provider.
#[derive(Clone)]
pub struct Worktrees {
    pub(super) shop: Arc<Shop>,
}

pub(super) struct Shop {
    pub(super) settings: Settings,
    pub(super) machine: Machine,
    pub(super) vault: Vault,
    /// What containers are run with, if this is the provider `gvisor`.
    pub(super) runsc: Option<Runsc>,
    pub(super) launcher: Launcher,
    pub(super) rooms: Mutex<HashMap<SandboxId, Arc<Room>>>,
    doors: Mutex<HashMap<SandboxId, Arc<tokio::sync::Mutex<()>>>>,
    tasks: Mutex<JoinSet<()>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worktrees {
    /// Looks at the machine and finds the sandboxes that there are.
    ///
    /// # Errors
    /// If the data directory cannot be used.
    pub fn open(settings: Settings) -> Result<Self> {
        Self::open_with(settings, None)
    }

    pub(super) fn open_with(settings: Settings, runsc: Option<Runsc>) -> Result<Self> {
        if !settings.helper.program.is_file() {
            return Err(Error::refused(
                code::SANDBOX_UNAVAILABLE,
                format!("{} is not there to help in sandboxes", settings.helper.program.display()),
                "start Godel again: its program was moved or replaced",
            ));
        }
        let rooms_at = owner::private_dir(&settings.data.join("sandboxes"))?;
        let vault = Vault::open(&settings.data.join("snapshots"))?;
        let machine = Machine::look(settings.bubblewrap.as_deref());
        let launcher = Launcher::start().map_err(at(&settings.data, "served"))?;
        let mut rooms = HashMap::new();
        let entries = std::fs::read_dir(&rooms_at).map_err(at(&rooms_at, "read"))?;
        for entry in entries.flatten() {
            let state = entry.path();
            if let Some(record) = Record::load(&state) {
                let id = record.sandbox.id;
                let user = machine.root.then(|| owner::user_of(id, runsc.is_some()));
                let room = Room::new(record, state, user, Arc::clone(&settings.listener));
                rooms.insert(id, Arc::new(room));
            } else if !state.join("record.json").exists() {
                // Half made or half removed when Godel was killed; nothing of worth is in it.
                let _ = owner::remove_all(&state);
            }
        }
        let shop = Shop {
            settings,
            machine,
            vault,
            runsc,
            launcher,
            rooms: Mutex::new(rooms),
            doors: Mutex::default(),
            tasks: Mutex::default(),
        };
        Ok(Self { shop: Arc::new(shop) })
    }

    /// Sees whether this machine can give a profile.
    ///
    /// # Errors
    /// If it cannot; the error says what to install.
    pub fn can_give(&self, profile: Profile) -> Result<()> {
        match profile {
            Profile::None if self.shop.runsc.is_some() => Err(Error::refused(
                code::INVALID_FIELD,
                "gVisor without walls is not gVisor",
                "use the runtime `worktree` with `--sandbox none`",
            )),
            Profile::None => Ok(()),
            _ if self.shop.runsc.is_some() => Ok(()),
            Profile::ReadOnly | Profile::Workspace | Profile::WorkspaceNet => {
                self.shop.machine.bubblewrap().map(drop)
            }
        }
    }

    pub(super) fn room(&self, id: SandboxId) -> Result<Arc<Room>> {
        lock(&self.shop.rooms).get(&id).cloned().ok_or_else(|| gone(id))
    }

    /// Lets one caller at a time make or end a sandbox.
    pub(super) fn door(&self, id: SandboxId) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(lock(&self.shop.doors).entry(id).or_default())
    }

    /// Gives a sandbox, as `spawn` does; its door is held.
    pub(super) async fn spawn_inside(&self, spec: &SpawnSpec) -> Result<Sandbox> {
        let id = SandboxId::of(spec.agent);
        self.can_give(spec.profile)?;
        if let Ok(room) = self.room(id) {
            let spec = spec.clone();
            return blocking(move || prepare::again(&room, &spec)).await;
        }
        let (shop, wanted) = (Arc::clone(&self.shop), spec.clone());
        let now = self.shop.settings.clock.now();
        let made = blocking(move || prepare::make(&shop, wanted, now)).await?;
        let room = Arc::new(made);
        lock(&self.shop.rooms).insert(id, Arc::clone(&room));
        self.limit_life(&room);
        let (provider, waiting) = (Arc::downgrade(&self.shop), Arc::clone(&room));
        self.keep(async move {
            if let Some(shop) = provider.upgrade().filter(|_| !waiting.is_closed()) {
                // Who needs it first does it, and is told if it fails.
                let _ = Self { shop }.settle(&waiting).await;
            }
        });
        room.tell(Happening::Spawned { profile: spec.profile });
        Ok(room.record().sandbox)
    }

    /// Sees that the files are measured and given to the agent.
    pub(super) async fn settle(&self, room: &Arc<Room>) -> Result<()> {
        let _turn = room.settling.lock().await;
        if room.record().settled {
            return Ok(());
        }
        let room = Arc::clone(room);
        blocking(move || prepare::settle(&room)).await
    }

    /// Ends a sandbox when its time is over.
    fn limit_life(&self, room: &Arc<Room>) {
        let Some(ttl) = room.record().spec.ttl else { return };
        let (shop, id) = (Arc::downgrade(&self.shop), room.id);
        self.keep(async move {
            tokio::time::sleep(ttl).await;
            if let Some(shop) = shop.upgrade() {
                let provider = Self { shop };
                if let Ok(room) = provider.room(id) {
                    room.tell_limit(Limit::Time, "the sandbox's time is over".to_owned());
                }
                let _ = provider.terminate(id, Duration::ZERO).await;
            }
        });
    }

    /// Lets a task run that ends with the provider.
    pub(super) fn keep(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.shop.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Starts a command, whether or not the sandbox is open for them.
    pub(super) async fn start(&self, room: &Arc<Room>, command: &Command) -> Result<Process> {
        self.settle(room).await?;
        room.open_ways()?;
        let stay = room.stay();
        let shop = &self.shop;
        let starter = Starter { machine: &shop.machine, helper: &shop.settings.helper, room };
        let guest = self.guest_process(room).await?;
        let ends = Ends::open(command, room)?;
        let prepared = match &guest {
            Some(guest) => starter.prepare_guest(command, guest, &ends)?,
            None => starter.prepare(command, &ends)?,
        };
        let failed = |cause| Error::Start { program: command.program.clone(), cause };
        let mut child = self.shop.launcher.spawn(prepared).await.map_err(failed)?;
        let record = room.record();
        let walled = record.spec.profile != Profile::None;
        let mut running = Running::new(child.id().unwrap_or_default(), walled);
        running.guest = guest.map(|(_, process)| process);
        let running = Arc::new(running);
        if running.guest.is_some() {
            self.describe_guest(room, command, &running);
        }
        let id = ProcessId(Mint::system().id::<uuid::Uuid>());
        let terminal = match ends.pty {
            Some(pty) => {
                let connected = pty.connect()?;
                let terminal = connected.terminal();
                room.show(id, terminal.clone());
                self.keep(connected.show(Arc::clone(&running)));
                Some(terminal)
            }
            None => None,
        };
        let process = Process {
            id,
            stdin: child.stdin.take().map(|pipe| Box::new(Input(Some(pipe))) as crate::Writer),
            stdout: child.stdout.take().map(|pipe| Box::new(Outlet::of(pipe, &running)) as _),
            stderr: child.stderr.take().map(|pipe| Box::new(Outlet::of(pipe, &running)) as _),
            terminal,
            inlet: ends.inlet,
            control: Arc::new(Handle(Arc::clone(&running))),
        };
        let most = record.spec.limits.command_time;
        let time = command.time_limit.map_or(most, |time| time.min(most));
        room.admit(process.id, Arc::clone(&running));
        let (room, name) = (Arc::clone(room), process.id);
        if !room.watched.swap(true, Ordering::SeqCst) {
            self.keep(warden::watch(Arc::clone(&room)));
        }
        self.keep(async move {
            let hits = room.groups.memory_hits();
            let late = || room.tell_limit(Limit::Time, format!("a command ran for {time:?}"));
            running.attend(child, time, late, || room.groups.memory_hits() > hits).await;
            if running.ended() == Some(Exit::Signal { signal: BAD_CALL }) {
                room.tell(Happening::CallDenied {
                    call: "a call that ends the process".to_owned(),
                });
            }
            // Whatever a command has left behind in its session holds its outputs open.
            if let Some(clear) = running.guest.as_ref().map(GuestProcess::clear) {
                let _ = tokio::task::spawn_blocking(clear).await;
            }
            room.dismiss(name);
            drop(stay);
        });
        Ok(process)
    }
}

fn gone(id: SandboxId) -> Error {
    Error::refused(
        code::SANDBOX_NOT_FOUND,
        format!("there is no sandbox {id}"),
        "it has ended, or was never made: spawn the agent again",
    )
}

/// Does work that blocks on a thread that may.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(Error::Start {
            program: "a thread".to_owned(),
            cause: std::io::Error::other(error),
        }),
    }
}

#[async_trait]
impl RuntimeProvider for Worktrees {
    fn name(&self) -> &'static str {
        "worktree"
    }

    fn capabilities(&self) -> Capabilities {
        let walls = self.shop.machine.bubblewrap().is_ok();
        Capabilities {
            isolation: if walls { Isolation::Process } else { Isolation::None },
            snapshot: SnapshotLevel::Workspace,
            pause: Pause::Freeze,
            fork: true,
            pty: true,
            ports: false,
            network: if walls { NetworkPolicy::Domain } else { NetworkPolicy::None },
        }
    }

    async fn spawn(&self, spec: &SpawnSpec) -> Result<Sandbox> {
        let door = self.door(SandboxId::of(spec.agent));
        let _open = door.lock().await;
        self.spawn_inside(spec).await
    }

    async fn exec(&self, at: SandboxId, command: &Command) -> Result<Process> {
        let room = self.room(at)?;
        room.refuse_paused()?;
        if room.is_closed() {
            return Err(gone(at));
        }
        if room.full.load(Ordering::SeqCst) && warden::check_disk(&room).await {
            let most = room.record().spec.limits.disk_bytes;
            return Err(Error::refused(
                code::SANDBOX_LIMIT,
                format!("sandbox {at} has used up the {most} bytes that it may have on disk"),
                "remove files in its workspace or home, or give it a larger limit",
            ));
        }
        if command.idempotency_key.as_deref().is_some_and(|key| !room.is_new(key)) {
            return Err(Error::refused(
                code::IDEMPOTENCY_KEY_REUSED,
                "a command with this key was started already",
                "use another key for another command",
            ));
        }
        self.start(&room, command).await
    }

    async fn terminal(&self, at: SandboxId, process: ProcessId) -> Result<Terminal> {
        self.room(at)?.terminal(process).ok_or_else(|| crate::process::no_terminal(process))
    }

    async fn read(&self, at: SandboxId, path: &SandboxPath) -> Result<Bytes> {
        let root = self.room(at)?.record().spec.source.directory().clone();
        let path = path.clone();
        blocking(move || files::read(&root, &path)).await
    }

    async fn write(&self, at: SandboxId, path: &SandboxPath, bytes: Bytes) -> Result<()> {
        let room = self.room(at)?;
        self.settle(&room).await?;
        let root = room.record().spec.source.directory().clone();
        let (path, user) = (path.clone(), room.user);
        blocking(move || files::write(&root, &path, &bytes, user)).await
    }

    async fn read_home(&self, at: SandboxId, path: &SandboxPath) -> Result<Bytes> {
        let (root, path) = (self.room(at)?.home(), path.clone());
        blocking(move || files::read(&root, &path)).await
    }

    async fn write_home(&self, at: SandboxId, path: &SandboxPath, bytes: Bytes) -> Result<()> {
        let room = self.room(at)?;
        let (root, path, user) = (room.home(), path.clone(), room.user);
        blocking(move || files::write(&root, &path, &bytes, user)).await
    }

    async fn snapshot(&self, at: SandboxId) -> Result<SnapshotId> {
        let room = self.room(at)?;
        self.settle(&room).await?;
        let (shop, still) = (Arc::clone(&self.shop), Arc::clone(&room));
        // Files that change while they are read would be a state that never was.
        let was_paused = room.is_paused();
        let kept = blocking(move || {
            still.freeze(true)?;
            shop.vault.keep(&prepare::parts(&still, shop.settings.ignored_max_bytes)?)
        });
        let kept = kept.await;
        if !was_paused {
            room.freeze(false)?;
        }
        kept
    }

    async fn restore(&self, from: &SnapshotId, spec: &SpawnSpec) -> Result<Sandbox> {
        let id = SandboxId::of(spec.agent);
        let door = self.door(id);
        let _open = door.lock().await;
        if self.room(id).is_ok() {
            return Err(Error::refused(
                code::SANDBOX_STATE,
                format!("the agent has a sandbox already: {id}"),
                "terminate it first, or restore for another agent",
            ));
        }
        self.shop.vault.check(from)?;
        let sandbox = self.spawn_inside(spec).await?;
        let room = self.room(id)?;
        self.settle(&room).await?;
        let (shop, from) = (Arc::clone(&self.shop), from.clone());
        let laid = blocking(move || {
            shop.vault.lay(&from, &prepare::parts(&room, shop.settings.ignored_max_bytes)?)?;
            prepare::give(&room)
        });
        if let Err(error) = laid.await {
            let _ = take::end(self, id, Duration::ZERO, false).await;
            return Err(error);
        }
        Ok(sandbox)
    }

    async fn snapshots(&self) -> Result<Vec<SnapshotId>> {
        let shop = Arc::clone(&self.shop);
        blocking(move || shop.vault.list()).await
    }

    async fn stored(&self) -> Result<Stored> {
        let shop = Arc::clone(&self.shop);
        blocking(move || shop.vault.stored()).await
    }

    async fn forget(&self, snapshot: &SnapshotId) -> Result<()> {
        let (shop, id) = (Arc::clone(&self.shop), snapshot.clone());
        blocking(move || shop.vault.forget(&id)).await
    }

    async fn look(&self, snapshot: &SnapshotId) -> Result<Listing> {
        let (shop, id) = (Arc::clone(&self.shop), snapshot.clone());
        blocking(move || shop.vault.look(&id)).await
    }

    async fn contents(&self, wanted: Vec<Content>, most: u64) -> Result<Vec<Option<Vec<u8>>>> {
        let shop = Arc::clone(&self.shop);
        blocking(move || shop.vault.contents(&wanted, most)).await
    }

    async fn export(&self, snapshot: &SnapshotId, to: Sink) -> Result<()> {
        let (shop, id) = (Arc::clone(&self.shop), snapshot.clone());
        blocking(move || shop.vault.export(&id, to)).await
    }

    async fn import(&self, from: Pieces) -> Result<SnapshotId> {
        let shop = Arc::clone(&self.shop);
        blocking(move || shop.vault.import(from)).await
    }

    async fn sweep(&self) -> Result<u64> {
        let shop = Arc::clone(&self.shop);
        blocking(move || shop.vault.sweep()).await
    }

    async fn pause(&self, at: SandboxId) -> Result<()> {
        let room = self.room(at)?;
        blocking(move || room.freeze(true)).await
    }

    async fn resume(&self, at: SandboxId) -> Result<()> {
        self.room(at)?.freeze(false)
    }

    async fn collect(&self, at: SandboxId) -> Result<Collected> {
        let room = self.room(at)?;
        let door = self.door(at);
        let _open = door.lock().await;
        room.refuse_paused()?;
        take::collect(self, &room).await
    }

    async fn terminate(&self, at: SandboxId, grace: Duration) -> Result<()> {
        let door = self.door(at);
        let _open = door.lock().await;
        take::end(self, at, grace, true).await
    }

    async fn list(&self) -> Result<Vec<SandboxStatus>> {
        let mut all: Vec<_> = lock(&self.shop.rooms).values().map(|room| room.status()).collect();
        all.sort_by_key(|status| status.sandbox.id);
        Ok(all)
    }
}
