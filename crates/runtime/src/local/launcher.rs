//! Starts processes from one thread that lives as long as the provider.
//!
//! A process can be told to end when its parent ends, but the kernel means the parent's thread. Threads
//! of an async runtime come and go.

use std::io;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct Job {
    command: Command,
    handle: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

/// The thread that starts processes; they end with it.
#[derive(Debug)]
pub(super) struct Launcher {
    jobs: mpsc::Sender<Job>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Job")
    }
}

impl Launcher {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        std::thread::Builder::new().name("godel-launcher".to_owned()).spawn(move || {
            for mut job in queue {
                let _entered = job.handle.enter();
                // Who asked may have gone away; then the child is ended as it is dropped.
                let _ = job.reply.send(job.command.spawn());
            }
        })?;
        Ok(Self { jobs })
    }

    /// Starts a process.
    pub(super) async fn spawn(&self, command: Command) -> io::Result<Child> {
        let gone = || io::Error::other("the thread that starts processes is gone");
        let (reply, answer) = oneshot::channel();
        let job = Job { command, handle: Handle::current(), reply };
        self.jobs.send(job).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}
