//! One piece of work on a transaction, on its way to a writer or reader thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::hub::Logged;
use crate::{Error, Result, Scope, Tx};

/// Work that waits for its turn.
pub(crate) trait Job: Send {
    /// Returns the scope of the work.
    fn scope(&self) -> Scope;

    /// Tells whether nobody waits for the answer any more.
    fn abandoned(&self) -> bool;

    /// Does the work; `false` means that it must be rolled back.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;

    /// Answers: with what the work returned, or with why it could not be committed.
    fn finish(self: Box<Self>, committed: Result<Vec<Arc<Logged>>>);
}

/// A closure with a place for its result and a way back to whoever waits.
pub(crate) struct Work<T, E, F, W> {
    scope: Scope,
    closure: F,
    result: Option<Result<T, E>>,
    way: W,
}

/// What the work returned and recorded, or why it was not committed.
pub(crate) type Finished<T, E> = Result<(T, Vec<Arc<Logged>>), E>;

/// What a waiting caller holds.
pub(crate) type Answer<T, E> = oneshot::Receiver<Finished<T, E>>;

/// The way back.
pub(crate) trait Way<T, E>: Send {
    /// Tells whether nobody is there any more.
    fn is_closed(&self) -> bool;

    /// Tells how it ended.
    fn tell(self, finished: Finished<T, E>);
}

impl<T: Send, E: Send> Way<T, E> for oneshot::Sender<Finished<T, E>> {
    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }

    fn tell(self, finished: Finished<T, E>) {
        // Whoever waited may be gone; then nobody needs the answer.
        drop(self.send(finished));
    }
}

/// A closure that is told how the work ended, on the thread that did it.
pub(crate) struct Then<D>(pub(crate) D);

impl<T, E, D: FnOnce(Finished<T, E>) + Send> Way<T, E> for Then<D> {
    fn is_closed(&self) -> bool {
        false
    }

    fn tell(self, finished: Finished<T, E>) {
        (self.0)(finished);
    }
}

/// Wraps a closure as a job with somebody who waits for it.
pub(crate) fn job<T, E, F>(scope: Scope, closure: F) -> (Box<dyn Job>, Answer<T, E>)
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (work(scope, closure, reply), answer)
}

/// Wraps a closure as a job.
pub(crate) fn work<T, E, F, W>(scope: Scope, closure: F, way: W) -> Box<dyn Job>
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    W: Way<T, E> + 'static,
{
    Box::new(Work { scope, closure, result: None, way })
}

impl<T, E, F, W> Job for Work<T, E, F, W>
where
    T: Send,
    E: From<Error> + Send,
    F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send,
    W: Way<T, E>,
{
    fn scope(&self) -> Scope {
        self.scope
    }

    fn abandoned(&self) -> bool {
        self.way.is_closed()
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        // A panic must not take the only writer down with it.
        let result = catch_unwind(AssertUnwindSafe(|| (self.closure)(tx)))
            .unwrap_or_else(|_| Err(Error::Panicked.into()));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn finish(self: Box<Self>, committed: Result<Vec<Arc<Logged>>>) {
        let answer = match (self.result, committed) {
            (Some(Err(own)), _) => Err(own),
            (_, Err(error)) => Err(error.into()),
            (Some(Ok(value)), Ok(events)) => Ok((value, events)),
            (None, Ok(_)) => Err(Error::Closed.into()),
        };
        let way = self.way;
        if catch_unwind(AssertUnwindSafe(|| way.tell(answer))).is_err() {
            tracing::error!("whoever was told of a write panicked");
        }
    }
}
