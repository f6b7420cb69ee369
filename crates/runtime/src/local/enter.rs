//! The helper: the same binary, started again around and inside of the walls.
//!
//! Rust has no safe code between fork and exec, so each step is a program of its own that does its
//! part and then becomes the next.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};

use super::plan::{Ceilings, First, Inner, Outer};
use super::{family, fence, relay, seccomp};

/// The exit code if a program could not be started; what a shell says too.
pub const NOT_STARTED: u8 = 127;
/// The exit code if a wall could not be raised.
pub const NO_WALL: u8 = 126;

/// How often the first process of a container looks for orphans that have ended.
const ORPHANS_EVERY: std::time::Duration = std::time::Duration::from_millis(100);

/// Why a step of the helper failed.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}")]
pub struct Stop {
    /// The exit code that says so.
    pub code: u8,
    what: &'static str,
    why: String,
}

fn stop(code: u8, what: &'static str, why: impl ToString) -> Stop {
    Stop { code, what, why: why.to_string() }
}

fn owner_gone(why: impl ToString) -> Stop {
    stop(NO_WALL, "the owner of the sandbox is gone", why)
}

/// Does one step of the helper: the hidden subcommand of the binary hands its arguments here.
///
/// It returns only if the step is over or failed. It must be called while the process has one thread.
///
/// # Errors
/// If a step fails; then nothing runs.
pub fn enter(arguments: &[String]) -> Result<(), Stop> {
    let misused =
        || stop(NO_WALL, "the helper of sandboxes was called wrongly", "see `godel agent`");
    let (step, rest) = arguments.split_first().ok_or_else(misused)?;
    let (plan, command) = rest.split_first().ok_or_else(misused)?;
    let unreadable =
        |error: serde_json::Error| stop(NO_WALL, "the plan of a sandbox cannot be read", error);
    match step.as_str() {
        "outer" => outer(&serde_json::from_str(plan).map_err(unreadable)?, command),
        "inner" => inner(&serde_json::from_str(plan).map_err(unreadable)?, command),
        "first" => first(&serde_json::from_str(plan).map_err(unreadable)?),
        "reap" => {
            family::reap(plan.parse().map_err(|_| misused())?);
            Ok(())
        }
        "inlet" => relay::let_in(plan.parse().map_err(|_| misused())?)
            .map_err(|error| stop(NO_WALL, "the way into a sandbox failed", error)),
        "relay" => relay::serve(plan.as_ref())
            .map_err(|error| stop(NO_WALL, "the way out of a sandbox failed", error)),
        _ => Err(misused()),
    }
}

/// Joins control groups, then becomes bubblewrap or the program.
fn outer(plan: &Outer, command: &[String]) -> Result<(), Stop> {
    // Before anything can be started that would outlive its owner.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| stop(NO_WALL, "the end of the owner would not be noticed", error))?;
    // It may have ended before that was asked for; then nobody would ever tell.
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if plan.owner.is_some_and(|owner| u32::try_from(parent) != Ok(owner)) {
        return Err(owner_gone("another process is the parent"));
    }
    for group in &plan.groups {
        std::fs::write(group, "0")
            .map_err(|error| stop(NO_WALL, "a limit cannot be set", error))?;
    }
    if let Some(ceilings) = &plan.ceilings {
        limit(ceilings)?;
    }
    if plan.terminal {
        own_terminal()?;
    }
    become_program(command, None, None)
}

/// Raises the inner walls, opens the ways out, then becomes the program.
fn inner(plan: &Inner, command: &[String]) -> Result<(), Stop> {
    if let Some(lock) = &plan.owner {
        see_owner(lock)?;
    }
    limit(&plan.ceilings)?;
    let listeners = plan.relays.iter().map(|relay| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, relay.port));
        listener.map(|listener| (listener, relay))
    });
    let listeners: Vec<_> = listeners
        .collect::<io::Result<_>>()
        .map_err(|error| stop(NO_WALL, "the way out of the sandbox cannot be opened", error))?;
    // The relays are inside of the walls too: they run as the agent, who could take them over.
    fence::raise(&plan.writable)
        .map_err(|error| stop(NO_WALL, "the fence around files cannot be raised", error))?;
    let filters =
        seccomp::filters().map_err(|error| stop(NO_WALL, "there is no filter of calls", error))?;
    for filter in &filters {
        seccompiler::apply_filter(filter)
            .map_err(|error| stop(NO_WALL, "the filter of calls cannot be set", error))?;
    }
    for (listener, relay) in listeners {
        let input = Stdio::from(std::os::fd::OwnedFd::from(listener));
        start(input, ["relay", &relay.socket.to_string_lossy()], plan.user)?;
    }
    if let Some(port) = plan.serves {
        let port = port.to_string();
        start(Stdio::inherit(), ["inlet", &port], plan.user)?;
    }
    if plan.terminal {
        // After the relays: what is typed to interrupt the program must not end them.
        own_terminal()?;
    }
    // Where others come in is the inlet's alone.
    let input = plan.serves.map(|_| Stdio::null());
    become_program(command, plan.user, input)
}

