//! Runs the setup script of a worktree: for a limited time, with a limited memory of what it says.

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Error, Result};
use crate::git::isolate;

/// How much of the output is kept: its end.
const OUTPUT_MAX_BYTES: usize = 64 * 1024;
const LOOK_EVERY_NANOS: i64 = 50_000_000;
/// How long the script may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// A script and its limits.
pub(crate) struct Setup<'a> {
    pub(crate) script: &'a str,
    pub(crate) tree: &'a Path,
    pub(crate) variables: Vec<(&'static str, String)>,
    pub(crate) timeout: Duration,
    pub(crate) stop: &'a AtomicBool,
}

/// How a script ended.
pub(crate) struct Ran {
    /// What is wrong; nothing if all is well.
    pub(crate) failure: Option<String>,
    /// The end of what it wrote.
    pub(crate) output: String,
}

/// Runs a script to its end, or to its limit.
pub(crate) fn run(setup: &Setup<'_>) -> Result<Ran> {
    let fail = |cause| Error::file(setup.tree, "set up", cause);
    let (reader, writer) = io::pipe().map_err(fail)?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(setup.script).current_dir(setup.tree);
    isolate(&mut command);
    for (name, _) in std::env::vars_os() {
        // A key for the server is not the script's business.
        if name.as_encoded_bytes().starts_with(b"GODEL_") {
            command.env_remove(name);
        }
    }
    command.envs(setup.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).process_group(0);
    command.stdout(writer.try_clone().map_err(fail)?).stderr(writer);
    let mut child = command.spawn().map_err(fail)?;
    // The command holds the writing ends; with them open here, the pipe would never end.
    drop(command);
    let followed = follow(setup, &mut child, reader);
    if !matches!(followed, Ok((_, None))) {
        end(&mut child);
    }
    let (output, cut) = followed.map_err(fail)?;
    let status = child.wait().map_err(fail)?;
    let failure = cut.or_else(|| (!status.success()).then(|| ended(status)));
    let (first, second) = output.as_slices();
    let output = String::from_utf8_lossy(&[first, second].concat()).into_owned();
    Ok(Ran { failure, output })
}

fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => format!("ended: {status}"),
    }
}

/// Reads what the script says until it has ended. A daemon that it leaves behind may keep the pipe
/// open, so the end of the pipe is not waited for.
fn follow(
    setup: &Setup<'_>,
    child: &mut Child,
    mut reader: io::PipeReader,
) -> io::Result<(VecDeque<u8>, Option<String>)> {
    let start = Instant::now();
    let mut output = VecDeque::new();
    let mut open = true;
    loop {
        let over = child.try_wait()?.is_some();
        let pause = Timespec { tv_sec: 0, tv_nsec: if over { 0 } else { LOOK_EVERY_NANOS } };
        let mut fds = [PollFd::new(&reader, PollFlags::IN)];
        let ready = poll(if open { &mut fds } else { &mut [] }, Some(&pause));
        let ready = matches!(ready, Ok(count) if count > 0);
        if ready {
            let mut buffer = [0; 8_192];
            let count = reader.read(&mut buffer)?;
            open = count > 0;
            output.extend(&buffer[..count]);
            let surplus = output.len().saturating_sub(OUTPUT_MAX_BYTES);
            output.drain(..surplus);
        }
        if over && !(ready && open) {
            return Ok((output, None));
        }
        if setup.stop.load(Ordering::Relaxed) {
            return Ok((output, Some("was interrupted".to_owned())));
        }
        if start.elapsed() > setup.timeout {
            let limit = setup.timeout.as_secs();
            return Ok((output, Some(format!("took longer than {limit} s and was ended"))));
        }
    }
}

/// Ends the script and all that it started: first politely, then not.
fn end(child: &mut Child) {
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return;
    };
    let start = Instant::now();
    kill_process_group(group, Signal::TERM).ok();
    while start.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process_group(group, Signal::KILL).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(script: &str, timeout: Duration) -> (Ran, Duration) {
        let home = tempfile::tempdir().unwrap();
        let variables = vec![("GODEL_PORT_BASE", "20000".to_owned())];
        let stop = AtomicBool::new(false);
        let setup = Setup { script, tree: home.path(), variables, timeout, stop: &stop };
        let start = Instant::now();
        (run(&setup).unwrap(), start.elapsed())
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn a_script_is_heard_and_its_failure_told() {
        let (good, _) = ran("echo out; echo err >&2; echo $GODEL_PORT_BASE", LONG);
        assert_eq!((good.failure, good.output.as_str()), (None, "out\nerr\n20000\n"));
        let (bad, _) = ran("echo no; exit 3", LONG);
        assert_eq!(bad.failure.as_deref(), Some("ended with exit code 3"));
        assert_eq!(bad.output, "no\n");
    }

    #[test]
    fn a_script_that_hangs_is_ended_with_its_children() {
        let (hung, took) = ran("echo begun; sleep 60 & sleep 60", Duration::from_millis(200));
        assert!(hung.failure.unwrap().contains("took longer"));
        assert_eq!(hung.output, "begun\n");
        assert!(took < Duration::from_secs(10), "{took:?}");
    }

    #[test]
    fn a_daemon_that_is_left_behind_does_not_hold_the_setup() {
        let (done, took) = ran("sleep 5 & echo done", LONG);
        assert_eq!((done.failure, done.output.as_str()), (None, "done\n"));
        assert!(took < Duration::from_secs(4), "{took:?}");
    }

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let (done, _) = ran("yes | head -c 1000000; echo last", LONG);
        assert_eq!(done.output.len(), OUTPUT_MAX_BYTES);
        assert!(done.output.ends_with("last\n"));
    }
}
