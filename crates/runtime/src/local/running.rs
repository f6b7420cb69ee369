//! One process of a sandbox while it runs.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rustix::process::Signal;
use tokio::process::Child;
use tokio::sync::{Notify, watch};

use super::family;
use crate::{Control, Exit, Limit, Result};

/// What bubblewrap and shells add to the number of a signal.
/// How long one waits for the number of a process in a container.
const PID_TRIES: u32 = 500;
const PID_WAIT: Duration = Duration::from_millis(20);
const SIGNAL_CODES: std::ops::RangeInclusive<i32> = 129..=159;

/// What runsc says if the container is gone.
const LOST: i32 = 128;

/// A process in a container.
#[derive(Debug)]
pub(super) struct GuestProcess {
    /// The command that ends the processes of a session, but for its number.
    pub(super) reap: Vec<String>,
    /// The command that sends a signal, but for the number of the process, the container and the signal.
    pub(super) kill: Vec<String>,
    /// The container.
    pub(super) container: String,
    /// Where runsc writes the number of the process.
    pub(super) pid_file: PathBuf,
    /// Where runsc reads what to start.
    pub(super) pipe: PathBuf,
}

impl GuestProcess {
    /// Ends the process and what it has started, in the background.
    pub(super) fn reap(&self) {
        self.call(self.reap.clone(), Vec::new());
    }

    /// Sends a signal to the process, in the background.
    pub(super) fn signal(&self, signal: Signal) {
        let number = signal.as_raw().to_string();
        self.call(self.kill.clone(), vec![self.container.clone(), number]);
    }

    /// Returns what ends everything that the process has left behind; it takes a while.
    pub(super) fn clear(&self) -> impl FnOnce() + Send + use<> {
        let (words, path) = (self.reap.clone(), self.pid_file.clone());
        move || {
            // If there is no number the process has never been.
            let pid = std::fs::read_to_string(&path).unwrap_or_default();
            if !pid.trim().is_empty() {
                run(&words, pid.trim(), &[]);
            }
            let _ = std::fs::remove_file(&path);
        }
    }

    /// Runs a command with the number of the process, as soon as that is known.
    fn call(&self, words: Vec<String>, rest: Vec<String>) {
        let path = self.pid_file.clone();
        // A thread of its own: this is called where nothing may wait.
        let _ = std::thread::Builder::new().name("godel-guest".to_owned()).spawn(move || {
            for _ in 0..PID_TRIES {
                let pid = std::fs::read_to_string(&path).unwrap_or_default();
                if !pid.trim().is_empty() {
                    return run(&words, pid.trim(), &rest);
                }
                std::thread::sleep(PID_WAIT);
            }
        });
    }
}

fn run(words: &[String], pid: &str, rest: &[String]) {
    let mut command = std::process::Command::new(&words[0]);
    command.args(&words[1..]).arg(pid).args(rest).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status();
}

/// One process of a sandbox while it runs.
#[derive(Debug)]
pub(super) struct Running {
    /// The process that Godel started.
    pub(super) pid: u32,
    /// Whether bubblewrap is between Godel and the program.
    pub(super) walled: bool,
    /// The process in a container that this one stands for.
    pub(super) guest: Option<GuestProcess>,
    exit: watch::Sender<Option<Exit>>,
    limit: Mutex<Option<Limit>>,
    end: Notify,
}

impl Running {
    pub(super) fn new(pid: u32, walled: bool) -> Self {
        let (exit, _) = watch::channel(None);
        Self { pid, walled, guest: None, exit, limit: Mutex::new(None), end: Notify::new() }
    }

