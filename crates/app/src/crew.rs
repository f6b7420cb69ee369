//! The crew: the one place where tasks are spawned and awaited.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Owns every task of the process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Crew {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Crew {
    /// Spawns a task that shutdown waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(self.tasks.spawn(task));
    }

    /// Spawns a task on another runtime than this one.
    pub fn spawn_on(&self, runtime: &Handle, task: impl Future<Output = ()> + Send + 'static) {
        drop(self.tasks.spawn_on(task, runtime));
    }

    /// Wraps a task that somebody else spawns, so that shutdown waits for it too.
    pub fn track<F: Future>(&self, task: F) -> impl Future<Output = F::Output> + use<F> {
        self.tasks.track_future(task)
    }

    /// Returns the signal on which tasks finish what they have begun, and end.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Asks all tasks to end and waits for them, up to `patience`; `false` if some did not.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.stop.cancel();
        self.tasks.close();
        tokio::time::timeout(patience, self.tasks.wait()).await.is_ok()
    }
}
