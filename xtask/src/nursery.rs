//! Every process a chore starts lives here, and ends with it.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use godel_engines::{Pid, Scratch, Signal, Target, signal_group, sweep};

use crate::failure::{Failure, Result, Told};

const PREFIX: &str = "godel-xtask";
/// How long a process may take to end politely.
const GRACE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// A temporary folder and the running processes; clones share them.
///
/// Each process leads a group of its own. When `xtask` dies in whatever way, the watchdog of the
/// folder ends the groups and removes the folder.
#[derive(Debug, Clone)]
pub(crate) struct Nursery(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    scratch: Scratch,
    groups: Vec<Pid>,
}

/// A running process with its group; dropping it ends both.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    nursery: Nursery,
    ended: bool,
}

impl Nursery {
    /// Opens an empty one, and clears away what earlier chores could not.
    pub(crate) fn open() -> Result<Self> {
        sweep(PREFIX);
        let scratch = Scratch::create(PREFIX, "TERM")?;
        Ok(Self(Arc::new(Mutex::new(Inner { scratch, groups: Vec::new() }))))
    }

    /// Makes a folder in the temporary folder.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        Ok(self.lock().scratch.folder(name)?)
    }

    /// Starts a process that reads nothing from the terminal.
    pub(crate) fn spawn(&self, command: &mut Command) -> Result<Process> {
        self.spawn_fed(command, Stdio::null())
    }

    /// Starts a process that reads what it is given.
    pub(crate) fn spawn_fed(&self, command: &mut Command, input: Stdio) -> Result<Process> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(input).process_group(0).spawn().told(format!("run {name}"))?;
        let mut inner = self.lock();
        inner.groups.push(child.id());
        inner.tell();
        drop(inner);
        Ok(Process { child, nursery: self.clone(), ended: false })
    }

    fn forget(&self, group: Pid) {
        let mut inner = self.lock();
        inner.groups.retain(|known| *known != group);
        inner.tell();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn tell(&mut self) {
        let targets: Vec<Target> = self.groups.iter().map(|group| Target::Group(*group)).collect();
        self.scratch.watch(&targets);
    }
}

impl Process {
    /// The number of the process.
    pub(crate) fn id(&self) -> Pid {
        self.child.id()
    }

    /// How it ended, if it has.
    pub(crate) fn try_wait(&mut self) -> Result<Option<ExitStatus>> {
        let status = self.child.try_wait().told("wait for a process")?;
        self.ended |= status.is_some();
        Ok(status)
    }

    /// Waits for its end, at most `patience`.
    pub(crate) fn wait(&mut self, patience: Duration) -> Result<Option<ExitStatus>> {
        let deadline = Instant::now() + patience;
        loop {
            let status = self.try_wait()?;
            if status.is_some() || Instant::now() >= deadline {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
    }

    /// Kills it at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) -> Result<()> {
        signal_group(self.id(), Signal::KILL);
        self.child.wait().told("wait for a killed process")?;
        self.ended = true;
        Ok(())
    }

    /// Asks it to end and waits, at most `patience`.
    pub(crate) fn terminate(&mut self, patience: Duration) -> Result<Option<ExitStatus>> {
        signal_group(self.id(), Signal::TERM);
        self.wait(patience)
    }

    /// Waits for the end of a process with piped output, and returns what it printed.
    pub(crate) fn finish(&mut self, patience: Duration, shown: &str) -> Result<String> {
        let printed = collect(self.child.stdout.take());
        let complained = collect(self.child.stderr.take());
        let Some(status) = self.wait(patience)? else {
            self.end();
            return Err(Failure::new(format!("`{shown}` did not end in {} s", patience.as_secs())));
        };
        let printed = printed.join().unwrap_or_default();
        if status.success() {
            return Ok(printed);
        }
        let complained = complained.join().unwrap_or_default();
        Err(Failure::new(format!("`{shown}` failed ({status})")).output(printed + &complained))
    }

    /// Ends it politely, and by force if it does not listen.
    pub(crate) fn end(&mut self) {
        if !self.ended && !matches!(self.terminate(GRACE), Ok(Some(_))) {
            // It may have ended in this very moment; then there is nothing to kill.
            let _ = self.kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        // What the process itself left running in its group.
        signal_group(self.id(), Signal::KILL);
        self.nursery.forget(self.child.id());
    }
}

/// Reads a pipe to its end on the side, so that a talkative process is never held up.
fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A pipe that breaks has said all it will say.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_process_takes_its_group_along() {
        let nursery = Nursery::open().unwrap();
        let folder = nursery.folder("here").unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo $! > child; wait"]).current_dir(&folder);
        let mut process = nursery.spawn(&mut command).unwrap();
        let file = folder.join("child");
        let child: Pid = loop {
            match std::fs::read_to_string(&file).unwrap_or_default().trim().parse() {
                Ok(pid) => break pid,
                Err(_) => assert!(process.wait(POLL).unwrap().is_none()),
            }
        };
        assert!(godel_engines::signal_process(child, Signal::CONT));
        drop(process);
        drop(nursery);
        assert!(!folder.exists());
        let deadline = Instant::now() + Duration::from_secs(10);
        while runs(child) {
            assert!(Instant::now() < deadline, "the grandchild is still there");
            thread::sleep(POLL);
        }
    }

    /// Whether a process runs; nobody may have waited for the dead one yet.
    fn runs(pid: Pid) -> bool {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => !stat.contains(") Z "),
            Err(_) if cfg!(target_os = "linux") => false,
            Err(_) => godel_engines::signal_process(pid, Signal::CONT),
        }
    }
}
