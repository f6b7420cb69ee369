//! A container of gVisor: the kernel of one sandbox, from the first command to the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use godel_model::code;
use tokio::process::{Child, Command as Tokio};

use super::family;
use super::record::Record;
use super::room::{Room, Stay};
use crate::error::at;
use crate::{Error, Isolation, Limits, Result, SandboxId};

/// How long a container may take to be there.
const START_MAX: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// What the kernel in user space needs beside what runs in it: it has a thread for each mount, and three
/// for each process.
const KERNEL_TASKS: u64 = 512;
const TASKS_PER_PROCESS: u64 = 3;
const KERNEL_BYTES: u64 = 128 << 20;
/// Where runsc says which process the kernel is.
const KERNEL_FILE: &str = "guest.pid";
/// How much of what runsc says is told.
const SAID_MAX_CHARS: usize = 600;
const INSTALL: &str = "install gVisor's `runsc` (https://gvisor.dev/docs/user_guide/install, or \
                       `apt-get install runsc`), and run Godel as root for this runtime; or use the \
                       runtime `worktree`";

/// The program that runs containers, and where it remembers them.
#[derive(Debug, Clone)]
pub(super) struct Runsc {
    program: PathBuf,
    root: PathBuf,
}

fn unavailable(why: impl std::fmt::Display) -> Error {
    let message = format!("gVisor cannot be used on this machine: {why}");
    Error::refused(code::SANDBOX_UNAVAILABLE, message, INSTALL)
}

/// Sees whether this machine can give an agent a kernel of its own, by running something on one; the runsc on
/// PATH is used unless one is named.
///
/// # Errors
/// If it cannot; the error says what to install.
pub fn can_guest(runsc: Option<&Path>) -> Result<()> {
    let root = std::env::temp_dir().join(format!("godel-gvisor-{}", std::process::id()));
    let runsc = Runsc::find(runsc, super::owner::private_dir(&root)?)?;
    let mut words = runsc.command(&["do", "/bin/sh", "-c", "exit 0"]);
    // It lays a file system of its own over that of the machine, which cannot be shared.
    words.retain(|word| !word.starts_with("--file-access"));
    let mut program = Program::new(&runsc.program);
    let tried = program.args(&words[1..]).stdin(Stdio::null()).env_clear().output();
    // It is in the way of nobody if it stays.
    fs::remove_dir_all(&root).ok();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(unavailable(said(&output))),
        Err(error) => Err(unavailable(error)),
    }
}

impl Runsc {
    /// Finds the program, and tries whether it works.
    pub(super) fn find(wanted: Option<&Path>, root: PathBuf) -> Result<Self> {
        let program = match wanted {
            Some(path) => path.to_owned(),
            None => super::machine::on_path("runsc")
                .ok_or_else(|| unavailable("runsc is not installed"))?,
        };
        if !rustix::process::geteuid().is_root() {
            return Err(unavailable("Godel is not root"));
        }
        let runsc = Self { program, root };
        let tried = runsc.call(&["--version"]);
        match tried {
            Ok(output) if output.status.success() => Ok(runsc),
            Ok(output) => Err(unavailable(said(&output))),
            Err(error) => {
                Err(unavailable(format!("{} cannot be run: {error}", runsc.program.display())))
            }
        }
    }

    /// The words before the subcommand.
    fn words(&self) -> Vec<String> {
        let root = format!("--root={}", self.root.display());
        let fixed = ["--platform=ptrace", "--network=none", "--host-uds=open", "--ignore-cgroups"];
        // Other containers may not change files meanwhile; Godel does, so nothing is cached.
        let files = ["--file-access=shared", "--file-access-mounts=shared"];
        let words = fixed.iter().chain(&files).map(|word| (*word).to_owned());
        words.chain([root]).collect()
    }

    /// The whole command for a subcommand.
    pub(super) fn command(&self, words: &[&str]) -> Vec<String> {
        let program = self.program.display().to_string();
        let rest = words.iter().map(|word| (*word).to_owned());
        [program].into_iter().chain(self.words()).chain(rest).collect()
    }

    fn call(&self, words: &[&str]) -> std::io::Result<Output> {
        let all = self.command(words);
        Program::new(&self.program).args(&all[1..]).stdin(Stdio::null()).env_clear().output()
    }

    /// Calls it for its effect.
    pub(super) fn run(&self, words: &[&str]) -> Result<Vec<u8>> {
        let failed = |cause| Error::Start { program: "runsc".to_owned(), cause };
        let output = self.call(words).map_err(failed)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(failed(std::io::Error::other(format!("{}: {}", words[0], said(&output)))))
    }

    /// Removes whatever is known of a container.
    pub(super) fn delete(&self, id: &str) {
        let _ = self.call(&["delete", "-force", id]);
    }

    fn is_running(&self, id: &str) -> bool {
        let state = self.call(&["state", id]).map(|output| output.stdout).unwrap_or_default();
        let state: serde_json::Value = serde_json::from_slice(&state).unwrap_or_default();
        state["status"] == "running"
    }

