//! One sandbox as Godel has it in memory.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use godel_model::{Mint, code};
use rustix::process::Signal;
use tokio::net::UnixListener;
use tokio::task::JoinSet;

use super::cgroup::Groups;
use super::guest::{self, Guest};
use super::record::Record;
use super::running::Running;
use super::{files, owner};
use crate::egress::{Denial, Endpoint, Gate, Rules};
use crate::error::at;
use crate::{
    Error, Event, Happening, Limit, Listener, Phase, ProcessId, Profile, Result, SandboxId,
    SandboxPath, SandboxStatus, Terminal,
};

/// How many refused connections are told in a minute; an agent must not fill the log.
const DENIALS_MAX: u32 = 120;
const DENIALS_SECS: u64 = 60;
/// How the names of files begin that are locked beside the ways out for as long as Godel lives.
const OWNER: &str = "owner-";
/// How long one waits for processes to stand still.
const STOP_TRIES: u32 = 1_000;
const STOP_WAIT: Duration = Duration::from_millis(5);
/// How many keys of commands are remembered.
const KEYS_MAX: usize = 10_000;
/// How many terminals of ended processes can still be read.
const TERMINALS_MAX: usize = 16;

/// One sandbox as Godel has it in memory.
pub(super) struct Room {
    pub(super) id: SandboxId,
    /// Where its parts are on disk.
    pub(super) state: PathBuf,
    /// The user that its programs run as, if Godel is root.
    pub(super) user: Option<u32>,
    pub(super) groups: Groups,
    listener: Listener,
    record: Mutex<Record>,
    /// Is held while the record is written to its file.
    writing: Mutex<()>,
    running: Mutex<HashMap<ProcessId, Arc<Running>>>,
    keys: Mutex<HashSet<String>>,
    /// Terminals, the newest last; also of processes that have ended.
    terminals: Mutex<VecDeque<(ProcessId, Terminal)>>,
    ways: Mutex<Option<JoinSet<()>>>,
    /// What tells those behind the walls that Godel lives, once the ways were open.
    owner: Mutex<Option<OwnerLock>>,
    /// How many processes need the control groups.
    users: Mutex<u32>,
    /// How often memory and processes were found to be short, as far as it was told.
    told_hits: Mutex<(u64, u64)>,
    /// The commit that was taken over last, with all that belongs to that.
    taken: Mutex<Option<String>>,
    paused: AtomicBool,
    closed: AtomicBool,
    /// The container, if there is one.
    pub(super) guest: tokio::sync::Mutex<Option<Guest>>,
    /// One at a time does what was put off.
    pub(super) settling: tokio::sync::Mutex<()>,
    pub(super) watched: AtomicBool,
    /// Whether the disk was found too full.
    pub(super) full: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Room {
    pub(super) fn new(record: Record, state: PathBuf, user: Option<u32>, tell: Listener) -> Self {
        let id = record.sandbox.id;
        let groups = Groups::make(id, &guest::ceilings(&record));
        // Nothing runs in a sandbox that was just made or found: what does is from before a crash.
        groups.end_all();
        groups.remove();
        Self {
            id,
            state,
            user: user.filter(|_| record.sandbox.profile != Profile::None),
            groups,
            listener: tell,
            record: Mutex::new(record),
            writing: Mutex::default(),
            running: Mutex::default(),
            keys: Mutex::default(),
            terminals: Mutex::default(),
            ways: Mutex::new(None),
            owner: Mutex::new(None),
            users: Mutex::new(0),
            told_hits: Mutex::default(),
            taken: Mutex::default(),
            paused: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            guest: tokio::sync::Mutex::default(),
            settling: tokio::sync::Mutex::default(),
            watched: AtomicBool::new(false),
            full: AtomicBool::new(false),
        }
    }

    pub(super) fn record(&self) -> Record {
        lock(&self.record).clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Record)) -> Record {
        let mut record = lock(&self.record);
        change(&mut record);
        record.clone()
    }

    /// Changes the record and writes it down; who comes second waits, so that the newer one stays.
    pub(super) fn keep(&self, change: impl FnOnce(&mut Record)) -> Result<Record> {
        let _turn = lock(&self.writing);
        let record = self.change(change);
        record.save(&self.state)?;
        Ok(record)
    }

    /// Notes that a commit was taken over.
    pub(super) fn note_taken(&self, commit: &str) {
        *lock(&self.taken) = Some(commit.to_owned());
    }

