//! Control groups: limits for all processes of a sandbox together, where this machine lets us.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Limits, SandboxId};

const MOUNT: &str = "/sys/fs/cgroup";
/// How long one waits for processes to stand still.
const FREEZE_TRIES: u32 = 2_000;
const FREEZE_ROUND: u32 = 20;
const EMPTY_TRIES: u32 = 1_000;
const FREEZE_WAIT: std::time::Duration = std::time::Duration::from_millis(5);
/// What a processor's share is counted in.
const PERIOD_MICROS: u64 = 100_000;

/// The control groups of one sandbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    /// One directory (version 2) or one for each kind (version 1).
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    cpu: Option<PathBuf>,
    freezer: Option<PathBuf>,
    unified: bool,
}

impl Groups {
    /// Makes what can be made; what cannot is left to weaker means.
    pub(crate) fn make(id: SandboxId, limits: &Limits) -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let name = format!("godel-{id}");
        unified(&own, &name, limits).unwrap_or_else(|| each(&own, &name, limits))
    }

    /// The files that a process writes to, to belong to the groups.
    pub(crate) fn doors(&self) -> Vec<PathBuf> {
        let mut doors: Vec<PathBuf> = self.all().map(|dir| dir.join("cgroup.procs")).collect();
        doors.dedup();
        doors
    }

    /// Whether all processes together can be made to stand still.
    pub(crate) fn can_freeze(&self) -> bool {
        self.freezer.is_some()
    }

    /// Whether memory is limited.
    pub(crate) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Whether the kernel counts memory and processes by itself.
    pub(crate) fn counts(&self) -> bool {
        self.memory.is_some() && self.pids.is_some()
    }

    /// What is not limited, in words.
    pub(crate) fn missing(&self) -> Vec<String> {
        let parts = [
            (
                &self.memory,
                "memory is limited for each process and watched, not held by the kernel",
            ),
            (&self.pids, "processes are limited by their user, not by a control group"),
            (&self.cpu, "processor time is not limited"),
        ];
        let missing = parts.into_iter().filter(|(group, _)| group.is_none());
        missing.map(|(_, words)| words.to_owned()).collect()
    }

    /// How often the kernel has ended a process for want of memory.
    pub(crate) fn memory_hits(&self) -> u64 {
        let file = if self.unified { "memory.events" } else { "memory.oom_control" };
        count(self.memory.as_deref(), file, "oom_kill")
    }

    /// How often a process could not be made.
    pub(crate) fn process_hits(&self) -> u64 {
        count(self.pids.as_deref(), "pids.events", "max")
    }

    /// Lets all processes stand still or go on; tells whether that can be done here.
    pub(crate) fn freeze(&self, still: bool) -> io::Result<bool> {
        let Some(dir) = &self.freezer else { return Ok(false) };
        match self.freeze_at(dir, still) {
            // The group goes with its last process. Nothing runs, so nothing has to be told; what starts
            // later is refused by the caller.
            Err(error) if is_gone(&error) => Ok(true),
            told => told,
        }
    }

    fn freeze_at(&self, dir: &Path, still: bool) -> io::Result<bool> {
        if !dir.exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (file, text) = match (self.unified, still) {
            (true, true) => ("cgroup.freeze", "1"),
            (true, false) => ("cgroup.freeze", "0"),
            (false, true) => ("freezer.state", "FROZEN"),
            (false, false) => ("freezer.state", "THAWED"),
        };
        fs::write(dir.join(file), text)?;
        // The kernel says when the last one stands still; one that sleeps deeply may take a moment.
        for attempt in 1..FREEZE_TRIES {
            let done = match (still, self.unified) {
                (false, _) => true,
                (true, true) => count(Some(dir), "cgroup.events", "frozen") == 1,
                (true, false) => fs::read_to_string(dir.join(file))?.trim() == text,
            };
            if done {
                return Ok(true);
            }
            std::thread::sleep(FREEZE_WAIT);
            if !self.unified {
                // A process that was made meanwhile is not caught by version 1 unless it is told
                // again, and one that waits for it only after both have gone on for a moment.
                if attempt % FREEZE_ROUND == 0 {
                    fs::write(dir.join(file), "THAWED")?;
                    std::thread::sleep(FREEZE_WAIT);
                }
                fs::write(dir.join(file), text)?;
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Ends the processes that are still in the groups: without walls they may have left their family.
    pub(crate) fn end_all(&self) {
        let Some(dir) = self.all().next() else { return };
        let listed = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
        for pid in listed.lines().filter_map(|line| line.trim().parse().ok()) {
            let Some(pid) = rustix::process::Pid::from_raw(pid) else { continue };
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    /// Ends what is left in the groups, and waits a while until it is gone.
    pub(crate) fn empty(&self) {
        for _ in 0..EMPTY_TRIES {
            let Some(dir) = self.all().next() else { return };
            let listed = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
            if listed.trim().is_empty() {
                return;
            }
            self.end_all();
            std::thread::sleep(FREEZE_WAIT);
        }
    }

    /// Removes the groups; their processes have ended.
    pub(crate) fn remove(&self) {
        for dir in self.all() {
            // A group that is in use stays; the next sandbox of the agent uses it again.
            let _ = fs::remove_dir(dir);
        }
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.memory, &self.pids, &self.cpu, &self.freezer].into_iter().flatten()
    }
}

/// One tree for everything, as far as it was given to us.
fn unified(own: &str, name: &str, limits: &Limits) -> Option<Groups> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let parent = Path::new(MOUNT).join(path.trim_start_matches('/'));
    let known = fs::read_to_string(parent.join("cgroup.controllers")).ok()?;
    let known: Vec<&str> = known.split_whitespace().collect();
    if !known.contains(&"memory") || !known.contains(&"pids") {
        return None;
    }
    let wanted: Vec<String> = ["memory", "pids", "cpu"]
        .iter()
        .filter(|kind| known.contains(kind))
        .map(|kind| format!("+{kind}"))
        .collect();
    fs::write(parent.join("cgroup.subtree_control"), wanted.join(" ")).ok()?;
    let dir = parent.join(name);
    make(&dir).ok()?;
    set(&dir, "memory.max", limits.memory_bytes).ok()?;
    set(&dir, "pids.max", limits.processes).ok()?;
    // Without this, memory would only move to the swap.
    let _ = set(&dir, "memory.swap.max", 0);
    let quota = u64::from(limits.cpu_percent) * PERIOD_MICROS / 100;
    let cpu = fs::write(dir.join("cpu.max"), format!("{quota} {PERIOD_MICROS}")).is_ok();
    Some(Groups {
        memory: Some(dir.clone()),
        pids: Some(dir.clone()),
        cpu: cpu.then(|| dir.clone()),
        freezer: Some(dir),
        unified: true,
    })
}

/// One tree for each kind.
fn each(own: &str, name: &str, limits: &Limits) -> Groups {
    let place = |kind: &str| {
        let line = own.lines().find(|line| {
            line.split(':').nth(1).is_some_and(|kinds| kinds.split(',').any(|one| one == kind))
        })?;
        let path = line.splitn(3, ':').nth(2)?.trim_start_matches('/');
        let dir = Path::new(MOUNT).join(kind).join(path).join(name);
        make(&dir).ok()?;
        Some(dir)
    };
    let limited = |kind: &str, file: &str, most: u64| {
        let dir = place(kind)?;
        set(&dir, file, most).ok()?;
        Some(dir)
    };
    let quota = u64::from(limits.cpu_percent) * PERIOD_MICROS / 100;
    Groups {
        memory: limited("memory", "memory.limit_in_bytes", limits.memory_bytes),
        pids: limited("pids", "pids.max", limits.processes),
        cpu: limited("cpu", "cpu.cfs_quota_us", quota),
        freezer: place("freezer"),
        unified: false,
    }
}

fn make(dir: &Path) -> io::Result<()> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn set(dir: &Path, file: &str, value: u64) -> io::Result<()> {
    fs::write(dir.join(file), value.to_string())
}

/// Tells whether a group is not there any more, or is just going away.
fn is_gone(error: &io::Error) -> bool {
    let going = rustix::io::Errno::NODEV.raw_os_error();
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(going)
}

fn count(dir: Option<&Path>, file: &str, name: &str) -> u64 {
    let text = dir.and_then(|dir| fs::read_to_string(dir.join(file)).ok()).unwrap_or_default();
    let mut found = text.lines().filter_map(|line| line.split_once(' '));
    found
        .find(|(key, _)| *key == name)
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}
