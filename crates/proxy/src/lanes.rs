//! Lanes: threads of their own for those who talk to models.
//!
//! A request to a model is a little work at a dozen moments. On a runtime whose threads take work from
//! one another, much of its cost would be waking them and moving what it needs between cores. A lane is
//! one thread with a runtime of its own: whatever is on a connection that begins with a request to a
//! model stays on it, and so does the ledger that all of them wait for.

use std::future::Future;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

/// How many cores there are to one lane: the rest of the server needs some, and so do the agents.
const CORES_PER_LANE: usize = 2;
/// What the threads are called.
const NAME: &str = "godel-models";

/// The lanes of a server; cheap to clone.
#[derive(Debug, Clone)]
pub struct Lanes {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    lanes: Vec<Handle>,
    next: AtomicUsize,
    /// Where everything else runs.
    home: Handle,
}

impl Lanes {
    /// Starts the threads; must be called where everything else runs. They end, with whatever is still on
    /// them, when the guard is dropped.
    ///
    /// # Errors
    /// If the system has no more threads or files.
    pub fn open() -> std::io::Result<(Self, DropGuard)> {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let end = CancellationToken::new();
        let mut lanes = Vec::new();
        for _ in 0..(cores / CORES_PER_LANE).max(1) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            lanes.push(runtime.handle().clone());
            let ended = end.clone();
            let run = move || runtime.block_on(ended.cancelled());
            std::thread::Builder::new().name(NAME.to_owned()).spawn(run)?;
        }
        let (next, home) = (AtomicUsize::new(0), Handle::current());
        Ok((Self { inner: Arc::new(Inner { lanes, next, home }) }, end.drop_guard()))
    }

    /// Returns the lane on which the ledger is written.
    pub fn first(&self) -> &Handle {
        self.inner.lanes.first().unwrap_or(&self.inner.home)
    }

    /// Returns the lane of the next connection, in turn.
    pub fn next(&self) -> &Handle {
        let turn = self.inner.next.fetch_add(1, Ordering::Relaxed);
        self.inner.lanes.get(turn % self.inner.lanes.len().max(1)).unwrap_or(&self.inner.home)
    }

    /// Does work that is not about models where everything else runs, so that no lane waits for it; it
    /// ends with whoever waits for it. Nothing if it panicked.
    pub async fn at_home<F>(&self, work: F) -> Option<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        AbortOnDropHandle::new(self.inner.home.spawn(work)).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn here() -> Option<String> {
        std::thread::current().name().map(ToOwned::to_owned)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_stays_on_a_lane_unless_it_is_sent_home() {
        let (lanes, _server) = Lanes::open().unwrap();
        let on_lane = lanes.next().spawn(async { here() }).await.unwrap();
        assert_eq!(on_lane.as_deref(), Some(NAME));
        let (sent, home) = (lanes.clone(), Handle::current().id());
        let found =
            lanes.next().spawn(async move { sent.at_home(async { Handle::current().id() }).await });
        assert_eq!(found.await.unwrap(), Some(home));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn what_is_sent_home_ends_with_whoever_waits_for_it() {
        let (lanes, _server) = Lanes::open().unwrap();
        let (guard, dropped) = tokio::sync::oneshot::channel::<()>();
        let waits = lanes.at_home(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        assert!(tokio::time::timeout(Duration::from_millis(20), waits).await.is_err());
        assert!(dropped.await.is_err(), "nobody holds it any more");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn what_is_on_a_lane_ends_with_the_server() {
        let (lanes, server) = Lanes::open().unwrap();
        let task = lanes.next().spawn(std::future::pending::<()>());
        drop(server);
        assert!(task.await.unwrap_err().is_cancelled());
    }
}