    /// Waits for the process, and ends it when it is told to or its time is over.
    pub(super) async fn attend(
        &self,
        mut child: Child,
        time: Duration,
        late: impl FnOnce(),
        starved: impl FnOnce() -> bool,
    ) {
        let mut out_of_time = std::pin::pin!(tokio::time::sleep(time));
        let mut late = Some(late);
        let status = loop {
            tokio::select! {
                status = child.wait() => break status,
                () = self.end.notified() => self.strike(&mut child),
                () = &mut out_of_time, if late.is_some() => {
                    self.blame(Limit::Time);
                    if let Some(late) = late.take() {
                        late();
                    }
                    self.strike(&mut child);
                }
            }
        };
        let limit = *self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        let exit = match (limit, status) {
            (Some(limit), _) => Exit::Limit { limit },
            (None, Ok(status)) => match self.exit_of(status) {
                Exit::Signal { signal } if signal == Signal::KILL.as_raw() && starved() => {
                    Exit::Limit { limit: Limit::Memory }
                }
                exit => exit,
            },
            (None, Err(_)) => Exit::Signal { signal: Signal::KILL.as_raw() },
        };
        self.exit.send_replace(Some(exit));
    }

    fn exit_of(&self, status: ExitStatus) -> Exit {
        match (status.code(), status.signal()) {
            // The container itself is gone.
            (Some(LOST), _) if self.guest.is_some() => {
                Exit::Signal { signal: Signal::KILL.as_raw() }
            }
            (Some(code), _) if self.walled && SIGNAL_CODES.contains(&code) => {
                Exit::Signal { signal: code - 128 }
            }
            (Some(code), _) => Exit::Code { code },
            (None, signal) => Exit::Signal { signal: signal.unwrap_or(Signal::KILL.as_raw()) },
        }
    }

    fn strike(&self, child: &mut Child) {
        if let Some(guest) = &self.guest {
            guest.reap();
            return;
        }
        // The family first: once its head is gone nobody can tell who belonged to it.
        family::signal(self.pid, &family::descendants(self.pid), Signal::KILL);
        let _ = child.start_kill();
    }

    /// Says which limit it is that ends the process; the first counts.
    pub(super) fn blame(&self, limit: Limit) {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(limit);
    }

    /// Ends the process and its children now.
    pub(super) fn end(&self) {
        self.end.notify_one();
    }

    /// Tells how it ended, if it has.
    pub(super) fn ended(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for the end.
    pub(super) async fn wait(&self) -> Exit {
        let mut news = self.exit.subscribe();
        match news.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Signal { signal: Signal::KILL.as_raw() }),
            Err(_) => Exit::Signal { signal: Signal::KILL.as_raw() },
        }
    }

    /// Asks the processes to end, and ends them when the grace is over.
    pub(super) async fn kill(&self, grace: Duration) {
        if self.ended().is_some() {
            return;
        }
        if !grace.is_zero() {
            self.signal(Signal::TERM);
            if tokio::time::timeout(grace, self.wait()).await.is_ok() {
                return;
            }
        }
        self.end();
        self.wait().await;
    }

    /// Tells whether all processes of the program were stopped.
    pub(super) fn stands_still(&self) -> bool {
        let family = family::descendants(self.pid);
        let own = (!self.walled).then_some(self.pid);
        let mut working = family.into_iter().chain(own).filter(|pid| !family::is_helper(*pid));
        // The first process of a namespace only waits; it cannot be stopped from inside or outside.
        working.all(|pid| family::is_stopped(pid) || family::is_first(pid))
    }

    /// Sends a signal to the processes of the program.
    pub(super) fn signal(&self, signal: Signal) {
        let mut family = family::descendants(self.pid);
        // The way out stays open while a program says goodbye.
        family.retain(|pid| !family::is_helper(*pid));
        if let Some(guest) = &self.guest {
            guest.signal(signal);
            return;
        }
        if !self.walled {
            let own = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
            if let (Some(own), None) = (own, self.ended()) {
                let _ = rustix::process::kill_process(own, signal);
            }
        }
        family::signal(self.pid, &family, signal);
    }
}

/// What a caller holds of a process; when the last one lets go, the process ends.
#[derive(Debug)]
pub(super) struct Handle(pub(super) Arc<Running>);

#[async_trait]
impl Control for Handle {
    async fn wait(&self) -> Result<Exit> {
        Ok(self.0.wait().await)
    }

    async fn kill(&self, grace: Duration) -> Result<()> {
        self.0.kill(grace).await;
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.end();
    }
}
