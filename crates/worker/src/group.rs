//! The processes of one attempt: a command and all that it started.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use godel_api::GivenTask;
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

/// How long a command has to clean up before it is killed.
pub(crate) const CLEAN_UP: Duration = Duration::from_secs(10);
/// How often it is looked whether all have ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What no command gets to see: keys, tokens and addresses with passwords begin like this.
const HIDDEN: &[u8] = b"GODEL_";

/// The command that does tasks.
#[derive(Debug)]
pub struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    hidden: Vec<OsString>,
}

impl Program {
    /// Takes a command line; `None` if it is empty.
    pub fn new(command: Vec<OsString>) -> Option<Self> {
        let mut words = command.into_iter();
        let name = words.next()?;
        let hidden = std::env::vars_os().map(|(name, _)| name).filter(is_hidden).collect();
        Some(Self { name, arguments: words.collect(), hidden })
    }

    /// Returns what people call it.
    pub fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    /// Tells whether it is there and may be run; only then tasks are taken.
    pub fn is_there(&self) -> bool {
        let runs = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
        if self.name.as_bytes().contains(&b'/') {
            return runs(Path::new(&self.name));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found: Option<PathBuf> = std::env::split_paths(&path)
            .map(|folder| folder.join(&self.name))
            .find(|one| runs(one));
        found.is_some()
    }

    /// Starts it for a task, in a group of its own.
    pub(crate) fn start(&self, worker: Uuid, task: &GivenTask) -> io::Result<(Child, Group)> {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in &self.hidden {
            command.env_remove(name);
        }
        command
            .env("GODEL_TASK_ID", task.id.to_string())
            .env("GODEL_TASK_ATTEMPT", task.attempt.to_string())
            .env("GODEL_TASK_TITLE", &task.title)
            .env("GODEL_TASK_POOL", &task.pool)
            .env("GODEL_TASK_PRIORITY", &task.priority)
            .env("GODEL_WORKER_ID", worker.to_string());
        let child = command.spawn()?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        Ok((child, Group(pid)))
    }
}

fn is_hidden(name: &OsString) -> bool {
    name.as_bytes().starts_with(HIDDEN)
}

/// The group of a command; what is left of it is killed with this value.
#[derive(Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // It may have ended already.
            kill_process_group(pid, signal).ok();
        }
    }

    fn is_there(&self) -> bool {
        self.0.is_some_and(|pid| test_kill_process_group(pid).is_ok())
    }

    /// Kills what is left.
    pub(crate) fn sweep(&self) {
        self.signal(Signal::KILL);
    }

    /// Asks all of them to end, and kills those that have not done so in time.
    pub(crate) async fn end(&self, child: &mut Child) -> Option<ExitStatus> {
        self.signal(Signal::TERM);
        let until = Instant::now() + CLEAN_UP;
        let ended = timeout(CLEAN_UP, child.wait()).await;
        while self.is_there() && Instant::now() < until {
            sleep(LOOK_EVERY).await;
        }
        self.sweep();
        match ended {
            Ok(status) => status.ok(),
            Err(_) => child.wait().await.ok(),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.sweep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &[&str]) -> Program {
        Program::new(words.iter().map(OsString::from).collect()).unwrap()
    }

    #[test]
    fn a_command_must_be_there() {
        assert!(program(&["sh", "-c", "true"]).is_there());
        assert!(program(&["/bin/sh"]).is_there());
        for missing in ["no-such-program", "/nowhere/sh", "/", "", "./sh"] {
            assert!(!program(&[missing]).is_there(), "{missing}");
        }
        assert!(Program::new(Vec::new()).is_none());
    }

    #[test]
    fn what_begins_like_ours_is_hidden() {
        assert!(is_hidden(&"GODEL_KEY".into()) && is_hidden(&"GODEL_DATABASE_URL".into()));
        assert!(!is_hidden(&"PATH".into()) && !is_hidden(&"MY_GODEL_KEY".into()));
    }
}
