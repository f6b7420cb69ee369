//! The write path: one lock, one pack, one move of the branch, for one change or for many.

use std::sync::{Arc, Mutex};

use gix::ObjectId;

use super::batch::{Batch, Finished};
use super::{Draft, FORMAT, Shelf, Tip};
use crate::git::{Lock, Reference, STATE, fault};
use crate::{Error, Result};

/// How often a batch is made anew because git itself moved the branch meanwhile.
const ATTEMPTS: u32 = 20;

type Work = Box<dyn Fn(&mut Draft<'_>) -> Result<()> + Send>;
type Done = Box<dyn FnOnce(Result<()>) + Send>;

/// A change that waits to be made together with others.
pub struct Job {
    pub(super) by: String,
    pub(super) work: Work,
    done: Done,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("by", &self.by).finish_non_exhaustive()
    }
}

impl Job {
    /// Makes a job out of a change and what to do with its result once that is durable.
    ///
    /// The change may run more than once; only its last run counts.
    pub fn new<T: Send + 'static>(
        by: &str,
        work: impl Fn(&mut Draft<'_>) -> Result<T> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Self {
        let slot = Arc::new(Mutex::new(None));
        let filled = Arc::clone(&slot);
        let work = Box::new(move |draft: &mut Draft<'_>| {
            let result = work(draft)?;
            if let Ok(mut slot) = filled.lock() {
                *slot = Some(result);
            }
            Ok(())
        });
        let done = Box::new(move |outcome: Result<()>| {
            let result = slot.lock().ok().and_then(|mut slot| slot.take());
            done(outcome.and_then(|()| result.ok_or(Error::Lost("a change without a result"))));
        });
        Self { by: by.to_owned(), work, done }
    }
}

/// What a batch begins with.
pub(super) struct Begun {
    pub(super) tip: Option<Tip>,
    /// Where the branch itself is; in a fresh clone it is not there yet.
    pub(super) expected: Option<ObjectId>,
}

impl Shelf {
    /// Makes one change: all of it is durable when this returns, or nothing of it is.
    ///
    /// The change may run more than once; only its last run counts.
    ///
    /// # Errors
    /// What the change itself says, or if the repository cannot be written.
    pub fn write<T: Send + 'static>(
        &mut self,
        by: &str,
        work: impl Fn(&mut Draft<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let slot = Arc::new(Mutex::new(None));
        let filled = Arc::clone(&slot);
        let done = move |result| {
            if let Ok(mut slot) = filled.lock() {
                *slot = Some(result);
            }
        };
        self.write_all(vec![Job::new(by, work, done)]);
        slot.lock()
            .ok()
            .and_then(|mut slot| slot.take())
            .unwrap_or(Err(Error::Lost("a change without an outcome")))
    }

    /// Makes many changes with the cost of one; each is told of its own outcome.
    pub fn write_all(&mut self, jobs: Vec<Job>) {
        let outcomes = self.run(&jobs);
        if outcomes.is_err() {
            self.known = None;
            if let Some(index) = &self.index {
                index.rollback();
            }
        }
        match outcomes {
            Ok(outcomes) => {
                jobs.into_iter().zip(outcomes).for_each(|(job, outcome)| (job.done)(outcome));
            }
            Err(error) => jobs.into_iter().for_each(|job| (job.done)(Err(error.clone()))),
        }
    }

    fn run(&mut self, jobs: &[Job]) -> Result<Vec<Result<()>>> {
        let lock = self.lock()?;
        self.heal_merge()?;
        for _ in 0..ATTEMPTS {
            if let Some(outcomes) = self.attempt(jobs)? {
                drop(lock);
                return Ok(outcomes);
            }
            // git moved the branch, by a push from another clone perhaps.
            self.known = None;
            self.opened()?.rollback();
        }
        Err(Error::Busy { lock: self.place.common.join(STATE) })
    }

    /// Waits for the turn to write.
    pub(crate) fn lock(&mut self) -> Result<Lock> {
        let inner = self.place.inner();
        let failed = |cause| Error::write(&inner, cause);
        self.options.disk.make_dir(&inner).map_err(failed)?;
        let lock = Lock::take(&inner.join("lock"))?;
        fault("locked");
        Ok(lock)
    }

    /// Runs all jobs on what the branch is at now; `None` if it moved before they were done.
    fn attempt(&mut self, jobs: &[Job]) -> Result<Option<Vec<Result<()>>>> {
        let begun = self.begin()?;
        let node = self.node()?;
        let trees = self.trees(begun.tip)?;
        let mut batch = Batch::new(self, trees, node, begun.tip);
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            outcomes.push(batch.run(job)?);
        }
        let Some(finished) = batch.finish()? else {
            self.opened()?.commit()?;
            return Ok(Some(outcomes));
        };
        self.publish(begun.expected, finished).map(|moved| moved.then_some(outcomes))
    }

    /// Looks where the branch is, and brings the index there.
    pub(super) fn begin(&mut self) -> Result<Begun> {
        let tip = self.tip()?;
        let expected = Reference::read(&self.repository, STATE)?;
        // Packed away, a branch `godel` is no file that would be in the way, and yet git chokes on it.
        if expected.is_none() && Reference::read(&self.repository, "refs/heads/godel")?.is_some() {
            return Err(Error::BranchInTheWay);
        }
        if let Some(tip) = tip {
            let found = self.format_at(tip)?;
            if found > FORMAT {
                return Err(Error::Newer { found, known: FORMAT });
            }
        }
        self.open_index()?;
        self.opened()?.begin()?;
        if let Some(tip) = tip {
            self.catch_up(tip)?;
        }
        Ok(Begun { tip, expected })
    }

    /// Makes a finished batch durable; tells whether the branch was where it should be.
    pub(super) fn publish(
        &mut self,
        expected: Option<ObjectId>,
        finished: Finished,
    ) -> Result<bool> {
        let Finished { pack, tip, trees, shown } = finished;
        let folder = self.place.common.join("objects/pack");
        let disk = &self.options.disk;
        let staged = self.reference.stage(tip.commit, disk)?;
        pack.write(&folder, disk, &staged)?;
        if !self.reference.swap(&self.repository, expected, disk)? {
            return Ok(false);
        }
        // The change is durable from here on; the index is brought up by whoever comes next if
        // this fails.
        let index = self.opened()?;
        if index.set_built(tip.commit).and_then(|()| index.commit()).is_err() {
            index.rollback();
        }
        fault("index-committed");
        for ((class, id), document) in &shown {
            self.show(*class, id, Some(document));
        }
        self.known = Some((tip.commit, trees));
        self.seen.set(Some(tip));
        Ok(true)
    }
}