    /// How many processes run in a container, the first one included.
    pub(super) fn processes(&self, id: &str) -> Result<usize> {
        let listed = self.run(&["ps", "-format=json", id])?;
        let pids: Vec<u64> = serde_json::from_slice(&listed).unwrap_or_default();
        Ok(pids.len())
    }
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.trim().chars().take(SAID_MAX_CHARS).collect()
}

/// Returns the name of a sandbox's container.
pub(super) fn name(id: SandboxId) -> String {
    format!("godel-{id}")
}

/// Returns what all processes of a sandbox may use as this machine counts them: with the kernel, if it
/// has one of its own.
pub(super) fn ceilings(record: &Record) -> Limits {
    let limits = record.spec.limits.clone();
    if record.sandbox.isolation != Isolation::UserspaceKernel {
        return limits;
    }
    Limits {
        processes: limits.processes.saturating_mul(TASKS_PER_PROCESS).saturating_add(KERNEL_TASKS),
        memory_bytes: limits.memory_bytes.saturating_add(KERNEL_BYTES),
        ..limits
    }
}

/// A container that was started.
#[derive(Debug)]
pub(super) struct Guest {
    /// The process that is its kernel.
    kernel: Option<u32>,
    gone: Arc<AtomicBool>,
    end: Arc<tokio::sync::Notify>,
}

impl Guest {
    /// Waits until a container is there; its first process ends with Godel.
    pub(super) async fn await_start(
        runsc: &Runsc,
        room: &Arc<Room>,
        mut child: Child,
        stay: Stay,
    ) -> Result<(Self, impl Future<Output = ()> + Send + use<>)> {
        let id = name(room.id);
        let start = Instant::now();
        loop {
            let (asked, wanted) = (runsc.clone(), id.clone());
            let running = tokio::task::spawn_blocking(move || asked.is_running(&wanted)).await;
            if running.unwrap_or(false) {
                break;
            }
            let ended = child.try_wait().is_ok_and(|status| status.is_some());
            if ended || start.elapsed() > START_MAX {
                let log = fs::read_to_string(room.state.join("guest.log")).unwrap_or_default();
                let log: String = log.chars().take(SAID_MAX_CHARS).collect();
                let cause = std::io::Error::other(format!("the container is not there: {log}"));
                return Err(Error::Start { program: "runsc".to_owned(), cause });
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let (gone, end) = (Arc::new(AtomicBool::new(false)), Arc::new(tokio::sync::Notify::new()));
        let kernel = fs::read_to_string(room.state.join(KERNEL_FILE)).unwrap_or_default();
        let kernel = kernel.trim().parse().ok();
        let guest = Self { kernel, gone: Arc::clone(&gone), end: Arc::clone(&end) };
        let watch = async move {
            tokio::select! {
                _ = child.wait() => {}
                () = end.notified() => {
                    let _ = child.kill().await;
                }
            }
            gone.store(true, Ordering::SeqCst);
            drop(stay);
        };
        Ok((guest, watch))
    }

    /// Whether it has ended: runsc takes a while to notice that a limit has ended the kernel.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::SeqCst) || self.kernel.is_some_and(family::is_over)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.end.notify_one();
    }
}

/// Prepares the start of a container, or its coming back from a checkpoint.
pub(super) fn start(mut tokio: Tokio, runsc: &Runsc, room: &Room) -> Result<Tokio> {
    let (bundle, image) = (room.state.join("bundle"), room.state.join("image"));
    let (bundle, image) = (bundle.display().to_string(), image.display().to_string());
    let id = name(room.id);
    let back = room.state.join("image/checkpoint.img").is_file();
    let kernel = room.state.join(KERNEL_FILE);
    let _ = fs::remove_file(&kernel);
    let kernel = format!("-pid-file={}", kernel.display());
    let words = match back {
        true => {
            runsc.command(&["restore", &kernel, "-bundle", &bundle, "-image-path", &image, &id])
        }
        false => runsc.command(&["run", &kernel, "-bundle", &bundle, &id]),
    };
    let path = room.state.join("guest.log");
    let log = fs::File::create(&path).map_err(at(&path, "made"))?;
    let other = log.try_clone().map_err(at(&path, "made"))?;
    tokio.args(words).env_clear().current_dir("/").kill_on_drop(true);
    tokio.stdin(Stdio::null()).stdout(log).stderr(other);
    Ok(tokio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_its_own_is_tried_where_there_is_one_and_missing_ones_are_named() {
        let root = rustix::process::geteuid().is_root();
        let error = can_guest(Some(Path::new("/nowhere/runsc"))).unwrap_err().to_string();
        let why = if root { "/nowhere/runsc cannot be run" } else { "Godel is not root" };
        assert!(error.contains(why), "{error}");
        if root && super::super::machine::on_path("runsc").is_some() {
            can_guest(None).unwrap();
        }
    }
}