    /// Whether the commit that the sandbox is at was taken over already, as far as a look from outside can tell.
    pub(super) fn has_nothing_new(&self) -> bool {
        let taken = lock(&self.taken).clone();
        let Ok(name) = SandboxPath::new("HEAD") else { return false };
        let head = files::read(&self.state.join("git"), &name);
        matches!((taken, head), (Some(taken), Ok(head)) if head.trim_ascii_end() == taken.as_bytes())
    }

    pub(super) fn home(&self) -> PathBuf {
        self.state.join("home")
    }

    pub(super) fn scratch(&self) -> PathBuf {
        self.state.join("tmp")
    }

    pub(super) fn tell(&self, what: Happening) {
        (self.listener)(Event { sandbox: self.id, what });
    }

    /// Says that a limit was reached.
    pub(super) fn tell_limit(&self, limit: Limit, detail: String) {
        self.tell(Happening::LimitReached { limit, detail });
    }

    /// Says which limits the kernel has held since the last look; true if a process could not be made.
    pub(super) fn tell_hits(&self) -> bool {
        let now = (self.groups.memory_hits(), self.groups.process_hits());
        let before = std::mem::replace(&mut *lock(&self.told_hits), now);
        let limits = self.record().spec.limits;
        if now.0 > before.0 {
            let most = limits.memory_bytes;
            let detail = format!("a process was ended; {most} bytes may be used");
            self.tell_limit(Limit::Memory, detail);
        }
        if now.1 > before.1 {
            let most = limits.processes;
            self.tell_limit(Limit::Processes, format!("no more than {most} processes may run"));
        }
        now.1 > before.1
    }

    /// Remembers the key of a command; false if it is known.
    pub(super) fn is_new(&self, key: &str) -> bool {
        let mut keys = lock(&self.keys);
        if keys.len() >= KEYS_MAX {
            keys.clear();
        }
        keys.insert(key.to_owned())
    }

    pub(super) fn admit(&self, id: ProcessId, running: Arc<Running>) {
        lock(&self.running).insert(id, running);
    }

    /// Remembers a terminal; those of the processes that ended first are forgotten.
    pub(super) fn show(&self, id: ProcessId, terminal: Terminal) {
        let mut terminals = lock(&self.terminals);
        terminals.push_back((id, terminal));
        while terminals.iter().filter(|(_, one)| one.is_over()).count() > TERMINALS_MAX {
            let Some(oldest) = terminals.iter().position(|(_, one)| one.is_over()) else { break };
            terminals.remove(oldest);
        }
    }

    /// Finds the terminal of a process.
    pub(super) fn terminal(&self, id: ProcessId) -> Option<Terminal> {
        let terminals = lock(&self.terminals);
        terminals.iter().find(|(known, _)| *known == id).map(|(_, terminal)| terminal.clone())
    }

    pub(super) fn dismiss(&self, id: ProcessId) {
        lock(&self.running).remove(&id);
    }

    pub(super) fn all(&self) -> Vec<Arc<Running>> {
        lock(&self.running).values().cloned().collect()
    }

    /// Keeps the control groups there for as long as the returned value lives.
    pub(super) fn stay(self: &Arc<Self>) -> Stay {
        let mut users = lock(&self.users);
        if *users == 0 {
            Groups::make(self.id, &guest::ceilings(&self.record()));
        }
        *users += 1;
        Stay(Arc::clone(self))
    }

    /// Takes nothing new from now on: the sandbox ends.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }

    pub(super) fn refuse_paused(&self) -> Result<()> {
        if !self.is_paused() {
            return Ok(());
        }
        let message = format!("sandbox {} is paused", self.id);
        Err(Error::refused(code::SANDBOX_STATE, message, "resume the agent first"))
    }

    /// Lets all processes stand still, or go on.
    pub(super) fn freeze(&self, still: bool) -> Result<()> {
        self.paused.store(still, Ordering::SeqCst);
        let frozen = self.groups.freeze(still).map_err(|cause| {
            // Half a sandbox that stands still is worse than none.
            self.paused.store(false, Ordering::SeqCst);
            let _ = self.groups.freeze(false);
            crate::Error::file(&self.state, "paused", cause)
        })?;
        if !frozen {
            let signal = if still { Signal::STOP } else { Signal::CONT };
            for running in self.all() {
                running.signal(signal);
                // Some may have been made meanwhile.
                for _ in 0..STOP_TRIES {
                    if !still || running.stands_still() {
                        break;
                    }
                    std::thread::sleep(STOP_WAIT);
                    running.signal(signal);
                }
            }
        }
        Ok(())
    }

    /// Ends all processes because of a limit.
    pub(super) fn end_all(&self, limit: Limit) {
        for running in self.all() {
            running.blame(limit);
            running.end();
        }
    }