/// Sees that the owner still lives, by the lock that it holds.
///
/// Bubblewrap asks to end with its owner only when the walls stand. An owner that died before that
/// would never be missed by what begins now.
fn see_owner(lock: &Path) -> Result<(), Stop> {
    let file = std::fs::File::open(lock).map_err(owner_gone)?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Ok(()),
        Ok(()) => Err(owner_gone("nobody holds its lock")),
        Err(error) => Err(owner_gone(error)),
    }
}

/// Is the first process of a container: it serves the ways out, and does not end.
fn first(plan: &First) -> Result<(), Stop> {
    let failed = |error| stop(NO_WALL, "the way out of the sandbox failed", error);
    let filters =
        seccomp::filters().map_err(|error| stop(NO_WALL, "there is no filter of calls", error))?;
    for filter in &filters {
        seccompiler::apply_filter(filter)
            .map_err(|error| stop(NO_WALL, "the filter of calls cannot be set", error))?;
    }
    // Processes that have lost their parent are this one's, and must not stay when they have ended.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let ended = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
                if !matches!(ended, Ok(Some(_))) {
                    std::thread::sleep(ORPHANS_EVERY);
                }
            }
        });
        relay::serve_all(&plan.relays).map_err(failed)
    })
}

/// Makes the input the terminal of a session of its own, so that keys become signals.
fn own_terminal() -> Result<(), Stop> {
    let failed = |error| stop(NO_WALL, "the terminal cannot be had", error);
    rustix::process::setsid().map_err(failed)?;
    rustix::process::ioctl_tiocsctty(io::stdin()).map_err(failed)
}

/// Starts a relay with its listener as its input, so that it listens before the program starts.
fn start(input: Stdio, step: [&str; 2], user: Option<u32>) -> Result<(), Stop> {
    let failed = |error: io::Error| stop(NO_WALL, "the way out of the sandbox failed", error);
    let own = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(own);
    command.args(helper_arguments()).args(step).env_clear();
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    as_user(&mut command, user);
    command.spawn().map(drop).map_err(failed)
}

/// Returns what stands between the name of this program and the step.
fn helper_arguments() -> Vec<String> {
    let words = std::env::args().skip(1);
    words
        .take_while(|word| {
            !matches!(word.as_str(), "outer" | "inner" | "relay" | "inlet" | "first" | "reap")
        })
        .collect()
}

fn become_program(command: &[String], user: Option<u32>, input: Option<Stdio>) -> Result<(), Stop> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(stop(NOT_STARTED, "there is no program to run", "name one"));
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(input) = input {
        command.stdin(input);
    }
    as_user(&mut command, user);
    let error = command.exec();
    Err(Stop {
        code: NOT_STARTED,
        what: "could not be started",
        why: format!("{program}: {error}"),
    })
}

fn as_user(command: &mut Command, user: Option<u32>) {
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
}

fn limit(ceilings: &Ceilings) -> Result<(), Stop> {
    let wanted = [
        (Resource::Core, Some(0)),
        (Resource::Nproc, ceilings.processes),
        (Resource::Nofile, ceilings.open_files),
        (Resource::Fsize, ceilings.file_bytes),
        (Resource::Data, ceilings.memory_bytes),
    ];
    for (resource, most) in wanted {
        let Some(most) = most else { continue };
        // Who is not root cannot have more than there is.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |all| all.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            .map_err(|error| stop(NO_WALL, "a limit cannot be set", error))?;
    }
    Ok(())
}
