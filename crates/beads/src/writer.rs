//! One thread that writes for many: what arrives while one write is under way is the next write.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::shelf::{Draft, Job, Options, Shelf};
use crate::{Error, Result};

/// The most changes in one write.
const BATCH_MAX: usize = 256;

/// After how many writes it is looked whether upkeep is due.
const LOOK_EVERY: u32 = 16;

/// The longest that a write waits for callers who were just answered.
const GATHER_MAX: Duration = Duration::from_millis(2);

/// Writes to one shelf for many callers; those who come together share the cost of a write.
///
/// It also puts packs together when there are many, beside the writes.
#[derive(Debug)]
pub struct Writer {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Writer {
    /// Starts the threads.
    ///
    /// # Errors
    /// If there is no repository, or no thread can be started.
    pub fn start(at: &Path, options: Options) -> Result<Self> {
        let shelf = Shelf::open_with(at, options.clone())?;
        let upkeep = Shelf::open_with(at, options)?;
        let (jobs, arriving) = channel();
        // One call that waits is enough, whoever else calls meanwhile.
        let (call, called) = sync_channel(1);
        let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(body);
            thread.map_err(|cause| Error::write(at, cause))
        };
        let threads = vec![
            spawn("beads", Box::new(move || run(shelf, &arriving, &call)))?,
            spawn("beads-upkeep", Box::new(move || keep_up(upkeep, &called)))?,
        ];
        Ok(Self { jobs: Some(jobs), threads })
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
        // Without a sender the thread ends after what was handed over, and the other with it.
        self.jobs.take();
        for thread in self.threads.drain(..) {
            thread.join().ok();
        }
    }
}

fn run(mut shelf: Shelf, arriving: &Receiver<Job>, call: &SyncSender<()>) {
    let (mut last, mut took) = (0, Duration::ZERO);
    let mut writes = 0_u32;
    while let Ok(first) = arriving.recv() {
        let jobs = gather(first, arriving, last, took / 8);
        last = jobs.len();
        let begun = Instant::now();
        shelf.write_all(jobs);
        took = begun.elapsed();
        writes = writes.wrapping_add(1);
        if writes.is_multiple_of(LOOK_EVERY) && shelf.upkeep_due() {
            // It may be at it already.
            call.try_send(()).ok();
        }
    }
}

/// Takes what is there. Callers who were answered together come back together, but not at the same
/// moment: without some patience the first of them would get a write of its own.
fn gather(first: Job, arriving: &Receiver<Job>, last: usize, patience: Duration) -> Vec<Job> {
    let mut jobs = vec![first];
    let until = Instant::now() + patience.min(GATHER_MAX);
    while jobs.len() < BATCH_MAX {
        let next = match arriving.try_recv() {
            Ok(next) => Some(next),
            Err(_) if jobs.len() < last => {
                arriving.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
            }
            Err(_) => None,
        };
        let Some(next) = next else { break };
        jobs.push(next);
    }
    jobs
}

/// Puts packs together each time it is called.
fn keep_up(mut shelf: Shelf, called: &Receiver<()>) {
    while called.recv().is_ok() {
        if let Err(error) = shelf.maintain() {
            tracing::warn!(%error, "the packs of beads could not be put together");
        }
    }
}