    pub(super) fn status(&self) -> SandboxStatus {
        let record = self.record();
        let processes = lock(&self.running).len();
        let phase = match (self.is_paused(), processes) {
            (true, _) => Phase::Paused,
            (false, 0) => Phase::Idle,
            (false, _) => Phase::Running,
        };
        SandboxStatus {
            sandbox: record.sandbox,
            owner: record.spec.owner,
            phase,
            processes,
            created_at: record.created_at,
            ends_at: record.ends_at,
        }
    }

    /// Opens the ways out, unless they are open.
    pub(super) fn open_ways(self: &Arc<Self>) -> Result<()> {
        let mut ways = lock(&self.ways);
        let spec = self.record().spec;
        if ways.is_some() || spec.profile == Profile::None {
            return Ok(());
        }
        let allowed = match spec.profile {
            Profile::WorkspaceNet => Rules::parse(&spec.egress.allow)?,
            Profile::ReadOnly | Profile::Workspace | Profile::None => Rules::default(),
        };
        let api = spec.egress.api.as_deref().and_then(Endpoint::of_url);
        let room = Arc::downgrade(self);
        let count = Denials::default();
        let gate = Arc::new(Gate::new(allowed, api, move |denial| {
            if let Some(room) = room.upgrade()
                && count.one_more()
            {
                let Denial { host, port, reason } = denial;
                room.tell(Happening::EgressDenied { host, port, reason });
            }
        }));
        let mut tasks = JoinSet::new();
        let net = self.state.join("net");
        let user = self.user.map(owner::server_of);
        tasks.spawn(Arc::clone(&gate).serve_proxy(listen(&net, "proxy.sock", user)?));
        tasks.spawn(gate.serve_api(listen(&net, "api.sock", user)?));
        let mut owner = lock(&self.owner);
        if owner.is_none() {
            *owner = Some(hold(&net)?);
        }
        *ways = Some(tasks);
        Ok(())
    }

    /// Names the file that is locked while this process lives.
    pub(super) fn owner_lock(&self) -> Option<String> {
        lock(&self.owner).as_ref().map(|owner| owner.name.clone())
    }

    pub(super) fn close_ways(&self) {
        lock(&self.ways).take();
    }
}

/// A process that needs the control groups of a sandbox; they go with the last one.
pub(super) struct Stay(Arc<Room>);

impl Drop for Stay {
    fn drop(&mut self) {
        let mut users = lock(&self.0.users);
        *users -= 1;
        if *users == 0 {
            // What was counted goes with the groups.
            self.0.tell_hits();
            self.0.groups.remove();
            *lock(&self.0.told_hits) = (0, 0);
        }
    }
}

/// A lock that is held for as long as this process lives.
struct OwnerLock {
    name: String,
    _file: fs::File,
}

/// Takes a lock that tells those behind the walls that this very process lives.
///
/// It has a name of its own: who was left behind by another server must not take this one for it.
fn hold(folder: &Path) -> Result<OwnerLock> {
    for entry in fs::read_dir(folder).map_err(at(folder, "read"))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(OWNER) {
            remove(&entry.path())?;
        }
    }
    let name = format!("{OWNER}{}", Mint::system().id::<uuid::Uuid>());
    let path = folder.join(&name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let file = options.open(&path).map_err(at(&path, "made"))?;
    let locked = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    locked.map_err(|error| crate::Error::file(&path, "locked", error.into()))?;
    Ok(OwnerLock { name, _file: file })
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(crate::Error::file(path, "removed", cause))
        }
        _ => Ok(()),
    }
}

/// Listens on a socket whose path may be longer than sockets allow.
fn listen(folder: &Path, name: &str, user: Option<u32>) -> Result<UnixListener> {
    let path = folder.join(name);
    let opened = files::plain_directory(folder)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd())).join(name);
    remove(&path)?;
    let listener = UnixListener::bind(&short).map_err(at(&path, "opened"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(at(&path, "closed"))?;
    if let Some(user) = user {
        chown(&path, Some(user), Some(user)).map_err(at(&path, "given to the agent"))?;
    }
    Ok(listener)
}

/// Counts what was told lately.
struct Denials {
    since: Mutex<Instant>,
    count: AtomicU32,
}

impl Default for Denials {
    fn default() -> Self {
        Self { since: Mutex::new(Instant::now()), count: AtomicU32::new(0) }
    }
}

impl Denials {
    fn one_more(&self) -> bool {
        let mut since = lock(&self.since);
        if since.elapsed().as_secs() >= DENIALS_SECS {
            *since = Instant::now();
            self.count.store(0, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed) < DENIALS_MAX
    }
}
