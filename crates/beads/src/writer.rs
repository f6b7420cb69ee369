//! One thread that writes for many: what arrives while one write is under way is the next write.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::shelf::{Draft, Job, Options, Shelf};
use crate::{Error, Result};

/// The most changes in one write.
const BATCH_MAX: usize = 256;

/// Writes to one shelf for many callers; those who come together share the cost of a write.
#[derive(Debug)]
pub struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// If there is no repository, or no thread can be started.
    pub fn start(at: &Path, options: Options) -> Result<Self> {
        let shelf = Shelf::open_with(at, options)?;
        let (jobs, arriving) = channel();
        let thread = std::thread::Builder::new()
            .name("beads".to_owned())
            .spawn(move || run(shelf, &arriving))
            .map_err(|cause| Error::write(at, cause))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Hands a change over; `done` is called once it is durable or refused.
    ///
    /// The change may run more than once; only its last run counts.
    pub fn submit<T: Send + 'static>(
        &self,
        by: &str,
        work: impl Fn(&mut Draft<'_>) -> Result<T> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let job = Job::new(by, work, done);
        if let Some(jobs) = &self.jobs {
            // The thread only ends with its owner, so there is always somebody to take it.
            jobs.send(job).ok();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Without a sender the thread ends after what was handed over.
        self.jobs.take();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn run(mut shelf: Shelf, arriving: &Receiver<Job>) {
    while let Ok(first) = arriving.recv() {
        let mut jobs = vec![first];
        while jobs.len() < BATCH_MAX
            && let Ok(next) = arriving.try_recv()
        {
            jobs.push(next);
        }
        shelf.write_all(jobs);
    }
}
